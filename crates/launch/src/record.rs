//! What is written down about a started browser, so that the next hub can find it.
//!
//! One file per browser, `browsers/<launch id>.json` in the data folder, private and replaced
//! whole. It is written before the browser is started and removed after its profile is, so that
//! no crash leaves a browser or a profile that nobody knows of. It proves nothing.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::folder;

/// Where records are, in the data folder.
pub const FOLDER: &str = "browsers";
/// A longer file is not ours.
const LONGEST: u64 = 16 * 1024;
/// Letters of an id behind its first two.
const ID_LETTERS: usize = 16;

/// One start of a browser.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LaunchId(String);

impl LaunchId {
    /// Mints a new id: `l-` and 80 random bits.
    pub fn mint() -> Self {
        Self(format!("l-{}", model::id::random_text(ID_LETTERS)))
    }

    /// Reads an id.
    pub fn parse(text: &str) -> Option<Self> {
        let letters = text.strip_prefix("l-")?;
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        (letters.len() == ID_LETTERS && letters.bytes().all(plain)).then(|| Self(text.to_owned()))
    }

    /// Returns the id as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for LaunchId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not the id of a launch")
    }
}

impl From<LaunchId> for String {
    fn from(id: LaunchId) -> Self {
        id.0
    }
}

impl fmt::Display for LaunchId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// What is known of a started browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowserRecord {
    /// Names this start, in the file's name and on the command line.
    pub launch: LaunchId,
    /// The process; 0 while it is being started.
    pub pid: u32,
    /// When the process was started, in the kernel's own count; 0 where that cannot be told.
    pub start_time: u64,
    /// The profile's folder, which goes at the end if `throw_away`.
    pub user_data_dir: PathBuf,
    /// What its session shall be called.
    pub name: String,
    /// What kind of browser.
    pub browser: String,
    /// The name of a profile that is kept; none for one that is thrown away.
    pub profile: Option<String>,
    /// Whether it has no window.
    pub headless: bool,
    /// Whether its profile is removed at the end.
    pub throw_away: bool,
    /// The session that its extension got.
    pub session: Option<String>,
    /// When it was started, in milliseconds since 1970.
    pub started_at_ms: u64,
}

impl BrowserRecord {
    /// Returns who this is to a reader: the session, or the name while there is none.
    pub fn shown_name(&self) -> &str {
        self.session.as_deref().unwrap_or(&self.name)
    }

    /// Writes it down, in the place of what was there.
    pub fn write(&self, data: &Path) -> io::Result<()> {
        folder::make(&data.join(FOLDER))?;
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        folder::replace(&path(data, &self.launch), &text, false)
    }

    /// Removes what was written down.
    pub fn remove(&self, data: &Path) -> io::Result<()> {
        match fs::remove_file(path(data, &self.launch)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }
}

/// Returns whether there is a record of a launch.
pub fn exists(data: &Path, launch: &LaunchId) -> bool {
    path(data, launch).symlink_metadata().is_ok()
}

/// Reads all records. What is not one of ours, or says something else than its name, is left alone.
pub fn read_all(data: &Path) -> Vec<BrowserRecord> {
    let Ok(entries) = fs::read_dir(data.join(FOLDER)) else { return Vec::new() };
    let mut records = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        let Some(launch) = name.strip_suffix(".json").and_then(LaunchId::parse) else { continue };
        let text = folder::read(&entry.path(), LONGEST).unwrap_or_default();
        match serde_json::from_slice::<BrowserRecord>(&text) {
            Ok(record) if record.launch == launch => records.push(record),
            _ => {
                tracing::warn!(%launch, "the record of a browser cannot be read; it is left alone")
            }
        }
    }
    records.sort_by_key(|record| (record.started_at_ms, record.launch.clone()));
    records
}

fn path(data: &Path, launch: &LaunchId) -> PathBuf {
    data.join(FOLDER).join(format!("{launch}.json"))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::test_place::Place;

    pub fn sample(data: &Path) -> BrowserRecord {
        let launch = LaunchId::mint();
        BrowserRecord {
            user_data_dir: crate::profile::folder_of(data, &launch, None),
            launch,
            pid: 7,
            start_time: 9,
            name: "chromium".to_owned(),
            browser: "chromium".to_owned(),
            profile: None,
            headless: true,
            throw_away: true,
            session: None,
            started_at_ms: 1,
        }
    }

    #[test]
    fn records_read_back_privately_written_and_are_removed() {
        let place = Place::new();
        let (first, mut second) = (sample(place.path()), sample(place.path()));
        second.started_at_ms = 2;
        second.session = Some("work".to_owned());
        for record in [&second, &first] {
            record.write(place.path()).unwrap();
            record.write(place.path()).unwrap();
        }
        let file = path(place.path(), &first.launch);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read_all(place.path()), [first.clone(), second.clone()]);
        first.remove(place.path()).unwrap();
        first.remove(place.path()).unwrap();
        assert_eq!(read_all(place.path()), [second]);
    }

    #[test]
    fn what_is_no_record_of_ours_is_left_alone() {
        let place = Place::new();
        let record = sample(place.path());
        record.write(place.path()).unwrap();
        let text = fs::read(path(place.path(), &record.launch)).unwrap();
        let entry = |launch: &LaunchId| path(place.path(), launch);
        // Another's name, a link, a file that others may write, a damaged one, and any other file.
        fs::write(entry(&LaunchId::mint()), &text).unwrap();
        symlink(entry(&record.launch), entry(&LaunchId::mint())).unwrap();
        let open = sample(place.path());
        open.write(place.path()).unwrap();
        fs::set_permissions(entry(&open.launch), fs::Permissions::from_mode(0o666)).unwrap();
        fs::write(entry(&LaunchId::mint()), "{").unwrap();
        fs::write(place.path().join("browsers/notes.json"), &text).unwrap();
        assert_eq!(read_all(place.path()), [record]);
        assert_eq!(fs::read_dir(place.path().join(FOLDER)).unwrap().count(), 6);
    }
}
