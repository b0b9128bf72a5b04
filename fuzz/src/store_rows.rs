//! A store whose rows say anything, each with the checksum that fits: what a program that is wrong,
//! or another one, would have left. Opened, read and opened again as in [`store_file`](crate::store_file).
//!
//! A line is a change: table, number of the row, number of the column, and the new value as JSON.

use std::{fs, path::Path};

use rusqlite::{
    Connection, OptionalExtension, params_from_iter,
    types::{Value, ValueRef},
};

use crate::{
    scratch,
    store_file::{self, FILE},
};

/// The tables that may be named.
const TABLES: [&str; 8] =
    ["meta", "sessions", "logs", "entries", "received", "states", "results", "audit"];
/// The polynomial of CRC-32C, bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// Changes rows of the good store, and opens it twice.
pub fn run(input: &[u8]) {
    let path = store_file::put_good();
    let changed = change_rows(&path, input);
    // What the tables themselves refuse says nothing of the store.
    if changed.is_ok() {
        store_file::open_twice(&path);
    }
}

fn change_rows(path: &Path, input: &[u8]) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    // No sync, no log beside: this is what is on disk already.
    connection.pragma_update(None, "synchronous", false)?;
    connection.execute_batch("BEGIN")?;
    for line in crate::text_lines(input) {
        change(&connection, line)?;
    }
    connection.execute_batch("COMMIT")?;
    connection.close().map_err(|(_, error)| error)?;
    let _ = fs::remove_file(scratch::folder().join(format!("{FILE}-shm")));
    Ok(())
}

fn change(connection: &Connection, line: &str) -> rusqlite::Result<()> {
    let Some((table, row, column, value)) = read(line) else { return Ok(()) };
    let select = format!("SELECT * FROM {table} ORDER BY 1 LIMIT 1 OFFSET {row}");
    let mut statement = connection.prepare_cached(&select)?;
    let (last, key) = (statement.column_count() - 1, statement.column_name(0)?.to_owned());
    let found = statement.query_row([], |row| (0..=last).map(|cell| row.get(cell)).collect());
    let Some(mut cells) = found.optional()?.map(|cells: Vec<Value>| cells) else { return Ok(()) };
    let delete = format!("DELETE FROM {table} WHERE {key} = ?");
    connection.execute(&delete, [&cells[0]])?;
    cells[column % last] = value;
    cells[last] = Value::Integer(checksum(table, &cells[..last]).into());
    let marks = vec!["?"; cells.len()].join(", ");
    let put = format!("INSERT OR REPLACE INTO {table} VALUES ({marks})");
    connection.execute(&put, params_from_iter(cells))?;
    Ok(())
}

/// Reads a line; `None` means that it is no change.
fn read(line: &str) -> Option<(&'static str, u32, usize, Value)> {
    let mut words = line.splitn(4, ' ');
    let table = words.next()?;
    let table = TABLES.into_iter().find(|known| *known == table)?;
    let (row, column) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((table, row, column, sql_value(serde_json::from_str(words.next()?).ok()?)))
}

fn sql_value(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::String(text) => Value::Text(text),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Integer(whole),
            (None, Some(real)) => Value::Real(real),
            (None, None) => Value::Null,
        },
        other => Value::Text(other.to_string()),
    }
}

/// The checksum of a row, as the store makes it: over the table's name and each cell's kind, length
/// and bytes.
fn checksum(table: &str, cells: &[Value]) -> u32 {
    let mut bytes = table.as_bytes().to_vec();
    for cell in cells {
        let number;
        let (kind, content): (u8, &[u8]) = match ValueRef::from(cell) {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(integer) => {
                number = integer.to_le_bytes();
                (1, &number)
            }
            ValueRef::Real(real) => {
                number = real.to_le_bytes();
                (2, &number)
            }
            ValueRef::Text(text) => (3, text),
            ValueRef::Blob(blob) => (4, blob),
        };
        bytes.push(kind);
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
    }
    !bytes.iter().fold(!0, |crc, byte| {
        let shift = |crc: u32, _| (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
        (0..8).fold(crc ^ u32::from(*byte), shift)
    })
}
