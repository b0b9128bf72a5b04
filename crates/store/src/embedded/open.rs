//! Opens a file: judges it, brings it to the newest format, repairs it, writes the term.
//!
//! Opening succeeds unless the disk refuses, another program holds the file, another hub has had it
//! since, or the file is newer than we are. A file that cannot be trusted as a whole is set aside and a new one
//! begins; of those only a surplus is ever deleted.

use std::{fs, path::Path};

use model::id::random_text;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{
    Options, apply, files,
    load::{Loaded, load},
    mark::{Mark, MarkFile},
    repair::repair,
    rows,
    schema::{self, Meta, Nature},
};
use crate::StoreError;

/// Memory for pages of the file, in KiB. Everything but the audit is read from memory of our own, so
/// the file is read only on opening; a transaction that is larger goes to the write-ahead log earlier.
const PAGE_CACHE: i32 = 512;

/// An opened file and everything in it.
pub(super) struct Opened {
    pub connection: Connection,
    pub loaded: Loaded,
    pub mark: Mark,
    pub mark_file: MarkFile,
    pub term: u64,
    /// What was found and done, for people.
    pub notices: Vec<String>,
}

/// Why a file was not opened.
enum Trouble {
    /// Its content cannot be trusted.
    Damaged(String),
    /// It says that it cannot be written: the disk's rule, or damage.
    ReadOnly(String),
    /// The disk or another program does not let us.
    Refused(String),
    /// It is newer than we are, or another hub has it.
    NotOurs(StoreError),
}

/// Opens a file, or a new one in its place.
pub(super) fn open(options: &Options) -> Result<Opened, StoreError> {
    let path = &options.path;
    let why = match try_open(options) {
        Ok(opened) => return Ok(opened),
        Err(Trouble::Damaged(why)) => why,
        // Damage of the header can say so too; the operating system knows better.
        Err(Trouble::ReadOnly(why)) if files::may_write(path) => why,
        Err(trouble) => return Err(trouble.into_error(path)),
    };
    let aside = files::set_aside(path).map_err(|error| refused(path, &error.to_string()))?;
    let notice = format!("{why}; it was set aside as {} and a new one begins", aside.display());
    let mut opened = try_open(options).map_err(|trouble| trouble.into_error(path))?;
    opened.notices.insert(0, notice);
    Ok(opened)
}

fn try_open(options: &Options) -> Result<Opened, Trouble> {
    let path = &options.path;
    let io = |error: std::io::Error| Trouble::Refused(error.to_string());
    files::create_private(path).map_err(io)?;
    let mut connection = connect(options)?;
    let format = judge(&connection, options)?;
    write_ahead(&connection, options)?;
    // Read before the transaction: a hub that still writes is never behind its mark.
    let before = Mark::read(path);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schema::migrate(&transaction, format, &options.program)?;
    let meta = Meta::read(&transaction)?;
    let term = next_term(&meta, options.term)?;
    let mut mark = if format == 0 { new_mark() } else { mark_in(&meta)? };
    let mut loaded = load(&transaction, schema::FORMAT)?;
    if is_behind(&mark, before.as_ref(), loaded.is_empty()) {
        loaded.distrust();
    }
    repair(&transaction, &loaded)?;
    apply::sweep_results(&transaction)?;
    apply::sweep_audit(&transaction, options.audit_age)?;
    // Past both: what the file lost is never counted again.
    mark.commits = mark.commits.max(before.map_or(0, |mark| mark.commits)) + 1;
    rows::put_meta(&transaction, "identity", &mark.identity)?;
    rows::put_meta(&transaction, "commits", &mark.commits.to_string())?;
    rows::put_meta(&transaction, "term", &term.to_string())?;
    transaction.commit()?;
    let mark_file = MarkFile::open(path, &mark).map_err(io)?;
    let mut notices = loaded.findings.clone();
    if (1..schema::FORMAT).contains(&format) {
        notices.push(format!("brought from format {format} to {}", schema::FORMAT));
    }
    Ok(Opened { connection, loaded, mark, mark_file, term, notices })
}

/// Opens a connection that never waits long and never trusts the file's own code.
fn connect(options: &Options) -> Result<Connection, Trouble> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&options.path, flags)?;
    connection.busy_timeout(options.busy_wait)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "trusted_schema", false)?;
    // A negative number counts KiB, a positive one pages.
    connection.pragma_update(None, "cache_size", -PAGE_CACHE)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    limit_pages(&connection, options.max_pages.unwrap_or(0))?;
    Ok(connection)
}

/// Says how many pages the file may have; 0 means as many as the disk has.
pub(super) fn limit_pages(connection: &Connection, pages: u32) -> rusqlite::Result<()> {
    let pages = if pages == 0 { u32::MAX - 1 } else { pages };
    connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
}

/// Returns the file's format, 0 for an empty one. Changes nothing.
fn judge(connection: &Connection, options: &Options) -> Result<u32, Trouble> {
    let format = match schema::examine(connection)? {
        Nature::Empty => 0,
        Nature::Known(format) => format,
        Nature::Foreign(why) => return Err(Trouble::Damaged(why)),
        Nature::Newer(found, program) => {
            return Err(Trouble::NotOurs(newer(&options.path, found, program)));
        }
    };
    let size = fs::metadata(&options.path).map_or(0, |file| file.len());
    // A file without tables is new only if it has no pages of tables either, and that is soon seen.
    if (format == 0 || size <= options.examine_up_to)
        && let Some(fault) = structure_faults(connection)?.first()
    {
        return Err(Trouble::Damaged(format!("its structure is damaged ({fault})")));
    }
    Ok(format)
}

/// Returns what is wrong with a file's structure, at most ten things.
pub(super) fn structure_faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA quick_check(10)")?;
    let faults = statement.query_map([], |row| row.get::<_, String>(0))?;
    faults.filter(|fault| fault.as_ref().map_or(true, |fault| fault != "ok")).collect()
}

/// Returns the error for a file of a newer format.
pub(super) fn newer(path: &Path, found: u32, program: Option<String>) -> StoreError {
    StoreError::Newer {
        path: path.display().to_string(),
        found,
        known: schema::FORMAT,
        needs: match program {
            Some(version) => format!("Tabwire {version} or newer"),
            None => "a newer Tabwire".to_owned(),
        },
    }
}

/// Sets up the write-ahead log: every commit is synced before it counts.
fn write_ahead(connection: &Connection, options: &Options) -> Result<(), Trouble> {
    let mode = "PRAGMA journal_mode = WAL";
    let mode: String = connection.query_row(mode, [], |row| row.get(0))?;
    if mode != "wal" {
        let why = "its file system cannot share memory, which a write-ahead log needs";
        return Err(Trouble::Refused(why.to_owned()));
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", options.checkpoint_pages)?;
    // A busy moment does not leave a large write-ahead log behind.
    let bytes = i64::from(options.checkpoint_pages) * 4096;
    connection.pragma_update_and_check(None, "journal_size_limit", bytes, |_| Ok(()))?;
    Ok(())
}

/// Returns the term to write with: the one that was given, if no other hub has had it or a later one.
fn next_term(meta: &Meta, given: Option<u64>) -> Result<u64, Trouble> {
    let theirs = meta.number("term").unwrap_or_default();
    match given {
        None => Ok(theirs + 1),
        Some(ours) if ours > theirs => Ok(ours),
        Some(ours) => Err(Trouble::NotOurs(StoreError::Fenced { ours, theirs })),
    }
}

fn new_mark() -> Mark {
    Mark { identity: random_text(16), commits: 0 }
}

fn mark_in(meta: &Meta) -> Result<Mark, Trouble> {
    match (meta.text("identity"), meta.number("commits"), meta.number("term")) {
        (Some(identity), Some(commits), Some(_)) if Mark::can_hold(identity) => {
            Ok(Mark { identity: identity.to_owned(), commits })
        }
        _ => Err(Trouble::Damaged("it does not know itself any more".to_owned())),
    }
}

/// Returns whether commits are missing that somebody may have been told of. A file without a mark
/// that holds nothing was never used: who made it died before the mark was there.
fn is_behind(file: &Mark, mark: Option<&Mark>, is_empty: bool) -> bool {
    match mark {
        Some(mark) => mark.identity != file.identity || mark.commits > file.commits,
        None => !is_empty,
    }
}

fn refused(path: &Path, why: &str) -> StoreError {
    StoreError::Unavailable(format!("{}: {why}", path.display()))
}

impl Trouble {
    fn into_error(self, path: &Path) -> StoreError {
        match self {
            Self::Damaged(why) | Self::ReadOnly(why) | Self::Refused(why) => refused(path, &why),
            Self::NotOurs(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        use ErrorCode as Code;
        let why = error.to_string();
        match error.sqlite_error_code() {
            Some(
                Code::CannotOpen
                | Code::PermissionDenied
                | Code::DiskFull
                | Code::SystemIoFailure
                | Code::DatabaseBusy
                | Code::DatabaseLocked
                | Code::FileLockingProtocolFailed
                | Code::OutOfMemory,
            ) => Self::Refused(why),
            Some(Code::ReadOnly) => Self::ReadOnly(why),
            _ => Self::Damaged(why),
        }
    }
}
