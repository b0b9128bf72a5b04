//! The settings of this room, and what the program knows of the machine it runs on.

use std::{ffi::OsString, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Browsers at once when nobody says anything: some 300 MB each.
pub const BROWSERS_MAX: usize = 8;

/// The settings of this room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// The browser that is started: `chromium`, `chrome`, `edge`, `brave`, or the path of a program.
    /// Without it the first of them that is found.
    pub browser: Option<String>,
    /// Whether browsers are started without a window; without it only where there is no display.
    pub browser_headless: Option<bool>,
    /// Folder of an unpacked extension that is loaded in place of the one in the program.
    #[schemars(with = "Option<String>")]
    pub browser_extension: Option<PathBuf>,
    /// Most browsers that are started and not ended yet.
    pub browsers_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            browser: None,
            browser_headless: None,
            browser_extension: None,
            browsers_max: BROWSERS_MAX,
        }
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
