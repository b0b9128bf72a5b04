//! Between those who write and the one thread that commits.
//!
//! [`Queue::push`] never waits: a batch is taken at once or refused at once. When so many bytes
//! wait that one more batch would pass the limit, it is refused, and the store says that it is
//! degraded until the next commit; what makes room is always taken. Nothing is dropped.
//!
//! What somebody waits for is committed at once, with all that was written before it. What nobody
//! waits for lingers, so that a commit costs many writes little instead of each of them much.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use model::record::LogKind;
use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use super::{changes::Changes, weight::Weight};
use crate::{AuditLine, Health, StoreError, StoreWrite, WriteTicket, kept::Kept};

/// What waits, and how it stands with the disk.
pub(super) struct Queue {
    // A blocking mutex: held to add a batch or to take all, never during I/O or an await.
    waiting: Mutex<Waiting>,
    changed: Condvar,
    synced: Arc<watch::Sender<u64>>,
    limit: usize,
    linger: Duration,
}

struct Waiting {
    changes: Changes,
    /// Until then all that waits may go on waiting; `None` when somebody waits for some of it.
    linger_until: Option<Instant>,
    /// The part that the writer is committing: its weight and its audit lines.
    taken: (usize, Vec<Arc<AuditLine>>),
    /// The number of the newest batch.
    written: u64,
    health: Health,
    fenced: Option<StoreError>,
    /// Nothing is tried again before, however much somebody waits for it.
    retry_at: Option<Instant>,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// No more is taken; what waits is tried once more.
    Flushing,
    /// No more is taken, and what waits is left.
    Abandoned,
    /// The writer is gone.
    Ended,
}

/// What the writer does next.
pub(super) enum Turn {
    /// Commit these.
    Write(Box<Changes>),
    /// Nothing was written for a while.
    Rest,
    /// Stop; `crash` leaves the file as it is.
    End { crash: bool },
}

/// What is to be done with what waits.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Take,
    /// Nothing, until then at most; without a time until something changes.
    Wait(Option<Instant>),
    End {
        crash: bool,
    },
}

impl Queue {
    /// Makes a queue that holds up to about so many bytes. What nobody waits for lingers in it.
    pub fn new(limit: usize, linger: Duration) -> Self {
        let waiting = Waiting {
            changes: Changes::default(),
            linger_until: None,
            taken: (0, Vec::new()),
            written: 0,
            health: Health::Ok,
            fenced: None,
            retry_at: None,
            stage: Stage::Open,
        };
        Self {
            waiting: Mutex::new(waiting),
            changed: Condvar::new(),
            synced: Arc::new(watch::Sender::new(0)),
            limit,
            linger,
        }
    }

    /// Takes a batch and enters it into memory, or says why not. One that holds nothing ends the
    /// lingering of what is there.
    pub fn push(&self, kept: &mut Kept, batch: Vec<StoreWrite>) -> Result<WriteTicket, StoreError> {
        let mut waiting = self.waiting.lock();
        if let Some(fenced) = &waiting.fenced {
            return Err(fenced.clone());
        }
        if waiting.stage != Stage::Open {
            return Err(StoreError::Unavailable("it is closed".into()));
        }
        let weight = waiting.changes.weight() + waiting.taken.0 + batch.weight();
        if weight > self.limit && !batch.iter().all(frees) {
            return Err(waiting.refuse(self.limit));
        }
        // Lingering must never be why there is no room.
        let lingers = !batch.is_empty() && batch.iter().all(lingers) && weight <= self.limit / 2;
        let was_empty = waiting.changes.is_empty();
        let number = waiting.written + 1;
        for write in batch {
            kept.enter(write, |change| waiting.changes.add(number, change));
        }
        waiting.written = waiting.written.max(waiting.changes.upto);
        let first = was_empty && !waiting.changes.is_empty();
        if first && lingers {
            waiting.linger_until = Some(Instant::now() + self.linger);
        }
        let hurried = !lingers && waiting.hurry();
        let ticket = WriteTicket::new(self.synced.clone(), waiting.written);
        drop(waiting);
        // Once for all that is taken together: waking a thread costs as much as a call may.
        if first || hurried {
            self.changed.notify_one();
        }
        Ok(ticket)
    }

    /// Returns the error that every write gets since another hub has the store.
    pub fn fenced(&self) -> Option<StoreError> {
        self.waiting.lock().fenced.clone()
    }

    /// Watches up to which number everything is on disk.
    pub fn synced(&self) -> watch::Receiver<u64> {
        self.synced.subscribe()
    }

    /// Returns whether writes reach the disk.
    pub fn health(&self) -> Health {
        self.waiting.lock().health.clone()
    }

    /// Returns the audit lines after a number that may not be in the file yet.
    pub fn audit_after(&self, after: u64) -> Vec<Arc<AuditLine>> {
        let waiting = self.waiting.lock();
        let lines = waiting.taken.1.iter().chain(&waiting.changes.audit);
        lines.filter(|line| line.number > after).cloned().collect()
    }

    /// Ends it and waits until the writer is gone, at most for so long; returns whether it is.
    ///
    /// Everything is tried once more before, unless it is abandoned.
    pub fn close(&self, abandon: bool, within: Duration) -> bool {
        let mut waiting = self.waiting.lock();
        if waiting.stage == Stage::Open {
            waiting.stage = if abandon { Stage::Abandoned } else { Stage::Flushing };
            self.changed.notify_all();
        }
        let until = Instant::now() + within;
        while waiting.stage != Stage::Ended {
            if self.changed.wait_until(&mut waiting, until).timed_out() {
                return false;
            }
        }
        true
    }

    /// Returns an error if something that was written is not on disk.
    pub fn farewell(&self) -> Result<(), StoreError> {
        let waiting = self.waiting.lock();
        let synced = *self.synced.borrow();
        if let Some(fenced) = &waiting.fenced {
            return Err(fenced.clone());
        }
        if synced >= waiting.written {
            return Ok(());
        }
        let reason = match &waiting.health {
            Health::Degraded { reason } => reason,
            _ => "the store was closed before",
        };
        let lost = waiting.written - synced;
        Err(StoreError::Unavailable(format!("{lost} writes are not on disk: {reason}")))
    }

    /// Waits for the writer's next turn. `rest_after` says when nothing to do is worth a turn.
    pub fn take(&self, rest_after: Option<Duration>) -> Turn {
        let rest_at = rest_after.map(|rest_after| Instant::now() + rest_after);
        let mut waiting = self.waiting.lock();
        loop {
            let due = match waiting.next(Instant::now()) {
                Next::Take => return waiting.take_all(),
                Next::End { crash } => return Turn::End { crash },
                Next::Wait(due) => due,
            };
            let Some(until) = due.or(rest_at) else {
                self.changed.wait(&mut waiting);
                continue;
            };
            let timed_out = self.changed.wait_until(&mut waiting, until).timed_out();
            if timed_out && due.is_none() && waiting.changes.is_empty() {
                return Turn::Rest;
            }
        }
    }

    /// Takes note that everything up to a number is on disk.
    pub fn committed(&self, upto: u64) {
        let mut waiting = self.waiting.lock();
        waiting.taken = (0, Vec::new());
        let before = std::mem::replace(&mut waiting.health, Health::Ok);
        drop(waiting);
        self.synced.send_replace(upto);
        if before != Health::Ok {
            tracing::info!(upto, "the store writes again; all that waited is on disk");
        }
    }

    /// Takes back what could not be committed; it is tried again after a pause.
    pub fn put_back(&self, mut changes: Changes, reason: String, pause: Duration) {
        let mut waiting = self.waiting.lock();
        if waiting.health == Health::Ok {
            tracing::error!(reason, "the store cannot write; memory goes on serving");
        }
        changes.absorb(std::mem::take(&mut waiting.changes));
        waiting.changes = changes;
        waiting.linger_until = None;
        waiting.taken = (0, Vec::new());
        waiting.health = Health::Degraded { reason };
        waiting.retry_at = Some(Instant::now() + pause);
        if waiting.stage == Stage::Flushing {
            waiting.stage = Stage::Abandoned;
        }
    }

    /// Takes note that another hub has the store: nothing is written any more.
    pub fn fence(&self, ours: u64, theirs: u64) {
        tracing::error!(ours, theirs, "another hub has taken over the store; writing ends");
        let mut waiting = self.waiting.lock();
        waiting.changes = Changes::default();
        waiting.taken = (0, Vec::new());
        waiting.health = Health::Fenced;
        waiting.fenced = Some(StoreError::Fenced { ours, theirs });
    }

    /// Takes note that the writer is gone, well or not.
    pub fn ended(&self) {
        let mut waiting = self.waiting.lock();
        if waiting.stage == Stage::Open && waiting.fenced.is_none() {
            tracing::error!("the store's writer has ended before its time");
            waiting.health = Health::Degraded { reason: "its writer has ended".into() };
        }
        waiting.stage = Stage::Ended;
        self.changed.notify_all();
    }
}

impl Waiting {
    /// Says what is to be done now.
    fn next(&self, now: Instant) -> Next {
        match self.stage {
            Stage::Flushing if !self.changes.is_empty() => return Next::Take,
            Stage::Flushing | Stage::Ended => return Next::End { crash: false },
            Stage::Abandoned => return Next::End { crash: true },
            Stage::Open if self.changes.is_empty() => return Next::Wait(None),
            Stage::Open => {}
        }
        match self.retry_at.or(self.linger_until) {
            Some(until) if now < until => Next::Wait(Some(until)),
            _ => Next::Take,
        }
    }

    /// Ends the lingering; returns whether there was any.
    fn hurry(&mut self) -> bool {
        self.linger_until.take().is_some()
    }

    fn take_all(&mut self) -> Turn {
        (self.linger_until, self.retry_at) = (None, None);
        let changes = std::mem::take(&mut self.changes);
        self.taken = (changes.weight(), changes.audit.clone());
        Turn::Write(Box::new(changes))
    }

    fn refuse(&mut self, limit: usize) -> StoreError {
        let reason = match &self.health {
            Health::Degraded { reason } => reason.clone(),
            _ => format!("more than {limit} bytes wait for the disk"),
        };
        self.health = Health::Degraded { reason: reason.clone() };
        StoreError::Unavailable(reason)
    }
}

/// Returns whether nobody waits for a write, so that it may wait for others: the trace that calls
/// leave, and what is dropped from logs.
fn lingers(write: &StoreWrite) -> bool {
    match write {
        StoreWrite::Audit(_) | StoreWrite::Trim(..) => true,
        StoreWrite::Append(log, _) => log.kind() == LogKind::Feed,
        StoreWrite::Session(..)
        | StoreWrite::Open(_)
        | StoreWrite::Forget(_)
        | StoreWrite::Received(..)
        | StoreWrite::State(..)
        | StoreWrite::Result(..) => false,
    }
}

/// Returns whether a write makes room, and so is taken when there is none.
fn frees(write: &StoreWrite) -> bool {
    matches!(write, StoreWrite::Forget(_) | StoreWrite::Trim(..))
}

#[cfg(test)]
mod tests;
