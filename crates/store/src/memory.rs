//! Backend `memory`: everything is kept for as long as the process lives.
//!
//! The clock is tokio's, so that tests can pause it.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use model::{
    Epoch, Sequence, SessionId,
    record::{LogEntry, LogKind, SessionRecord},
};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{Log, NewEntry, Store, StoreError, Usage};

/// Keeps sessions and logs in memory. Clones share them.
#[derive(Clone, Default)]
pub struct MemoryStore {
    // A blocking mutex: held for one map operation, never across an await.
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    sessions: BTreeMap<String, SessionRecord>,
    logs: HashMap<(SessionId, LogKind), MemoryLog>,
}

impl Store for MemoryStore {
    fn sessions(&self) -> Result<Vec<SessionRecord>, StoreError> {
        Ok(self.kept.lock().sessions.values().cloned().collect())
    }

    fn save_session(&self, record: SessionRecord) -> Result<(), StoreError> {
        self.kept.lock().sessions.insert(record.id.clone(), record);
        Ok(())
    }

    fn forget_session(&self, id: &SessionId) -> Result<(), StoreError> {
        let mut kept = self.kept.lock();
        kept.sessions.remove(id.as_str());
        kept.logs.retain(|(session, _), _| session != id);
        Ok(())
    }

    fn open_log(&self, session: &SessionId, kind: LogKind) -> Result<Box<dyn Log>, StoreError> {
        let mut kept = self.kept.lock();
        let log = kept.logs.entry((session.clone(), kind)).or_insert_with(MemoryLog::create);
        Ok(Box::new(log.clone()))
    }
}

/// One log. Clones share it.
#[derive(Clone)]
struct MemoryLog {
    epoch: Epoch,
    // A blocking mutex: held for one operation on the queue, never across an await.
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    newest: Sequence,
    bytes: usize,
    entries: VecDeque<(Instant, LogEntry)>,
}

impl MemoryLog {
    fn create() -> Self {
        Self { epoch: Epoch::mint(), held: Arc::default() }
    }
}

impl Log for MemoryLog {
    fn epoch(&self) -> Epoch {
        self.epoch.clone()
    }

    fn append(&mut self, entry: NewEntry) -> Result<Sequence, StoreError> {
        let mut held = self.held.lock();
        let sequence = held.newest.next();
        let entry = LogEntry {
            sequence: sequence.0,
            at_ms: wall_clock_ms(),
            kind: entry.kind,
            name: entry.name,
            level: entry.level,
            body: entry.body,
        };
        held.newest = sequence;
        held.bytes += entry.size();
        held.entries.push_back((Instant::now(), entry));
        Ok(sequence)
    }

    fn newest(&self) -> Sequence {
        self.held.lock().newest
    }

    fn oldest(&self) -> Sequence {
        self.held.lock().oldest()
    }

    fn read(&self, after: Sequence, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        let held = self.held.lock();
        let skip = after.next().0.saturating_sub(held.oldest().0) as usize;
        Ok(held.entries.iter().skip(skip).take(limit).map(|(_, entry)| entry.clone()).collect())
    }

    fn trim(&mut self, upto: Sequence) -> Result<(), StoreError> {
        let mut held = self.held.lock();
        while held.entries.front().is_some_and(|(_, entry)| entry.sequence <= upto.0) {
            if let Some((_, entry)) = held.entries.pop_front() {
                held.bytes -= entry.size();
            }
        }
        // An idle session should not pay for its busiest moment.
        if held.entries.is_empty() {
            held.entries.shrink_to_fit();
        }
        Ok(())
    }

    fn usage(&self) -> Usage {
        let held = self.held.lock();
        Usage {
            count: held.entries.len(),
            bytes: held.bytes,
            oldest_age: held.entries.front().map_or_else(Default::default, |(at, _)| at.elapsed()),
        }
    }
}

impl Held {
    fn oldest(&self) -> Sequence {
        self.entries.front().map_or(self.newest.next(), |(_, entry)| Sequence(entry.sequence))
    }
}

/// Returns the milliseconds since 1970, for display only.
pub fn wall_clock_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn memory_conforms() {
        crate::conformance::suite(|| {
            let store = MemoryStore::default();
            move || Box::new(store.clone()) as Box<dyn Store>
        });
    }
}
