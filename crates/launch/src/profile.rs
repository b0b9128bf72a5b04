//! The folders in which browsers keep their things: thrown away at the end, or named and kept.
//!
//! A throw-away profile lies beside the record of its browser and is named by it, so that a record
//! that was tampered with cannot have another folder removed. A named one is in `profiles`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    folder, process,
    record::{self, LaunchId},
};

/// Where named profiles are, in the data folder.
pub const FOLDER: &str = "profiles";
/// Most named profiles; the next one is refused until one is removed by hand.
pub const PROFILES_MAX: usize = 100;
/// Letters of the longest name of a profile or browser.
pub const LONGEST_NAME: usize = 32;
/// What is behind the launch's id in the name of a throw-away profile.
const THROW_AWAY: &str = ".profile";

/// A named profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileInfo {
    /// Its name, which is that of its folder.
    pub name: String,
    /// Who uses it: a browser's session, or the browser's name while it has none.
    pub used_by: Option<String>,
}

/// Returns whether a text is the name of a profile or a browser: `[a-z0-9-]{1,32}`.
pub fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(plain)
}

/// Returns the folder of a launch's profile: the named one, or one that is thrown away.
pub fn folder_of(data: &Path, launch: &LaunchId, profile: Option<&str>) -> PathBuf {
    match profile {
        Some(name) => data.join(FOLDER).join(name),
        None => data.join(record::FOLDER).join(format!("{launch}{THROW_AWAY}")),
    }
}

/// Returns the names of all named profiles, sorted.
pub fn names(data: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(data.join(FOLDER)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let folders =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| is_name(name)).collect();
    names.sort();
    Ok(names)
}

/// Returns the process of a browser that uses a folder though we have not started it.
pub fn foreign_user(user_data_dir: &Path) -> Option<u32> {
    // A link that is no file: its target is the machine's name, a dash, and the process.
    let lock = fs::read_link(user_data_dir.join("SingletonLock")).ok()?;
    let pid = lock.to_str()?.rsplit_once('-')?.1.parse().ok()?;
    // A lock that was left behind can name a process that is something else by now.
    process::has_folder(pid, user_data_dir).then_some(pid)
}

/// Removes throw-away profiles whose record is gone.
pub fn remove_strays(data: &Path) {
    let Ok(entries) = fs::read_dir(data.join(record::FOLDER)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        let launch = name.strip_suffix(THROW_AWAY).and_then(LaunchId::parse);
        if let Some(launch) = launch
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && !record::exists(data, &launch)
            && let Err(error) = folder::remove(&entry.path())
        {
            tracing::warn!(%launch, %error, "a throw-away profile stays behind");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::Place;

    #[test]
    fn names_are_short_and_plain() {
        for good in ["a", "work", "a-1", "0", &"x".repeat(32)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "Work", "a b", "../x", "a/b", ".", "ü", &"x".repeat(33)] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn only_folders_with_such_names_are_profiles() {
        let place = Place::new();
        assert_eq!(names(place.path()).unwrap(), Vec::<String>::new());
        for name in ["profiles/work", "profiles/alone", "profiles/Not this"] {
            folder::make(&place.path().join(name)).unwrap();
        }
        fs::write(place.path().join("profiles/file"), "").unwrap();
        assert_eq!(names(place.path()).unwrap(), ["alone", "work"]);
    }

    #[test]
    fn throw_away_profiles_without_a_record_are_removed_and_nothing_else() {
        let place = Place::new();
        let launch = LaunchId::mint();
        let stray = folder_of(place.path(), &launch, None);
        let named = folder_of(place.path(), &launch, Some("work"));
        let other = place.path().join("browsers/precious");
        for path in [&stray, &named, &other] {
            folder::make(&path.join("Default")).unwrap();
        }
        remove_strays(place.path());
        assert!(!stray.exists() && named.exists() && other.exists());
    }
}
