//! What callers see: reads come from memory, writes go to memory and to the queue.
//!
//! A write is queued first and then entered into memory, under one lock: what was refused is
//! nowhere, and the file gets everything in the order in which memory got it.

use std::{sync::Arc, time::Duration};

use model::{
    Position, SessionId,
    record::{AuditRecord, LogKind, ResultRecord, SessionRecord, StateRecord},
};
use tokio::sync::watch;

use super::{
    EmbeddedStore,
    changes::{Change, KeptResult, LogId},
    log::EmbeddedLog,
    operate,
};
use crate::{AuditLine, Health, Log, Store, StoreError, Together, wall_clock_ms};

impl Store for EmbeddedStore {
    fn sessions(&self) -> Result<Vec<SessionRecord>, StoreError> {
        Ok(self.kept.lock().kept.sessions.values().cloned().collect())
    }

    fn save_session(&self, record: SessionRecord) -> Result<(), StoreError> {
        let mut memory = self.kept.lock();
        self.queue.push(Change::Session(Box::new(record.clone())))?;
        memory.kept.sessions.insert(record.id.clone(), record);
        Ok(())
    }

    fn forget_session(&self, id: &SessionId) -> Result<(), StoreError> {
        let mut memory = self.kept.lock();
        let logs = memory.kept.logs_of(id);
        EmbeddedLog::detach(&logs, |gone| self.queue.push(Change::Forget(id.clone(), gone)))?;
        memory.kept.forget(id);
        Ok(())
    }

    fn open_log(&self, session: &SessionId, kind: LogKind) -> Result<Box<dyn Log>, StoreError> {
        let mut memory = self.kept.lock();
        let key = (session.clone(), kind);
        if let Some(log) = memory.kept.logs.get(&key) {
            return Ok(Box::new(log.clone()));
        }
        let id = LogId(memory.newest_log.0 + 1);
        let log = EmbeddedLog::create(id, session.clone(), kind, self.queue.clone())?;
        memory.newest_log = id;
        memory.kept.logs.insert(key, log.clone());
        Ok(Box::new(log))
    }

    fn received(&self, session: &SessionId) -> Result<Option<Position>, StoreError> {
        Ok(self.kept.lock().kept.received.get(session).cloned())
    }

    fn save_received(&self, session: &SessionId, seen: &Position) -> Result<(), StoreError> {
        let mut memory = self.kept.lock();
        self.queue.push(Change::Received(session.clone(), seen.clone()))?;
        memory.kept.received.insert(session.clone(), seen.clone());
        Ok(())
    }

    fn state(&self, session: &SessionId) -> Result<Option<StateRecord>, StoreError> {
        Ok(self.kept.lock().kept.states.get(session).map(|record| StateRecord::clone(record)))
    }

    fn save_state(&self, session: &SessionId, record: StateRecord) -> Result<(), StoreError> {
        let record = Arc::new(record);
        let mut memory = self.kept.lock();
        self.queue.push(Change::State(session.clone(), record.clone()))?;
        memory.kept.states.insert(session.clone(), record);
        Ok(())
    }

    fn result(&self, key: &str) -> Result<Option<ResultRecord>, StoreError> {
        Ok(self.kept.lock().kept.results.get(key).cloned())
    }

    fn save_result(
        &self,
        key: &str,
        record: ResultRecord,
        ttl: Duration,
    ) -> Result<(), StoreError> {
        let record = Arc::new(record);
        let kept = KeptResult { record: record.clone(), saved_ms: wall_clock_ms(), ttl };
        let mut memory = self.kept.lock();
        self.queue.push(Change::Result(key.to_owned(), kept))?;
        memory.kept.results.put(key.to_owned(), record, ttl);
        Ok(())
    }

    fn results(&self) -> Result<Vec<(usize, Duration)>, StoreError> {
        Ok(self.kept.lock().kept.results.sizes())
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

    fn append_audit(&self, record: AuditRecord) -> Result<(), StoreError> {
        let mut newest = self.audit_newest.lock();
        let number = *newest + 1;
        self.queue.push(Change::Audit(Arc::new(AuditLine { number, record })))?;
        *newest = number;
        Ok(())
    }

    fn together(&self) -> Together<'_> {
        Together::new(Some(self.queue.together()))
    }

    fn written(&self) -> u64 {
        self.queue.written()
    }

    fn synced(&self) -> watch::Receiver<u64> {
        self.queue.synced()
    }

    fn health(&self) -> Health {
        self.queue.health()
    }
}
