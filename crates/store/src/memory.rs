//! Back-end `memory`: everything is kept for as long as the process lives.
//!
//! Nothing reaches a disk, so nothing waits for one: all tickets are done.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use model::{SessionId, record::ResultRecord};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{
    AuditLine, Health, KeptSession, Ownership, Store, StoreBackend, StoreError, StorePlace,
    StoreWrite, WriteTicket, change::Change, kept::Kept,
};

/// Audit lines that are kept; one more drops the oldest.
const AUDIT_LINES: usize = 10_000;

/// Makes the back-end; there is no place.
pub fn backend(_: &StorePlace) -> Arc<dyn StoreBackend> {
    Arc::new(MemoryStore::default())
}

/// Keeps everything in memory. Clones share it, and so does whoever opens it again.
#[derive(Clone, Default)]
pub struct MemoryStore {
    // A blocking mutex: held for one batch or one look-up, never across an await.
    memory: Arc<Mutex<Memory>>,
    term: u64,
}

#[derive(Default)]
struct Memory {
    /// The term of whoever opened it last.
    term: u64,
    kept: Kept,
    audit: VecDeque<Arc<AuditLine>>,
}

impl StoreBackend for MemoryStore {
    fn last_term(&self) -> u64 {
        self.memory.lock().term
    }

    fn open(&self, term: u64) -> Result<Arc<dyn Store>, StoreError> {
        let mut memory = self.memory.lock();
        if term <= memory.term {
            return Err(StoreError::Fenced { ours: term, theirs: memory.term });
        }
        memory.term = term;
        Ok(Arc::new(Self { memory: self.memory.clone(), term }))
    }
}

impl Store for MemoryStore {
    fn term(&self) -> u64 {
        self.term
    }

    fn ownership(&self, _: &SessionId) -> Ownership {
        let term = self.last_term();
        Ownership { is_ours: term == self.term, term, lease: None }
    }

    fn sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        Ok(self.memory.lock().kept.saved())
    }

    fn load(&self, session: &SessionId) -> Result<KeptSession, StoreError> {
        let kept = || self.memory.lock().kept.load(session);
        kept().or_else(|_| self.write(vec![StoreWrite::Open(session.clone())]).and_then(|_| kept()))
    }

    fn write(&self, batch: Vec<StoreWrite>) -> Result<WriteTicket, StoreError> {
        let mut memory = self.memory.lock();
        let Memory { term, kept, audit } = &mut *memory;
        if *term != self.term {
            return Err(StoreError::Fenced { ours: self.term, theirs: *term });
        }
        for write in batch {
            kept.enter(write, |change| {
                if let Change::Audit(line) = change {
                    audit.push_back(line);
                }
            });
        }
        let surplus = audit.len().saturating_sub(AUDIT_LINES);
        audit.drain(..surplus);
        Ok(WriteTicket::done())
    }

    fn result(&self, key: &str) -> Result<Option<ResultRecord>, StoreError> {
        Ok(self.memory.lock().kept.results.get(key).cloned())
    }

    fn results(&self) -> Result<Vec<(usize, Duration)>, StoreError> {
        Ok(self.memory.lock().kept.results.sizes())
    }

    fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditLine>, StoreError> {
        let audit = &self.memory.lock().audit;
        let skip = audit.partition_point(|line| line.number <= after);
        Ok(audit.iter().skip(skip).take(limit).map(|line| AuditLine::clone(line)).collect())
    }

    fn commits(&self) -> watch::Receiver<u64> {
        watch::Sender::new(0).subscribe()
    }

    fn health(&self) -> Health {
        match self.last_term() == self.term {
            true => Health::Ok,
            false => Health::Fenced,
        }
    }

    fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn memory_conforms() {
        crate::conformance::suite(|| Arc::new(MemoryStore::default()));
    }
}
