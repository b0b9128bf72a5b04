//! Clocks that can be set: programs of a test are told the time by `libfaketime`.

use std::{fs, path::PathBuf};

use crate::Place;

/// The clock of all programs that have its variables.
pub struct FakeClock {
    file: PathBuf,
    library: String,
    with_monotonic: bool,
}

impl FakeClock {
    /// Makes a wall clock in a folder. The clock by which programs measure goes on by itself.
    pub fn of_wall(place: &Place) -> Self {
        let library = library().expect("`cargo xtask test` installs Debian's faketime");
        let clock = Self { file: place.path().join("clock"), library, with_monotonic: false };
        clock.set("+0");
        clock
    }

    /// Makes all clocks, so that setting them is as if so much time had passed.
    pub fn of_all(place: &Place) -> Self {
        Self { with_monotonic: true, ..Self::of_wall(place) }
    }

    /// Sets it, from the true time: `+10m`, `-2d`.
    pub fn set(&self, offset: &str) {
        // In one step: a program that looks meanwhile finds one time or the other.
        let draft = self.file.with_extension("draft");
        fs::write(&draft, offset).unwrap();
        fs::rename(draft, &self.file).unwrap();
    }

    /// Returns the variables by which a program has this clock. The library is loaded without its
    /// wrapper, which would stand between the test and the program.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let file = self.file.display().to_string();
        let mut variables = vec![
            ("LD_PRELOAD", self.library.clone()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_TIMESTAMP_FILE", file),
        ];
        if !self.with_monotonic {
            variables.push(("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()));
            variables.push(("DONT_FAKE_MONOTONIC", "1".to_owned()));
        }
        variables
    }
}

/// Returns the library, wherever the machine keeps it.
fn library() -> Option<String> {
    let folders = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    let files = folders.map(|folder| folder.join("faketime/libfaketimeMT.so.1"));
    files.into_iter().find(|file| file.exists()).map(|file| file.display().to_string())
}
