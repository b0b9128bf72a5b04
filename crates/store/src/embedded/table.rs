//! A table whose rows carry their checksum: how a row is written, and how it is trusted again.
//!
//! The checksum is the last column and covers the table's name and all other columns, so a row
//! that was changed, or that turns up in another place, is known. What a row means is in `rows`.

use crc::{CRC_32_ISCSI, Crc, Table as Slices};
use rusqlite::{
    Connection, Row, ToSql, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

/// CRC-32C, by which damage is known; it is no protection against somebody who deceives. Sixteen
/// bytes are taken at once, because a store is read as a whole before a hub can start.
pub(super) static CRC: Crc<u32, Slices<16>> = Crc::<u32, Slices<16>>::new(&CRC_32_ISCSI);

/// A table, its columns but the checksum, and the statement that writes a row.
pub(super) struct Table {
    /// Its name.
    pub name: &'static str,
    columns: &'static str,
    order: &'static str,
    put: &'static str,
}

macro_rules! table {
    (
        $(#[$doc:meta])*
        $constant:ident = $name:literal ($columns:literal) by $order:literal, $marks:literal
    ) => {
        $(#[$doc])*
        pub(super) const $constant: Table = Table {
            name: $name,
            columns: $columns,
            order: $order,
            put: concat!(
                "INSERT OR REPLACE INTO ", $name, " (", $columns, ", crc) VALUES (", $marks, ")"
            ),
        };
    };
}

table!(
    /// What is known of the file itself.
    META = "meta" ("key, value") by "key", "?, ?, ?"
);
table!(
    /// Sessions, as JSON.
    SESSIONS = "sessions" ("id, record") by "id", "?, ?, ?"
);
table!(
    /// One row per log: its name and which numbers it must hold.
    LOGS = "logs" ("id, session, kind, epoch, newest, oldest") by "id", "?, ?, ?, ?, ?, ?, ?"
);
table!(
    /// The messages of all logs, in the order in which they came: what is written together
    /// stands together, so a commit touches few pages however many logs there are.
    ENTRIES = "entries" ("place, log, sequence, at_ms, kind, name, level, body") by "place",
    "?, ?, ?, ?, ?, ?, ?, ?, ?"
);
table!(
    /// How far browsers' logs were seen.
    RECEIVED = "received" ("session, epoch, sequence") by "session", "?, ?, ?, ?"
);
table!(
    /// The newest states.
    STATES = "states" ("session, epoch, version, exact, state, at_ms") by "session",
    "?, ?, ?, ?, ?, ?, ?"
);
table!(
    /// How calls ended, as JSON, by idempotency key.
    RESULTS = "results" ("key, record, saved_ms, ttl_ms") by "key", "?, ?, ?, ?, ?"
);
table!(
    /// The audit.
    AUDIT = "audit" ("number, at_ms, client, principal, session, tool, outcome, ms, call, trace")
    by "number", "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
);

/// How many rows a table has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub rows: u64,
    pub bad: u64,
}

impl Table {
    /// Writes a row, replacing the one with the same key.
    pub fn put(&self, connection: &Connection, cells: &[ValueRef<'_>]) -> rusqlite::Result<()> {
        let checksum = ToSqlOutput::from(i64::from(self.checksum(cells.iter().copied())));
        let cells = cells.iter().map(|cell| ToSqlOutput::Borrowed(*cell));
        let mut statement = connection.prepare_cached(self.put)?;
        statement.execute(params_from_iter(cells.chain([checksum])))?;
        Ok(())
    }

    /// Drops every row, also those that cannot be found by their key.
    pub fn clear(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.execute(&format!("DELETE FROM {}", self.name), [])?;
        Ok(())
    }

    /// Reads all rows in order and hands out those that can be trusted.
    pub fn read<T>(
        &self,
        connection: &Connection,
        decode: impl Fn(&Row<'_>) -> Option<T>,
        mut take: impl FnMut(T),
    ) -> rusqlite::Result<Count> {
        let mut count = Count::default();
        let mut statement = connection.prepare(&self.select("true"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            count.rows += 1;
            match self.trusted(row, &decode) {
                Some(value) => take(value),
                None => count.bad += 1,
            }
        }
        Ok(count)
    }

    /// Reads up to `limit` rows for which a condition with one parameter holds, trusted ones.
    pub fn find<T>(
        &self,
        connection: &Connection,
        condition: &str,
        parameter: impl ToSql,
        limit: usize,
        decode: impl Fn(&Row<'_>) -> Option<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut found = Vec::new();
        let mut statement = connection.prepare_cached(&self.select(condition))?;
        let mut rows = statement.query([parameter])?;
        while found.len() < limit
            && let Some(row) = rows.next()?
        {
            found.extend(self.trusted(row, &decode));
        }
        Ok(found)
    }

    fn select(&self, condition: &str) -> String {
        let Self { name, columns, order, .. } = self;
        format!("SELECT {columns}, crc FROM {name} WHERE {condition} ORDER BY {order}")
    }

    /// Returns what a row says if it is what was written.
    fn trusted<T>(&self, row: &Row<'_>, decode: impl Fn(&Row<'_>) -> Option<T>) -> Option<T> {
        let last = row.as_ref().column_count() - 1;
        let cells = (0..last).map(|column| row.get_ref(column).unwrap_or(ValueRef::Null));
        let expected = i64::from(self.checksum(cells));
        (row.get(last) == Ok(expected)).then(|| decode(row)).flatten()
    }

    fn checksum<'a>(&self, cells: impl Iterator<Item = ValueRef<'a>>) -> u32 {
        let mut crc = CRC.digest();
        crc.update(self.name.as_bytes());
        for cell in cells {
            // The kind and the length come first, so that no two rows read the same.
            let (kind, bytes): (u8, &[u8]) = match &cell {
                ValueRef::Null => (0, &[]),
                ValueRef::Integer(number) => (1, &number.to_le_bytes()),
                ValueRef::Real(number) => (2, &number.to_le_bytes()),
                ValueRef::Text(text) => (3, text),
                ValueRef::Blob(bytes) => (4, bytes),
            };
            crc.update(&[kind]);
            crc.update(&(bytes.len() as u64).to_le_bytes());
            crc.update(bytes);
        }
        crc.finalize()
    }
}
