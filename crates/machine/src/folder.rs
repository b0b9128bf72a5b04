//! The data folder: made private, and refused when somebody else could be in it.
//!
//! Everything that hubs and relays of one user share lies in it, so it is the first gate. What is
//! in the folder is checked by whoever reads it.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::Path,
};

use processes::own_user;

/// Why a data folder is not used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be made or looked at.
    #[error("the data folder {path} cannot be used: {source}")]
    Failed {
        /// The data folder.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// Others may enter it.
    #[error("the data folder {0} is open to others; make it private: chmod 700 {0}")]
    NotPrivate(String),
    /// Somebody else owns it.
    #[error("the data folder {0} belongs to another user")]
    NotOurs(String),
}

/// Makes the folder if it does not exist, and checks that it is private.
pub fn open(folder: &Path) -> Result<(), FolderError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| failed(folder, source))?;
    check(folder)
}

/// Checks that the folder is ours and nobody else may enter it.
pub fn check(folder: &Path) -> Result<(), FolderError> {
    let found = fs::metadata(folder).map_err(|source| failed(folder, source))?;
    if found.uid() != own_user() {
        return Err(FolderError::NotOurs(folder.display().to_string()));
    }
    if found.permissions().mode() & 0o077 != 0 {
        return Err(FolderError::NotPrivate(folder.display().to_string()));
    }
    Ok(())
}

/// Returns whether a file is ours, private, and no link.
pub(crate) fn is_private_file(found: &fs::Metadata) -> bool {
    found.is_file() && found.uid() == own_user() && found.permissions().mode() & 0o077 == 0
}

/// Returns whether both are one file.
pub(crate) fn is_same_file(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

fn failed(folder: &Path, source: io::Error) -> FolderError {
    FolderError::Failed { path: folder.display().to_string(), source }
}
