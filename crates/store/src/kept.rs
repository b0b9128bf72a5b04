//! What is in memory of all sessions, the same in both backends.
//!
//! Plain tables without I/O. `L` is a backend's own handle of a log.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use model::{
    Position, SessionId,
    record::{LogKind, ResultRecord, SessionRecord, StateRecord},
};
use tokio::time::Instant;

/// Sessions and what belongs to them.
pub(crate) struct Kept<L> {
    pub sessions: BTreeMap<String, SessionRecord>,
    pub logs: HashMap<(SessionId, LogKind), L>,
    pub received: HashMap<SessionId, Position>,
    pub states: HashMap<SessionId, Arc<StateRecord>>,
    pub results: Results,
}

impl<L> Default for Kept<L> {
    fn default() -> Self {
        Self {
            sessions: BTreeMap::new(),
            logs: HashMap::new(),
            received: HashMap::new(),
            states: HashMap::new(),
            results: Results::default(),
        }
    }
}

/// All kinds of logs that a session can have.
const KINDS: [LogKind; 2] = [LogKind::ToBrowser, LogKind::Feed];

impl<L: Clone> Kept<L> {
    /// Returns a session's logs.
    pub fn logs_of(&self, id: &SessionId) -> Vec<L> {
        let log = |kind| self.logs.get(&(id.clone(), kind)).cloned();
        KINDS.into_iter().filter_map(log).collect()
    }

    /// Drops a session and all that belongs to it.
    pub fn forget(&mut self, id: &SessionId) {
        self.sessions.remove(id.as_str());
        self.received.remove(id);
        self.states.remove(id);
        for kind in KINDS {
            self.logs.remove(&(id.clone(), kind));
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
