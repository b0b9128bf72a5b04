//! What one log holds in memory: messages, numbers, sizes, ages.
//!
//! Both backends read from here, so that a log behaves the same in each. Nothing is written
//! anywhere; the clock is tokio's, so that tests can pause it.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use model::{Sequence, record::LogEntry};
use tokio::time::Instant;

use crate::{NewEntry, Usage, wall_clock_ms};

/// The messages of one log, oldest first.
#[derive(Default)]
pub(crate) struct Held {
    newest: Sequence,
    bytes: usize,
    entries: VecDeque<Aged>,
}

struct Aged {
    entry: Arc<LogEntry>,
    since: Instant,
    /// How old it was when it came into memory; not zero after a restart.
    before: Duration,
}

impl Held {
    /// Brings back what was written down. The wall clock tells only how old messages are.
    pub fn restore(newest: Sequence, entries: impl Iterator<Item = Arc<LogEntry>>) -> Self {
        let (since, now_ms) = (Instant::now(), wall_clock_ms());
        let aged = |entry: Arc<LogEntry>| {
            let before = Duration::from_millis(now_ms.saturating_sub(entry.at_ms));
            Aged { entry, since, before }
        };
        let entries: VecDeque<_> = entries.map(aged).collect();
        let bytes = entries.iter().map(|aged| aged.entry.size()).sum();
        Self { newest, bytes, entries }
    }

    /// Gives a message the next number. It is not in the log before [`Held::push`].
    pub fn number(&self, entry: NewEntry) -> Arc<LogEntry> {
        Arc::new(LogEntry {
            sequence: self.newest.next().0,
            at_ms: wall_clock_ms(),
            kind: entry.kind,
            name: entry.name,
            level: entry.level,
            body: entry.body,
        })
    }

    /// Adds a message that was just numbered.
    pub fn push(&mut self, entry: Arc<LogEntry>) -> Sequence {
        self.newest = Sequence(entry.sequence);
        self.bytes += entry.size();
        self.entries.push_back(Aged { entry, since: Instant::now(), before: Duration::ZERO });
        self.newest
    }

    /// Returns the newest number that was ever given.
    pub fn newest(&self) -> Sequence {
        self.newest
    }

    /// Returns the first number that is still held; `newest + 1` when none is.
    pub fn oldest(&self) -> Sequence {
        self.entries.front().map_or(self.newest.next(), |aged| Sequence(aged.entry.sequence))
    }

    /// Returns up to `limit` messages after a number.
    pub fn read(&self, after: Sequence, limit: usize) -> Vec<LogEntry> {
        let skip = after.next().0.saturating_sub(self.oldest().0) as usize;
        let wanted = self.entries.iter().skip(skip).take(limit);
        wanted.map(|aged| LogEntry::clone(&aged.entry)).collect()
    }

    /// Drops everything up to and including a number.
    pub fn trim(&mut self, upto: Sequence) {
        while let Some(aged) = self.entries.pop_front_if(|aged| aged.entry.sequence <= upto.0) {
            self.bytes -= aged.entry.size();
        }
        // An idle session should not pay for its busiest moment.
        if self.entries.is_empty() {
            self.entries.shrink_to_fit();
        }
    }

    /// Returns how much is held.
    pub fn usage(&self) -> Usage {
        let age = |aged: &Aged| aged.since.elapsed() + aged.before;
        Usage {
            count: self.entries.len(),
            bytes: self.bytes,
            oldest_age: self.entries.front().map_or(Duration::ZERO, age),
        }
    }
}
