//! What survives: the seam between the hub and whatever keeps things, and the back-ends behind it.
//!
//! - this file: [`StoreBackend`] (a place that can be opened) and [`Store`] (an opened one);
//! - [`write`]: what is written, in batches, and [`WriteTicket`], on which one waits for the disk;
//! - [`log`]: one numbered log of a session, in memory;
//! - [`memory`]: keeps everything for as long as the process lives;
//! - [`embedded`]: keeps it in one file, over restarts and crashes;
//! - `kept`: what is in memory of all sessions, and `change`: what a write changes there, the same
//!   in both;
//! - [`conformance`]: the one suite that every back-end must pass.
//!
//! A store keeps and carries, it does not decide: what is dropped, and what a missing message
//! means, is the hub's business.

mod change;
pub mod conformance;
pub mod embedded;
mod kept;
pub mod log;
pub mod memory;
pub mod write;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use model::{
    Position, SessionId,
    record::{AuditRecord, ResultRecord, SessionRecord, StateRecord},
};
use tokio::sync::watch;

pub use embedded::{EmbeddedStore, Options};
pub use log::{Log, NewEntry, Usage};
pub use memory::MemoryStore;
pub use write::{StoreWrite, WriteTicket};

/// Makes a back-end for a place.
pub type MakeBackend = fn(&StorePlace) -> Arc<dyn StoreBackend>;

/// All back-ends by their names in the settings, the default first.
pub const BACKENDS: [(&str, MakeBackend); 2] =
    [("embedded", embedded::backend), ("memory", memory::backend)];

/// Where a hub keeps things.
#[derive(Debug, Clone, Default)]
pub struct StorePlace {
    /// A file that a back-end may use; its folder exists and is private.
    pub file: PathBuf,
    /// The hub's version, for those who read what it wrote.
    pub program: String,
}

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

/// A place where a store can be opened, again and again.
pub trait StoreBackend: Send + Sync {
    /// Returns the greatest term that the place knows; 0 when it knows none.
    fn last_term(&self) -> u64;

    /// Opens the place and takes it away from whoever has it.
    ///
    /// Only with a term that is greater than the last one: otherwise another hub has it. May read
    /// much: call it before others wait for you.
    fn open(&self, term: u64) -> Result<Arc<dyn Store>, StoreError>;
}

/// Keeps sessions and what belongs to them. Its methods never wait for the disk, except
/// [`Store::audit`] and [`Store::close`]; whoever has to know that something is on disk has the
/// [`WriteTicket`] of its write.
pub trait Store: Send + Sync {
    /// Returns the term that it was opened with.
    fn term(&self) -> u64;

    /// Returns who may write a session.
    fn ownership(&self, session: &SessionId) -> Ownership;

    /// Returns the sessions that are ours and were saved, smallest id first.
    fn sessions(&self) -> Result<Vec<SessionId>, StoreError>;

    /// Returns one session, with its logs where they were left, or new ones with new epochs.
    ///
    /// A restart drops logs, positions and states of sessions that were never saved.
    fn load(&self, session: &SessionId) -> Result<KeptSession, StoreError>;

    /// Takes writes that belong together: they are on disk all or not at all, and refused all or
    /// not at all. Batches reach the disk in order. The ticket of an empty batch is that of
    /// everything before it.
    fn write(&self, batch: Vec<StoreWrite>) -> Result<WriteTicket, StoreError>;

    /// Returns how the call with an idempotency key ended, unless that is too long ago.
    fn result(&self, key: &str) -> Result<Option<ResultRecord>, StoreError>;

    /// Returns how large each kept result is, in bytes of its body, and how much of its time is left.
    fn results(&self) -> Result<Vec<(usize, Duration)>, StoreError>;

    /// Returns up to `limit` audit lines after a number, oldest first. May read the disk.
    ///
    /// Numbers grow; a missing one was trimmed or is damaged.
    fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditLine>, StoreError>;

    /// Wakes whoever holds tickets when more is on disk. Its value means nothing.
    fn commits(&self) -> watch::Receiver<u64>;

    /// Returns whether writes reach the disk.
    fn health(&self) -> Health;

    /// Writes what waits and lets the place go; an error says that something is not on disk.
    ///
    /// Waits for the disk: not for a thread that others wait for.
    fn close(&self) -> Result<(), StoreError>;
}

/// One session as it is kept.
#[derive(Debug)]
pub struct KeptSession {
    /// Who it is; none when it was never saved.
    pub record: Option<SessionRecord>,
    /// What the hub tells the browser.
    pub to_browser: Log,
    /// What happened in it.
    pub feed: Log,
    /// How far the log of its browser has been seen.
    pub received: Option<Position>,
    /// Its newest state.
    pub state: Option<StateRecord>,
}

/// Who may write a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ownership {
    /// Whether that is this store.
    pub is_ours: bool,
    /// The owner's term: greater than that of any owner before.
    pub term: u64,
    /// For how long nobody else can become the owner; `None` means until the place is opened again.
    pub lease: Option<Duration>,
}

/// An audit line with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLine {
    /// Grows from line to line.
    pub number: u64,
    /// What happened.
    pub record: AuditRecord,
}

/// Returns the milliseconds since 1970, for display and for what must be known after a restart.
pub fn wall_clock_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
