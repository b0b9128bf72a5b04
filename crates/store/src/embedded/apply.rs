//! Merged writes become rows, inside the caller's transaction.
//!
//! Either all of it is written or nothing; what is too old is swept out on the way.

use std::time::Duration;

use model::SessionId;
use rusqlite::{Connection, Result, params};

use super::{
    age,
    changes::{Changes, LogChange},
    rows,
};
use crate::{
    change::{Gone, LogId, PlaceId},
    wall_clock_ms,
};

/// Writes everything.
pub(super) fn apply(connection: &Connection, changes: &Changes) -> Result<()> {
    for (session, gone) in &changes.forgotten {
        forget(connection, session, gone)?;
    }
    for record in changes.sessions.values() {
        rows::put_session(connection, record)?;
    }
    for (session, seen) in &changes.received {
        rows::put_received(connection, session, seen)?;
    }
    for (session, record) in &changes.states {
        rows::put_state(connection, session, record)?;
    }
    for (id, change) in &changes.logs {
        change_log(connection, *id, change)?;
    }
    for (key, kept) in &changes.results {
        rows::put_result(connection, key, kept)?;
    }
    for line in &changes.audit {
        rows::put_audit(connection, line)?;
    }
    match changes.audit.last() {
        Some(line) => rows::put_meta(connection, "audit", &line.number.to_string()),
        None => Ok(()),
    }
}

/// Drops a session's rows.
pub(super) fn forget(connection: &Connection, session: &SessionId, gone: &Gone) -> Result<()> {
    for table in ["sessions WHERE id", "received WHERE session", "states WHERE session"] {
        let sql = format!("DELETE FROM {table} = ?");
        connection.prepare_cached(&sql)?.execute([session.as_str()])?;
    }
    for log in &gone.logs {
        let sql = "DELETE FROM logs WHERE id = ?";
        connection.prepare_cached(sql)?.execute([log.0.cast_signed()])?;
    }
    drop_entries(connection, &gone.places)
}

fn change_log(connection: &Connection, id: LogId, change: &LogChange) -> Result<()> {
    rows::put_head(connection, &change.head)?;
    for placed in &change.entries {
        rows::put_entry(connection, id, placed)?;
    }
    drop_entries(connection, &change.dropped)
}

fn drop_entries(connection: &Connection, places: &[PlaceId]) -> Result<()> {
    let mut statement = connection.prepare_cached("DELETE FROM entries WHERE place = ?")?;
    for place in places {
        statement.execute([place.0.cast_signed()])?;
    }
    Ok(())
}

/// Keeps the newest audit lines; `newest` is the number of the last one.
pub(super) fn trim_audit(connection: &Connection, newest: u64, lines: u64) -> Result<()> {
    let upto = newest.saturating_sub(lines).cast_signed();
    connection.prepare_cached("DELETE FROM audit WHERE number <= ?")?.execute([upto])?;
    Ok(())
}

/// Drops audit lines that are too old. Looks at all of them.
pub(super) fn sweep_audit(connection: &Connection, audit_age: Duration) -> Result<()> {
    if let Some(upto) = age::last_too_old(connection, wall_clock_ms(), audit_age)? {
        connection.prepare_cached("DELETE FROM audit WHERE number <= ?")?.execute([upto])?;
    }
    Ok(())
}

/// Drops results whose time is over.
pub(super) fn sweep_results(connection: &Connection) -> Result<()> {
    let now = wall_clock_ms().cast_signed();
    connection.execute("DELETE FROM results WHERE ?1 - saved_ms >= ttl_ms", params![now])?;
    Ok(())
}
