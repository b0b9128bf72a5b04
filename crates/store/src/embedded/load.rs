//! Reads a whole file into memory and judges what can be trusted.
//!
//! A row counts only with its checksum; a log counts only if it holds exactly the numbers that
//! its head says, and starts over, empty and with a new epoch, if it does not. Reports what is
//! wrong and changes nothing: that is `repair`'s business.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use model::{
    Epoch, Position, Sequence, SessionId,
    record::{LogKind, SessionRecord, StateRecord},
};
use rusqlite::{Connection, Result};

use super::{
    rows,
    schema::Meta,
    table::{AUDIT, Count, ENTRIES, LOGS, RECEIVED, RESULTS, SESSIONS, STATES, Table},
};
use crate::change::{Gone, Head, KeptResult, LogId, PlaceId, Placed};

/// Everything that can be trusted, and what cannot.
#[derive(Default)]
pub(super) struct Loaded {
    pub sessions: BTreeMap<SessionId, SessionRecord>,
    pub logs: BTreeMap<LogId, LoadedLog>,
    pub received: HashMap<SessionId, Position>,
    pub states: HashMap<SessionId, Arc<StateRecord>>,
    pub results: HashMap<String, KeptResult>,
    pub audit_newest: u64,
    /// The last place that was ever used for a message that is still there.
    pub last_place: PlaceId,
    /// Tables that hold something that must not stay.
    pub damaged: BTreeSet<&'static str>,
    /// Sessions that have rows and were never saved.
    pub strays: HashMap<SessionId, Gone>,
    /// How many rows each table has.
    pub counts: Vec<(&'static str, Count)>,
    /// What is wrong, for people.
    pub findings: Vec<String>,
}

/// One log with its messages.
pub(super) struct LoadedLog {
    pub head: Head,
    pub entries: Vec<Placed>,
}

/// Reads the tables of the newest format, or of an older one.
pub(super) fn load(connection: &Connection, format: u32) -> Result<Loaded> {
    let mut loaded = Loaded::default();
    loaded.read(connection, &SESSIONS, rows::session, |loaded, (id, record)| {
        loaded.sessions.insert(id, record);
    })?;
    loaded.read(connection, &LOGS, rows::head, |loaded, head| {
        loaded.logs.insert(head.id, LoadedLog { head, entries: Vec::new() });
    })?;
    loaded.read(connection, &ENTRIES, rows::entry, Loaded::take_entry)?;
    if format >= 2 {
        loaded.read(connection, &RECEIVED, rows::received, |loaded, (session, seen)| {
            loaded.received.insert(session, seen);
        })?;
        loaded.read(connection, &STATES, rows::state, |loaded, (session, state)| {
            loaded.states.insert(session, state);
        })?;
        loaded.read(connection, &RESULTS, rows::result, |loaded, (key, kept)| {
            loaded.results.insert(key, kept);
        })?;
        loaded.audit_newest = match Meta::read(connection)?.number("audit") {
            Some(newest) => newest,
            // A number counts only with its checksum: a wrong one would trim all the others.
            None => {
                let mut newest = 0;
                AUDIT.read(connection, rows::audit, |line| newest = line.number)?;
                newest
            }
        };
    }
    loaded.drop_strays();
    loaded.judge_logs();
    Ok(loaded)
}

impl Loaded {
    fn read<T>(
        &mut self,
        connection: &Connection,
        table: &Table,
        decode: impl Fn(&rusqlite::Row<'_>) -> Option<T>,
        take: impl Fn(&mut Self, T),
    ) -> Result<()> {
        let count = table.read(connection, decode, |value| take(self, value))?;
        self.counts.push((table.name, count));
        if count.bad > 0 {
            self.damaged.insert(table.name);
            let (bad, name) = (count.bad, table.name);
            self.findings.push(format!("{name}: {bad} rows are not what was written"));
        }
        Ok(())
    }

    fn take_entry(&mut self, (log, placed): (LogId, Placed)) {
        self.last_place = placed.place;
        match self.logs.get_mut(&log) {
            Some(log) => log.entries.push(placed),
            None if self.damaged.insert(ENTRIES.name) => {
                self.findings.push(format!("entries: messages of an unknown log {}", log.0));
            }
            None => {}
        }
    }

    /// What belongs to no session would stay for ever: nobody forgets it.
    fn drop_strays(&mut self) {
        let sessions = &self.sessions;
        let is_stray = |session: &SessionId| !sessions.contains_key(session);
        let strays = &mut self.strays;
        self.logs.retain(|id, log| {
            let stray = is_stray(&log.head.session);
            if stray {
                let gone = strays.entry(log.head.session.clone()).or_default();
                gone.logs.push(*id);
                gone.places.extend(log.entries.iter().map(|placed| placed.place));
            }
            !stray
        });
        for session in self.received.keys().chain(self.states.keys()) {
            if is_stray(session) {
                strays.entry(session.clone()).or_default();
            }
        }
        self.received.retain(|session, _| !is_stray(session));
        self.states.retain(|session, _| !is_stray(session));
        if self.damaged.contains(SESSIONS.name) {
            let gone = self.strays.keys().map(|session| format!("session {session} is gone"));
            self.findings.extend(gone);
        }
    }

    fn judge_logs(&mut self) {
        let mut seen: HashSet<(SessionId, LogKind)> = HashSet::new();
        let mut twice = Vec::new();
        for log in self.logs.values_mut() {
            if !seen.insert((log.head.session.clone(), log.head.kind)) {
                twice.push(log.head.id);
            } else if let Err(why) = log.judge() {
                let (kind, session) = (rows::word_of(log.head.kind), &log.head.session);
                self.findings.push(format!("log {kind} of {session}: {why}; it starts over"));
                self.damaged.extend([LOGS.name, ENTRIES.name]);
                log.start_over();
            }
        }
        for id in twice {
            self.logs.remove(&id);
            self.damaged.extend([LOGS.name, ENTRIES.name]);
            self.findings.push(format!("log {}: there is another one for the same", id.0));
        }
    }
}

impl LoadedLog {
    /// Makes it a new log in the old one's place.
    pub fn start_over(&mut self) {
        self.entries.clear();
        self.head.epoch = Epoch::mint();
        self.head.newest = Sequence(0);
        self.head.oldest = Sequence(1);
    }

    fn judge(&self) -> std::result::Result<(), String> {
        let Head { oldest, newest, .. } = &self.head;
        let expected = oldest.0..=newest.0;
        if oldest.0 == 0 || oldest.0 > newest.next().0 {
            return Err(format!("it cannot hold {oldest} to {newest}"));
        }
        let wrong = |(placed, number): (&Placed, u64)| placed.entry.sequence != number;
        let held = self.entries.len() as u64;
        if held != newest.next().0 - oldest.0 || self.entries.iter().zip(expected).any(wrong) {
            return Err(format!("it should hold {oldest} to {newest} and holds {held} messages"));
        }
        Ok(())
    }
}
