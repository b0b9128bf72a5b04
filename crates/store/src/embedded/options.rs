//! What can be set when a store is opened.

use std::{path::PathBuf, time::Duration};

/// How long a write that nobody waits for may wait for others. A commit takes about as long as a call
/// over HTTP: one per call would double its time, one in ten milliseconds is a few percent of one
/// core. Longer would save little, and a crash takes this much of the audit.
const LINGER: Duration = Duration::from_millis(10);

/// Where the store is and how much it may hold. [`Options::new`] has what fits one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The file. Its folder must exist and should be private.
    pub path: PathBuf,
    /// The program's version, written into a file that is brought to a newer format.
    pub program: String,
    /// The term of whoever opens it, from the machine's lock. A file that knows the same or a greater
    /// one has another hub, and is not opened. `None` takes the next one, for whoever has no lock.
    pub term: Option<u64>,
    /// Bytes that may wait for the disk; one more write is refused.
    pub queue_bytes: usize,
    /// How long a write that nobody waits for (audit lines, entries of feeds, trimming) may wait for
    /// others to be committed with it.
    pub linger: Duration,
    /// How long the writer waits for another program that has the file locked. No caller waits.
    pub busy_wait: Duration,
    /// How long the writer waits after a failed commit before it tries again.
    pub retry_pause: Duration,
    /// Pages of 4 KiB after which the write-ahead log is moved into the file.
    pub checkpoint_pages: u32,
    /// How long nothing must be written until the write-ahead log is emptied.
    pub rest_after: Duration,
    /// How long closing may take.
    pub close_within: Duration,
    /// Pages of 4 KiB that the file may have; `None` means as many as the disk has.
    pub max_pages: Option<u32>,
    /// A larger file is opened without looking through its whole structure.
    pub examine_up_to: u64,
    /// How long audit lines are kept.
    pub audit_age: Duration,
    /// Audit lines that are kept.
    pub audit_lines: u64,
}

impl Options {
    /// Returns the usual settings for a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            program: "0.0.0".to_owned(),
            term: None,
            queue_bytes: 64 << 20,
            linger: LINGER,
            busy_wait: Duration::from_secs(1),
            retry_pause: Duration::from_millis(500),
            checkpoint_pages: 1000,
            rest_after: Duration::from_secs(5),
            close_within: Duration::from_secs(5),
            max_pages: None,
            examine_up_to: 256 << 20,
            audit_age: Duration::from_secs(30 * 24 * 3600),
            audit_lines: 100_000,
        }
    }
}
