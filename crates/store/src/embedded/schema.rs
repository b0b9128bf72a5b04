//! The tables, format by format, and what a file says of itself.
//!
//! A new file goes through all steps, an older one through those that it lacks, so there is one
//! way to a format. Steps that were released are never changed. `meta` keeps its shape in all
//! formats: it tells an older program that the file is newer, and which program wrote it.

use std::collections::HashMap;

use rusqlite::{Connection, Result};

use super::{rows, table::META};

/// The newest format that we know.
pub(super) const FORMAT: u32 = STEPS.len() as u32;

/// "tabw", for programs that name files by their content.
const APPLICATION: i32 = i32::from_be_bytes(*b"tabw");

/// The largest number that counts as counted: from here on there is room for all that may follow.
pub(super) const COUNTABLE: u64 = u64::MAX / 2;

/// What brings a file from each format to the next.
const STEPS: &[&str] = &[
    "
CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY, record TEXT NOT NULL, crc INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE logs (
    id INTEGER PRIMARY KEY, session TEXT NOT NULL, kind TEXT NOT NULL, epoch TEXT NOT NULL,
    newest INTEGER NOT NULL, oldest INTEGER NOT NULL, crc INTEGER NOT NULL
) STRICT;
CREATE TABLE entries (
    place INTEGER PRIMARY KEY, log INTEGER NOT NULL, sequence INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, level INTEGER NOT NULL,
    body TEXT NOT NULL, crc INTEGER NOT NULL
) STRICT;",
    "
CREATE TABLE received (
    session TEXT NOT NULL PRIMARY KEY, epoch TEXT NOT NULL, sequence INTEGER NOT NULL,
    crc INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE states (
    session TEXT NOT NULL PRIMARY KEY, epoch TEXT, version INTEGER NOT NULL,
    exact INTEGER NOT NULL, state TEXT NOT NULL, at_ms INTEGER NOT NULL, crc INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE results (
    key TEXT NOT NULL PRIMARY KEY, record TEXT NOT NULL, saved_ms INTEGER NOT NULL,
    ttl_ms INTEGER NOT NULL, crc INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE audit (
    number INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, client TEXT NOT NULL, principal TEXT,
    session TEXT, tool TEXT NOT NULL, outcome TEXT NOT NULL, ms INTEGER NOT NULL, call TEXT,
    trace TEXT, crc INTEGER NOT NULL
) STRICT;",
];

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Nature {
    /// Nothing was ever written to it.
    Empty,
    /// Ours, in a format that we know.
    Known(u32),
    /// Ours, in a format that we do not know; the program that brought it there.
    Newer(u32, Option<String>),
    /// Not ours, or not as we left it.
    Foreign(String),
}

/// Looks at a file without changing it.
pub(super) fn examine(connection: &Connection) -> Result<Nature> {
    let found = tables_in(connection)?;
    if found.is_empty() {
        return Ok(Nature::Empty);
    }
    let header: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let application: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let meta = Meta::read(connection).unwrap_or_default();
    // The header has no checksum, so it counts only where `meta` cannot be read.
    let format = meta.number("format").and_then(|format| format.try_into().ok());
    match format {
        Some(format @ 1..=FORMAT) if found == tables_in(&built(format)?)? => {
            Ok(Nature::Known(format))
        }
        Some(format) if format > FORMAT => {
            Ok(Nature::Newer(format, meta.text("program").map(str::to_owned)))
        }
        None if application == APPLICATION && header > FORMAT => Ok(Nature::Newer(header, None)),
        _ => Ok(Nature::Foreign("its tables are not those of a Tabwire store".to_owned())),
    }
}

/// Brings a file from a format (0: empty) to the newest, inside the caller's transaction.
pub(super) fn migrate(connection: &Connection, from: u32, program: &str) -> Result<()> {
    build(connection, from, FORMAT)?;
    if from < FORMAT {
        rows::put_meta(connection, "format", &FORMAT.to_string())?;
        rows::put_meta(connection, "program", program)?;
    }
    connection.pragma_update(None, "user_version", FORMAT)?;
    connection.pragma_update(None, "application_id", APPLICATION)
}

fn build(connection: &Connection, from: u32, to: u32) -> Result<()> {
    for step in &STEPS[from as usize..to as usize] {
        connection.execute_batch(step)?;
    }
    Ok(())
}

/// Makes an empty file of a format in memory.
pub(super) fn built(format: u32) -> Result<Connection> {
    let connection = Connection::open_in_memory()?;
    build(&connection, 0, format)?;
    Ok(connection)
}

/// Returns everything that was ever created in a file, as the statements that did it.
fn tables_in(connection: &Connection) -> Result<Vec<(String, Option<String>)>> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")?;
    let tables = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    tables.collect()
}

/// The rows of `meta` that can be trusted.
#[derive(Debug, Default)]
pub(super) struct Meta(HashMap<String, String>);

impl Meta {
    /// Reads them.
    pub fn read(connection: &Connection) -> Result<Self> {
        let mut meta = HashMap::new();
        META.read(connection, rows::meta, |(key, value)| {
            meta.insert(key, value);
        })?;
        Ok(Self(meta))
    }

    /// Reads only the term; 0 when it cannot be trusted.
    pub fn term(connection: &Connection) -> Result<u64> {
        let rows = META.find(connection, "key = ?", "term", 1, rows::meta)?;
        Ok(Self(rows.into_iter().collect()).number("term").unwrap_or_default())
    }

    /// Returns a text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Returns a number; one that nobody can have counted to is none.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.text(key)?.parse().ok().filter(|number| *number <= COUNTABLE)
    }
}

#[cfg(test)]
impl Meta {
    /// Makes a file of an older format, as an older program would have left it.
    pub fn write_old(connection: &Connection, format: u32) {
        build(connection, 0, format).unwrap();
        connection.pragma_update(None, "user_version", format).unwrap();
        connection.pragma_update(None, "application_id", APPLICATION).unwrap();
        rows::put_meta(connection, "format", &format.to_string()).unwrap();
        rows::put_meta(connection, "program", "0.1.0").unwrap();
    }
}
