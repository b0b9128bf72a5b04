//! What survives: the trait and its backends.
//!
//! - this file: [`Store`] (sessions and what belongs to them) and [`Log`] (one numbered log);
//! - [`memory`]: keeps everything for as long as the process lives;
//! - [`embedded`]: keeps it in one file, over restarts and crashes;
//! - `kept` and `held`: what is in memory, the same in both;
//! - `conformance` (tests only): the one suite that every backend must pass.
//!
//! A store keeps and carries, it does not decide: what is dropped, and what a missing message
//! means, is the hub's business.

#[cfg(test)]
mod conformance;
pub mod embedded;
mod held;
mod kept;
pub mod memory;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::{
    Epoch, Position, Sequence, SessionId,
    record::{AuditRecord, LogEntry, LogKind, ResultRecord, SessionRecord, StateRecord},
};
use parking_lot::RwLockReadGuard;
use tokio::sync::watch;

pub use embedded::{EmbeddedStore, Options};
pub use memory::MemoryStore;

/// Why something could not be kept or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The place where it is kept does not take it now; it may later.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// Another hub has opened the store after us: nothing that we write counts any more.
    #[error("the store was taken over by another hub (term {theirs}, ours was {ours})")]
    Fenced {
        /// The term that we opened it with.
        ours: u64,
        /// The term that is in it now.
        theirs: u64,
    },
    /// The file was written by a newer program. It is left as it is.
    #[error(
        "{path} has format {found} and this program knows formats up to {known}; \
         use {needs}, or name another place for the data"
    )]
    Newer {
        /// The file.
        path: String,
        /// Its format.
        found: u32,
        /// The newest format that we know.
        known: u32,
        /// The program that is needed, such as `Tabwire 0.5.0 or newer`.
        needs: String,
    },
}

/// Whether writes reach the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// They do.
    Ok,
    /// They do not now. Memory goes on serving, and what waits is written when it can be.
    Degraded {
        /// What the disk said, or which limit was hit.
        reason: String,
    },
    /// They never will again: another hub has the store.
    Fenced,
}

/// Keeps sessions and what belongs to them. Its methods never wait for the disk, except
/// [`Store::audit`]; whoever has to know that something is on disk compares
/// [`Store::written`] with [`Store::synced`].
pub trait Store: Send + Sync {
    /// Returns every kept session.
    fn sessions(&self) -> Result<Vec<SessionRecord>, StoreError>;

    /// Keeps a session, replacing what was kept under its id.
    fn save_session(&self, record: SessionRecord) -> Result<(), StoreError>;

    /// Drops a session and all that belongs to it.
    ///
    /// Handles of its logs go on working for whoever holds them, but nothing of that is kept.
    fn forget_session(&self, id: &SessionId) -> Result<(), StoreError>;

    /// Opens one of a session's logs where it was left, or a new one with a new epoch.
    ///
    /// A restart drops logs, positions and states of sessions that were never saved.
    fn open_log(&self, session: &SessionId, kind: LogKind) -> Result<Box<dyn Log>, StoreError>;

    /// Returns how far the log of a session's browser has been seen.
    fn received(&self, session: &SessionId) -> Result<Option<Position>, StoreError>;

    /// Keeps how far the log of a session's browser has been seen.
    fn save_received(&self, session: &SessionId, seen: &Position) -> Result<(), StoreError>;

    /// Returns the newest kept state of a session.
    fn state(&self, session: &SessionId) -> Result<Option<StateRecord>, StoreError>;

    /// Keeps a session's state, replacing the one before.
    fn save_state(&self, session: &SessionId, record: StateRecord) -> Result<(), StoreError>;

    /// Returns how the call with an idempotency key ended, unless that is too long ago.
    fn result(&self, key: &str) -> Result<Option<ResultRecord>, StoreError>;

    /// Keeps how a call ended, for so long.
    fn save_result(&self, key: &str, record: ResultRecord, ttl: Duration)
    -> Result<(), StoreError>;

    /// Returns how large each kept result is, in bytes of its body, and how much of its time is left.
    fn results(&self) -> Result<Vec<(usize, Duration)>, StoreError>;

    /// Returns up to `limit` audit lines after a number, oldest first. May read the disk.
    ///
    /// Numbers grow; a missing one was trimmed or is damaged.
    fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditLine>, StoreError>;

    /// Adds an audit line. It reaches the disk a little later unless somebody waits for it.
    fn append_audit(&self, record: AuditRecord) -> Result<(), StoreError>;

    /// Keeps the writes until the returned value is dropped together: they are on disk all or
    /// not at all. Short, and not within itself: the disk waits for it.
    fn together(&self) -> Together<'_>;

    /// Returns the number of the newest write. Numbers never fall, also those of other threads.
    ///
    /// Ask for it in order to wait for it: what lingers because nobody waits is written at once.
    fn written(&self) -> u64;

    /// Watches up to which number all writes are on disk, in order. A store without a disk
    /// counts nothing: there both numbers stay 0, so that nobody waits.
    fn synced(&self) -> watch::Receiver<u64>;

    /// Returns whether writes reach the disk.
    fn health(&self) -> Health;
}

/// For as long as this lives, nothing of what is written goes to disk without the rest.
#[must_use]
pub struct Together<'a>(Option<RwLockReadGuard<'a, ()>>);

impl<'a> Together<'a> {
    /// Writes that a gate keeps together, or nothing where there is no disk.
    pub(crate) fn new(gate: Option<RwLockReadGuard<'a, ()>>) -> Self {
        Self(gate)
    }

    /// Lets the writes go.
    pub fn end(self) {
        drop(self.0);
    }
}

/// An audit line with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLine {
    /// Grows from line to line.
    pub number: u64,
    /// What happened.
    pub record: AuditRecord,
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

/// One numbered log. Numbers start at 1 and have no holes. It works while its store is open.
///
/// The caller orders its own calls; two handles on one log are not used at the same time.
pub trait Log: Send {
    /// Returns the log's name.
    fn epoch(&self) -> Epoch;

    /// Adds a message and returns its number.
    ///
    /// A crash may give a number again that was not yet on disk: tell nobody before it is.
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

/// Returns the milliseconds since 1970, for display and for what must be known after a restart.
pub fn wall_clock_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
