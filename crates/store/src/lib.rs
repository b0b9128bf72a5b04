//! What survives: the trait and its backends.
//!
//! - this file: [`Store`] (sessions) and [`Log`] (one numbered log of one session);
//! - [`memory`]: keeps everything for as long as the process lives;
//! - `conformance` (tests only): the one suite that every backend must pass.
//!
//! A store keeps and carries, it does not decide: what is dropped, and what a missing message
//! means, is the hub's business.

#[cfg(test)]
mod conformance;
pub mod memory;

use std::time::Duration;

use model::{
    Epoch, Sequence, SessionId,
    record::{LogEntry, LogKind, SessionRecord},
};

pub use memory::{MemoryStore, wall_clock_ms};

/// Why something could not be kept or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The place where it is kept does not take it now; it may later.
    #[error("the store is not available: {0}")]
    Unavailable(String),
}

/// Keeps sessions and their logs.
pub trait Store: Send + Sync {
    /// Returns every kept session.
    fn sessions(&self) -> Result<Vec<SessionRecord>, StoreError>;

    /// Keeps a session, replacing what was kept under its id.
    fn save_session(&self, record: SessionRecord) -> Result<(), StoreError>;

    /// Drops a session and its logs.
    fn forget_session(&self, id: &SessionId) -> Result<(), StoreError>;

    /// Opens one of a session's logs where it was left, or a new one with a new epoch.
    fn open_log(&self, session: &SessionId, kind: LogKind) -> Result<Box<dyn Log>, StoreError>;
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

/// One numbered log. Numbers start at 1 and have no holes.
///
/// The caller orders its own calls; two handles on one log are not used at the same time.
pub trait Log: Send {
    /// Returns the log's name.
    fn epoch(&self) -> Epoch;

    /// Adds a message and returns its number.
    fn append(&mut self, entry: NewEntry) -> Result<Sequence, StoreError>;

    /// Returns the newest number that was ever given; 0 when none was.
    fn newest(&self) -> Sequence;

    /// Returns the first number that is still held; `newest + 1` when none is.
    fn oldest(&self) -> Sequence;

    /// Returns up to `limit` messages after a number, oldest first, without holes.
    fn read(&self, after: Sequence, limit: usize) -> Result<Vec<LogEntry>, StoreError>;

    /// Drops everything up to and including a number.
    fn trim(&mut self, upto: Sequence) -> Result<(), StoreError>;

    /// Returns how much is held.
    fn usage(&self) -> Usage;
}
