//! Small files that only their owner may read: how they are read, made and replaced.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use model::id::random_text;

/// Why a private file cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// It is a link, no plain file, somebody else's, or open to others.
    NotPrivate,
    /// The system says no.
    Failed(io::Error),
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Reads a file that is private and lies in a folder of the same owner; at most one byte more than
/// the longest that is expected. `None` means that there is none.
pub fn read(path: &Path, longest: u64) -> Result<Option<Vec<u8>>, Unusable> {
    // Looked at before it is opened: opening a pipe would wait, and a link leads elsewhere.
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let folder = fs::metadata(folder(path))?;
    let private = found.permissions().mode() & 0o077 == 0;
    if !found.is_file() || !private || found.uid() != folder.uid() {
        return Err(Unusable::NotPrivate);
    }
    let mut text = Vec::new();
    File::open(path)?.take(longest + 1).read_to_end(&mut text)?;
    Ok(Some(text))
}

/// Puts a file there, in the place of an older one.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    with_draft(path, text, |draft| fs::rename(draft, path))
}

/// Puts a file there; returns whether it did, and not somebody else meanwhile.
pub fn create(path: &Path, text: &[u8]) -> io::Result<bool> {
    with_draft(path, text, |draft| match fs::hard_link(draft, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        linked => linked.map(|()| true),
    })
}

/// Returns the path of a file that belongs to another one.
pub fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{what}"));
    path.with_file_name(name)
}

fn with_draft<T>(
    path: &Path,
    text: &[u8],
    place: impl FnOnce(&Path) -> io::Result<T>,
) -> io::Result<T> {
    let draft = beside(path, &format!("draft-{}", random_text(12)));
    let write = || {
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(text)?;
        file.sync_data()?;
        place(&draft)
    };
    let done = write();
    let _ = fs::remove_file(&draft);
    done
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
