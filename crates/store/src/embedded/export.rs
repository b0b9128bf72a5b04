//! Writes a file out as text, for people and for other programs.
//!
//! One JSON object per line with its `type`; digests of resume tokens are masked. Only reads, and
//! works beside a running hub. What cannot be trusted is not written out: it is told in a line
//! of the type `damage`.

use std::{
    collections::HashMap,
    io::{self, Write},
    path::Path,
};

use model::record::SessionRecord;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Value, json};

use super::{
    operate::{connect, format_of},
    rows,
    table::{AUDIT, ENTRIES, LOGS, META, RECEIVED, RESULTS, SESSIONS, STATES, Table},
};
use crate::{
    StoreError,
    change::{Head, LogId},
};

/// Writes out everything that can be trusted.
pub fn export(path: &Path, out: &mut dyn Write) -> Result<(), StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let format = format_of(&connection, path)?;
    let mut export = Export { connection: &connection, out, logs: HashMap::new() };
    let written = match format {
        0 => Ok(()),
        1 => export.first_format(),
        _ => export.first_format().and_then(|()| export.second_format()),
    };
    written.map_err(|error| StoreError::Unavailable(format!("not written out: {error}")))
}

struct Export<'a> {
    connection: &'a Connection,
    out: &'a mut dyn Write,
    logs: HashMap<LogId, Head>,
}

impl Export<'_> {
    fn first_format(&mut self) -> io::Result<()> {
        self.table(
            &META,
            "meta",
            rows::meta,
            |_, (key, value)| json!({"key": key, "value": value}),
        )?;
        self.table(&SESSIONS, "session", rows::session, |_, (_, record)| json!(masked(record)))?;
        self.table(&LOGS, "log", rows::head, |logs, head| {
            let line = line_of(&head);
            logs.insert(head.id, head);
            line
        })?;
        self.table(&ENTRIES, "entry", rows::entry, |logs, (log, placed)| {
            let head = logs.get(&log);
            let session = head.map(|head| head.session.as_str());
            let kind = head.map(|head| rows::word_of(head.kind));
            json!({"session": session, "log": kind, "entry": *placed.entry})
        })
    }

    fn second_format(&mut self) -> io::Result<()> {
        self.table(&RECEIVED, "received", rows::received, |_, (session, seen)| {
            let (epoch, sequence) = (seen.epoch.as_str(), seen.sequence.0);
            json!({"session": session.as_str(), "epoch": epoch, "sequence": sequence})
        })?;
        self.table(
            &STATES,
            "state",
            rows::state,
            |_, (session, state)| json!({"session": session.as_str(), "state": *state}),
        )?;
        self.table(
            &RESULTS,
            "result",
            rows::result,
            |_, (key, kept)| json!({"key": key, "result": *kept.record}),
        )?;
        self.table(
            &AUDIT,
            "audit",
            rows::audit,
            |_, line| json!({"number": line.number, "line": line.record}),
        )
    }

    /// Writes out a table. A table that cannot be read to its end does not end the others.
    fn table<T>(
        &mut self,
        table: &Table,
        kind: &str,
        decode: impl Fn(&Row<'_>) -> Option<T>,
        describe: impl Fn(&mut HashMap<LogId, Head>, T) -> Value,
    ) -> io::Result<()> {
        let mut written = Ok(());
        let read = table.read(self.connection, decode, |value| {
            if written.is_ok() {
                let line = describe(&mut self.logs, value);
                written = write_line(self.out, kind, line);
            }
        });
        written?;
        let message = match read {
            Ok(count) if count.bad == 0 => return Ok(()),
            Ok(count) => format!("{} rows are not what was written", count.bad),
            Err(error) => error.to_string(),
        };
        write_line(self.out, "damage", json!({"table": table.name, "message": message}))
    }
}

fn write_line(out: &mut dyn Write, kind: &str, mut line: Value) -> io::Result<()> {
    line["type"] = kind.into();
    writeln!(out, "{line}")
}

fn masked(mut record: SessionRecord) -> SessionRecord {
    record.resume_digest = record.resume_digest.map(|_| "***".to_owned());
    record
}

fn line_of(head: &Head) -> Value {
    json!({
        "session": head.session.as_str(),
        "log": rows::word_of(head.kind),
        "epoch": head.epoch.as_str(),
        "oldest": head.oldest.0,
        "newest": head.newest.0,
    })
}
