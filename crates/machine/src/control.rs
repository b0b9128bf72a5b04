//! What the command line does with a hub in the background: look at it, and end it.
//!
//! A hub is asked to end over the private socket. One that does not answer is ended by force only
//! if it is wanted, and only if the process is proven to be that hub.

use std::{io, path::Path, time::Duration};

use processes::{Process, Unproven};
use tokio::{io::AsyncReadExt, time};

use crate::{
    private::{self, JoinWelcome, Membership, Question, ReachError},
    process,
    record::{self, HubRecord, RecordError},
};

/// How long a hub may take to answer; one on a busy machine is not called frozen.
const ANSWER: Duration = Duration::from_secs(5);

/// How a data folder's hub is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It runs and answers.
    Running(JoinWelcome),
    /// It runs, which is proven, and does not answer.
    Unresponsive(HubRecord),
    /// It was killed, or the machine lost power: the record is left over.
    Stale(HubRecord),
    /// No hub runs, and the last one has ended by itself.
    NotRunning,
}

/// Why a hub's status cannot be told, or why it was not ended.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Nothing to end: no hub runs for this folder.
    #[error("no hub runs for the data folder {0}")]
    NotRunning(String),
    /// It does not answer, and force is not wanted.
    #[error("the hub (process {0}) runs but does not answer; `tabwire stop --force` ends it")]
    Unresponsive(u32),
    /// It was asked and has not ended in time.
    #[error("the hub (process {pid}) has not ended within {}s", .patience.as_secs())]
    StillRunning {
        /// The hub's process.
        pid: u32,
        /// How long it was waited for.
        patience: Duration,
    },
    /// The process is not ended, because it may be somebody else's.
    #[error("nothing was ended: {0}")]
    Unproven(#[from] Unproven),
    /// The record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The socket cannot be used.
    #[error(transparent)]
    Reach(ReachError),
    /// The system did not do what it was asked.
    #[error("the hub could not be ended: {0}")]
    Failed(#[from] io::Error),
}

/// How a hub came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It was asked and ended by itself.
    Asked,
    /// It did not end when asked, and was killed.
    Forced,
}

/// Returns how the hub of a folder is.
pub async fn status(folder: &Path) -> Result<Status, ControlError> {
    if let Some(hub) = ask(folder, Question::Status).await? {
        return Ok(Status::Running(hub.welcome));
    }
    let Some(record) = record::read(folder)? else { return Ok(Status::NotRunning) };
    Ok(match process::prove(folder, &record) {
        Ok(_) => Status::Unresponsive(record),
        Err(_) if record.stopping => Status::NotRunning,
        Err(_) => Status::Stale(record),
    })
}

/// Ends the hub of a folder and waits for that, at most `patience` for each way that is tried.
pub async fn stop(folder: &Path, force: bool, patience: Duration) -> Result<Stopped, ControlError> {
    let asked = ask(folder, Question::Stop).await?;
    let record = record::read(folder);
    if let Some(hub) = asked {
        let pid = hub.welcome.pid;
        let process = record.as_ref().ok().and_then(Option::as_ref).and_then(|record| {
            let same = record.term == hub.welcome.term;
            same.then(|| process::prove(folder, record).ok()).flatten()
        });
        if time::timeout(patience, ended(process.as_ref(), hub)).await.is_ok() {
            return Ok(Stopped::Asked);
        }
        if !force {
            return Err(ControlError::StillRunning { pid, patience });
        }
    }
    let none = || ControlError::NotRunning(folder.display().to_string());
    let record = record?.ok_or_else(none)?;
    let process = match process::prove(folder, &record) {
        Err(Unproven::Gone) => return Err(none()),
        // Nobody answers and nobody holds the lock: what has the process id by now is no hub.
        Err(Unproven::Foreign { .. }) if !force => return Err(none()),
        proven => proven?,
    };
    if !force {
        return wait_for_its_end(&process, &record, patience).await;
    }
    tracing::warn!(pid = record.pid, "the hub is ended by force");
    process.kill()?;
    match time::timeout(patience, process::ended(&process)).await {
        Ok(()) => Ok(Stopped::Forced),
        Err(_) => Err(ControlError::StillRunning { pid: record.pid, patience }),
    }
}

/// Asks; `None` means that nobody answers.
async fn ask(folder: &Path, question: Question) -> Result<Option<Membership>, ControlError> {
    match time::timeout(ANSWER, private::ask(folder, question)).await {
        Ok(Ok(hub)) => Ok(Some(hub)),
        Ok(Err(error @ ReachError::Folder(_))) => Err(ControlError::Reach(error)),
        Ok(Err(_)) | Err(_) => Ok(None),
    }
}

/// A hub that is ending already answers no more, but it will be gone soon.
async fn wait_for_its_end(
    process: &Process,
    record: &HubRecord,
    patience: Duration,
) -> Result<Stopped, ControlError> {
    if !record.stopping {
        return Err(ControlError::Unresponsive(record.pid));
    }
    match time::timeout(patience, process::ended(process)).await {
        Ok(()) => Ok(Stopped::Asked),
        Err(_) => Err(ControlError::StillRunning { pid: record.pid, patience }),
    }
}

/// Waits until a hub that was asked has ended: its process where that is known, else its end of
/// the connection, which it keeps open until then.
async fn ended(process: Option<&Process>, mut hub: Membership) {
    if let Some(process) = process {
        return process::ended(process).await;
    }
    let mut rest = [0; 64];
    while hub.reading.read(&mut rest).await.is_ok_and(|count| count > 0) {}
}

#[cfg(test)]
mod tests {
    use std::fs;

    use processes::start_time;
    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::{
        fake_hub,
        join::Joiner,
        lock::{self, Lease},
        private::{Arrival, JoinHello, PrivateSocket, welcome},
        test_place::Place,
    };

    const PATIENCE: Duration = Duration::from_secs(30);

    /// Starts a hub that is a process of its own, and returns who it is.
    async fn start(place: &Place) -> JoinWelcome {
        let joiner = Joiner::new(place.path(), Some(fake_hub::program(place.path())));
        let hello = JoinHello { term: 0, client_id: "a".to_owned(), binding: None, folder: None };
        joiner.join(&hello, true).await.unwrap().welcome
    }

    fn signal(pid: u32, signal: Signal) {
        kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
    }

    /// Stops a process and waits until it stands still.
    async fn freeze(pid: u32) {
        signal(pid, Signal::STOP);
        let state = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        while !state().contains(") T ") {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_hub_is_looked_at_and_ended() {
        let place = Place::absent();
        assert_eq!(status(place.path()).await.unwrap(), Status::NotRunning);
        let none = stop(place.path(), true, PATIENCE).await;
        assert!(matches!(none, Err(ControlError::NotRunning(_))), "{none:?}");
        let hub = start(&place).await;
        assert_eq!(status(place.path()).await.unwrap(), Status::Running(hub));
        assert_eq!(stop(place.path(), false, PATIENCE).await.unwrap(), Stopped::Asked);
        assert_eq!(status(place.path()).await.unwrap(), Status::NotRunning);
        let none = stop(place.path(), false, PATIENCE).await;
        assert!(matches!(none, Err(ControlError::NotRunning(_))), "{none:?}");
    }

    #[tokio::test]
    async fn a_frozen_hub_is_ended_by_force_only() {
        let place = Place::absent();
        let hub = start(&place).await;
        freeze(hub.pid).await;
        let soon = Duration::from_millis(100);
        let refused = stop(place.path(), false, soon).await;
        assert!(matches!(refused, Err(ControlError::Unresponsive(pid)) if pid == hub.pid));
        let frozen = status(place.path()).await.unwrap();
        assert!(matches!(frozen, Status::Unresponsive(record) if record.pid == hub.pid));
        let taken = Lease::take(place.path(), || 0);
        assert!(matches!(taken, Err(lock::LeaseError::Taken(_))), "it keeps its lock");
        assert_eq!(stop(place.path(), true, PATIENCE).await.unwrap(), Stopped::Forced);
        assert!(matches!(status(place.path()).await.unwrap(), Status::Stale(_)));
        assert!(Lease::take(place.path(), || 0).unwrap().term() > hub.term);
    }

    #[tokio::test]
    async fn a_killed_hub_leaves_a_record_that_harms_nobody() {
        let place = Place::absent();
        let hub = start(&place).await;
        signal(hub.pid, Signal::KILL);
        while start_time(hub.pid).is_some() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(status(place.path()).await.unwrap(), Status::Stale(_)));
        let none = stop(place.path(), true, PATIENCE).await;
        assert!(matches!(none, Err(ControlError::NotRunning(_))), "{none:?}");
        assert!(start(&place).await.term > hub.term);
        fake_hub::end(place.path()).await;
    }

    /// The record names this very process, which is alive and is no hub.
    #[tokio::test]
    async fn a_process_that_is_not_proven_is_never_ended() {
        let place = Place::private();
        drop(Lease::take(place.path(), || 0).unwrap());
        assert!(matches!(status(place.path()).await.unwrap(), Status::Stale(_)));
        let refused = stop(place.path(), false, PATIENCE).await;
        assert!(matches!(refused, Err(ControlError::NotRunning(_))), "{refused:?}");
        let refused = stop(place.path(), true, PATIENCE).await;
        assert!(matches!(refused, Err(ControlError::Unproven(_))), "{refused:?}");
        fs::remove_file(place.path().join(lock::FILE)).unwrap();
        let refused = stop(place.path(), true, PATIENCE).await;
        assert!(matches!(refused, Err(ControlError::Unproven(_))), "{refused:?}");
        fs::write(place.path().join(record::FILE), "{").unwrap();
        let refused = stop(place.path(), true, PATIENCE).await;
        assert!(matches!(refused, Err(ControlError::Record(_))), "{refused:?}");
    }

    #[tokio::test]
    async fn a_hub_that_only_says_yes_is_still_running() {
        let place = Place::private();
        let mut lease = Lease::take(place.path(), || 0).unwrap();
        let us = lease.announce(1, "1").unwrap();
        let socket = PrivateSocket::open(place.path()).await.unwrap();
        let hub = async { welcome(socket.accept().await.unwrap(), &us).await.unwrap() };
        let soon = Duration::from_millis(50);
        let (stopped, arrival) = tokio::join!(stop(place.path(), false, soon), hub);
        assert!(matches!(stopped, Err(ControlError::StillRunning { .. })), "{stopped:?}");
        assert!(matches!(arrival, Arrival::Stop(_)));
    }
}
