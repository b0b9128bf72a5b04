//! Where things of this user lie. The binary reads the environment once and says it here.

use std::path::{Path, PathBuf};

/// Which kind of system this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux, and what is laid out like it.
    Linux,
    /// macOS.
    Mac,
    /// Windows, where browsers look into the registry.
    Windows,
}

impl System {
    /// The system that this program was built for.
    pub const fn own() -> Self {
        match () {
            () if cfg!(target_os = "macos") => Self::Mac,
            () if cfg!(windows) => Self::Windows,
            () => Self::Linux,
        }
    }
}

/// The folders of a user.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Decides where browsers and clients keep their files.
    pub system: System,
    /// The user's own folder.
    pub home: PathBuf,
    /// For configuration, as `XDG_CONFIG_HOME` says; Linux only.
    pub config: PathBuf,
    /// Where Chromium and its kin have their folders, if it was set: `CHROME_CONFIG_HOME`.
    pub chrome: Option<PathBuf>,
    /// Claude Code's folder, if another was set: `CLAUDE_CONFIG_DIR`.
    pub claude: Option<PathBuf>,
    /// Codex's folder, if another was set: `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// What Gemini CLI takes for the user's folder, if it was set: `GEMINI_CLI_HOME`.
    pub gemini: Option<PathBuf>,
    /// Folders in which programs are looked for.
    pub programs: Vec<PathBuf>,
}

impl Surroundings {
    /// Returns the folder in which desktop programs have theirs.
    pub fn settings(&self) -> PathBuf {
        match self.system {
            System::Linux => self.config.clone(),
            System::Mac => self.home.join("Library/Application Support"),
            System::Windows => self.home.join("AppData/Roaming"),
        }
    }

    /// Finds a program by its name.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let places = self.programs.iter().map(|folder| folder.join(name));
        places.into_iter().find(|path| is_program(path))
    }
}

/// Returns whether a file can be run.
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
