//! Backend `memory`: everything is kept for as long as the process lives.
//!
//! Nothing reaches a disk, so nothing waits for one: both write numbers stay 0.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use model::{
    Epoch, Position, Sequence, SessionId,
    record::{AuditRecord, LogEntry, LogKind, ResultRecord, SessionRecord, StateRecord},
};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{
    AuditLine, Health, Log, NewEntry, Store, StoreError, Together, Usage, held::Held, kept::Kept,
};

/// Audit lines that are kept; one more drops the oldest.
const AUDIT_LINES: usize = 10_000;

/// Keeps everything in memory. Clones share it.
#[derive(Clone, Default)]
pub struct MemoryStore {
    // A blocking mutex: held for one map operation, never across an await.
    kept: Arc<Mutex<Kept<MemoryLog>>>,
    // Likewise: held to add or copy lines.
    audit: Arc<Mutex<Audit>>,
    synced: Arc<watch::Sender<u64>>,
}

#[derive(Default)]
struct Audit {
    newest: u64,
    lines: VecDeque<AuditLine>,
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
        self.kept.lock().forget(id);
        Ok(())
    }

    fn open_log(&self, session: &SessionId, kind: LogKind) -> Result<Box<dyn Log>, StoreError> {
        let mut kept = self.kept.lock();
        let log = kept.logs.entry((session.clone(), kind)).or_insert_with(MemoryLog::create);
        Ok(Box::new(log.clone()))
    }

    fn received(&self, session: &SessionId) -> Result<Option<Position>, StoreError> {
        Ok(self.kept.lock().received.get(session).cloned())
    }

    fn save_received(&self, session: &SessionId, seen: &Position) -> Result<(), StoreError> {
        self.kept.lock().received.insert(session.clone(), seen.clone());
        Ok(())
    }

    fn state(&self, session: &SessionId) -> Result<Option<StateRecord>, StoreError> {
        Ok(self.kept.lock().states.get(session).map(|record| StateRecord::clone(record)))
    }

    fn save_state(&self, session: &SessionId, record: StateRecord) -> Result<(), StoreError> {
        self.kept.lock().states.insert(session.clone(), Arc::new(record));
        Ok(())
    }

    fn result(&self, key: &str) -> Result<Option<ResultRecord>, StoreError> {
        Ok(self.kept.lock().results.get(key).cloned())
    }

    fn save_result(
        &self,
        key: &str,
        record: ResultRecord,
        ttl: Duration,
    ) -> Result<(), StoreError> {
        self.kept.lock().results.put(key.to_owned(), Arc::new(record), ttl);
        Ok(())
    }

    fn results(&self) -> Result<Vec<(usize, Duration)>, StoreError> {
        Ok(self.kept.lock().results.sizes())
    }

    fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditLine>, StoreError> {
        let audit = self.audit.lock();
        let skip = audit.lines.partition_point(|line| line.number <= after);
        Ok(audit.lines.iter().skip(skip).take(limit).cloned().collect())
    }

    fn append_audit(&self, record: AuditRecord) -> Result<(), StoreError> {
        let mut audit = self.audit.lock();
        audit.newest += 1;
        let number = audit.newest;
        audit.lines.push_back(AuditLine { number, record });
        if audit.lines.len() > AUDIT_LINES {
            audit.lines.pop_front();
        }
        Ok(())
    }

    fn together(&self) -> Together<'_> {
        Together::new(None)
    }

    fn written(&self) -> u64 {
        0
    }

    fn synced(&self) -> watch::Receiver<u64> {
        self.synced.subscribe()
    }

    fn health(&self) -> Health {
        Health::Ok
    }
}

/// One log. Clones share it.
#[derive(Clone)]
struct MemoryLog {
    epoch: Epoch,
    // A blocking mutex: held for one operation on the queue, never across an await.
    held: Arc<Mutex<Held>>,
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
        let entry = held.number(entry);
        Ok(held.push(entry))
    }

    fn newest(&self) -> Sequence {
        self.held.lock().newest()
    }

    fn oldest(&self) -> Sequence {
        self.held.lock().oldest()
    }

    fn read(&self, after: Sequence, limit: usize) -> Result<Vec<LogEntry>, StoreError> {
        Ok(self.held.lock().read(after, limit))
    }

    fn trim(&mut self, upto: Sequence) -> Result<(), StoreError> {
        self.held.lock().trim(upto);
        Ok(())
    }

    fn usage(&self) -> Usage {
        self.held.lock().usage()
    }
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
