//! Processes, told apart by more than their ids, because ids are used again.
//!
//! A [`Process`] is a handle with a start time. Whether it is a hub or a browser of ours is proven
//! by the rooms that end such a one. It needs Linux: elsewhere no process is ever opened, so
//! nothing can be proven and nothing is ended.

use std::{fs, io, os::unix::fs::MetadataExt};

/// Why a process is not taken for the one that is meant.
#[derive(Debug, thiserror::Error)]
pub enum Unproven {
    /// It has ended, or its id belongs to another process by now.
    #[error("the process has ended")]
    Gone,
    /// It exists, but is something else.
    #[error("process {pid} cannot be proven to be the one that its record tells of: {why}")]
    Foreign {
        /// The id under which it was looked for.
        pid: u32,
        /// What is missing.
        why: &'static str,
    },
    /// The system did not answer.
    #[error("the process cannot be looked at: {0}")]
    Failed(#[from] io::Error),
}

/// A process. It stays the one it is, even if its id is used again.
#[derive(Debug)]
pub struct Process {
    handle: system::Handle,
    pid: u32,
    start_time: u64,
}

impl Process {
    /// Opens the process that has an id now, whoever's it is.
    pub fn now(pid: u32) -> Result<Self, Unproven> {
        // The handle first: from here on, whatever is found is about the process it names.
        let handle = system::open(pid)?;
        let start_time = start_time(pid).ok_or(Unproven::Gone)?;
        Ok(Self { handle, pid, start_time })
    }

    /// Opens the process of our own user that got an id at a time; 0 is no time.
    pub fn open(pid: u32, start_time: u64) -> Result<Self, Unproven> {
        match Self::now(pid)? {
            other if other.start_time != start_time => Err(Unproven::Gone),
            _ if !is_own(pid) => Err(Unproven::Foreign { pid, why: "it belongs to another user" }),
            process => Ok(process),
        }
    }

    /// Returns its id, which is its own while it is alive.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns whether it is still there.
    pub fn is_alive(&self) -> bool {
        start_time(self.pid) == Some(self.start_time)
    }

    /// Asks it to end.
    pub fn terminate(&self) -> io::Result<()> {
        system::send(&self.handle, rustix::process::Signal::TERM)
    }

    /// Ends it at once.
    pub fn kill(&self) -> io::Result<()> {
        system::send(&self.handle, rustix::process::Signal::KILL)
    }
}

/// Returns when a process was started, in ticks since the machine was; `None` if it has ended, and
/// on systems that do not tell.
pub fn start_time(pid: u32) -> Option<u64> {
    let fields = stat(pid)?;
    // Ended and not yet missed by its parent. Its first thread can end before the others, and its
    // files are open until the last has.
    if ["Z", "X", "x"].contains(&fields.first()?.as_str()) && !has_more_threads(pid) {
        return None;
    }
    fields.get(19)?.parse().ok()
}

/// Returns the number of a process's group.
pub fn group_of(pid: u32) -> Option<u32> {
    stat(pid)?.get(2)?.parse().ok()
}

/// Returns whether a process is there and belongs to our own user.
pub fn is_own(pid: u32) -> bool {
    let found = fs::metadata(format!("/proc/{pid}"));
    found.is_ok_and(|found| found.uid() == own_user())
}

/// Returns the number of our own user.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The fields of `stat` behind the name, which is in parentheses and may hold anything, parentheses
/// too.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}

fn has_more_threads(pid: u32) -> bool {
    fs::read_dir(format!("/proc/{pid}/task")).is_ok_and(|threads| threads.count() > 1)
}

#[cfg(target_os = "linux")]
mod system {
    use std::{io, os::fd::OwnedFd};

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::Unproven;

    pub type Handle = OwnedFd;

    pub fn open(pid: u32) -> Result<Handle, Unproven> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Unproven::Gone)?;
        pidfd_open(pid, PidfdFlags::empty()).map_err(|error| match error {
            rustix::io::Errno::SRCH => Unproven::Gone,
            error => Unproven::Failed(error.into()),
        })
    }

    pub fn send(handle: &Handle, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(handle, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::{convert::Infallible, io};

    use rustix::process::Signal;

    use super::Unproven;

    pub type Handle = Infallible;

    pub fn open(pid: u32) -> Result<Handle, Unproven> {
        let why = "this system offers no proof; end it by hand if you are sure";
        Err(Unproven::Foreign { pid, why })
    }

    pub fn send(handle: &Handle, _: Signal) -> io::Result<()> {
        match *handle {}
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;

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
    fn only_the_process_that_was_started_then_is_opened() {
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let (pid, started) = (child.id(), start_time(child.id()).unwrap());
        let process = Process::open(pid, started).unwrap();
        for (pid, started) in [(pid, started + 1), (pid, 0), (0, started)] {
            assert!(matches!(Process::open(pid, started), Err(Unproven::Gone)));
        }
        assert!(process.is_alive());
        process.kill().unwrap();
        child.wait().unwrap();
        assert!(!process.is_alive());
        process.kill().unwrap();
        assert!(matches!(Process::now(pid), Err(Unproven::Gone)));
    }
}
