//! Makes a file what could be trusted of it, inside the caller's transaction.
//!
//! A damaged table is emptied and written anew from memory: a bad row may not be found by its
//! key. Which rows are bad was decided by `load`.

use rusqlite::{Connection, Result};

use super::{
    apply,
    load::Loaded,
    rows,
    table::{ENTRIES, LOGS, RECEIVED, RESULTS, SESSIONS, STATES},
};

/// Removes what must not stay.
pub(super) fn repair(connection: &Connection, loaded: &Loaded) -> Result<()> {
    for (session, gone) in &loaded.strays {
        apply::forget(connection, session, gone)?;
    }
    for table in &loaded.damaged {
        rewrite(connection, loaded, table)?;
    }
    Ok(())
}

fn rewrite(connection: &Connection, loaded: &Loaded, table: &str) -> Result<()> {
    if table == SESSIONS.name {
        SESSIONS.clear(connection)?;
        loaded.sessions.values().try_for_each(|record| rows::put_session(connection, record))
    } else if table == LOGS.name {
        LOGS.clear(connection)?;
        loaded.logs.values().try_for_each(|log| rows::put_head(connection, &log.head))
    } else if table == ENTRIES.name {
        ENTRIES.clear(connection)?;
        let entries = loaded.logs.iter().flat_map(|(id, log)| log.entries.iter().map(|e| (*id, e)));
        entries.into_iter().try_for_each(|(id, entry)| rows::put_entry(connection, id, entry))
    } else if table == RECEIVED.name {
        RECEIVED.clear(connection)?;
        let mut received = loaded.received.iter();
        received.try_for_each(|(session, seen)| rows::put_received(connection, session, seen))
    } else if table == STATES.name {
        STATES.clear(connection)?;
        let mut states = loaded.states.iter();
        states.try_for_each(|(session, state)| rows::put_state(connection, session, state))
    } else {
        RESULTS.clear(connection)?;
        let mut results = loaded.results.iter();
        results.try_for_each(|(key, kept)| rows::put_result(connection, key, kept))
    }
}

impl Loaded {
    /// Returns whether nothing was kept, and nothing is there that cannot be read either.
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
            && self.logs.is_empty()
            && self.received.is_empty()
            && self.states.is_empty()
            && self.results.is_empty()
            && self.damaged.is_empty()
            && self.strays.is_empty()
            && self.audit_newest == 0
    }

    /// Gives up what must not be believed of a file that has lost its newest commits.
    ///
    /// Its logs would give numbers a second time, its positions would ask for what was seen,
    /// and its digests would let a resume token in that was used before.
    pub(super) fn distrust(&mut self) {
        for log in self.logs.values_mut() {
            log.start_over();
        }
        for record in self.sessions.values_mut() {
            record.resume_digest = None;
        }
        self.received.clear();
        self.damaged.extend([SESSIONS.name, LOGS.name, ENTRIES.name, RECEIVED.name]);
        self.findings.push(
            "the file is older than what was reported as kept (a restored copy, or newer writes \
             are lost): logs start over, resume tokens no longer count"
                .to_owned(),
        );
    }
}
