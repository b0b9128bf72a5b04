//! What the rows mean: each record as a row, and back.
//!
//! Numbers from outside may use all 64 bits and SQLite's are signed, so they are kept bit by
//! bit: whatever a peer counts, it can be written. A row that does not decode is a bad row.

use std::{sync::Arc, time::Duration};

use model::{
    Epoch, Position, Sequence, SessionId,
    record::{AuditRecord, LogEntry, LogKind, ResultRecord, SessionRecord, StateRecord},
};
use rusqlite::{Connection, Result, Row, types::ValueRef};
use serde_json::to_string;

use super::{
    schema::COUNTABLE,
    table::{AUDIT, ENTRIES, LOGS, META, RECEIVED, RESULTS, SESSIONS, STATES},
};
use crate::{
    AuditLine,
    change::{Head, KeptResult, LogId, PlaceId, Placed},
};

pub(super) fn put_meta(connection: &Connection, key: &str, value: &str) -> Result<()> {
    META.put(connection, &[text(key), text(value)])
}

pub(super) fn meta(row: &Row<'_>) -> Option<(String, String)> {
    Some((row.get(0).ok()?, row.get(1).ok()?))
}

pub(super) fn put_session(connection: &Connection, record: &SessionRecord) -> Result<()> {
    SESSIONS.put(connection, &[text(&record.id), text(&to_string(record).map_err(unwritable)?)])
}

pub(super) fn session(row: &Row<'_>) -> Option<(SessionId, SessionRecord)> {
    let record: SessionRecord = serde_json::from_str(str_of(row, 1)?).ok()?;
    let id = SessionId::parse(str_of(row, 0)?).ok()?;
    (id.as_str() == record.id).then_some((id, record))
}

pub(super) fn put_head(connection: &Connection, head: &Head) -> Result<()> {
    let cells = [
        number(head.id.0),
        text(head.session.as_str()),
        text(word_of(head.kind)),
        text(head.epoch.as_str()),
        number(head.newest.0),
        number(head.oldest.0),
    ];
    LOGS.put(connection, &cells)
}

pub(super) fn head(row: &Row<'_>) -> Option<Head> {
    Some(Head {
        id: LogId(counted_of(row, 0)?),
        session: SessionId::parse(str_of(row, 1)?).ok()?,
        kind: match str_of(row, 2)? {
            "to_browser" => LogKind::ToBrowser,
            "feed" => LogKind::Feed,
            _ => return None,
        },
        epoch: Epoch::parse(str_of(row, 3)?).ok()?,
        newest: Sequence(counted_of(row, 4)?),
        oldest: Sequence(counted_of(row, 5)?),
    })
}

/// Returns the word for a log, in the file and for people.
pub(super) fn word_of(kind: LogKind) -> &'static str {
    match kind {
        LogKind::ToBrowser => "to_browser",
        LogKind::Feed => "feed",
    }
}

pub(super) fn put_entry(connection: &Connection, log: LogId, placed: &Placed) -> Result<()> {
    let entry = &placed.entry;
    let cells = [
        number(placed.place.0),
        number(log.0),
        number(entry.sequence),
        number(entry.at_ms),
        text(&entry.kind),
        text(&entry.name),
        number(entry.level.into()),
        text(&entry.body),
    ];
    ENTRIES.put(connection, &cells)
}

pub(super) fn entry(row: &Row<'_>) -> Option<(LogId, Placed)> {
    let entry = LogEntry {
        sequence: counted_of(row, 2)?,
        at_ms: number_of(row, 3)?,
        kind: row.get(4).ok()?,
        name: row.get(5).ok()?,
        level: number_of(row, 6)?.try_into().ok()?,
        body: row.get(7).ok()?,
    };
    let placed = Placed { place: PlaceId(counted_of(row, 0)?), entry: Arc::new(entry) };
    Some((LogId(counted_of(row, 1)?), placed))
}

pub(super) fn put_received(
    connection: &Connection,
    session: &SessionId,
    seen: &Position,
) -> Result<()> {
    let cells = [text(session.as_str()), text(seen.epoch.as_str()), number(seen.sequence.0)];
    RECEIVED.put(connection, &cells)
}

pub(super) fn received(row: &Row<'_>) -> Option<(SessionId, Position)> {
    let epoch = Epoch::parse(str_of(row, 1)?).ok()?;
    let seen = Position { epoch, sequence: Sequence(number_of(row, 2)?) };
    Some((SessionId::parse(str_of(row, 0)?).ok()?, seen))
}

pub(super) fn put_state(
    connection: &Connection,
    session: &SessionId,
    record: &StateRecord,
) -> Result<()> {
    let cells = [
        text(session.as_str()),
        optional(record.epoch.as_deref()),
        number(record.version),
        number(record.exact.into()),
        text(&record.state),
        number(record.at_ms),
    ];
    STATES.put(connection, &cells)
}

pub(super) fn state(row: &Row<'_>) -> Option<(SessionId, Arc<StateRecord>)> {
    let record = StateRecord {
        epoch: row.get(1).ok()?,
        version: number_of(row, 2)?,
        exact: number_of(row, 3)? != 0,
        state: row.get(4).ok()?,
        at_ms: number_of(row, 5)?,
    };
    Some((SessionId::parse(str_of(row, 0)?).ok()?, Arc::new(record)))
}

pub(super) fn put_result(connection: &Connection, key: &str, kept: &KeptResult) -> Result<()> {
    let record = to_string(&*kept.record).map_err(unwritable)?;
    let ttl_ms = kept.ttl.as_millis().min(i64::MAX as u128) as u64;
    RESULTS.put(connection, &[text(key), text(&record), number(kept.saved_ms), number(ttl_ms)])
}

pub(super) fn result(row: &Row<'_>) -> Option<(String, KeptResult)> {
    let record: ResultRecord = serde_json::from_str(str_of(row, 1)?).ok()?;
    let kept = KeptResult {
        record: Arc::new(record),
        saved_ms: number_of(row, 2)?,
        ttl: Duration::from_millis(number_of(row, 3)?),
    };
    Some((row.get(0).ok()?, kept))
}

pub(super) fn put_audit(connection: &Connection, line: &AuditLine) -> Result<()> {
    let record = &line.record;
    let cells = [
        number(line.number),
        number(record.at_ms),
        text(&record.client),
        optional(record.principal.as_deref()),
        optional(record.session.as_deref()),
        text(&record.tool),
        text(&record.outcome),
        number(record.ms),
        optional(record.call.as_deref()),
        optional(record.trace.as_deref()),
    ];
    AUDIT.put(connection, &cells)
}

pub(super) fn audit(row: &Row<'_>) -> Option<AuditLine> {
    let record = AuditRecord {
        at_ms: number_of(row, 1)?,
        client: row.get(2).ok()?,
        principal: row.get(3).ok()?,
        session: row.get(4).ok()?,
        tool: row.get(5).ok()?,
        outcome: row.get(6).ok()?,
        ms: number_of(row, 7)?,
        call: row.get(8).ok()?,
        trace: row.get(9).ok()?,
    };
    Some(AuditLine { number: counted_of(row, 0)?, record })
}

fn unwritable(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

fn text(text: &str) -> ValueRef<'_> {
    ValueRef::Text(text.as_bytes())
}

fn optional(value: Option<&str>) -> ValueRef<'_> {
    value.map_or(ValueRef::Null, text)
}

fn number(number: u64) -> ValueRef<'static> {
    ValueRef::Integer(number.cast_signed())
}

fn str_of<'row>(row: &'row Row<'_>, column: usize) -> Option<&'row str> {
    row.get_ref(column).ok()?.as_str().ok()
}

fn number_of(row: &Row<'_>, column: usize) -> Option<u64> {
    row.get::<_, i64>(column).ok().map(i64::cast_unsigned)
}

/// A number of our own, which one more can follow: no store lives until half of all are used.
fn counted_of(row: &Row<'_>, column: usize) -> Option<u64> {
    number_of(row, column).filter(|number| *number <= COUNTABLE)
}
