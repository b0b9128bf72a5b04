//! A path becomes an open file, in which nobody can put another one between looking and opening.
//!
//! The path is resolved and judged, and what is opened then is that real path: name by name from
//! the top, following no link. A link that was put there meanwhile makes it fail. What is open is
//! looked at once more: only a plain file is read.

use std::{
    fs::{File, FileType},
    io,
    path::{Path, PathBuf},
};

use model::{Code, Fault};

use super::folders::{UploadRoots, in_words, unreadable};
use crate::action::invalid;

/// A file that may be uploaded, and is open.
#[derive(Debug)]
pub(super) struct CheckedFile {
    /// As the client calls it, without folders.
    pub name: String,
    /// Where it really is.
    pub path: PathBuf,
    /// Bytes that it had when it was opened.
    pub size: u64,
    pub file: File,
}

/// Opens a file that may be uploaded. May block.
pub(super) fn open(roots: &UploadRoots<'_>, given: &str) -> Result<CheckedFile, Fault> {
    let whole = roots.whole(given)?;
    let given = &in_words(Path::new(given));
    let path = roots.resolve(given, &whole)?;
    roots.check(given, &whole, &path)?;
    let broken = |error: io::Error| unreadable(given, &error);
    // Looked at before it is opened, too: opening a device may do something.
    check_kind(given, std::fs::symlink_metadata(&path).map_err(broken)?.file_type())?;
    let file = open_exactly(&path).map_err(broken)?;
    let opened = file.metadata().map_err(broken)?;
    check_kind(given, opened.file_type())?;
    let name = whole.file_name().or(path.file_name()).unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    Ok(CheckedFile { name, size: opened.len(), path, file })
}

fn check_kind(given: &str, kind: FileType) -> Result<(), Fault> {
    if kind.is_dir() {
        return Err(invalid(format!("{given} is a folder; name the files in it")));
    }
    if !kind.is_file() {
        return Err(Fault::new(Code::Refused, format!("{given} is not a plain file")));
    }
    Ok(())
}

/// Opens a real path and follows no link on the way.
#[cfg(unix)]
fn open_exactly(path: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    // Where it exists: a folder may be one that can be passed and not listed.
    #[cfg(target_os = "linux")]
    let passing = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let passing = OFlags::RDONLY;
    let passing = passing | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Without waiting: a pipe that nobody writes to would not open.
    let reading =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::IsADirectory.into());
    };
    let mut folder = openat(CWD, "/", passing, Mode::empty())?;
    for name in above.iter().skip(1) {
        folder = openat(&folder, name, passing, Mode::empty())?;
    }
    Ok(File::from(openat(&folder, name, reading, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_exactly(_: &Path) -> io::Result<File> {
    Err(io::Error::other("files can be uploaded by path on Unix only"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::uploads::tests::Folder;

    #[test]
    fn a_real_path_is_opened_and_a_link_that_came_into_it_is_not() {
        let folder = Folder::new();
        let file = folder.write("inner/a.txt", "hello");
        assert_eq!(open_exactly(&file).unwrap().metadata().unwrap().len(), 5);
        // As if the folder, or the file, had been replaced after it was judged.
        symlink(folder.path().join("inner"), folder.path().join("swapped")).unwrap();
        symlink(&file, folder.path().join("swapped.txt")).unwrap();
        for swapped in ["swapped/a.txt", "swapped.txt"] {
            assert!(open_exactly(&folder.path().join(swapped)).is_err(), "{swapped}");
        }
        assert!(open_exactly(Path::new("/")).is_err());
    }
}
