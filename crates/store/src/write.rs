//! What is written, as values, and the ticket on which one waits until it is on disk.
//!
//! Nothing is done here: a store takes a batch of [`StoreWrite`]s and returns its [`WriteTicket`].

use std::{sync::Arc, time::Duration};

use model::{
    Position, Sequence, SessionId,
    record::{AuditRecord, ResultRecord, SessionRecord, StateRecord},
};
use tokio::sync::watch;

use crate::{Log, NewEntry};

/// One write.
#[derive(Debug)]
pub enum StoreWrite {
    /// Keeps a session, replacing what was kept under its id.
    Session(SessionId, Box<SessionRecord>),
    /// Begins the logs that a session lacks, with new epochs.
    Open(SessionId),
    /// Drops a session and all that belongs to it. Its logs go on working for whoever holds them,
    /// but nothing of that is kept.
    Forget(SessionId),
    /// Keeps how far the log of a session's browser has been seen.
    Received(SessionId, Position),
    /// Keeps a session's state, replacing the one before.
    State(SessionId, StateRecord),
    /// Adds a message to a log, under its next number. A crash may give a number again that was not
    /// yet on disk: tell nobody before it is.
    Append(Log, NewEntry),
    /// Drops everything in a log up to and including a number.
    Trim(Log, Sequence),
    /// Keeps how the call with a key ended, for so long.
    Result(String, ResultRecord, Duration),
    /// Adds an audit line.
    Audit(AuditRecord),
}

/// Tells whether a batch is on disk. It stays open for ever if that never happens.
#[derive(Debug, Clone)]
pub struct WriteTicket(Option<(Arc<watch::Sender<u64>>, u64)>);

impl WriteTicket {
    /// Makes the ticket of a batch that is on disk once a counter has reached its number.
    pub fn new(synced: Arc<watch::Sender<u64>>, number: u64) -> Self {
        Self(Some((synced, number)))
    }

    /// Makes the ticket of what nobody has to wait for.
    pub fn done() -> Self {
        Self(None)
    }

    /// Returns whether it is on disk.
    pub fn is_done(&self) -> bool {
        self.0.as_ref().is_none_or(|(synced, number)| *synced.borrow() >= *number)
    }

    /// Waits until it is on disk. Cancel-safe.
    pub async fn wait(&self) {
        if let Some((synced, number)) = &self.0 {
            // It cannot fail: the ticket holds the sender.
            let _ = synced.subscribe().wait_for(|synced| synced >= number).await;
        }
    }
}
