//! Joining the hub of this machine, or starting one in the background and joining that.
//!
//! However many relays find no hub at the same moment, one of them starts it: a lock on
//! `start.lock` says who. Should two hubs be started all the same, the lock on the hub itself
//! decides; the loser ends quietly with a code of its own, and everybody joins the winner. A hub
//! that cannot start says why in its log, and that is the error.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    process::{Child, Command},
    time::{self, Instant},
};

use crate::{
    folder::{self, FolderError},
    lock::{self, Locked},
    log,
    private::{self, JoinHello, Membership, ReachError},
    record,
};

/// The exit code of a hub that found another one at work.
pub const LOST: u8 = 5;

/// The lock of whoever starts a hub.
const START_LOCK: &str = "start.lock";
/// How long a hub may take from its start until it answers.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether it answers, at first and later.
const PAUSES: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(20)];
/// How long "at first" is.
const SOON: Duration = Duration::from_millis(200);
/// How long to wait after a hub has lost against another one that does not answer yet.
const AFTER_LOSS: Duration = Duration::from_millis(100);
/// How many of its last lines say why a hub did not start.
const LAST_LINES: usize = 5;

/// How a hub is started in the background.
#[derive(Debug, Clone)]
pub struct StartHub {
    /// The program that becomes the hub.
    pub program: PathBuf,
    /// Its arguments: everything that makes it the hub of this very data folder.
    pub args: Vec<OsString>,
}

/// Why a relay has not joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// No hub could be reached.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// No hub could be started.
    #[error("no hub could be started: {0}")]
    Start(#[from] StartError),
}

/// Why no hub was started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It ended, with these last words.
    #[error("{0}")]
    Ended(String),
    /// It runs and does not answer.
    #[error("it does not answer after {}s; its words are in {}", PATIENCE.as_secs(), .0.display())]
    Slow(PathBuf),
    /// The program could not be run.
    #[error("{program}: {source}", program = .program.display())]
    Failed {
        /// The program that was to become the hub.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl JoinError {
    /// Returns whether trying again cannot help before somebody changes something.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Reach(
                ReachError::Silent(_) | ReachError::HungUp(_) | ReachError::Outdated { .. },
            ) => false,
            Self::Reach(_) | Self::Start(_) => true,
        }
    }
}

impl From<FolderError> for JoinError {
    fn from(error: FolderError) -> Self {
        Self::Reach(error.into())
    }
}

/// The way to the hub of a data folder.
#[derive(Debug, Clone)]
pub struct Joiner {
    folder: PathBuf,
    start: Option<StartHub>,
}

impl Joiner {
    /// Joins the hub of a folder; without `start` only one that runs already.
    pub fn new(folder: impl Into<PathBuf>, start: Option<StartHub>) -> Self {
        Self { folder: folder.into(), start }
    }

    /// Joins the running hub; if there is none and `may_start`, starts one.
    pub async fn join(&self, hello: &JoinHello, may_start: bool) -> Result<Membership, JoinError> {
        match (private::join(&self.folder, hello).await, &self.start) {
            (Err(ReachError::NoHub(_) | ReachError::HungUp(_)), Some(start)) if may_start => {
                self.start(start, hello).await
            }
            (reached, _) => Ok(reached?),
        }
    }

    /// Returns whether the hub answers within the given time.
    pub async fn is_awake(&self, patience: Duration) -> bool {
        private::is_awake(&self.folder, patience).await
    }

    /// Returns whether the hub of a term has ended, or is about to, because somebody wanted it to.
    pub fn has_retired(&self, term: u64) -> bool {
        let record = record::read(&self.folder).ok().flatten();
        record.is_some_and(|record| record.term == term && record.stopping)
    }

    async fn start(&self, start: &StartHub, hello: &JoinHello) -> Result<Membership, JoinError> {
        folder::open(&self.folder)?;
        let begun = Instant::now();
        let mut started: Option<Started> = None;
        let mut not_before = begun;
        loop {
            match private::join(&self.folder, hello).await {
                Err(ReachError::NoHub(_) | ReachError::HungUp(_)) => {}
                reached => return Ok(reached?),
            }
            if begun.elapsed() >= PATIENCE {
                return Err(StartError::Slow(self.folder.join(log::FILE)).into());
            }
            if started.is_none() && Instant::now() >= not_before {
                started = Started::begin(&self.folder, start)?;
            }
            let pause = PAUSES[usize::from(begun.elapsed() >= SOON)];
            match Started::ended(started.as_mut(), pause).await {
                None => {}
                Some(status) if status.code() == Some(i32::from(LOST)) => {
                    started = None;
                    not_before = Instant::now() + AFTER_LOSS;
                }
                Some(status) => {
                    let from = started.map_or(0, |started| started.log_from);
                    return Err(StartError::Ended(self.last_words(from, status)).into());
                }
            }
        }
    }

    fn last_words(&self, from: u64, status: ExitStatus) -> String {
        let said = log::last_lines(&self.folder, from, LAST_LINES).unwrap_or_default();
        match said.trim() {
            "" => format!("it ended with {status} and said nothing"),
            said => said.strip_prefix("tabwire: ").unwrap_or(said).to_owned(),
        }
    }
}

/// A hub that was started and is waited for.
struct Started {
    child: Child,
    log_from: u64,
    // Held until the hub answers or has ended, so that nobody starts another one meanwhile.
    _lock: Locked,
}

impl Started {
    /// Starts the hub; `None` means that somebody else is about to.
    fn begin(folder: &Path, start: &StartHub) -> Result<Option<Self>, StartError> {
        let failed = |source| StartError::Failed { program: start.program.clone(), source };
        let lock = lock::open(&folder.join(START_LOCK)).map_err(failed)?;
        let Ok(lock) = Locked::try_new(lock) else { return Ok(None) };
        let (errors, log_from) = log::open(folder).map_err(failed)?;
        let child = Command::new(&start.program)
            .args(&start.args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            // What ends the terminal or the client that we were started by is not meant for it.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        Ok(Some(Self { child, log_from, _lock: lock }))
    }

    /// Waits a moment; returns how the hub has ended, if it has.
    async fn ended(started: Option<&mut Self>, pause: Duration) -> Option<ExitStatus> {
        let Some(started) = started else {
            time::sleep(pause).await;
            return None;
        };
        // Cancel-safe: the child stays, and is waited for again.
        time::timeout(pause, started.child.wait()).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Instant};

    use super::*;
    use crate::{fake_hub, test_place::Place};

    fn hello() -> JoinHello {
        JoinHello { term: 0, client_id: "a".to_owned(), binding: None, folder: None }
    }

    fn shell(script: &str) -> Option<StartHub> {
        let args = ["-c", script].map(OsString::from).to_vec();
        Some(StartHub { program: PathBuf::from("/bin/sh"), args })
    }

    #[tokio::test]
    async fn without_a_hub_and_without_leave_to_start_one_there_is_none() {
        let place = Place::absent();
        let alone = Joiner::new(place.path(), None);
        let refused = alone.join(&hello(), true).await.err().unwrap();
        assert!(matches!(refused, JoinError::Reach(ReachError::NoHub(_))) && refused.is_final());
        let able = Joiner::new(place.path(), shell("exit 1"));
        let refused = able.join(&hello(), false).await.err().unwrap();
        assert!(matches!(refused, JoinError::Reach(ReachError::NoHub(_))));
        assert!(!place.path().exists(), "nothing was touched");
    }

    #[tokio::test]
    async fn what_a_hub_says_when_it_cannot_start_is_the_error() {
        let place = Place::absent();
        let script = "echo first >&2; echo 'tabwire: port 8765 is in use' >&2; exit 1";
        for _ in 0..2 {
            let joiner = Joiner::new(place.path(), shell(script));
            let error = joiner.join(&hello(), true).await.err().unwrap();
            assert_eq!(
                error.to_string(),
                "no hub could be started: first\ntabwire: port 8765 is in use"
            );
            assert!(error.is_final());
        }
        let joiner = Joiner::new(place.path(), shell("exit 3"));
        let error = joiner.join(&hello(), true).await.err().unwrap().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
        let nowhere = StartHub { program: "/nowhere/tabwire".into(), args: Vec::new() };
        let joiner = Joiner::new(place.path(), Some(nowhere));
        let error = joiner.join(&hello(), true).await.err().unwrap().to_string();
        assert!(error.contains("/nowhere/tabwire"), "{error}");
    }

    #[tokio::test]
    async fn a_hub_is_started_in_the_background_and_joined() {
        let place = Place::absent();
        let joiner = Joiner::new(place.path(), Some(fake_hub::program(place.path())));
        let member = joiner.join(&hello(), true).await.unwrap();
        assert_ne!(member.welcome.pid, std::process::id());
        let again = joiner.join(&hello(), true).await.unwrap();
        assert_eq!(again.welcome, member.welcome);
        assert!(joiner.is_awake(Duration::from_secs(5)).await);
        let group = fs::read_to_string(format!("/proc/{}/stat", member.welcome.pid)).unwrap();
        let group = group.rsplit_once(") ").unwrap().1.split(' ').nth(2).unwrap().to_owned();
        assert_eq!(group, member.welcome.pid.to_string(), "a group of its own");
        fake_hub::end(place.path()).await;
    }

    #[tokio::test]
    async fn many_starters_end_with_one_hub() {
        let place = Place::absent();
        for round in 0..3 {
            let joiner = Joiner::new(place.path(), Some(fake_hub::program(place.path())));
            let starters: Vec<_> = (0..8)
                .map(|_| {
                    let joiner = joiner.clone();
                    tokio::spawn(async move { joiner.join(&hello(), true).await })
                })
                .collect();
            let mut found = Vec::new();
            for starter in starters {
                found.push(starter.await.unwrap().unwrap().welcome);
            }
            assert!(found.iter().all(|welcome| *welcome == found[0]), "{round}: {found:?}");
            fake_hub::end(place.path()).await;
        }
    }

    /// As if each were a machine's first: no lock among the starters, only that of the hub.
    #[tokio::test]
    async fn hubs_that_are_started_at_once_agree_on_one_and_the_others_end_quietly() {
        let place = Place::private();
        let start = fake_hub::program(place.path());
        let mut children: Vec<_> = (0..8)
            .map(|_| {
                let mut command = Command::new(&start.program);
                command.args(&start.args).stdin(Stdio::null());
                command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
            })
            .collect();
        let mut losers = 0;
        while losers < 7 {
            for child in &mut children {
                if let Ok(Ok(status)) = time::timeout(Duration::from_millis(20), child.wait()).await
                {
                    assert_eq!(status.code(), Some(i32::from(LOST)));
                }
            }
            losers = children.iter_mut().filter_map(|child| child.try_wait().unwrap()).count();
        }
        // The winner may not have opened its socket yet.
        let joiner = Joiner::new(place.path(), Some(start));
        let member = joiner.join(&hello(), true).await.unwrap();
        let alive = children.iter().find_map(Child::id).unwrap();
        assert_eq!(member.welcome.pid, alive);
        fake_hub::end(place.path()).await;
    }

    #[tokio::test]
    async fn a_hub_that_loses_is_not_an_error_while_the_winner_gets_ready() {
        let place = Place::private();
        let mut lease = lock::Lease::take(place.path(), || 0).unwrap();
        let us = lease.announce(1, "1").unwrap();
        let joiner = Joiner::new(place.path(), Some(fake_hub::program(place.path())));
        let begun = Instant::now();
        let winner = async {
            time::sleep(Duration::from_millis(300)).await;
            let socket = private::PrivateSocket::open(place.path()).await.unwrap();
            private::welcome(socket.accept().await.unwrap(), &us).await.unwrap()
        };
        let hello = hello();
        let (member, _) = tokio::join!(joiner.join(&hello, true), winner);
        assert_eq!(member.unwrap().welcome.term, lease.term());
        assert!(begun.elapsed() < PATIENCE);
    }

    #[test]
    fn a_hub_that_was_told_to_end_is_told_apart() {
        let place = Place::private();
        let joiner = Joiner::new(place.path(), None);
        let mut lease = lock::Lease::take(place.path(), || 0).unwrap();
        assert!(!joiner.has_retired(lease.term()));
        lease.retire();
        assert!(joiner.has_retired(lease.term()) && !joiner.has_retired(lease.term() + 1));
    }
}
