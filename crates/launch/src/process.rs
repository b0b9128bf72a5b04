//! Proof that a process is a browser that was started here; nothing is ended without it.
//!
//! A process id alone proves nothing, because ids are used again. The proof is a handle on the
//! process, its owner, its start time, and a command line that has both the profile's folder and
//! the random id of the launch. Where there is no proof, only own children can be ended.

use std::{
    ffi::OsString,
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use processes::{Process, Unproven, group_of, is_own, start_time};

use crate::BrowserRecord;

/// How long a process may be without arguments.
const NAMELESS: Duration = Duration::from_secs(1);

/// Returns the argument that names a profile's folder.
pub fn folder_argument(user_data_dir: &Path) -> OsString {
    let mut argument = OsString::from("--user-data-dir=");
    argument.push(user_data_dir);
    argument
}

/// Returns the argument that names a launch. Browsers ignore what they do not know.
pub fn launch_argument(launch: &crate::LaunchId) -> String {
    format!("--tabwire-launch={launch}")
}

/// Proves that a record's process is the browser that it tells of.
pub fn prove(record: &BrowserRecord) -> Result<Process, Unproven> {
    let process = Process::open(record.pid, record.start_time)?;
    match is_meant(&arguments_of(&process)?, record) {
        true => Ok(process),
        false => Err(Unproven::Foreign { pid: record.pid, why: "its command line is another" }),
    }
}

/// Opens all processes of a process's group, itself among them. Only while it lives: the group's
/// number is its own, and nobody else's for so long.
pub fn group(process: &Process) -> Vec<Process> {
    let leader = process.pid();
    // It is not always the leader of a group: a program that has started it may be.
    let is_member = |pid: &u32| *pid == leader || group_of(*pid) == Some(leader);
    let found = all().into_iter().filter(|pid| is_member(pid) && is_own(*pid));
    // Looked at again with the handle in hand: now it is about that very process.
    let members = found.filter_map(|pid| Process::now(pid).ok().filter(|_| is_member(&pid)));
    let members = members.collect();
    if process.is_alive() { members } else { Vec::new() }
}

/// Ends processes at once.
pub fn kill(members: &[Process]) {
    for member in members {
        if let Err(error) = member.kill() {
            tracing::warn!(%error, "a process of a browser was not ended");
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

/// Returns whether a process of ours is a browser with this folder.
pub fn has_folder(pid: u32, user_data_dir: &Path) -> bool {
    is_own(pid) && has(&arguments(pid), folder_argument(user_data_dir).as_encoded_bytes())
}

fn is_meant(arguments: &[Vec<u8>], record: &BrowserRecord) -> bool {
    // The browser's helpers have a type.
    let is_helper = arguments.iter().any(|argument| argument.starts_with(b"--type="));
    !is_helper
        && has(arguments, folder_argument(&record.user_data_dir).as_encoded_bytes())
        && has(arguments, launch_argument(&record.launch).as_bytes())
}

fn has(arguments: &[Vec<u8>], wanted: &[u8]) -> bool {
    arguments.iter().any(|argument| argument == wanted)
}

/// The arguments of a process that is there. One that was started or is about to end in this
/// very moment has none.
fn arguments_of(process: &Process) -> Result<Vec<Vec<u8>>, Unproven> {
    let begun = Instant::now();
    loop {
        let arguments = arguments(process.pid());
        if !process.is_alive() {
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

fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::process::CommandExt,
        process::{Child, Command, Stdio},
        time::Duration,
    };

    use processes::start_time;

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
        assert!(matches!(prove(record), Err(Unproven::Foreign { .. })));
    }

    const WAIT: &str = "sleep 600 & wait";

    #[test]
    fn only_the_process_that_was_started_is_proven() {
        let place = Place::new();
        let mut record = sample(place.path());
        let mut child = pretend(&mut record, WAIT, &[]);
        prove(&record).unwrap();
        assert_eq!(find(&record), Some((record.pid, record.start_time)));
        let later = BrowserRecord { start_time: record.start_time + 1, ..record.clone() };
        let unknown = BrowserRecord { start_time: 0, ..record.clone() };
        let nobody = BrowserRecord { pid: 0, ..record.clone() };
        for gone in [later, unknown, nobody] {
            assert!(matches!(prove(&gone), Err(Unproven::Gone)), "{gone:?}");
        }
        let another = BrowserRecord { launch: crate::LaunchId::mint(), ..record.clone() };
        let elsewhere = BrowserRecord { user_data_dir: place.path().into(), ..record.clone() };
        check_foreign(&another);
        check_foreign(&elsewhere);
        assert_eq!((find(&another), find(&elsewhere)), (None, None));
        assert!(has_folder(record.pid, &record.user_data_dir));
        assert!(!has_folder(record.pid, place.path()));
        let process = prove(&record).unwrap();
        kill(&group(&process));
        child.wait().unwrap();
        assert!(matches!(prove(&record), Err(Unproven::Gone)));
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
        let process = prove(&record).unwrap();
        let begun = std::time::Instant::now();
        while group(&process).len() < 3 && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let members = group(&process);
        assert_eq!(members.len(), 3);
        process.terminate().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert!(process.is_alive(), "it does not want to end");
        kill(&members);
        child.wait().unwrap();
        assert!(!process.is_alive() && group(&process).is_empty());
        assert!(start_time(bystander.id()).is_some());
        bystander.kill().unwrap();
        bystander.wait().unwrap();
    }
}
