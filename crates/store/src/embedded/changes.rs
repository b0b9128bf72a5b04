//! What waits for the disk, merged: of what is replaced, only the newest is there.
//!
//! All that waits is written in one transaction, so the order within does not matter and one
//! table per kind is enough. Merging keeps it small while the disk refuses: a message that was
//! trimmed before it was written is never written. No I/O.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use model::{
    Position, SessionId,
    record::{SessionRecord, StateRecord},
};

use super::weight::{FIXED, PLACE, Weight, put, put_all, take};
use crate::{
    AuditLine,
    change::{Change, Gone, Head, KeptResult, LogId, PlaceId, Placed},
};

/// Merged writes.
#[derive(Default)]
pub(super) struct Changes {
    /// Done before everything else: what follows a forgotten session is a new one.
    pub forgotten: HashMap<SessionId, Gone>,
    pub sessions: HashMap<String, SessionRecord>,
    pub received: HashMap<SessionId, Position>,
    pub states: HashMap<SessionId, Arc<StateRecord>>,
    pub logs: HashMap<LogId, LogChange>,
    pub results: HashMap<String, KeptResult>,
    pub audit: Vec<Arc<AuditLine>>,
    /// The number of the newest write in here; 0 when nothing is.
    pub upto: u64,
    weight: usize,
}

/// What is new in one log.
#[derive(Debug)]
pub(super) struct LogChange {
    pub head: Head,
    pub entries: VecDeque<Placed>,
    /// Messages that are in the file and must not stay.
    pub dropped: Vec<PlaceId>,
}

impl Changes {
    /// Adds a write with its number.
    pub fn add(&mut self, number: u64, change: Change) {
        self.upto = number;
        let weight = &mut self.weight;
        match change {
            Change::Session(record) => {
                put(&mut self.sessions, record.id.clone(), *record, weight);
            }
            Change::Forget(session, gone) => self.forget(session, gone),
            Change::Received(session, seen) => put(&mut self.received, session, seen, weight),
            Change::State(session, record) => put(&mut self.states, session, record, weight),
            Change::Open(head) => {
                self.log(head);
            }
            Change::Append(head, placed) => self.append(head, placed),
            Change::Trim(head, dropped) => self.trim(head, dropped),
            Change::Result(key, kept) => put(&mut self.results, key, kept, weight),
            Change::Audit(line) => {
                *weight += line.weight();
                self.audit.push(line);
            }
        }
    }

    /// Adds everything that was written after it.
    pub fn absorb(&mut self, later: Self) {
        if later.is_empty() {
            return;
        }
        for (session, gone) in later.forgotten {
            self.forget(session, gone);
        }
        let weight = &mut self.weight;
        put_all(&mut self.sessions, later.sessions, weight);
        put_all(&mut self.received, later.received, weight);
        put_all(&mut self.states, later.states, weight);
        put_all(&mut self.results, later.results, weight);
        *weight += later.audit.iter().map(|line| line.weight()).sum::<usize>();
        self.audit.extend(later.audit);
        for change in later.logs.into_values() {
            self.trim(change.head.clone(), change.dropped);
            for placed in change.entries {
                self.append(change.head.clone(), placed);
            }
        }
        self.upto = later.upto;
    }

    /// Returns whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.upto == 0
    }

    /// Returns about how many bytes wait.
    pub fn weight(&self) -> usize {
        self.weight
    }

    fn forget(&mut self, session: SessionId, mut gone: Gone) {
        let weight = &mut self.weight;
        take(&mut self.sessions, session.as_str(), weight);
        take(&mut self.received, &session, weight);
        take(&mut self.states, &session, weight);
        for log in &gone.logs {
            // What waits is not written, but what was to be dropped still must be.
            let change = take(&mut self.logs, log, weight);
            gone.places.extend(change.into_iter().flat_map(|change| change.dropped));
        }
        let forgotten = self.forgotten.entry(session).or_insert_with(|| {
            *weight += FIXED;
            Gone::default()
        });
        *weight += gone.places.len() * PLACE;
        forgotten.logs.extend(gone.logs);
        forgotten.places.extend(gone.places);
    }

    fn append(&mut self, head: Head, placed: Placed) {
        self.weight += placed.weight();
        self.log(head).entries.push_back(placed);
    }

    fn trim(&mut self, head: Head, dropped: Vec<PlaceId>) {
        let log = self.log(head);
        let (mut less, mut more) = (0, 0);
        for place in dropped {
            // What was not written yet never will be.
            match log.entries.pop_front_if(|first| first.place == place) {
                Some(placed) => less += placed.weight(),
                None => {
                    log.dropped.push(place);
                    more += PLACE;
                }
            }
        }
        self.weight = self.weight + more - less;
    }

    fn log(&mut self, head: Head) -> &mut LogChange {
        let log = self.logs.entry(head.id).or_insert_with(|| {
            self.weight += FIXED;
            LogChange { head: head.clone(), entries: VecDeque::new(), dropped: Vec::new() }
        });
        log.head = head;
        log
    }
}
