//! One log of the embedded store: read from memory, written to memory and to the queue.

use std::{collections::VecDeque, sync::Arc};

use model::{
    Epoch, Sequence, SessionId,
    record::{LogEntry, LogKind},
};
use parking_lot::Mutex;

use super::{
    changes::{Change, Gone, Head, LogId, PlaceId, Placed},
    load::LoadedLog,
    queue::Queue,
};
use crate::{Log, NewEntry, StoreError, Usage, held::Held};

/// One log. Clones share it.
#[derive(Clone)]
pub(super) struct EmbeddedLog {
    id: LogId,
    session: SessionId,
    kind: LogKind,
    epoch: Epoch,
    // A blocking mutex: held for one operation and its place in the queue, so that both have
    // the same order; never across an await or I/O.
    live: Arc<Mutex<Live>>,
    queue: Arc<Queue>,
}

struct Live {
    held: Held,
    /// Where the held messages are in the file.
    places: VecDeque<PlaceId>,
    /// Its session was forgotten: it goes on for whoever holds it, and leaves no trace.
    detached: bool,
}

impl EmbeddedLog {
    /// Makes a new log and has it written down.
    pub fn create(
        id: LogId,
        session: SessionId,
        kind: LogKind,
        queue: Arc<Queue>,
    ) -> Result<Self, StoreError> {
        let live = Live { held: Held::default(), places: VecDeque::new(), detached: false };
        let live = Arc::new(Mutex::new(live));
        let log = Self { id, session, kind, epoch: Epoch::mint(), live, queue };
        log.queue.push(Change::Open(log.head(Sequence(0), Sequence(1))))?;
        Ok(log)
    }

    /// Brings a log back.
    pub fn restore(loaded: LoadedLog, queue: Arc<Queue>) -> Self {
        let Head { id, session, kind, epoch, newest, .. } = loaded.head;
        let places = loaded.entries.iter().map(|placed| placed.place).collect();
        let entries = loaded.entries.into_iter().map(|placed| placed.entry);
        let live = Live { held: Held::restore(newest, entries), places, detached: false };
        Self { id, session, kind, epoch, live: Arc::new(Mutex::new(live)), queue }
    }

    /// Takes note that a session is gone: nothing of its logs is written after `forget` was.
    pub fn detach(
        logs: &[Self],
        forget: impl FnOnce(Gone) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut lives: Vec<_> = logs.iter().map(|log| log.live.lock()).collect();
        forget(Gone {
            logs: logs.iter().map(|log| log.id).collect(),
            places: lives.iter().flat_map(|live| live.places.iter().copied()).collect(),
        })?;
        for live in &mut lives {
            live.detached = true;
            live.places = VecDeque::new();
        }
        Ok(())
    }

    fn head(&self, newest: Sequence, oldest: Sequence) -> Head {
        Head {
            id: self.id,
            session: self.session.clone(),
            kind: self.kind,
            epoch: self.epoch.clone(),
            newest,
            oldest,
        }
    }
}

impl Log for EmbeddedLog {
    fn epoch(&self) -> Epoch {
        self.epoch.clone()
    }

    fn append(&mut self, entry: NewEntry) -> Result<Sequence, StoreError> {
        let mut live = self.live.lock();
        let entry = live.held.number(entry);
        if !live.detached {
            let head = self.head(Sequence(entry.sequence), live.held.oldest());
            let place = self.queue.next_place();
            self.queue.push(Change::Append(head, Placed { place, entry: entry.clone() }))?;
            live.places.push_back(place);
        }
        Ok(live.held.push(entry))
    }

    fn newest(&self) -> Sequence {
        self.live.lock().held.newest()
    }

    fn oldest(&self) -> Sequence {
        self.live.lock().held.oldest()
    }

    fn read(&self, after: Sequence, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        Ok(self.live.lock().held.read(after, limit))
    }

    fn trim(&mut self, upto: Sequence) -> Result<(), StoreError> {
        let mut live = self.live.lock();
        let (newest, oldest) = (live.held.newest(), live.held.oldest());
        let upto = upto.min(newest);
        if upto < oldest {
            return Ok(());
        }
        if !live.detached {
            let count = (upto.0 - oldest.0 + 1) as usize;
            let dropped = live.places.iter().take(count).copied().collect();
            self.queue.push(Change::Trim(self.head(newest, upto.next()), dropped))?;
            live.places.drain(..count);
        }
        live.held.trim(upto);
        Ok(())
    }

    fn usage(&self) -> Usage {
        self.live.lock().held.usage()
    }
}
