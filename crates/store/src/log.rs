//! One numbered log of a session: messages, numbers, sizes, ages.
//!
//! A log is in memory and read from there, whatever the store; it changes only by what the store
//! takes, and on its own it writes nothing. The clock is tokio's, so that tests can pause it.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use model::{
    Epoch, Sequence, SessionId,
    record::{LogEntry, LogKind},
};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{
    change::{Change, Gone, Head, LogId, PlaceId, Placed},
    wall_clock_ms,
};

/// A message that is about to get its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// The message type, such as `event`.
    pub kind: String,
    /// The event's name, or empty.
    pub name: String,
    /// 0 information, 1 warning, 2 error.
    pub level: u8,
    /// The payload as JSON text.
    pub body: String,
}

impl NewEntry {
    /// Gives it a number.
    fn numbered(self, sequence: Sequence) -> LogEntry {
        let Self { kind, name, level, body } = self;
        LogEntry { sequence: sequence.0, at_ms: wall_clock_ms(), kind, name, level, body }
    }
}

/// How much a log holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Messages.
    pub count: usize,
    /// Their bytes, as [`LogEntry::size`] counts them.
    pub bytes: usize,
    /// How long the oldest has been there.
    pub oldest_age: Duration,
}

/// One log; clones share it. Numbers start at 1 and have no holes. The caller orders its own writes.
#[derive(Clone, Debug)]
pub struct Log(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    id: LogId,
    session: SessionId,
    kind: LogKind,
    epoch: Epoch,
    // A blocking mutex: held for one operation, never across an await or I/O.
    held: Mutex<Held>,
}

/// The messages, oldest first.
#[derive(Debug, Default)]
struct Held {
    newest: Sequence,
    bytes: usize,
    entries: VecDeque<Aged>,
    /// Its changes are written down; no more once its session is forgotten: then it goes on for
    /// whoever holds it, and leaves no trace.
    is_written_down: bool,
}

#[derive(Debug)]
struct Aged {
    placed: Placed,
    since: Instant,
    /// How old it was when it came into memory; not zero after a restart.
    before: Duration,
}

impl Log {
    /// Returns whose log it is.
    pub fn session(&self) -> &SessionId {
        &self.0.session
    }

    /// Returns which of the session's logs it is.
    pub fn kind(&self) -> LogKind {
        self.0.kind
    }

    /// Returns the log's name.
    pub fn epoch(&self) -> Epoch {
        self.0.epoch.clone()
    }

    /// Returns the newest number that was ever given; 0 when none was.
    pub fn newest(&self) -> Sequence {
        self.0.held.lock().newest
    }

    /// Returns the first number that is still held; `newest + 1` when none is.
    pub fn oldest(&self) -> Sequence {
        self.0.held.lock().oldest()
    }

    /// Returns up to `limit` messages after a number, oldest first, without holes.
    pub fn read(&self, after: Sequence, limit: usize) -> Vec<LogEntry> {
        let held = self.0.held.lock();
        let skip = after.next().0.saturating_sub(held.oldest().0) as usize;
        let wanted = held.entries.iter().skip(skip).take(limit);
        wanted.map(|aged| LogEntry::clone(&aged.placed.entry)).collect()
    }

    /// Returns how much is held.
    pub fn usage(&self) -> Usage {
        let held = self.0.held.lock();
        let age = |aged: &Aged| aged.since.elapsed() + aged.before;
        Usage {
            count: held.entries.len(),
            bytes: held.bytes,
            oldest_age: held.entries.front().map_or(Duration::ZERO, age),
        }
    }

    /// Makes a log, or brings one back with its messages; their ages are told by the wall clock.
    pub(crate) fn new(
        head: Head,
        entries: impl IntoIterator<Item = Placed>,
        is_written_down: bool,
    ) -> Self {
        let Head { id, session, kind, epoch, newest, .. } = head;
        let (since, now_ms) = (Instant::now(), wall_clock_ms());
        let aged = |placed: Placed| {
            let before = Duration::from_millis(now_ms.saturating_sub(placed.entry.at_ms));
            Aged { placed, since, before }
        };
        let entries: VecDeque<_> = entries.into_iter().map(aged).collect();
        let bytes = entries.iter().map(|aged| aged.placed.entry.size()).sum();
        let held = Mutex::new(Held { newest, bytes, entries, is_written_down });
        Self(Arc::new(Shared { id, session, kind, epoch, held }))
    }

    /// Adds a message under the next number, in a place of the file.
    pub(crate) fn append(&self, entry: NewEntry, place: PlaceId) -> Option<Change> {
        let mut held = self.0.held.lock();
        let entry = Arc::new(entry.numbered(held.newest.next()));
        let placed = Placed { place, entry };
        held.newest = Sequence(placed.entry.sequence);
        held.bytes += placed.entry.size();
        let (since, before) = (Instant::now(), Duration::ZERO);
        held.entries.push_back(Aged { placed: placed.clone(), since, before });
        self.change(&held, |head| Change::Append(head, placed))
    }

    /// Drops everything up to and including a number.
    pub(crate) fn trim(&self, upto: Sequence) -> Option<Change> {
        let mut held = self.0.held.lock();
        let mut dropped = Vec::new();
        while let Some(aged) = held.entries.pop_front_if(|it| it.placed.entry.sequence <= upto.0) {
            held.bytes -= aged.placed.entry.size();
            if held.is_written_down {
                dropped.push(aged.placed.place);
            }
        }
        // An idle session should not pay for its busiest moment.
        if held.entries.is_empty() {
            held.entries.shrink_to_fit();
        }
        if dropped.is_empty() {
            return None;
        }
        self.change(&held, |head| Change::Trim(head, dropped))
    }

    /// Takes note that the session is gone, and says what of the log is in the file.
    pub(crate) fn detach(&self, gone: &mut Gone) {
        let mut held = self.0.held.lock();
        held.is_written_down = false;
        gone.logs.push(self.0.id);
        gone.places.extend(held.entries.iter().map(|aged| aged.placed.place));
    }

    /// Says what changed, unless nothing of it is written any more.
    fn change(&self, held: &Held, change: impl FnOnce(Head) -> Change) -> Option<Change> {
        let Shared { id, session, kind, epoch, .. } = &*self.0;
        let head = || Head {
            id: *id,
            session: session.clone(),
            kind: *kind,
            epoch: epoch.clone(),
            newest: held.newest,
            oldest: held.oldest(),
        };
        held.is_written_down.then(|| change(head()))
    }
}

impl Held {
    fn oldest(&self) -> Sequence {
        self.entries.front().map_or(self.newest.next(), |aged| Sequence(aged.placed.entry.sequence))
    }
}
