//! The one thread that writes: takes all that waits, commits it, says how far it is.
//!
//! Each commit first looks whether the term in the file is still ours, so a hub that was frozen
//! while another took over can write nothing. A failed commit is tried again for as long as the
//! store is open. Owns the connection; callers never touch it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::{Connection, TransactionBehavior, config::DbConfig};

use super::{
    Options,
    age::ClockWatch,
    apply,
    changes::Changes,
    mark::{Mark, MarkFile},
    open::{Opened, limit_pages},
    queue::{Queue, Turn},
    rows,
    schema::Meta,
};

/// How often results whose time is over are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// How often audit lines that are too old are looked for: that reads all of them.
const SWEEP_AUDIT_EVERY: Duration = Duration::from_secs(3600);

/// The writer's own things.
pub(super) struct Writer {
    connection: Connection,
    queue: Arc<Queue>,
    options: Options,
    max_pages: Arc<AtomicU32>,
    /// The limit that is in force; 0 means none.
    pages: u32,
    mark: Mark,
    mark_file: MarkFile,
    term: u64,
    swept: Instant,
    swept_audit: Instant,
    clock: ClockWatch,
    /// Something was committed since the write-ahead log was emptied.
    restless: bool,
}

enum Failure {
    Fenced(u64),
    Disk(rusqlite::Error),
}

impl Writer {
    /// Takes over an opened file. `max_pages` may change while it runs; 0 means no limit.
    pub fn new(
        opened: Opened,
        options: Options,
        queue: Arc<Queue>,
        max_pages: Arc<AtomicU32>,
    ) -> Self {
        Self {
            connection: opened.connection,
            queue,
            pages: options.max_pages.unwrap_or(0),
            options,
            max_pages,
            mark: opened.mark,
            mark_file: opened.mark_file,
            term: opened.term,
            swept: Instant::now(),
            swept_audit: Instant::now(),
            clock: ClockWatch::new(),
            restless: true,
        }
    }

    /// Works until the queue ends.
    pub fn run(self) {
        // Declared first and so dropped last: whoever waits finds the file closed.
        let _ended = Ended(self.queue.clone());
        let mut writer = self;
        loop {
            let rest_after = writer.restless.then_some(writer.options.rest_after);
            match writer.queue.take(rest_after) {
                Turn::Write(changes) => writer.write(*changes),
                Turn::Rest => writer.rest(),
                Turn::End { crash } => return writer.end(crash),
            }
        }
    }

    fn write(&mut self, changes: Changes) {
        match self.commit(&changes) {
            Ok(()) => {
                self.restless = true;
                self.note();
                self.queue.committed(changes.upto);
            }
            Err(Failure::Fenced(theirs)) => self.queue.fence(self.term, theirs),
            Err(Failure::Disk(error)) => {
                self.queue.put_back(changes, error.to_string(), self.options.retry_pause);
            }
        }
    }

    fn commit(&mut self, changes: &Changes) -> Result<(), Failure> {
        self.limit_pages()?;
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let theirs = Meta::term(&transaction)?;
        if theirs != self.term {
            return Err(Failure::Fenced(theirs));
        }
        apply::apply(&transaction, changes)?;
        if let Some(line) = changes.audit.last() {
            apply::trim_audit(&transaction, line.number, self.options.audit_lines)?;
        }
        if self.swept.elapsed() >= SWEEP_EVERY {
            self.clock.look();
            apply::sweep_results(&transaction)?;
            self.swept = Instant::now();
        }
        if self.swept_audit.elapsed() >= SWEEP_AUDIT_EVERY {
            apply::sweep_audit(&transaction, self.options.audit_age)?;
            self.swept_audit = Instant::now();
        }
        rows::put_meta(&transaction, "commits", &(self.mark.commits + 1).to_string())?;
        transaction.commit()?;
        self.mark.commits += 1;
        Ok(())
    }

    fn limit_pages(&mut self) -> rusqlite::Result<()> {
        let wanted = self.max_pages.load(Ordering::Relaxed);
        if self.pages != wanted {
            limit_pages(&self.connection, wanted)?;
            self.pages = wanted;
        }
        Ok(())
    }

    /// Leaves the mark. Without it the file is still whole; only a later loss would not be seen.
    fn note(&mut self) {
        if let Err(error) = self.mark_file.write(&self.mark) {
            tracing::warn!(%error, "the store's mark was not written");
        }
    }

    /// Empties the write-ahead log; a reader that is still at it makes this wait for next time.
    fn rest(&mut self) {
        self.restless = false;
        self.sync_mark();
        let emptied = "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA shrink_memory";
        if let Err(error) = self.connection.execute_batch(emptied) {
            tracing::debug!(%error, "the write-ahead log was not emptied");
        }
    }

    fn end(self, crash: bool) {
        let keep = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        if let Err(error) = self.connection.set_db_config(keep, crash) {
            tracing::debug!(%error, "closing empties the write-ahead log");
        }
        self.sync_mark();
    }

    fn sync_mark(&self) {
        if let Err(error) = self.mark_file.sync() {
            tracing::warn!(%error, "the store's mark was not synced");
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Disk(error)
    }
}

/// Tells the queue that the writer is gone, also after a panic.
struct Ended(Arc<Queue>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.ended();
    }
}
