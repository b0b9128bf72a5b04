//! The settings of this room, and what the program knows of the machine it runs on.

use std::{ffi::OsString, path::PathBuf};

/// Browsers at once when nobody says anything: some 300 MB each.
pub const BROWSERS_MAX: usize = 8;

model::settings! {
    /// The settings of this room.
    pub struct Config {
        /// The browser that is started: `chromium`, `chrome`, `edge`, `brave`, or the path of a program.
        /// Without it the first of them that is found.
        browser: Option<String> = None,
        /// Whether browsers are started without a window; without it only where there is no display.
        browser_headless: Option<bool> = None,
        /// Folder of an unpacked extension that is loaded in place of the one in the program.
        #[schemars(with = "Option<String>")]
        browser_extension: Option<PathBuf> = None,
        /// Most browsers that are started and not ended yet.
        browsers_max: usize = BROWSERS_MAX,
    }
}

/// What is known of the machine. The program reads it; rooms do not read the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The data folder, absolute.
    pub data: PathBuf,
    /// Our own program, absolute: browsers start it as their native messaging host.
    pub program: PathBuf,
    /// The folders of `PATH`.
    pub path: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Where Windows keeps programs.
    pub program_folders: Vec<PathBuf>,
    /// Whether a window can be shown.
    pub display: bool,
    /// Variables that browsers do not inherit, because they are for us.
    pub hidden: Vec<OsString>,
    /// Whether the environment says in which letters files are named; else it is UTF-8.
    pub locale: bool,
}
