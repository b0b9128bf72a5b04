//! For operators: look at a file, and make it smaller.
//!
//! [`check`] only reads and works beside a running hub, and tells what it can of a damaged file.
//! Neither takes part in the term; [`term`] tells whoever hands out the next one the last.

use std::{fs, path::Path};

use rusqlite::{Connection, OpenFlags};

use super::{
    load::load,
    open::{newer, structure_faults},
    rows,
    schema::{self, Meta, Nature},
    table::{AUDIT, Count},
};
use crate::{AuditLine, StoreError};

/// What a file looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Its format.
    pub format: u32,
    /// The program that brought it to that format.
    pub program: String,
    /// The term of the hub that opened it last.
    pub term: u64,
    /// Its tables.
    pub tables: Vec<TableReport>,
    /// What is wrong, for people; empty when nothing is.
    pub findings: Vec<String>,
}

/// What a table looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableReport {
    /// Its name.
    pub name: String,
    /// How many rows it has.
    pub rows: u64,
    /// How many of them are not what was written.
    pub bad: u64,
}

/// Looks through a whole file and changes nothing.
pub fn check(path: &Path) -> Result<Report, StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let format = format_of(&connection, path)?;
    let mut report = Report {
        format,
        program: String::new(),
        term: 0,
        tables: Vec::new(),
        findings: structure_faults(&connection).unwrap_or_else(|error| vec![error.to_string()]),
    };
    if let Err(error) = report.fill(&connection) {
        report.findings.push(error.to_string());
    }
    Ok(report)
}

/// Returns the term of the hub that opened a file last; 0 where that cannot be told.
///
/// Such a file is either set aside when it is opened or, if it does know a term, refuses a smaller one.
pub fn term(path: &Path) -> u64 {
    let read = || {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Meta::term(&connection).map_err(|error| unreadable(path, &error))
    };
    read().unwrap_or_default()
}

impl Report {
    fn fill(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let meta = Meta::read(connection)?;
        self.program = meta.text("program").unwrap_or_default().to_owned();
        self.term = meta.number("term").unwrap_or_default();
        let loaded = load(connection, self.format)?;
        let mut counts = loaded.counts;
        self.findings.extend(loaded.findings);
        if self.format >= 2 {
            let count = AUDIT.read(connection, rows::audit, drop)?;
            if count.bad > 0 {
                self.findings.push(format!("audit: {} rows are not what was written", count.bad));
            }
            counts.push((AUDIT.name, count));
        }
        let report = |(name, count): (&str, Count)| TableReport {
            name: name.to_owned(),
            rows: count.rows,
            bad: count.bad,
        };
        self.tables = counts.into_iter().map(report).collect();
        Ok(())
    }
}

/// Gives unused space back to the disk; returns the file's size before and after.
///
/// Needs as much free disk again while it works. A hub should not run meanwhile.
pub fn compact(path: &Path) -> Result<(u64, u64), StoreError> {
    let size = || fs::metadata(path).map_or(0, |file| file.len());
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    format_of(&connection, path)?;
    let run = |sql| connection.execute_batch(sql).map_err(|error| unreadable(path, &error));
    run("PRAGMA wal_checkpoint(TRUNCATE)")?;
    let before = size();
    run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok((before, size()))
}

/// Reads audit lines from a file, beside the writer.
pub(super) fn audit_in(
    path: &Path,
    after: u64,
    limit: usize,
) -> Result<Vec<AuditLine>, StoreError> {
    let read = || {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        AUDIT.find(&connection, "number > ?", after.cast_signed(), limit, rows::audit)
    };
    read().map_err(|error: rusqlite::Error| unreadable(path, &error))
}

/// Opens a connection beside others.
pub(super) fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(|error| unreadable(path, &error))
}

/// Returns a file's format, 0 for an empty one.
pub(super) fn format_of(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    match schema::examine(connection).map_err(|error| unreadable(path, &error))? {
        Nature::Known(format) => Ok(format),
        Nature::Empty => Ok(0),
        Nature::Newer(found, program) => Err(newer(path, found, program)),
        Nature::Foreign(why) => Err(StoreError::Unavailable(format!("{}: {why}", path.display()))),
    }
}

/// Returns the error for a file that SQLite cannot read.
pub(super) fn unreadable(path: &Path, error: &rusqlite::Error) -> StoreError {
    StoreError::Unavailable(format!("{}: {error}", path.display()))
}
