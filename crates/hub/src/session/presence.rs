//! Whether a session's peer is here, and since when it is here or away.
//!
//! Time is measured by the hub's own clock; the wall clock counts only for what a restart of the
//! hub would lose: since when the peer is away.

use std::{sync::Arc, time::Duration};

use tokio::{sync::Notify, time::Instant};

use crate::outbox::Outbox;

/// A session's connection, or its absence.
pub(super) struct Presence {
    /// Connections so far; the newest one's number.
    pub(super) connections: u64,
    /// Being forgotten is on the agenda.
    pub(super) forget_due: bool,
    peer: Peer,
}

enum Peer {
    Here(Link),
    Away(Absence),
}

/// The connection a session has.
pub(super) struct Link {
    pub(super) number: u64,
    pub(super) outbox: Outbox,
    /// Counts what was heard, for whoever wants to know whether the peer is still there.
    pub(super) heard: u64,
    pub(super) hearing: Arc<Notify>,
    /// The peer has proven that it is paired, and is on this machine.
    pub(super) at_home: bool,
    /// The peer said that it leaves on purpose.
    pub(super) leaving: bool,
    since: Instant,
}

struct Absence {
    after: After,
    since: Instant,
    /// How long its peer had been away when it was brought back.
    before: Duration,
    /// Since when by the wall clock; none while nobody knows.
    since_ms: Option<u64>,
}

/// What was before an absence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// Nothing: the session is new.
    Nothing,
    /// Another hub, whose session was brought back.
    Restart,
    /// A connection whose calls have ended.
    Connection,
    /// A connection whose calls wait for the peer to come back.
    ConnectionWithCalls,
}

impl Presence {
    /// Of a session that was made, or brought back if its peer was known before.
    pub(super) fn restore(known_before: bool, away_since_ms: Option<u64>) -> Self {
        // The wall clock is all that a restart leaves; one that went back tells nothing.
        let before = away_since_ms.map_or(Duration::ZERO, |since| {
            Duration::from_millis(store::wall_clock_ms().saturating_sub(since))
        });
        let after = if known_before { After::Restart } else { After::Nothing };
        let absence = Absence { after, since: Instant::now(), before, since_ms: away_since_ms };
        Self { connections: 0, forget_due: false, peer: Peer::Away(absence) }
    }

    /// The peer is here by a new connection; returns what was before.
    pub(super) fn arrive(&mut self, outbox: Outbox, at_home: bool) -> After {
        self.connections += 1;
        let (number, since) = (self.connections, Instant::now());
        let (heard, hearing, leaving) = Default::default();
        let link = Link { number, outbox, heard, hearing, at_home, leaving, since };
        match std::mem::replace(&mut self.peer, Peer::Here(link)) {
            Peer::Here(_) => After::Connection,
            Peer::Away(absence) => absence.after,
        }
    }

    /// The peer is gone; returns the connection that it had.
    pub(super) fn leave(&mut self) -> Option<Link> {
        let (after, since, before) = (After::Connection, Instant::now(), Duration::ZERO);
        let since_ms = Some(store::wall_clock_ms());
        let absence = Absence { after, since, before, since_ms };
        match std::mem::replace(&mut self.peer, Peer::Away(absence)) {
            Peer::Here(link) => Some(link),
            before @ Peer::Away(_) => {
                self.peer = before;
                None
            }
        }
    }

    /// Calls wait for the peer, which has just left.
    pub(super) fn keep_calls(&mut self) {
        if let Peer::Away(absence) = &mut self.peer {
            absence.after = After::ConnectionWithCalls;
        }
    }

    /// No call waits for the peer any more; returns whether some did.
    pub(super) fn drop_calls(&mut self) -> bool {
        let kept = self.keeps_calls();
        if let Peer::Away(absence) = &mut self.peer
            && kept
        {
            absence.after = After::Connection;
        }
        kept
    }

    /// Whether calls wait for the peer, which is away.
    pub(super) fn keeps_calls(&self) -> bool {
        matches!(&self.peer, Peer::Away(absence) if absence.after == After::ConnectionWithCalls)
    }

    /// Counts the absence of a peer whose last hub died while it was there from now on; returns
    /// whether that is news.
    pub(super) fn count_from_now(&mut self) -> bool {
        match &mut self.peer {
            Peer::Away(Absence { since_ms: since @ None, .. }) => {
                *since = Some(store::wall_clock_ms());
                true
            }
            _ => false,
        }
    }

    pub(super) fn is_here(&self) -> bool {
        self.link().is_some()
    }

    pub(super) fn link(&self) -> Option<&Link> {
        match &self.peer {
            Peer::Here(link) => Some(link),
            Peer::Away(_) => None,
        }
    }

    /// Returns the connection, if it is the one of this number.
    pub(super) fn link_mut(&mut self, number: u64) -> Option<&mut Link> {
        match &mut self.peer {
            Peer::Here(link) => Some(link).filter(|link| link.number == number),
            Peer::Away(_) => None,
        }
    }

    /// Returns how long the peer has been here, or away.
    pub(super) fn unchanged_for(&self) -> Duration {
        match &self.peer {
            Peer::Here(link) => link.since.elapsed(),
            Peer::Away(absence) => absence.since.elapsed() + absence.before,
        }
    }

    /// Returns since when the peer is away by the wall clock, for the next hub.
    pub(super) fn away_since_ms(&self) -> Option<u64> {
        match &self.peer {
            Peer::Here(_) => None,
            Peer::Away(absence) => absence.since_ms,
        }
    }
}
