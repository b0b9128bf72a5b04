//! What a write changes: with the number that it got, and its place among all messages.
//!
//! [`crate::kept`] enters a write into memory and says this of it, for a back-end that writes it
//! down. No I/O.

use std::{sync::Arc, time::Duration};

use model::{
    Epoch, Position, Sequence, SessionId,
    record::{LogEntry, LogKind, ResultRecord, SessionRecord, StateRecord},
};

use crate::AuditLine;

/// A log's number in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LogId(pub u64);

/// A message's place in the file; places grow in the order of writing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PlaceId(pub u64);

/// A message and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub place: PlaceId,
    pub entry: Arc<LogEntry>,
}

/// What a log must hold: everything from `oldest` to `newest`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub id: LogId,
    pub session: SessionId,
    pub kind: LogKind,
    pub epoch: Epoch,
    pub newest: Sequence,
    pub oldest: Sequence,
}

/// A result with the time that it is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptResult {
    pub record: Arc<ResultRecord>,
    /// The wall clock, because a process does not outlive itself.
    pub saved_ms: u64,
    pub ttl: Duration,
}

/// What is gone with a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gone {
    pub logs: Vec<LogId>,
    pub places: Vec<PlaceId>,
}

/// What one write changed.
pub(crate) enum Change {
    Session(Box<SessionRecord>),
    Forget(SessionId, Gone),
    Received(SessionId, Position),
    State(SessionId, Arc<StateRecord>),
    /// A log is like this now.
    Open(Head),
    /// … because it has one more message.
    Append(Head, Placed),
    /// … because these messages are gone.
    Trim(Head, Vec<PlaceId>),
    Result(String, KeptResult),
    Audit(Arc<AuditLine>),
}
