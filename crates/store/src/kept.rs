//! What is in memory of all sessions, the same for every back-end that keeps it there.
//!
//! A write is entered here and says what it changed; whether anybody writes that down is the
//! back-end's business. Plain tables without I/O.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use model::{
    Epoch, Position, Sequence, SessionId,
    record::{LogKind, ResultRecord, SessionRecord, StateRecord},
};
use tokio::time::Instant;

use crate::{
    AuditLine, KeptSession, Log, StoreError, StoreWrite,
    change::{Change, Gone, Head, KeptResult, LogId, PlaceId},
    wall_clock_ms,
};

/// Sessions and what belongs to them.
#[derive(Default)]
pub(crate) struct Kept {
    pub sessions: BTreeMap<SessionId, SessionMemory>,
    pub results: Results,
    pub newest_log: LogId,
    /// The last place that was given to a message.
    pub last_place: PlaceId,
    /// The number of the newest audit line.
    pub audit_newest: u64,
    /// Somebody writes changes of logs down.
    pub is_written_down: bool,
}

/// What is kept of one session.
#[derive(Default)]
pub(crate) struct SessionMemory {
    pub record: Option<SessionRecord>,
    pub to_browser: Option<Log>,
    pub feed: Option<Log>,
    pub received: Option<Position>,
    pub state: Option<Arc<StateRecord>>,
}

impl Kept {
    /// Returns the sessions that were saved.
    pub fn saved(&self) -> Vec<SessionId> {
        let saved = self.sessions.iter().filter(|(_, session)| session.record.is_some());
        saved.map(|(id, _)| id.clone()).collect()
    }

    /// Returns a session, if both of its logs are there.
    pub fn load(&self, id: &SessionId) -> Result<KeptSession, StoreError> {
        let found = || {
            let session = self.sessions.get(id)?;
            Some(KeptSession {
                record: session.record.clone(),
                to_browser: session.to_browser.clone()?,
                feed: session.feed.clone()?,
                received: session.received.clone(),
                state: session.state.as_deref().cloned(),
            })
        };
        found().ok_or_else(|| StoreError::Unavailable(format!("{id} has no logs")))
    }

    /// Enters a write, and hands on what it changed.
    pub fn enter(&mut self, write: StoreWrite, mut changed: impl FnMut(Change)) {
        match write {
            StoreWrite::Session(id, record) => {
                self.session(&id).record = Some(SessionRecord::clone(&record));
                changed(Change::Session(record));
            }
            StoreWrite::Open(id) => {
                for kind in [LogKind::ToBrowser, LogKind::Feed] {
                    self.open(&id, kind, &mut changed);
                }
            }
            StoreWrite::Forget(id) => {
                let session = self.sessions.remove(&id).unwrap_or_default();
                let mut gone = Gone::default();
                for log in session.to_browser.iter().chain(&session.feed) {
                    log.detach(&mut gone);
                }
                changed(Change::Forget(id, gone));
            }
            StoreWrite::Received(id, seen) => {
                self.session(&id).received = Some(seen.clone());
                changed(Change::Received(id, seen));
            }
            StoreWrite::State(id, record) => {
                let record = Arc::new(record);
                self.session(&id).state = Some(record.clone());
                changed(Change::State(id, record));
            }
            StoreWrite::Append(log, entry) => {
                self.last_place.0 += 1;
                log.append(entry, self.last_place).into_iter().for_each(changed);
            }
            StoreWrite::Trim(log, upto) => log.trim(upto).into_iter().for_each(changed),
            StoreWrite::Result(key, record, ttl) => {
                let record = Arc::new(record);
                self.results.put(key.clone(), record.clone(), ttl);
                changed(Change::Result(key, KeptResult { record, saved_ms: wall_clock_ms(), ttl }));
            }
            StoreWrite::Audit(record) => {
                self.audit_newest += 1;
                changed(Change::Audit(Arc::new(AuditLine { number: self.audit_newest, record })));
            }
        }
    }

    fn open(&mut self, id: &SessionId, kind: LogKind, changed: &mut impl FnMut(Change)) {
        let (log_id, is_written_down) = (LogId(self.newest_log.0 + 1), self.is_written_down);
        let log = self.session(id).log(kind);
        if log.is_none() {
            let (session, epoch) = (id.clone(), Epoch::mint());
            let (newest, oldest) = (Sequence(0), Sequence(1));
            let head = Head { id: log_id, session, kind, epoch, newest, oldest };
            *log = Some(Log::new(head.clone(), [], is_written_down));
            self.newest_log = log_id;
            changed(Change::Open(head));
        }
    }

    /// Returns a session, a new one if need be.
    pub fn session(&mut self, id: &SessionId) -> &mut SessionMemory {
        self.sessions.entry(id.clone()).or_default()
    }
}

impl SessionMemory {
    /// Returns where one of its logs is.
    pub fn log(&mut self, kind: LogKind) -> &mut Option<Log> {
        match kind {
            LogKind::ToBrowser => &mut self.to_browser,
            LogKind::Feed => &mut self.feed,
        }
    }
}

/// How calls ended, by idempotency key, each for its own time.
#[derive(Default)]
pub(crate) struct Results {
    kept: HashMap<String, (Arc<ResultRecord>, Instant)>,
    sweep_at: usize,
}

impl Results {
    /// Sweeping starts at this many, so that a small table is never looked through.
    const FEW: usize = 64;

    /// Returns a result whose time is not over.
    pub fn get(&self, key: &str) -> Option<&ResultRecord> {
        let (record, until) = self.kept.get(key)?;
        (Instant::now() < *until).then_some(record)
    }

    /// Returns the size and the time that is left of each.
    pub fn sizes(&self) -> Vec<(usize, Duration)> {
        let now = Instant::now();
        let kept = self.kept.values();
        let left = |until: &Instant| until.saturating_duration_since(now);
        let sizes = kept.map(|(record, until)| (record.body.len(), left(until)));
        sizes.filter(|(_, left)| !left.is_zero()).collect()
    }

    /// Keeps a result; now and then drops those whose time is over.
    pub fn put(&mut self, key: String, record: Arc<ResultRecord>, ttl: Duration) {
        let now = Instant::now();
        if self.kept.len() >= self.sweep_at.max(Self::FEW) {
            self.kept.retain(|_, (_, until)| now < *until);
            self.sweep_at = self.kept.len() * 2;
        }
        // A time that no clock can express is as good as a year.
        let until = now.checked_add(ttl).unwrap_or(now + Duration::from_secs(31_536_000));
        self.kept.insert(key, (record, until));
    }
}
