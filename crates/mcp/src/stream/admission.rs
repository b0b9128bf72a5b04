//! Who may enter: bounds the requests that a stream has open and the answers it has not written.
//!
//! Holds ids, counts and the room of each answer; refusing and waiting is the transport's.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use rmcp::model::RequestId;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit},
    time::{self, Instant},
};

use super::Limits;
use crate::large_answers::AnswerRoom;

/// The requests that have no answer yet.
#[derive(Default)]
pub(super) struct OpenRequests {
    // A blocking mutex: held for one map operation, never across an await.
    table: Mutex<Table>,
    left: Notify,
}

#[derive(Default)]
struct Table {
    rooms: HashMap<RequestId, AnswerRoom>,
    /// Since when there has been no room at all.
    full_since: Option<Instant>,
}

/// What came of entering a request.
pub(super) enum Entry {
    Entered,
    InUse,
    Full,
}

impl OpenRequests {
    /// Enters `id`, after a wait for room if need be. Cancel-safe.
    pub(super) async fn enter(&self, id: &RequestId, room: &AnswerRoom, limits: &Limits) -> Entry {
        loop {
            let left = self.left.notified();
            let full_since = match self.table.lock().enter(id, room, limits.open) {
                Ok(entry) => return entry,
                Err(full_since) => full_since,
            };
            if time::timeout_at(full_since + limits.patience, left).await.is_err() {
                return Entry::Full;
            }
        }
    }

    /// Lets another request in; returns what its answer has reserved. Unknown ids are ignored.
    pub(super) fn leave(&self, id: &RequestId) -> Option<OwnedSemaphorePermit> {
        let mut table = self.table.lock();
        let room = table.rooms.remove(id)?;
        table.full_since = None;
        self.left.notify_waiters();
        room.close()
    }
}

impl Table {
    /// Enters `id`, or says since when there has been no room.
    fn enter(&mut self, id: &RequestId, room: &AnswerRoom, limit: usize) -> Result<Entry, Instant> {
        if self.rooms.contains_key(id) {
            return Ok(Entry::InUse);
        }
        if let Some(full_since) = self.full_since {
            return Err(full_since);
        }
        self.rooms.insert(id.clone(), room.clone());
        self.full_since = (self.rooms.len() >= limit).then(Instant::now);
        Ok(Entry::Entered)
    }
}

/// Counts messages that wait for the client to read.
#[derive(Default)]
pub(super) struct Backlog {
    waiting: AtomicUsize,
    fewer: Notify,
}

/// One message that is not written yet.
pub(super) struct Counted(Arc<Backlog>);

impl Backlog {
    /// Counts one message until the result is dropped.
    pub(super) fn count(self: Arc<Self>) -> Counted {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        Counted(self)
    }

    /// Waits until fewer than `limit` are counted. Cancel-safe.
    pub(super) async fn below(&self, limit: usize) {
        loop {
            let fewer = self.fewer.notified();
            if self.waiting.load(Ordering::Acquire) < limit {
                return;
            }
            fewer.await;
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
        self.0.fewer.notify_waiters();
    }
}
