//! Web apps of this machine that wait for their user's word, and those that have it.
//!
//! Asked for only where the hub is set to ask. What is allowed is kept in a private file of the data
//! folder, one origin in a line; who waits, and to whom the user said no, is known until the hub
//! ends. It talks to nobody: whoever wants to show the list asks for it.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

use crate::private_file::{self, Unusable};

/// The file's name in the data folder.
const FILE: &str = "app-origins";
/// A longer file is not ours.
const LONGEST: u64 = 256 << 10;
/// Origins that wait; one more takes the place of the one that has waited for longest.
pub const WAITING_MOST: usize = 20;
/// Origins to whom the user said no; beyond that the memory starts anew.
const REFUSED_MOST: usize = 256;

/// The user's word on web origins.
pub struct AppOrigins {
    path: PathBuf,
    // A blocking mutex: held for one look or change, and over the writing of a short file.
    words: Mutex<Words>,
}

#[derive(Default)]
struct Words {
    allowed: BTreeSet<String>,
    waiting: Vec<String>,
    refused: BTreeSet<String>,
}

impl AppOrigins {
    /// Reads what was allowed before. A file that cannot be trusted allows nobody.
    pub fn open(data: &Path) -> io::Result<Self> {
        let path = data.join(FILE);
        let text = private_file::read(&path, LONGEST).map_err(|error| match error {
            Unusable::Failed(error) => error,
            Unusable::NotPrivate => {
                let problem = format!("{} is open to others; chmod 600 it", path.display());
                io::Error::new(io::ErrorKind::PermissionDenied, problem)
            }
        })?;
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let allowed = lines.map(str::to_owned).collect();
        let words = Mutex::new(Words { allowed, ..Words::default() });
        Ok(Self { path, words })
    }

    /// Returns whether an origin has its user's word.
    pub fn is_allowed(&self, origin: &str) -> bool {
        self.words.lock().allowed.contains(origin)
    }

    /// Notes that an origin waits; returns whether that is news.
    pub fn wait(&self, origin: &str) -> bool {
        let mut words = self.words.lock();
        if words.refused.contains(origin) || words.waiting.iter().any(|known| known == origin) {
            return false;
        }
        if words.waiting.len() == WAITING_MOST {
            words.waiting.remove(0);
        }
        words.waiting.push(origin.to_owned());
        true
    }

    /// Takes the user's word. What was allowed before is not any more after a no.
    pub fn answer(&self, origin: &str, is_allowed: bool) -> io::Result<()> {
        let mut words = self.words.lock();
        let mut allowed = words.allowed.clone();
        let is_news = match is_allowed {
            true => allowed.insert(origin.to_owned()),
            false => allowed.remove(origin),
        };
        if is_news {
            let lines: String = allowed.iter().map(|origin| format!("{origin}\n")).collect();
            private_file::replace(&self.path, lines.as_bytes())?;
        }
        words.allowed = allowed;
        words.waiting.retain(|known| known != origin);
        if is_allowed {
            words.refused.remove(origin);
        } else {
            if words.refused.len() >= REFUSED_MOST {
                words.refused.clear();
            }
            words.refused.insert(origin.to_owned());
        }
        Ok(())
    }

    /// Returns who waits, in the order of coming.
    pub fn waiting(&self) -> Vec<String> {
        self.words.lock().waiting.clone()
    }

    /// Returns who is allowed.
    pub fn allowed(&self) -> Vec<String> {
        self.words.lock().allowed.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use model::id::random_text;

    use super::*;

    const APP: &str = "http://localhost:5173";

    #[test]
    fn what_is_allowed_outlives_the_hub_and_a_no_does_not() {
        let folder = std::env::temp_dir().join(format!("tabwire-apps-{}", random_text(12)));
        fs::create_dir(&folder).unwrap();
        let apps = AppOrigins::open(&folder).unwrap();
        assert!(apps.wait(APP) && !apps.wait(APP), "it is news once");
        apps.answer(APP, true).unwrap();
        assert!(apps.is_allowed(APP) && apps.waiting().is_empty());
        let apps = AppOrigins::open(&folder).unwrap();
        assert_eq!(apps.allowed(), [APP]);
        apps.answer(APP, false).unwrap();
        assert!(!apps.is_allowed(APP) && !apps.wait(APP), "a no is asked about no more");
        let apps = AppOrigins::open(&folder).unwrap();
        assert!(!apps.is_allowed(APP) && apps.wait(APP));
        fs::set_permissions(folder.join(FILE), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(AppOrigins::open(&folder).is_err(), "whoever could write it could allow itself");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn those_who_wait_are_limited_in_number() {
        let apps = AppOrigins::open(Path::new("/nowhere")).unwrap();
        for port in 0..=WAITING_MOST {
            assert!(apps.wait(&format!("http://localhost:{port}")));
        }
        let waiting = apps.waiting();
        assert_eq!((waiting.len(), waiting[0].as_str()), (WAITING_MOST, "http://localhost:1"));
    }
}
