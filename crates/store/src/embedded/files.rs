//! The files of a store: their names, how they are made, and how they are set aside.
//!
//! Beside `<name>` stand SQLite's `<name>-wal` and `<name>-shm` and our `<name>-mark`. Only
//! their owner may read them. Nothing is ever deleted here.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// Returns the path of a store's mark.
pub(super) fn mark_of(store: &Path) -> PathBuf {
    beside(store, "-mark")
}

/// Makes an empty file that only its owner may read, unless there is one.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(file) => {
            file.sync_all()?;
            sync_folder(path)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Renames a store and what stands beside it to the first free `<name>.damaged-<n>`.
pub(super) fn set_aside(store: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    let aside = loop {
        let name = beside(store, &format!(".damaged-{number}"));
        if !name.try_exists()? {
            break name;
        }
        number += 1;
    };
    for ending in ["", "-wal", "-shm", "-mark"] {
        match fs::rename(beside(store, ending), beside(&aside, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    sync_folder(store)?;
    Ok(aside)
}

/// Returns whether the operating system would let us write to a file.
pub(super) fn may_write(path: &Path) -> bool {
    OpenOptions::new().write(true).open(path).is_ok()
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Waits until names in the file's folder are on disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) && !folder.as_os_str().is_empty() => {
            File::open(folder)?.sync_all()
        }
        _ => Ok(()),
    }
}
