//! Back-end `embedded`: one SQLite file that survives restarts, crashes and most damage.
//!
//! Everything but the audit is in memory too, and read from there. A write goes to memory and
//! to a queue; one thread commits all that waits in one synced transaction and then says how
//! far it is. Nobody else ever waits for the disk. In reading order:
//! - [`options`]: what can be set;
//! - `serve`: the traits; `changes`, `weight`: writes, merged;
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

use crate::{Log, StoreBackend, StoreError, StorePlace, kept::Kept, wall_clock_ms};
use load::Loaded;
pub use options::Options;
use queue::Queue;
use writer::Writer;

/// Makes the back-end for a file.
pub fn backend(place: &StorePlace) -> Arc<dyn StoreBackend> {
    Arc::new(Options { program: place.program.clone(), ..Options::new(&place.file) })
}

/// Keeps everything in one file. One process has it; the newest one to open it wins.
pub struct EmbeddedStore {
    options: Options,
    term: u64,
    notices: Vec<String>,
    // A blocking mutex: held for one batch and its place in the queue, so that both have the same
    // order; never across an await or I/O.
    kept: Mutex<Kept>,
    queue: Arc<Queue>,
    max_pages: Arc<AtomicU32>,
    // Held to take the handle out, once.
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl EmbeddedStore {
    /// Opens a file, or begins a new one, and raises its term.
    ///
    /// Reads the whole file: call it before others wait for you.
    pub fn open(options: Options) -> Result<Self, StoreError> {
        let mut opened = open::open(&options)?;
        let queue = Arc::new(Queue::new(options.queue_bytes, options.linger));
        let max_pages = Arc::new(AtomicU32::new(options.max_pages.unwrap_or(0)));
        let (term, notices) = (opened.term, std::mem::take(&mut opened.notices));
        for notice in &notices {
            tracing::warn!(file = %options.path.display(), notice, "noticed on opening the store");
        }
        let kept = Mutex::new(restore(std::mem::take(&mut opened.loaded)));
        let writer = Writer::new(opened, options.clone(), queue.clone(), max_pages.clone());
        let thread = thread::Builder::new().name("store-writer".into());
        let writer = thread
            .spawn(move || writer.run())
            .map_err(|error| StoreError::Unavailable(format!("no thread for it: {error}")))?;
        let writer = Mutex::new(Some(writer));
        Ok(Self { options, term, notices, kept, queue, max_pages, writer })
    }

    /// Returns what was found wrong when it was opened, and what was done about it.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Changes how many pages the file may have; `None` means as many as the disk has.
    pub fn set_max_pages(&self, pages: Option<u32>) {
        self.max_pages.store(pages.unwrap_or(0), Ordering::Relaxed);
    }

    /// Stops without writing what waits, as a crash would.
    pub fn abandon(self) {
        // What is lost is what was asked for.
        let _ = self.end(true);
    }

    /// Ends the writer; no write is taken from now on. A disk that refuses is tried once more only,
    /// and none of it takes longer than [`Options::close_within`].
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

/// Brings into memory what a file holds.
fn restore(loaded: Loaded) -> Kept {
    let mut kept = Kept {
        newest_log: loaded.logs.keys().last().copied().unwrap_or_default(),
        last_place: loaded.last_place,
        audit_newest: loaded.audit_newest,
        is_written_down: true,
        ..Kept::default()
    };
    for (id, record) in loaded.sessions {
        kept.session(&id).record = Some(record);
    }
    for log in loaded.logs.into_values() {
        let (session, kind) = (log.head.session.clone(), log.head.kind);
        *kept.session(&session).log(kind) = Some(Log::new(log.head, log.entries, true));
    }
    for (id, seen) in loaded.received {
        kept.session(&id).received = Some(seen);
    }
    for (id, state) in loaded.states {
        kept.session(&id).state = Some(state);
    }
    let now = wall_clock_ms();
    for (key, result) in loaded.results {
        let gone = Duration::from_millis(now.saturating_sub(result.saved_ms));
        kept.results.put(key, result.record, result.ttl.saturating_sub(gone));
    }
    kept
}

#[cfg(test)]
mod tests;
