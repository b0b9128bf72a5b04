//! `pairing.json`: what is kept of pairings, private to its owner and changed by one at a time.
//!
//! The hub, the native messaging host and the command line all write it, so a change reads it
//! anew under a lock and puts a new file in the place of the old one. Readers need no lock. A file
//! that cannot be understood is set aside, never deleted, and pairing starts over, switched off.

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use model::{InstanceId, id::random_text};
use serde::{Deserialize, Serialize};

use super::{By, key::Key};
use crate::private_file::{self, Unusable, beside};

/// What this program writes.
const FORMAT: u32 = 1;
/// A longer file is not ours.
const LONGEST: u64 = 256 << 10;
/// How long another program may take to change the file.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(5);

/// Why what is kept cannot be read or changed. Never shows a key.
#[derive(Debug, thiserror::Error)]
pub enum PairingError {
    /// The disk or the operating system does not let us.
    #[error("{path} cannot be used: {source}")]
    Failed {
        /// The file with the pairings, or the folder that it is in.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// Others could have read or written it.
    #[error("{0} is not a private file of yours; make it so: chmod 600 {0}")]
    NotPrivate(String),
    /// We would not understand it.
    #[error("{0} was written by a newer version of Tabwire; use that one")]
    Newer(String),
    /// Somebody else does not finish changing it.
    #[error("another program keeps {0} locked; try again")]
    Busy(String),
}

/// Everything in the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PairingRecords {
    format: u32,
    /// The native messaging host may pair browsers.
    pub native: bool,
    pub instances: BTreeMap<String, Entry>,
    /// The code that can be used now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The last code that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Used>,
    /// What people must know before they go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// One paired browser.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub key: Key,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<String>,
    /// Milliseconds since 1970.
    pub paired_at: u64,
    pub by: By,
}

/// A code that waits; only its key is kept.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Code {
    pub id: String,
    pub key: Key,
    pub expires_at: u64,
    /// How often each browser has tried it.
    #[serde(default)]
    pub tried_by: BTreeMap<String, u32>,
}

/// What became of a code.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Used {
    pub id: String,
    pub instance: String,
}

impl Default for PairingRecords {
    fn default() -> Self {
        let (code, used, notice) = (None, None, None);
        Self { format: FORMAT, native: true, instances: BTreeMap::new(), code, used, notice }
    }
}

/// Why a text is not what it should be.
enum Fault {
    Damaged(String),
    Other(PairingError),
}

/// Reads what is kept; nothing, where there is no file.
pub(super) fn read(path: &Path) -> Result<PairingRecords, PairingError> {
    match parse(path) {
        Ok(kept) => Ok(kept),
        Err(Fault::Other(error)) => Err(error),
        Err(Fault::Damaged(_)) => change(path, |_| ()).and_then(|()| match parse(path) {
            Ok(kept) => Ok(kept),
            Err(Fault::Other(error)) => Err(error),
            Err(Fault::Damaged(why)) => Err(failed(path, io::Error::other(why))),
        }),
    }
}

/// Changes what is kept, while nobody else does.
pub(super) fn change<T>(
    path: &Path,
    work: impl FnOnce(&mut PairingRecords) -> T,
) -> Result<T, PairingError> {
    let _lock = Lock::take(path)?;
    let (mut kept, before) = match parse(path) {
        Ok(kept) => {
            let before = text(&kept);
            (kept, before)
        }
        Err(Fault::Other(error)) => return Err(error),
        Err(Fault::Damaged(why)) => (set_aside(path, &why)?, Vec::new()),
    };
    let done = work(&mut kept);
    let after = text(&kept);
    // A browser without a hub asks for its key again and again.
    if after != before {
        private_file::replace(path, &after).map_err(|error| failed(path, error))?;
    }
    Ok(done)
}

fn parse(path: &Path) -> Result<PairingRecords, Fault> {
    let Some(text) = read_private(path).map_err(Fault::Other)? else {
        return Ok(PairingRecords::default());
    };
    if text.len() as u64 > LONGEST {
        return Err(Fault::Damaged("it is too long".to_owned()));
    }
    #[derive(Deserialize)]
    struct Head {
        format: u32,
    }
    let damaged = |error: serde_json::Error| Fault::Damaged(error.to_string());
    let head: Head = serde_json::from_slice(&text).map_err(damaged)?;
    if head.format > FORMAT {
        return Err(Fault::Other(PairingError::Newer(path.display().to_string())));
    }
    let kept: PairingRecords = serde_json::from_slice(&text).map_err(damaged)?;
    match kept.instances.keys().all(|name| InstanceId::parse(name).is_ok()) {
        true => Ok(kept),
        false => Err(Fault::Damaged("a name in it is none".to_owned())),
    }
}

fn read_private(path: &Path) -> Result<Option<Vec<u8>>, PairingError> {
    private_file::read(path, LONGEST).map_err(|error| match error {
        Unusable::NotPrivate => PairingError::NotPrivate(path.display().to_string()),
        Unusable::Failed(source) => failed(path, source),
    })
}

fn set_aside(path: &Path, why: &str) -> Result<PairingRecords, PairingError> {
    let aside = beside(path, &format!("damaged-{}", random_text(6)));
    fs::rename(path, &aside).map_err(|error| failed(path, error))?;
    tracing::warn!(file = %path.display(), aside = %aside.display(), why, "pairings were damaged");
    let notice = format!(
        "{} was damaged and set aside as {}; all browsers must be paired again: run `tabwire pair`",
        path.display(),
        aside.display()
    );
    // Who was unpaired is not known any more, so nobody comes back unasked.
    Ok(PairingRecords { native: false, notice: Some(notice), ..PairingRecords::default() })
}

fn text(kept: &PairingRecords) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(kept).expect("plain data with text as keys");
    text.push(b'\n');
    text
}

/// The right to change the file, for as long as this value lives.
struct Lock(File);

impl Lock {
    fn take(path: &Path) -> Result<Self, PairingError> {
        let path = beside(path, "lock");
        let failed = |source| failed(&path, source);
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => {
                return Err(PairingError::NotPrivate(path.display().to_string()));
            }
            _ => {}
        }
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(failed)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                // Waiting without an end would let one frozen program stop all others.
                Err(TryLockError::WouldBlock) if Instant::now() > deadline => {
                    return Err(PairingError::Busy(path.display().to_string()));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(LOOK),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child that is just being made has the file open too.
        let _ = self.0.unlock();
    }
}

fn failed(path: &Path, source: io::Error) -> PairingError {
    PairingError::Failed { path: path.display().to_string(), source }
}
