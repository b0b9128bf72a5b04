//! `hub.json` in the data folder: what the holder of the lock says about itself.
//!
//! It tells where the hub is and what its term was; it proves nothing, because the lock and the
//! kernel do that. Written as a new file that takes the old one's place; read only if it is ours,
//! private, short and no link.

use std::{
    fs,
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::folder::{is_private_file, is_same_file};

/// The record's name in the data folder.
pub const FILE: &str = "hub.json";
/// A longer file is not ours.
const LONGEST: u64 = 4096;
/// How often a file that somebody replaces is looked at anew.
const ATTEMPTS: usize = 10;

/// What a hub says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HubRecord {
    /// The port; 0 while it is not open yet.
    pub port: u16,
    /// The hub's process id.
    pub pid: u32,
    /// When the process was started, in the kernel's own count; 0 where that cannot be told.
    pub start_time: u64,
    /// The word that is in the lock file too.
    pub nonce: String,
    /// Grows with every hub.
    #[serde(deserialize_with = "read_term")]
    pub term: u64,
    /// The program's version; empty while the port is not open yet.
    pub version: String,
    /// Since when, as ISO 8601.
    pub since: String,
    /// Whether it is about to end because somebody wants it to.
    #[serde(default)]
    pub stopping: bool,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is a link, a folder, too long, or others could have written it.
    #[error("{FILE} is not a private file of ours")]
    NotOurs,
    /// It does not say what it should.
    #[error("{FILE} is damaged: {0}")]
    Damaged(serde_json::Error),
    /// The system does not let it be read.
    #[error("{FILE} cannot be read: {0}")]
    Failed(#[from] io::Error),
}

/// Reads the record of a folder; `None` means that there is none.
pub fn read(folder: &Path) -> Result<Option<HubRecord>, RecordError> {
    let Some(text) = read_private(&folder.join(FILE), LONGEST)? else { return Ok(None) };
    serde_json::from_slice(&text).map(Some).map_err(RecordError::Damaged)
}

/// Reads a term; one that none could follow was not given by any hub.
fn read_term<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    match u64::deserialize(from)? {
        term if term <= u64::MAX / 2 => Ok(term),
        term => Err(de::Error::custom(format!("no hub can have had the term {term}"))),
    }
}

/// Puts a record in the place of the one before. Links are replaced, never followed.
pub(crate) fn write(folder: &Path, record: &HubRecord) -> io::Result<()> {
    let draft = folder.join(format!(".{FILE}-{}", model::id::random_text(12)));
    let written = write_new(&draft, record).and_then(|()| fs::rename(&draft, folder.join(FILE)));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Reads a short private file; `None` means that there is none.
pub(crate) fn read_private(path: &Path, longest: u64) -> Result<Option<Vec<u8>>, RecordError> {
    for _ in 0..ATTEMPTS {
        // Looked at before it is opened: opening a pipe would wait.
        let found = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        if !is_private_file(&found) {
            return Err(RecordError::NotOurs);
        }
        let file = fs::File::open(path)?;
        // Its writer may just have put a new one in its place.
        if !is_same_file(&found, &file.metadata()?) {
            continue;
        }
        let mut text = Vec::new();
        file.take(longest + 1).read_to_end(&mut text)?;
        if text.len() as u64 > longest {
            return Err(RecordError::NotOurs);
        }
        return Ok(Some(text));
    }
    Err(RecordError::NotOurs)
}

fn write_new(path: &Path, record: &HubRecord) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let mut text = serde_json::to_vec(record)?;
    text.push(b'\n');
    file.write_all(&text)?;
    // A machine that loses power must not lose the term.
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::test_place::Place;

    fn record() -> HubRecord {
        HubRecord {
            port: 8765,
            pid: 12,
            start_time: 34,
            nonce: "n".to_owned(),
            term: 7,
            version: "1.0".to_owned(),
            since: "2026-01-01T00:00:00.000Z".to_owned(),
            stopping: false,
        }
    }

    #[test]
    fn a_record_reads_back_and_is_private() {
        let place = Place::private();
        assert_eq!(read(place.path()).unwrap(), None);
        write(place.path(), &record()).unwrap();
        assert_eq!(read(place.path()).unwrap(), Some(record()));
        let mode = fs::metadata(place.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        write(place.path(), &HubRecord { term: 8, ..record() }).unwrap();
        assert_eq!(read(place.path()).unwrap().unwrap().term, 8);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "no drafts stay behind");
    }

    #[test]
    fn the_names_are_those_of_the_file() {
        let text = serde_json::to_value(record()).unwrap();
        for name in ["port", "pid", "startTime", "nonce", "term", "version", "since", "stopping"] {
            assert!(text.get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn what_others_could_have_written_is_not_read() {
        let place = Place::private();
        let path = place.path().join(FILE);
        let elsewhere = place.path().join("elsewhere");
        fs::write(&elsewhere, serde_json::to_vec(&record()).unwrap()).unwrap();
        fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&elsewhere, &path).unwrap();
        assert!(matches!(read(place.path()), Err(RecordError::NotOurs)), "a link");
        write(place.path(), &record()).unwrap();
        assert!(!fs::symlink_metadata(&path).unwrap().is_symlink(), "replaced, not followed");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(read(place.path()), Err(RecordError::NotOurs)), "open to others");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(matches!(read(place.path()), Err(RecordError::NotOurs)), "a folder");
    }

    #[test]
    fn damage_is_told_apart_from_absence() {
        let place = Place::private();
        let path = place.path().join(FILE);
        for text in ["", "{", "{}", "[1]", "null", "{\"term\":-1}", "\u{0}\u{0}"] {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            assert!(matches!(read(place.path()), Err(RecordError::Damaged(_))), "{text:?}");
        }
        fs::write(&path, " ".repeat(5000)).unwrap();
        assert!(matches!(read(place.path()), Err(RecordError::NotOurs)), "too long");
    }
}
