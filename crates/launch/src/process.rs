//! Proof that a process is a browser that was started here; nothing is ended without it.
//!
//! A process id alone proves nothing, because ids are used again. The proof is a handle on the
//! process, its owner, its start time, and a command line that has both the profile's folder and
//! the random id of the launch. It needs Linux; elsewhere only own children can be ended.

use std::{io, path::Path};

#[cfg(target_os = "linux")]
pub use linux::{Process, find, has_folder, start_time};
#[cfg(not(target_os = "linux"))]
pub use other::{Process, find, has_folder, start_time};

/// Why a process is not taken for a browser of ours.
#[derive(Debug, thiserror::Error)]
pub enum Unproven {
    /// It has ended, or its id belongs to another process by now.
    #[error("the process has ended")]
    Gone,
    /// It exists, but is something else.
    #[error("process {pid} cannot be proven to be a browser of ours: {why}")]
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

/// Returns the argument that names a profile's folder.
pub fn folder_argument(user_data_dir: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from("--user-data-dir=");
    argument.push(user_data_dir);
    argument
}

/// Returns the argument that names a launch. Browsers ignore what they do not know.
pub fn launch_argument(launch: &crate::LaunchId) -> String {
    format!("--tabwire-launch={launch}")
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        fs, io,
        os::{fd::OwnedFd, unix::ffi::OsStrExt, unix::fs::MetadataExt},
        path::Path,
        thread,
        time::{Duration, Instant},
    };

    use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};

    use super::{Unproven, folder_argument, launch_argument};
    use crate::BrowserRecord;

    /// How long a process may be without arguments.
    const NAMELESS: Duration = Duration::from_secs(1);

    /// A process that was proven to be a browser of ours. It stays that one, even if its id is used
    /// again.
    #[derive(Debug)]
    pub struct Process {
        handle: OwnedFd,
        pid: u32,
        start_time: u64,
    }

    impl Process {
        /// Proves that a record's process is the browser that it tells of.
        pub fn prove(record: &BrowserRecord) -> Result<Self, Unproven> {
            let foreign = |why| Unproven::Foreign { pid: record.pid, why };
            // The handle first: from here on, whatever is found is about the process it names.
            let handle = open(record.pid)?;
            if record.start_time == 0 || start_time(record.pid) != Some(record.start_time) {
                return Err(Unproven::Gone);
            }
            if !is_own(record.pid) {
                return Err(foreign("it belongs to another user"));
            }
            let arguments = arguments_of(record.pid, record.start_time)?;
            if !is_meant(&arguments, record) {
                return Err(foreign("its command line is another"));
            }
            Ok(Self { handle, pid: record.pid, start_time: record.start_time })
        }

        /// Asks it to end.
        pub fn terminate(&self) -> io::Result<()> {
            send(&self.handle, Signal::TERM)
        }

        /// Returns whether it is still there.
        pub fn is_alive(&self) -> bool {
            start_time(self.pid) == Some(self.start_time)
        }

        /// Returns handles on all processes of its group, itself among them. Only while it lives:
        /// the group's number is its own, and nobody else's for so long.
        pub fn group(&self) -> Vec<OwnedFd> {
            let mut members = Vec::new();
            // It is not always the leader of a group: a program that has started it may be.
            let is_member = |pid| pid == self.pid || group_of(pid) == Some(self.pid);
            for pid in all() {
                if !is_member(pid) || !is_own(pid) {
                    continue;
                }
                // Looked at again with the handle in hand: now it is about that very process.
                let Ok(handle) = open(pid) else { continue };
                if is_member(pid) {
                    members.push(handle);
                }
            }
            if self.is_alive() { members } else { Vec::new() }
        }

        /// Ends processes at once.
        pub fn kill(members: &[OwnedFd]) {
            for member in members {
                if let Err(error) = send(member, Signal::KILL) {
                    tracing::warn!(%error, "a process of a browser was not ended");
                }
            }
        }
    }

    /// Finds the browser of a record by its command line: its id and start time.
    ///
    /// For starts that were not written down any more, and programs that start the browser and end.
    pub fn find(record: &BrowserRecord) -> Option<(u32, u64)> {
        let started = |pid| Some((pid, start_time(pid)?));
        let wanted = |pid: &u32| is_own(*pid) && is_meant(&arguments(*pid), record);
        all().into_iter().find(wanted).and_then(started)
    }

    /// Returns when a process was started, in ticks since the machine was; `None` if it has ended.
    pub fn start_time(pid: u32) -> Option<u64> {
        let fields = fields(pid)?;
        // Ended and not yet missed by its parent.
        if ["Z", "X", "x"].contains(&fields.first()?.as_str()) {
            return None;
        }
        fields.get(19)?.parse().ok()
    }

    /// Returns whether a process of ours is a browser with this folder.
    pub fn has_folder(pid: u32, user_data_dir: &Path) -> bool {
        is_own(pid) && has(&arguments(pid), folder_argument(user_data_dir).as_bytes())
    }

    fn is_meant(arguments: &[Vec<u8>], record: &BrowserRecord) -> bool {
        // The browser's helpers have a type.
        let is_helper = arguments.iter().any(|argument| argument.starts_with(b"--type="));
        !is_helper
            && has(arguments, folder_argument(&record.user_data_dir).as_bytes())
            && has(arguments, launch_argument(&record.launch).as_bytes())
    }

    fn has(arguments: &[Vec<u8>], wanted: &[u8]) -> bool {
        arguments.iter().any(|argument| argument == wanted)
    }

    /// The arguments of a process that is there. One that was started or is about to end in this
    /// very moment has none.
    fn arguments_of(pid: u32, started: u64) -> Result<Vec<Vec<u8>>, Unproven> {
        let begun = Instant::now();
        loop {
            let arguments = arguments(pid);
            if start_time(pid) != Some(started) {
                return Err(Unproven::Gone);
            }
            if !arguments.is_empty() || begun.elapsed() >= NAMELESS {
                return Ok(arguments);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn arguments(pid: u32) -> Vec<Vec<u8>> {
        let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let arguments = text.split(|byte| *byte == 0).filter(|argument| !argument.is_empty());
        arguments.map(<[u8]>::to_vec).collect()
    }

    fn group_of(pid: u32) -> Option<u32> {
        fields(pid)?.get(2)?.parse().ok()
    }

    /// The fields of `stat` behind the name, which is in parentheses and may hold anything.
    fn fields(pid: u32) -> Option<Vec<String>> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, fields) = text.rsplit_once(") ")?;
        Some(fields.split(' ').map(str::to_owned).collect())
    }

    fn is_own(pid: u32) -> bool {
        let found = fs::metadata(format!("/proc/{pid}"));
        found.is_ok_and(|found| found.uid() == geteuid().as_raw())
    }

    fn all() -> Vec<u32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    fn open(pid: u32) -> Result<OwnedFd, Unproven> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Unproven::Gone)?;
        pidfd_open(pid, PidfdFlags::empty()).map_err(|error| match error {
            rustix::io::Errno::SRCH => Unproven::Gone,
            error => Unproven::Failed(error.into()),
        })
    }

    fn send(handle: &OwnedFd, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(handle, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::{convert::Infallible, io, path::Path};

    use super::Unproven;
    use crate::BrowserRecord;

    /// Never made: there is no proof on this system.
    #[derive(Debug)]
    pub struct Process(Infallible);

    impl Process {
        /// Proves nothing.
        pub fn prove(record: &BrowserRecord) -> Result<Self, Unproven> {
            let why = "this system offers no proof; end it by hand if you are sure";
            Err(Unproven::Foreign { pid: record.pid, why })
        }

        /// Cannot be called.
        pub fn terminate(&self) -> io::Result<()> {
            match self.0 {}
        }

        /// Cannot be called.
        pub fn is_alive(&self) -> bool {
            match self.0 {}
        }

        /// Cannot be called.
        pub fn group(&self) -> Vec<Infallible> {
            match self.0 {}
        }

        /// Ends nothing.
        pub fn kill(_: &[Infallible]) {}
    }

    /// Not known on this system.
    pub fn find(_: &BrowserRecord) -> Option<(u32, u64)> {
        None
    }

    /// Not known on this system.
    pub fn start_time(_: u32) -> Option<u64> {
        None
    }

    /// Not known on this system.
    pub fn has_folder(_: u32, _: &Path) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::process::CommandExt,
        process::{Child, Command, Stdio},
        time::Duration,
    };

    use super::*;
    use crate::{BrowserRecord, record::tests::sample, test_place::Place};

    /// A shell that waits, with the arguments that a browser would have.
    fn pretend(record: &mut BrowserRecord, script: &str, more: &[&str]) -> Child {
        let child = Command::new("/bin/sh")
            .args(["-c", script, "browser"])
            .arg(folder_argument(&record.user_data_dir))
            .arg(launch_argument(&record.launch))
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        record.pid = child.id();
        record.start_time = start_time(child.id()).unwrap();
        child
    }

    #[track_caller]
    fn check_foreign(record: &BrowserRecord) {
        assert!(matches!(Process::prove(record), Err(Unproven::Foreign { .. })));
    }

    const WAIT: &str = "sleep 600 & wait";

    #[test]
    fn only_the_process_that_was_started_is_proven() {
        let place = Place::new();
        let mut record = sample(place.path());
        let mut child = pretend(&mut record, WAIT, &[]);
        Process::prove(&record).unwrap();
        assert_eq!(find(&record), Some((record.pid, record.start_time)));
        let later = BrowserRecord { start_time: record.start_time + 1, ..record.clone() };
        let unknown = BrowserRecord { start_time: 0, ..record.clone() };
        let nobody = BrowserRecord { pid: 0, ..record.clone() };
        for gone in [later, unknown, nobody] {
            assert!(matches!(Process::prove(&gone), Err(Unproven::Gone)), "{gone:?}");
        }
        let another = BrowserRecord { launch: crate::LaunchId::mint(), ..record.clone() };
        let elsewhere = BrowserRecord { user_data_dir: place.path().into(), ..record.clone() };
        check_foreign(&another);
        check_foreign(&elsewhere);
        assert_eq!((find(&another), find(&elsewhere)), (None, None));
        assert!(has_folder(record.pid, &record.user_data_dir));
        assert!(!has_folder(record.pid, place.path()));
        let process = Process::prove(&record).unwrap();
        Process::kill(&process.group());
        child.wait().unwrap();
        assert!(matches!(Process::prove(&record), Err(Unproven::Gone)));
        assert_eq!(find(&record), None);
    }

    #[test]
    fn a_helper_of_a_browser_is_not_the_browser() {
        let place = Place::new();
        let mut record = sample(place.path());
        let mut child = pretend(&mut record, WAIT, &["--type=renderer"]);
        check_foreign(&record);
        assert_eq!(find(&record), None);
        let mut group = Command::new("sh");
        group.args(["-c", &format!("kill -KILL -{}", child.id())]).status().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn its_whole_group_is_ended_and_nobody_else() {
        let place = Place::new();
        let mut record = sample(place.path());
        let mut bystander = Command::new("sleep").arg("600").spawn().unwrap();
        let mut child = pretend(&mut record, "trap '' TERM; sleep 600 & sleep 601 & wait", &[]);
        let process = Process::prove(&record).unwrap();
        let begun = std::time::Instant::now();
        while process.group().len() < 3 && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let members = process.group();
        assert_eq!(members.len(), 3);
        process.terminate().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert!(process.is_alive(), "it does not want to end");
        Process::kill(&members);
        child.wait().unwrap();
        assert!(!process.is_alive() && process.group().is_empty());
        assert!(start_time(bystander.id()).is_some());
        bystander.kill().unwrap();
        bystander.wait().unwrap();
    }
}
