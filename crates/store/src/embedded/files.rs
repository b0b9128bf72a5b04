//! The files of a store: their names, how they are made, and how they are set aside.
//!
//! Beside `<name>` stand SQLite's `<name>-wal` and `<name>-shm` and our `<name>-mark`. Only
//! their owner may read them. Nothing is deleted here but the surplus of what was set aside.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// What stands beside a store, and the store itself.
const ENDINGS: [&str; 4] = ["", "-wal", "-shm", "-mark"];

/// Damaged files that are kept: the first, which had everything in it, and the newest.
const MOST_ASIDE: usize = 5;

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

/// Renames a store and what stands beside it to the next `<name>.damaged-<n>`; of too many, those
/// between the first and the newest are deleted.
pub(super) fn set_aside(store: &Path) -> io::Result<PathBuf> {
    let before = aside_of(store)?;
    let aside = aside(store, before.last().map_or(1, |newest| newest.saturating_add(1)));
    for ending in ENDINGS {
        match fs::rename(beside(store, ending), beside(&aside, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let surplus = (before.len() + 1).saturating_sub(MOST_ASIDE);
    for number in before.iter().skip(1).take(surplus) {
        delete_aside(store, *number);
    }
    sync_folder(store)?;
    Ok(aside)
}

/// Returns the numbers of what was set aside, smallest first.
fn aside_of(store: &Path) -> io::Result<Vec<u64>> {
    let start = aside_start(store);
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder_of(store))? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(&start)?.parse::<u64>().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

fn aside_start(store: &Path) -> String {
    format!("{}.damaged-", store.file_name().unwrap_or_default().to_string_lossy())
}

fn aside(store: &Path, number: u64) -> PathBuf {
    store.with_file_name(format!("{}{number}", aside_start(store)))
}

fn delete_aside(store: &Path, number: u64) {
    for ending in ENDINGS {
        let path = beside(&aside(store, number), ending);
        match fs::remove_file(&path) {
            Ok(()) => tracing::warn!(file = %path.display(), "a damaged file was deleted"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(%error, file = %path.display(), "not deleted"),
        }
    }
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
    match cfg!(unix) {
        true => File::open(folder_of(path))?.sync_all(),
        false => Ok(()),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
