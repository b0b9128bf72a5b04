//! Which browsers there are: on `PATH`, and in the places where systems put them.
//!
//! Chromium comes first and Google Chrome last: newer versions of the latter do not load extensions
//! that are named on the command line. Nothing is run to find out.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::config::Surroundings;

/// A kind of browser that can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Chromium.
    Chromium,
    /// Brave.
    Brave,
    /// Microsoft Edge.
    Edge,
    /// Google Chrome.
    Chrome,
}

/// A browser on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is; a program whose name tells nothing is taken for Chromium.
    pub family: Family,
    /// The file that is executed.
    pub program: PathBuf,
}

/// Why no browser was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// None of those that were looked for is there.
    #[error(
        "no browser was found: looked for {names} on PATH, and for {places}; install one, or name \
        its program with the setting `browser` (TABWIRE_BROWSER)"
    )]
    Nowhere {
        /// Names of programs, separated by commas.
        names: String,
        /// Paths outside of PATH, separated by commas.
        places: String,
    },
    /// The program that the settings name is not there.
    #[error("the browser {0} of the setting `browser` is not a program that can be run")]
    NoProgram(String),
    /// Nobody knows what was meant.
    #[error("there is no browser {0:?}; known are chromium, brave, edge and chrome")]
    Unknown(String),
}

impl Family {
    /// All of them, in the order in which they are looked for.
    pub const ALL: &[Self] = &[Self::Chromium, Self::Brave, Self::Edge, Self::Chrome];

    /// Returns the name that settings and clients use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Brave => "brave",
            Self::Edge => "edge",
            Self::Chrome => "chrome",
        }
    }

    /// Reads such a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|family| family.as_str() == text.to_ascii_lowercase())
    }

    /// Whether it is a brand of its own, which may refuse extensions from the command line.
    pub fn is_branded(self) -> bool {
        matches!(self, Self::Chrome | Self::Edge)
    }

    /// The names of its program.
    fn names(self) -> &'static [&'static str] {
        match (self, cfg!(windows)) {
            (Self::Chromium, false) => &["chromium", "chromium-browser"],
            (Self::Chromium, true) => &["chromium.exe"],
            (Self::Brave, false) => &["brave-browser", "brave"],
            (Self::Brave, true) => &["brave.exe"],
            (Self::Edge, false) => &["microsoft-edge", "microsoft-edge-stable"],
            (Self::Edge, true) => &["msedge.exe"],
            (Self::Chrome, false) => &["google-chrome", "google-chrome-stable", "chrome"],
            (Self::Chrome, true) => &["chrome.exe"],
        }
    }

    /// Where systems put it, besides the folders of `PATH`.
    fn places(self, surroundings: &Surroundings) -> Vec<PathBuf> {
        if cfg!(windows) {
            let below = match self {
                Self::Chromium => "Chromium/Application/chrome.exe",
                Self::Brave => "BraveSoftware/Brave-Browser/Application/brave.exe",
                Self::Edge => "Microsoft/Edge/Application/msedge.exe",
                Self::Chrome => "Google/Chrome/Application/chrome.exe",
            };
            return surroundings.program_folders.iter().map(|folder| folder.join(below)).collect();
        }
        if cfg!(target_os = "macos") {
            let app = match self {
                Self::Chromium => "Chromium",
                Self::Brave => "Brave Browser",
                Self::Edge => "Microsoft Edge",
                Self::Chrome => "Google Chrome",
            };
            let below = format!("Applications/{app}.app/Contents/MacOS/{app}");
            let roots = [Some(PathBuf::from("/")), surroundings.home.clone()];
            return roots.into_iter().flatten().map(|root| root.join(&below)).collect();
        }
        let places: &[&str] = match self {
            // The last one is a snap, which cannot see folders whose name begins with a dot.
            Self::Chromium => &["/usr/bin/chromium", "/usr/lib/chromium/chromium", SNAP],
            Self::Brave => &["/usr/bin/brave-browser", "/opt/brave.com/brave/brave-browser"],
            Self::Edge => &["/usr/bin/microsoft-edge", "/opt/microsoft/msedge/msedge"],
            Self::Chrome => &["/usr/bin/google-chrome", "/opt/google/chrome/chrome"],
        };
        places.iter().map(PathBuf::from).collect()
    }

    /// Guesses from the name of a program.
    fn of(program: &Path) -> Self {
        let name = program.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let words = [(Self::Brave, "brave"), (Self::Edge, "edge"), (Self::Chromium, "chromium")];
        let known = words.into_iter().find(|(_, word)| name.contains(word));
        match known {
            Some((family, _)) => family,
            None if name.contains("chrome") => Self::Chrome,
            None => Self::Chromium,
        }
    }
}

const SNAP: &str = "/snap/bin/chromium";

/// Finds a browser: the one of the setting, which may be a path, or the first there is.
pub fn find(setting: Option<&str>, surroundings: &Surroundings) -> Result<Found, NotFound> {
    match setting {
        None | Some("") => first_of(Family::ALL, surroundings),
        Some(text) if text.contains(['/', '\\']) => {
            let program = PathBuf::from(text);
            if !is_program(&program) {
                return Err(NotFound::NoProgram(text.to_owned()));
            }
            let program = std::path::absolute(&program).unwrap_or(program);
            Ok(Found { family: Family::of(&program), program })
        }
        Some(text) => {
            let family = Family::parse(text).ok_or_else(|| NotFound::Unknown(text.to_owned()))?;
            first_of(&[family], surroundings)
        }
    }
}

/// Finds a browser of a kind, or of any of several.
pub fn first_of(families: &[Family], surroundings: &Surroundings) -> Result<Found, NotFound> {
    for &family in families {
        let on_path = surroundings.path.iter().filter(|folder| folder.is_absolute());
        let on_path =
            on_path.flat_map(|folder| family.names().iter().map(move |name| folder.join(name)));
        let mut candidates = on_path.chain(family.places(surroundings));
        if let Some(program) = candidates.find(|path| is_program(path)) {
            return Ok(Found { family, program });
        }
    }
    let names: Vec<_> = families.iter().flat_map(|family| family.names()).copied().collect();
    let places = families.iter().flat_map(|family| family.places(surroundings));
    let places: Vec<_> = places.map(|place| place.display().to_string()).collect();
    Err(NotFound::Nowhere { names: names.join(", "), places: places.join(", ") })
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::Place;

    fn with_path(folders: &[PathBuf]) -> Surroundings {
        Surroundings { path: folders.to_vec(), ..Surroundings::default() }
    }

    #[test]
    fn the_first_on_the_path_is_found_and_chromium_goes_before_chrome() {
        let place = Place::new();
        let (early, late) = (place.path().join("early"), place.path().join("late"));
        place.program("early/google-chrome", "");
        let chromium = place.program("late/chromium", "");
        place.program("late/brave-browser", "");
        fs::write(early.join("chromium"), "not executable").unwrap();
        let surroundings = with_path(&[early.clone(), late]);
        let found = find(None, &surroundings).unwrap();
        assert_eq!(found, Found { family: Family::Chromium, program: chromium });
        let found = find(Some("Chrome"), &surroundings).unwrap();
        assert_eq!(found.program, early.join("google-chrome"));
        assert_eq!(find(Some("brave"), &surroundings).unwrap().family, Family::Brave);
    }

    #[test]
    fn a_path_picks_a_program_and_its_name_tells_the_kind() {
        let place = Place::new();
        for (name, family) in [
            ("google-chrome-beta", Family::Chrome),
            ("brave", Family::Brave),
            ("msedge", Family::Edge),
            ("chromium-dev", Family::Chromium),
            ("my-browser", Family::Chromium),
        ] {
            let program = place.program(name, "");
            let found = find(Some(program.to_str().unwrap()), &Surroundings::default()).unwrap();
            assert_eq!(found, Found { family, program }, "{name}");
        }
    }

    #[test]
    fn what_is_not_there_is_told_with_where_it_was_looked_for() {
        let refused = find(Some("/nowhere/chromium"), &Surroundings::default()).unwrap_err();
        assert_eq!(refused, NotFound::NoProgram("/nowhere/chromium".to_owned()));
        let refused = find(Some("netscape"), &Surroundings::default()).unwrap_err().to_string();
        assert!(refused.contains("netscape") && refused.contains("brave"), "{refused}");
        // None of the test machines has it.
        let refused = find(Some("edge"), &with_path(&["/nowhere".into()])).unwrap_err().to_string();
        for part in ["microsoft-edge", "PATH", "TABWIRE_BROWSER"] {
            assert!(refused.contains(part), "{part} in {refused}");
        }
    }

    #[test]
    fn folders_that_depend_on_where_we_are_do_not_count() {
        let refused = find(Some("edge"), &with_path(&[".".into(), "".into()]));
        assert!(matches!(refused, Err(NotFound::Nowhere { .. })));
    }
}
