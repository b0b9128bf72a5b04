//! Proof that a process is the hub of a data folder; nothing is ended without it.
//!
//! A process id alone proves nothing, because ids are used again. The proof is a handle on the
//! process, its start time, the word that record and lock file share, and that this very process
//! has the lock file open. It needs Linux; elsewhere nothing can be proven and nothing is ended.

use std::io;

#[cfg(target_os = "linux")]
pub use linux::{Process, start_time};
#[cfg(not(target_os = "linux"))]
pub use other::{Process, start_time};

/// Why a process is not taken for the hub.
#[derive(Debug, thiserror::Error)]
pub enum Unproven {
    /// It has ended, or its id belongs to another process by now.
    #[error("the process has ended")]
    Gone,
    /// It exists, but is not the holder of the lock.
    #[error("process {pid} cannot be proven to be the hub: {why}")]
    Foreign {
        /// Which process.
        pid: u32,
        /// What is missing.
        why: &'static str,
    },
    /// The system did not answer.
    #[error("the process cannot be looked at: {0}")]
    Failed(#[from] io::Error),
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        fs, io,
        os::{fd::OwnedFd, unix::fs::MetadataExt},
        path::Path,
        time::Duration,
    };

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::Unproven;
    use crate::{
        folder::{is_same_file, own_user},
        lock,
        record::{HubRecord, read_private},
    };

    /// How often it is looked whether a process has ended.
    const LOOK_AGAIN: Duration = Duration::from_millis(10);

    /// A process that was proven to be the hub. It stays that one, even if its id is used again.
    #[derive(Debug)]
    pub struct Process {
        handle: OwnedFd,
        pid: u32,
        start_time: u64,
    }

    impl Process {
        /// Proves that a record's process is the hub of its folder.
        pub fn prove(folder: &Path, record: &HubRecord) -> Result<Self, Unproven> {
            let foreign = |why| Unproven::Foreign { pid: record.pid, why };
            // The handle first: from here on, whatever is found is about the process it names.
            let handle = open(record.pid)?;
            if record.start_time == 0 || start_time(record.pid) != Some(record.start_time) {
                return Err(Unproven::Gone);
            }
            if fs::metadata(format!("/proc/{}", record.pid))?.uid() != own_user() {
                return Err(foreign("it belongs to another user"));
            }
            let word = read_private(&folder.join(lock::FILE), 256).ok().flatten();
            if word.as_deref() != Some(record.nonce.as_bytes()) {
                return Err(foreign("the lock was taken by another one since"));
            }
            if !has_open(record.pid, &folder.join(lock::FILE))? {
                return Err(foreign("it does not hold the lock"));
            }
            Ok(Self { handle, pid: record.pid, start_time: record.start_time })
        }

        /// Ends the process at once.
        pub fn kill(&self) -> io::Result<()> {
            match pidfd_send_signal(&self.handle, Signal::KILL) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }

        /// Waits until it has ended. Cancel-safe: it only waits.
        pub async fn ended(&self) {
            // Who ends tells only its parent, so look now and then.
            while start_time(self.pid) == Some(self.start_time) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    }

    /// Returns when a process was started, in ticks since the machine was; `None` if it has ended.
    pub fn start_time(pid: u32) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses and may hold anything, parentheses too.
        let (_, fields) = text.rsplit_once(") ")?;
        let mut fields = fields.split(' ');
        let state = fields.next()?;
        // Ended and not yet missed by its parent. Its first thread can end before the others, and
        // its files are open until the last has.
        if ["Z", "X", "x"].contains(&state) && !has_more_threads(pid) {
            return None;
        }
        // Fields 4 to 21 lie between.
        fields.nth(18)?.parse().ok()
    }

    fn has_more_threads(pid: u32) -> bool {
        fs::read_dir(format!("/proc/{pid}/task")).is_ok_and(|threads| threads.count() > 1)
    }

    fn open(pid: u32) -> Result<OwnedFd, Unproven> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Unproven::Gone)?;
        pidfd_open(pid, PidfdFlags::empty()).map_err(|error| match error {
            rustix::io::Errno::SRCH => Unproven::Gone,
            error => Unproven::Failed(error.into()),
        })
    }

    fn has_open(pid: u32, path: &Path) -> io::Result<bool> {
        let wanted = fs::symlink_metadata(path)?;
        for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
            let same = |found| is_same_file(&found, &wanted);
            if entry.and_then(|entry| fs::metadata(entry.path())).is_ok_and(same) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::{io, path::Path};

    use super::Unproven;
    use crate::record::HubRecord;

    /// Never made: there is no proof on this system.
    #[derive(Debug)]
    pub struct Process(std::convert::Infallible);

    impl Process {
        /// Proves nothing.
        pub fn prove(_: &Path, record: &HubRecord) -> Result<Self, Unproven> {
            let why = "this system offers no proof; end it by hand if you are sure";
            Err(Unproven::Foreign { pid: record.pid, why })
        }

        /// Cannot be called.
        pub fn kill(&self) -> io::Result<()> {
            match self.0 {}
        }

        /// Cannot be called.
        pub async fn ended(&self) {
            match self.0 {}
        }
    }

    /// Not known on this system.
    pub fn start_time(_: u32) -> Option<u64> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::{lock::Lease, record, test_place::Place};

    #[test]
    fn start_times_tell_processes_apart() {
        let own = start_time(std::process::id()).unwrap();
        assert_eq!(start_time(std::process::id()), Some(own));
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        assert!(start_time(child.id()).unwrap() >= own);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(start_time(child.id()), None);
    }

    #[test]
    fn only_the_holder_of_the_lock_is_proven() {
        let place = Place::private();
        let lease = Lease::take(place.path(), || 0).unwrap();
        let record = record::read(place.path()).unwrap().unwrap();
        Process::prove(place.path(), &record).unwrap();
        let mut child = Command::new("sleep").arg("100").stdin(Stdio::null()).spawn().unwrap();
        let start_time = start_time(child.id()).unwrap();
        let other = record::HubRecord { pid: child.id(), start_time, ..record.clone() };
        assert!(matches!(Process::prove(place.path(), &other), Err(Unproven::Foreign { .. })));
        let older = record::HubRecord { start_time: start_time + 1, ..other.clone() };
        assert!(matches!(Process::prove(place.path(), &older), Err(Unproven::Gone)));
        let nonce = record::HubRecord { nonce: "another".to_owned(), ..record.clone() };
        assert!(matches!(Process::prove(place.path(), &nonce), Err(Unproven::Foreign { .. })));
        let unknown = record::HubRecord { start_time: 0, ..record.clone() };
        assert!(matches!(Process::prove(place.path(), &unknown), Err(Unproven::Gone)));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(matches!(Process::prove(place.path(), &other), Err(Unproven::Gone)));
        drop(lease);
        let released = Process::prove(place.path(), &record);
        assert!(matches!(released, Err(Unproven::Foreign { .. })), "{released:?}");
    }
}
