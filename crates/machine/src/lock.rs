//! Who is the hub: whoever holds the lock on `hub.lock` in the data folder.
//!
//! The kernel drops the lock when its holder ends, however it ends, so no leftover can block and
//! no process id is trusted. The holder gets a *term* that is greater than every one before; what
//! carries a smaller one comes from a hub that is over.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{
    discovery::iso_time,
    folder::{self, FolderError, is_same_file},
    private::JoinWelcome,
    record::{self, HubRecord},
};

/// The lock's name. The file stays when its holder ends; it is the lock on it that counts.
pub const FILE: &str = "hub.lock";
/// How often a lock file that somebody replaces is looked for anew.
const ATTEMPTS: usize = 10;

/// Why this process does not become the hub.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Another process is the hub.
    #[error("another hub already uses the data folder {0}; stop it or choose another with --data")]
    Taken(String),
    /// The data folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The lock or the record cannot be used.
    #[error("{path} cannot be used: {source}")]
    Failed {
        /// The file that cannot be used.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// The right to be the hub of a data folder, for as long as this value lives.
#[derive(Debug)]
pub struct Lease {
    folder: PathBuf,
    record: HubRecord,
    // Last, so that everything else is done when the next hub may begin.
    _lock: Locked,
}

/// A file that is locked until this is dropped.
#[derive(Debug)]
pub(crate) struct Locked(File);

impl Locked {
    /// Locks a file; an error means that somebody else has, or that it cannot be done.
    pub(crate) fn try_new(file: File) -> Result<Self, TryLockError> {
        file.try_lock().map(|()| Self(file))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing is not enough: a child that is just being made has the file open too.
        let _ = self.0.unlock();
    }
}

impl Lease {
    /// Takes the lock, and a term that is greater than the last one and than `known`, which is asked
    /// under the lock: the last term that whoever is written to with it has seen.
    pub fn take(folder: &Path, known: impl FnOnce() -> u64) -> Result<Self, LeaseError> {
        folder::open(folder)?;
        let lock = acquire(folder)?;
        let nonce = model::id::random_text(26);
        let failed = |file: &'static str| {
            move |source| LeaseError::Failed {
                path: folder.join(file).display().to_string(),
                source,
            }
        };
        let written = lock.0.set_len(0).and_then(|()| (&lock.0).write_all(nonce.as_bytes()));
        written.map_err(failed(FILE))?;
        let pid = std::process::id();
        let record = HubRecord {
            port: 0,
            pid,
            start_time: processes::start_time(pid).unwrap_or(0),
            nonce,
            term: last_term(folder).max(known()) + 1,
            version: String::new(),
            since: iso_time(SystemTime::now()),
            stopping: false,
        };
        let lease = Self { folder: folder.to_owned(), record, _lock: lock };
        // Before the term is used: the next hub must know of it even if this one dies at once.
        lease.write().map_err(failed(record::FILE))?;
        Ok(lease)
    }

    /// Returns the term, which is greater than that of every hub before.
    pub fn term(&self) -> u64 {
        self.record.term
    }

    /// Writes down where the hub is, now that its port is open; returns what relays are told when
    /// they join.
    pub fn announce(&mut self, port: u16, version: &str) -> Result<JoinWelcome, LeaseError> {
        self.record.port = port;
        version.clone_into(&mut self.record.version);
        let path = self.folder.join(record::FILE).display().to_string();
        self.write().map_err(|source| LeaseError::Failed { path, source })?;
        let HubRecord { term, version, pid, port, since, .. } = self.record.clone();
        Ok(JoinWelcome { term, version, pid, port, since })
    }

    /// Writes down that the hub is about to end because somebody wants it to, so that relays do
    /// not start the next one before they need it.
    pub fn retire(&mut self) {
        self.record.stopping = true;
        if let Err(error) = self.write() {
            tracing::warn!(%error, "the end is not written down; relays may start another hub");
        }
    }

    /// Writes the record, unless another hub has written its own since: a lock can be lost to
    /// whoever removes its file.
    fn write(&self) -> io::Result<()> {
        match record::read(&self.folder) {
            Ok(Some(found)) if found.term > self.record.term => {
                let (ours, theirs) = (self.record.term, found.term);
                Err(io::Error::other(format!("another hub has term {theirs}, ours is {ours}")))
            }
            _ => record::write(&self.folder, &self.record),
        }
    }
}

fn acquire(folder: &Path) -> Result<Locked, LeaseError> {
    let path = folder.join(FILE);
    let failed = |source| LeaseError::Failed { path: path.display().to_string(), source };
    for _ in 0..ATTEMPTS {
        let file = open(&path).map_err(failed)?;
        let lock = match Locked::try_new(file) {
            Ok(lock) => lock,
            Err(TryLockError::WouldBlock) => {
                return Err(LeaseError::Taken(folder.display().to_string()));
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        };
        // A lock on a file that has no name any more would exclude nobody.
        let named = fs::symlink_metadata(&path);
        let held = lock.0.metadata().map_err(failed)?;
        if named.is_ok_and(|named| is_same_file(&named, &held)) {
            return Ok(lock);
        }
    }
    Err(failed(io::Error::other("it is replaced again and again")))
}

/// Opens a lock file, or makes it; a link is an error.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is not a plain file")),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// The greatest term that was ever given, as far as can be told.
fn last_term(folder: &Path) -> u64 {
    match record::read(folder) {
        Ok(Some(record)) => record.term,
        // Relays may have seen greater ones than we can know of. Terms grow by one at a time, so
        // seconds since 1970 are ahead of any that was counted from an earlier such number.
        unknown => {
            if let Err(error) = unknown {
                tracing::warn!(%error, "the last term is not known; going on from the clock");
            }
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::fs::{PermissionsExt, symlink},
        sync::Barrier,
        thread,
    };

    use super::*;
    use crate::test_place::Place;

    #[test]
    fn of_many_takers_at_once_one_gets_it() {
        let place = Place::private();
        for _ in 0..20 {
            let barrier = Barrier::new(8);
            let taken: Vec<_> = thread::scope(|scope| {
                let takers: Vec<_> = (0..8)
                    .map(|_| {
                        scope.spawn(|| {
                            barrier.wait();
                            Lease::take(place.path(), || 0)
                        })
                    })
                    .collect();
                takers.into_iter().map(|taker| taker.join().unwrap()).collect()
            });
            let (held, lost): (Vec<_>, Vec<_>) = taken.into_iter().partition(Result::is_ok);
            assert_eq!(held.len(), 1);
            let quiet = |lost: &Result<_, _>| matches!(lost, Err(LeaseError::Taken(_)));
            assert!(lost.iter().all(quiet), "{lost:?}");
        }
    }

    #[test]
    fn the_term_only_grows() {
        let place = Place::private();
        let first = Lease::take(place.path(), || 0).unwrap().term();
        assert_eq!(Lease::take(place.path(), || 0).unwrap().term(), first + 1);
        let stored = first + 100;
        assert_eq!(Lease::take(place.path(), || stored).unwrap().term(), stored + 1);
        assert_eq!(Lease::take(place.path(), || first).unwrap().term(), stored + 2);
    }

    #[test]
    fn whoever_lost_the_lock_does_not_write_over_the_next_holders_record() {
        let place = Place::private();
        let mut lost = Lease::take(place.path(), || 0).unwrap();
        fs::remove_file(place.path().join(FILE)).unwrap();
        let mut next = Lease::take(place.path(), || 0).unwrap();
        next.announce(8765, "1.2").unwrap();
        let written = record::read(place.path()).unwrap();
        assert!(lost.announce(9999, "1.1").is_err());
        lost.retire();
        assert_eq!(record::read(place.path()).unwrap(), written);
        assert_eq!(written.unwrap().term, next.term());
    }

    #[test]
    fn a_term_that_is_lost_or_damaged_is_still_followed_by_a_greater_one() {
        let place = Place::private();
        let path = place.path().join(record::FILE);
        let mut last = Lease::take(place.path(), || 0).unwrap().term();
        // Nobody starts a hub more often than once in a second for long.
        last -= 1;
        let mut endless = record::read(place.path()).unwrap().unwrap();
        endless.term = u64::MAX;
        let endless = serde_json::to_string(&endless).unwrap();
        for damage in ["{", "{\"term\":1", "", &endless] {
            fs::write(&path, damage).unwrap();
            let term = Lease::take(place.path(), || 0).unwrap().term();
            assert!(term > last, "{term} after {last}");
            last = term - 1;
        }
        fs::remove_file(&path).unwrap();
        assert!(Lease::take(place.path(), || 0).unwrap().term() > last);
        let elsewhere = place.path().join("elsewhere");
        fs::write(&elsewhere, "precious").unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&elsewhere, &path).unwrap();
        assert!(Lease::take(place.path(), || 0).unwrap().term() > last);
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
    }

    #[test]
    fn the_holder_says_where_it_is_and_when_it_goes() {
        let place = Place::private();
        let mut lease = Lease::take(place.path(), || 0).unwrap();
        let read = || record::read(place.path()).unwrap().unwrap();
        assert_eq!((read().port, read().pid), (0, std::process::id()));
        let welcome = lease.announce(8765, "1.2").unwrap();
        assert_eq!(
            (read().port, read().version.as_str(), read().term),
            (8765, "1.2", lease.term())
        );
        assert_eq!(welcome.port, 8765);
        assert!(!read().stopping);
        lease.retire();
        assert!(read().stopping);
        drop(lease);
        assert!(!{ Lease::take(place.path(), || 0).unwrap() }.record.stopping);
    }

    #[test]
    fn links_and_open_folders_are_refused() {
        let place = Place::private();
        let elsewhere = place.path().join("elsewhere");
        fs::write(&elsewhere, "precious").unwrap();
        symlink(&elsewhere, place.path().join(FILE)).unwrap();
        assert!(matches!(Lease::take(place.path(), || 0), Err(LeaseError::Failed { .. })));
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(Lease::take(place.path(), || 0), Err(LeaseError::Folder(_))));
    }
}
