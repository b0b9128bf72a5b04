//! Proof that a process is the hub of a data folder; nothing is ended without it.
//!
//! A process id alone proves nothing, because ids are used again. The proof is a handle on the
//! process, its owner, its start time, the word that record and lock file share, and that this
//! very process has the lock file open.

use std::{fs, io, path::Path, time::Duration};

use processes::{Process, Unproven};

use crate::{
    folder::is_same_file,
    lock,
    record::{HubRecord, read_private},
};

/// How often it is looked whether a process has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Proves that a record's process is the hub of its folder.
pub fn prove(folder: &Path, record: &HubRecord) -> Result<Process, Unproven> {
    let process = Process::open(record.pid, record.start_time)?;
    let foreign = |why| Unproven::Foreign { pid: record.pid, why };
    let word = read_private(&folder.join(lock::FILE), 256).ok().flatten();
    if word.as_deref() != Some(record.nonce.as_bytes()) {
        return Err(foreign("the lock was taken by another one since"));
    }
    if !has_open(record.pid, &folder.join(lock::FILE))? {
        return Err(foreign("it does not hold the lock"));
    }
    Ok(process)
}

/// Waits until a process has ended. Cancel-safe: it only waits.
pub async fn ended(process: &Process) {
    // Who ends tells only its parent, so look now and then.
    while process.is_alive() {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use processes::start_time;

    use super::*;
    use crate::{lock::Lease, record, test_place::Place};

    #[test]
    fn only_the_holder_of_the_lock_is_proven() {
        let place = Place::private();
        let lease = Lease::take(place.path(), || 0).unwrap();
        let record = record::read(place.path()).unwrap().unwrap();
        prove(place.path(), &record).unwrap();
        let mut child = Command::new("sleep").arg("100").stdin(Stdio::null()).spawn().unwrap();
        let start_time = start_time(child.id()).unwrap();
        let other = record::HubRecord { pid: child.id(), start_time, ..record.clone() };
        assert!(matches!(prove(place.path(), &other), Err(Unproven::Foreign { .. })));
        let older = record::HubRecord { start_time: start_time + 1, ..other.clone() };
        assert!(matches!(prove(place.path(), &older), Err(Unproven::Gone)));
        let nonce = record::HubRecord { nonce: "another".to_owned(), ..record.clone() };
        assert!(matches!(prove(place.path(), &nonce), Err(Unproven::Foreign { .. })));
        let unknown = record::HubRecord { start_time: 0, ..record.clone() };
        assert!(matches!(prove(place.path(), &unknown), Err(Unproven::Gone)));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(matches!(prove(place.path(), &other), Err(Unproven::Gone)));
        drop(lease);
        let released = prove(place.path(), &record);
        assert!(matches!(released, Err(Unproven::Foreign { .. })), "{released:?}");
    }
}
