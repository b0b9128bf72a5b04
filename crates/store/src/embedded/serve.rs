//! What callers see: reads come from memory, writes go to memory and to the queue.
//!
//! Both under one lock: what was refused is nowhere, and the file gets everything in the order in
//! which memory got it.

use std::{sync::Arc, time::Duration};

use model::{SessionId, record::ResultRecord};
use tokio::sync::watch;

use super::{EmbeddedStore, Options, operate};
use crate::{
    AuditLine, Health, KeptSession, Ownership, Store, StoreBackend, StoreError, StoreWrite,
    WriteTicket,
};

impl StoreBackend for Options {
    fn last_term(&self) -> u64 {
        operate::term(&self.path)
    }

    fn open(&self, term: u64) -> Result<Arc<dyn Store>, StoreError> {
        let options = Self { term: Some(term), ..self.clone() };
        Ok(Arc::new(EmbeddedStore::open(options)?))
    }
}

impl Store for EmbeddedStore {
    fn term(&self) -> u64 {
        self.term
    }

    fn ownership(&self, _: &SessionId) -> Ownership {
        let (is_ours, term) = match self.queue.fenced() {
            Some(StoreError::Fenced { theirs, .. }) => (false, theirs),
            _ => (true, self.term),
        };
        Ownership { is_ours, term, lease: None }
    }

    fn sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        Ok(self.kept.lock().saved())
    }

    fn load(&self, session: &SessionId) -> Result<KeptSession, StoreError> {
        let kept = || self.kept.lock().load(session);
        kept().or_else(|_| self.write(vec![StoreWrite::Open(session.clone())]).and_then(|_| kept()))
    }

    fn write(&self, batch: Vec<StoreWrite>) -> Result<WriteTicket, StoreError> {
        self.queue.push(&mut self.kept.lock(), batch)
    }

    fn result(&self, key: &str) -> Result<Option<ResultRecord>, StoreError> {
        Ok(self.kept.lock().results.get(key).cloned())
    }

    fn results(&self) -> Result<Vec<(usize, Duration)>, StoreError> {
        Ok(self.kept.lock().results.sizes())
    }

    fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditLine>, StoreError> {
        // First what waits, then the file: a line that is committed between is in both.
        let waiting = self.queue.audit_after(after);
        let mut lines = operate::audit_in(&self.options.path, after, limit)?;
        let last = lines.last().map_or(after, |line| line.number);
        let newer = waiting.iter().filter(|line| line.number > last);
        lines.extend(newer.take(limit - lines.len()).map(|line| AuditLine::clone(line)));
        Ok(lines)
    }

    fn commits(&self) -> watch::Receiver<u64> {
        self.queue.synced()
    }

    fn health(&self) -> Health {
        self.queue.health()
    }

    fn close(&self) -> Result<(), StoreError> {
        self.end(false)
    }
}
