//! One file that is to be written or removed: what it was, what it becomes, and doing it.
//!
//! Links are followed to what they name. A new file takes the old one's place in one step, with
//! its mode and owner; the old text stays beside it as a backup. A file that has changed since it
//! was looked at is left alone. It asks nobody.

use std::{
    fs, io,
    io::Write,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown, fchown},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use processes::own_user;

use crate::discovery::iso_time;

/// What stands between a file's name and the time in the name of its backup.
pub const BACKUP: &str = ".tabwire-backup-";
/// A longer configuration is not edited.
const LONGEST: u64 = 64 * 1024 * 1024;

/// A file as it was found.
#[derive(Debug, Clone)]
pub struct FoundFile {
    /// The file itself, behind all links.
    pub path: PathBuf,
    /// What is in it; `None` means that there is no file.
    pub text: Option<String>,
    /// Nobody may write to it.
    pub read_only: bool,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file itself, behind all links.
    pub path: PathBuf,
    /// What is in it; `None` means that there is none.
    pub before: Option<String>,
    /// What will be in it; `None` removes it.
    pub after: Option<String>,
    /// The mode of a file that is new.
    pub mode: u32,
    /// Whether the old text is worth keeping.
    pub backup: bool,
}

/// Why a file is not touched.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file that was to be changed.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// It is no file, no text, or too long.
    #[error("{0} is not a text file")]
    NoText(String),
    /// Somebody has changed it meanwhile.
    #[error("{0} was changed meanwhile; it was left as it is, try again")]
    Changed(String),
    /// It cannot be written.
    #[error("{path} cannot be written: {source}")]
    Unwritable {
        /// The file that was to be changed, or its backup.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Looks at a file, behind all links.
pub fn look(path: &Path) -> Result<FoundFile, FileError> {
    let named = path.display().to_string();
    let unreadable = |source| FileError::Unreadable { path: named.clone(), source };
    let real = match fs::canonicalize(path) {
        Ok(real) => real,
        // A link that leads nowhere is somebody's intention, and not ours to guess.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
            return Ok(FoundFile { path: path.to_owned(), text: None, read_only: false });
        }
        Err(error) => return Err(unreadable(error)),
    };
    let found = fs::metadata(&real).map_err(unreadable)?;
    if !found.is_file() || found.len() > LONGEST {
        return Err(FileError::NoText(named));
    }
    let bytes = fs::read(&real).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| FileError::NoText(named))?;
    let read_only = found.permissions().mode() & 0o222 == 0;
    Ok(FoundFile { path: real, text: Some(text), read_only })
}

/// Returns the texts of all backups of a file, the newest first.
pub fn backups(path: &Path) -> Vec<String> {
    let (Some(folder), Some(name)) =
        (path.parent(), path.file_name().and_then(|name| name.to_str()))
    else {
        return Vec::new();
    };
    let beginning = format!("{name}{BACKUP}");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&beginning))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found.iter().rev().filter_map(|path| look(path).ok()?.text).collect()
}

impl FileChange {
    /// Does it; returns where the old text is kept, if it is.
    pub fn apply(&self) -> Result<Option<PathBuf>, FileError> {
        if look(&self.path)?.text != self.before {
            return Err(FileError::Changed(self.path.display().to_string()));
        }
        self.write().map_err(|source| FileError::Unwritable {
            path: self.path.display().to_string(),
            source,
        })
    }

    fn write(&self) -> io::Result<Option<PathBuf>> {
        let backup = match &self.before {
            Some(before) if self.backup => Some(self.keep(before)?),
            _ => None,
        };
        match &self.after {
            None => fs::remove_file(&self.path)?,
            Some(after) => self.put(after)?,
        }
        Ok(backup)
    }

    fn put(&self, text: &str) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        make_folder(folder)?;
        let draft = folder.join(format!(".tabwire-{}", model::id::random_text(12)));
        let written = self.fill(&draft, text).and_then(|()| fs::rename(&draft, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written
    }

    fn keep(&self, text: &str) -> io::Result<PathBuf> {
        let mut time = SystemTime::now();
        loop {
            let path = self.backup_of(time);
            match self.fill(&path, text) {
                Ok(()) => return Ok(path),
                // Changed twice in a millisecond: the next one keeps the order.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    time += Duration::from_millis(1);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// 2026-11-15T23:00:02.123Z without what file names do not like.
    fn backup_of(&self, time: SystemTime) -> PathBuf {
        let time = iso_time(time).replace(['-', ':', '.'], "");
        let mut name = self.path.clone().into_os_string();
        name.push(format!("{BACKUP}{time}"));
        PathBuf::from(name)
    }

    /// Makes a new file with the mode and the owner of the one whose place it takes.
    fn fill(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())?;
        let like = fs::metadata(&self.path);
        let mode = like.as_ref().map_or(self.mode, |like| like.permissions().mode() & 0o7777);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        // Who works as root for somebody else leaves files that belong to them.
        let owner = match like {
            Ok(like) => Some(like),
            Err(_) if own_user() == 0 => fs::metadata(folder).ok(),
            Err(_) => None,
        };
        let own = file.metadata()?;
        if let Some(owner) =
            owner.filter(|owner| (owner.uid(), owner.gid()) != (own.uid(), own.gid()))
        {
            fchown(&file, Some(owner.uid()), Some(owner.gid()))?;
        }
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()
    }
}

/// Makes a folder with those above it, private, and its owner's even if root makes it.
fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().unwrap_or(Path::new("/"));
    make_folder(above)?;
    fs::DirBuilder::new().mode(0o700).create(folder)?;
    let owner = fs::metadata(above)?;
    match own_user() == 0 && owner.uid() != 0 {
        true => chown(folder, Some(owner.uid()), Some(owner.gid())),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::test_place::Place;

    fn change(path: &Path, before: Option<&str>, after: Option<&str>) -> FileChange {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let (before, after) = (text(before), text(after));
        FileChange { path: path.to_owned(), before, after, mode: 0o644, backup: true }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn changes_in_the_same_millisecond_keep_a_backup_each() {
        let place = Place::private();
        let path = place.path().join("c.json");
        fs::write(&path, "0").unwrap();
        for round in 0..50 {
            let (before, after) = (round.to_string(), (round + 1).to_string());
            change(&path, Some(&before), Some(&after)).apply().unwrap();
        }
        let kept = backups(&path);
        assert_eq!((kept.len(), kept[0].as_str()), (50, "49"), "the newest is first");
    }

    #[test]
    fn a_file_keeps_its_mode_and_its_old_text() {
        let place = Place::private();
        let path = place.path().join("c.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let backup = change(&path, Some("old"), Some("new")).apply().unwrap().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_to_string(&backup).unwrap(), "old");
        assert_eq!((mode(&path), mode(&backup)), (0o640, 0o640));
        let name = backup.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.starts_with("c.json.tabwire-backup-2") && name.ends_with('Z'), "{name}");
        assert_eq!(backups(&path), ["old"]);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "no drafts stay behind");
    }

    #[test]
    fn links_are_followed_and_stay_links() {
        let place = Place::private();
        let (link, real) = (place.path().join("link"), place.path().join("real"));
        fs::write(&real, "old").unwrap();
        symlink(&real, &link).unwrap();
        let found = look(&link).unwrap();
        assert_eq!(found.path, fs::canonicalize(&real).unwrap());
        change(&found.path, Some("old"), Some("new")).apply().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&link).unwrap(), "new");
        fs::remove_file(&real).unwrap();
        assert!(look(&link).is_err(), "a link that leads nowhere is not written through");
    }

    #[test]
    fn what_changed_meanwhile_is_left_alone() {
        let place = Place::private();
        let path = place.path().join("c.json");
        let appeared = change(&path, None, Some("new"));
        fs::write(&path, "other").unwrap();
        assert!(matches!(appeared.apply(), Err(FileError::Changed(_))));
        let differs = change(&path, Some("old"), Some("new"));
        assert!(matches!(differs.apply(), Err(FileError::Changed(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "other");
    }

    #[test]
    fn new_files_have_folders_made_and_the_mode_they_should() {
        let place = Place::private();
        let path = place.path().join("a/b/run");
        let new = FileChange { mode: 0o700, ..change(&path, None, Some("x")) };
        assert_eq!(new.apply().unwrap(), None, "nothing to keep");
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(&place.path().join("a/b")), 0o700, "others need not look in");
        change(&path, Some("x"), None).apply().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn read_only_files_folders_and_bytes_are_told() {
        let place = Place::private();
        let path = place.path().join("c");
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        assert!(look(&path).unwrap().read_only);
        assert!(matches!(look(place.path()), Err(FileError::NoText(_))));
        let bytes = place.path().join("b");
        fs::write(&bytes, [0xff, 0xfe, 0]).unwrap();
        assert!(matches!(look(&bytes), Err(FileError::NoText(_))));
    }
}
