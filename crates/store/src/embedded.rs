//! Backend `embedded`: one SQLite file that survives restarts, crashes and most damage.
//!
//! Everything but the audit is in memory too, and read from there. A write goes to memory and
//! to a queue; one thread commits all that waits in one synced transaction and then says how
//! far it is. Nobody else ever waits for the disk. In reading order:
//! - [`options`]: what can be set;
//! - `serve`: the trait; `log`: one log; `changes`, `weight`: writes, merged;
//! - `queue`: between callers and the writer;
//! - `writer`: the thread; `apply`: writes become rows; `age`: which audit lines are too old; `rows`,
//!   `table`: what rows are;
//! - `open`: from a file to a store; `schema`: formats; `load`: what can be trusted; `repair`;
//!   `mark`: whether newer commits are missing; `files`: names, and setting aside;
//! - [`operate`]: looking at a file and making it smaller; [`export`]: writing it out as text.

mod age;
mod apply;
mod changes;
pub mod export;
mod files;
mod load;
mod log;
mod mark;
mod open;
pub mod operate;
pub mod options;
mod queue;
mod repair;
mod rows;
mod schema;
mod serve;
mod table;
mod weight;
mod writer;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::Mutex;

use crate::{StoreError, kept::Kept, wall_clock_ms};
use changes::LogId;
use load::Loaded;
use log::EmbeddedLog;
pub use options::Options;
use queue::Queue;
use writer::Writer;

/// Keeps everything in one file. One process has it; the newest one to open it wins.
pub struct EmbeddedStore {
    options: Options,
    term: u64,
    notices: Vec<String>,
    // A blocking mutex: held for one map operation and its place in the queue, so that both
    // have the same order; never across an await or I/O.
    kept: Mutex<Memory>,
    // Likewise: the number of the newest audit line.
    audit_newest: Mutex<u64>,
    queue: Arc<Queue>,
    max_pages: Arc<AtomicU32>,
    // Held to take the handle out, once.
    writer: Mutex<Option<JoinHandle<()>>>,
}

struct Memory {
    kept: Kept<EmbeddedLog>,
    newest_log: LogId,
}

impl EmbeddedStore {
    /// Opens a file, or begins a new one, and raises its term.
    ///
    /// Reads the whole file: call it before others wait for you.
    pub fn open(options: Options) -> Result<Self, StoreError> {
        let mut opened = open::open(&options)?;
        let last_place = opened.loaded.last_place;
        let queue = Arc::new(Queue::new(options.queue_bytes, options.linger, last_place));
        let max_pages = Arc::new(AtomicU32::new(options.max_pages.unwrap_or(0)));
        let (term, notices) = (opened.term, std::mem::take(&mut opened.notices));
        for notice in &notices {
            tracing::warn!(file = %options.path.display(), notice, "noticed on opening the store");
        }
        let loaded = std::mem::take(&mut opened.loaded);
        let audit_newest = Mutex::new(loaded.audit_newest);
        let kept = Mutex::new(Memory::restore(loaded, &queue));
        let writer = Writer::new(opened, options.clone(), queue.clone(), max_pages.clone());
        let thread = thread::Builder::new().name("store-writer".into());
        let writer = thread
            .spawn(move || writer.run())
            .map_err(|error| StoreError::Unavailable(format!("no thread for it: {error}")))?;
        let writer = Mutex::new(Some(writer));
        Ok(Self { options, term, notices, kept, audit_newest, queue, max_pages, writer })
    }

    /// Returns the term that it was opened with: greater than all before.
    pub fn term(&self) -> u64 {
        self.term
    }

    /// Returns what was found wrong when it was opened, and what was done about it.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Changes how many pages the file may have; `None` means as many as the disk has.
    pub fn set_max_pages(&self, pages: Option<u32>) {
        self.max_pages.store(pages.unwrap_or(0), Ordering::Relaxed);
    }

    /// Writes what waits and closes the file; no write is taken from now on.
    ///
    /// An error says that something is not on disk. A disk that refuses is tried once more only,
    /// and none of it takes longer than [`Options::close_within`]. Waits for the disk, as
    /// dropping does: not for a thread that others wait for.
    pub fn close(&self) -> Result<(), StoreError> {
        self.end(false)
    }

    /// Stops without writing what waits, as a crash would.
    pub fn abandon(self) {
        // What is lost is what was asked for.
        let _ = self.end(true);
    }

    fn end(&self, abandon: bool) -> Result<(), StoreError> {
        let ended = self.queue.close(abandon, self.options.close_within);
        // A writer that the disk holds is left to itself.
        if let Some(writer) = self.writer.lock().take()
            && ended
            && writer.join().is_err()
        {
            tracing::error!("the store's writer panicked");
        }
        self.queue.farewell()
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        if self.writer.get_mut().is_some()
            && let Err(error) = self.end(false)
        {
            tracing::error!(%error, "the store was dropped before everything was on disk");
        }
    }
}

impl Memory {
    fn restore(loaded: Loaded, queue: &Arc<Queue>) -> Self {
        let newest_log = loaded.logs.keys().last().copied().unwrap_or(LogId(0));
        let mut kept = Kept {
            sessions: loaded.sessions,
            received: loaded.received,
            states: loaded.states,
            ..Kept::default()
        };
        for log in loaded.logs.into_values() {
            let key = (log.head.session.clone(), log.head.kind);
            kept.logs.insert(key, EmbeddedLog::restore(log, queue.clone()));
        }
        let now = wall_clock_ms();
        for (key, result) in loaded.results {
            let gone = Duration::from_millis(now.saturating_sub(result.saved_ms));
            kept.results.put(key, result.record, result.ttl.saturating_sub(gone));
        }
        Self { kept, newest_log }
    }
}

#[cfg(test)]
mod tests;
