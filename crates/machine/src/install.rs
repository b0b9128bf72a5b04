//! Putting Tabwire where browsers and AI clients find it, and taking it away again.
//!
//! - [`surroundings`]: where a user's things lie; [`clients`] and [`browsers`]: whom we know;
//! - [`json_edit`], [`toml_edit`]: edits that leave every other byte alone;
//!   [`entry`]: our entry in a client's format;
//! - [`native_host`]: the script and the manifests for browsers;
//! - [`file_change`]: one file, written whole or not at all; [`diff`]: how a change is shown;
//! - [`plan`]: what installing would change; [`undo`]: what uninstalling would.
//!
//! A plan changes nothing until a part of it is applied. Whether somebody wants that is asked by
//! the command line, and the extension's files come from there too.

pub mod browsers;
pub mod clients;
pub mod diff;
pub mod entry;
pub mod file_change;
pub mod json_edit;
pub mod native_host;
pub mod plan;
pub mod surroundings;
pub mod toml_edit;
pub mod undo;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

pub use browsers::{BROWSERS, Browser};
pub use clients::{CLIENTS, Client};
pub use entry::{Entry, Format, Found};
use file_change::{FileChange, FileError};
pub use plan::{Wanted, plan};
pub use surroundings::{Surroundings, System};
pub use undo::{Unwanted, undo};

use crate::folder::{self, FolderError};

/// The folder of the extension in the data folder.
pub const EXTENSION: &str = "extension";

/// Why a text is not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// It is not what its name says.
    #[error("it cannot be read: {0}")]
    Broken(String),
    /// It is, but not in a way in which an entry can be put.
    #[error("{0}")]
    Shape(String),
}

/// What is installed, and for whom.
#[derive(Debug, Clone)]
pub struct Installation {
    /// Where the user's things lie.
    pub here: Surroundings,
    /// The data folder, with its whole path.
    pub data: PathBuf,
    /// This program, with its whole path.
    pub program: PathBuf,
    /// How AI clients start it.
    pub entry: Entry,
}

/// One part of a plan: a client, the native messaging host, the extension, the data.
#[derive(Debug)]
pub struct Part {
    /// What programs call it.
    pub name: &'static str,
    /// What people call it.
    pub title: String,
    /// What would be done.
    pub state: State,
    /// Whether it touches what others own, so that its owner must agree.
    pub ask: bool,
}

/// What would be done.
#[derive(Debug)]
pub enum State {
    /// Nothing, for this reason.
    Nothing(String),
    /// These changes, and something to know before.
    Planned {
        /// What is done, in this order.
        changes: Vec<Step>,
        /// Empty if there is nothing to say.
        note: String,
    },
    /// It should be done and cannot.
    Refused {
        /// What stands in the way.
        why: String,
        /// What somebody can do by hand, if anything.
        paste: Option<String>,
    },
}

/// One change to this user's files.
#[derive(Debug)]
pub enum Step {
    /// A file is written or removed.
    File(FileChange),
    /// The data folder is made, private.
    MakeFolder(PathBuf),
    /// The extension is unpacked into this folder.
    Unpack(PathBuf),
    /// A folder of ours is removed.
    RemoveFolder(PathBuf),
    /// What is ours in the data folder is removed, and the folder if nothing else is in it.
    RemoveData(PathBuf),
}

/// Why a change was not made. Those before it were.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The data folder could not be made private.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The extension could not be unpacked.
    #[error("the extension cannot be unpacked: {0}")]
    Unpack(String),
    /// A folder of ours could not be removed.
    #[error("{path} cannot be removed: {source}")]
    Remove {
        /// The folder that is still there.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Unpacks the extension into a data folder and returns where it is.
pub type Unpack<'a> = &'a dyn Fn(&Path) -> Result<PathBuf, String>;

impl Part {
    fn nothing(name: &'static str, title: impl Into<String>, why: impl Into<String>) -> Self {
        Self { name, title: title.into(), state: State::Nothing(why.into()), ask: true }
    }

    fn planned(name: &'static str, title: impl Into<String>, changes: Vec<Step>) -> Self {
        let state = State::Planned { changes, note: String::new() };
        Self { name, title: title.into(), state, ask: true }
    }

    fn refused(name: &'static str, title: impl Into<String>, why: impl ToString) -> Self {
        let state = State::Refused { why: why.to_string(), paste: None };
        Self { name, title: title.into(), state, ask: true }
    }

    /// Returns what would be changed.
    pub fn changes(&self) -> &[Step] {
        match &self.state {
            State::Planned { changes, .. } => changes,
            State::Nothing(_) | State::Refused { .. } => &[],
        }
    }
}

impl Step {
    /// Returns the file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(change) => &change.path,
            Self::MakeFolder(path)
            | Self::Unpack(path)
            | Self::RemoveFolder(path)
            | Self::RemoveData(path) => path,
        }
    }

    /// Returns what would be done, in a few lines.
    pub fn describe(&self) -> Vec<String> {
        let path = self.path().display();
        let first = match self {
            Self::File(FileChange { before: None, .. }) => format!("{path} (new)"),
            Self::File(FileChange { after: None, .. }) => format!("{path} is removed"),
            Self::File(_) => path.to_string(),
            Self::MakeFolder(_) => format!("{path} is made, for you alone"),
            Self::Unpack(_) => format!("the extension is unpacked to {path}"),
            Self::RemoveFolder(_) => format!("{path} is removed with all that is in it"),
            Self::RemoveData(_) => format!("what Tabwire keeps in {path} is removed"),
        };
        let mut lines = vec![first];
        if let Self::File(FileChange { before, after: Some(after), .. }) = self {
            let changed = diff::lines(before.as_deref().unwrap_or_default(), after);
            lines.extend(changed.into_iter().map(|line| format!("  {line}")));
        }
        lines
    }

    /// Does it; returns what is worth telling.
    pub fn apply(&self, unpack: Option<Unpack<'_>>) -> Result<Option<String>, ApplyError> {
        let gone =
            |path: &Path, source| ApplyError::Remove { path: path.display().to_string(), source };
        match self {
            Self::File(change) => {
                let backup = change.apply()?;
                Ok(backup.map(|path| format!("what was there is kept in {}", path.display())))
            }
            Self::MakeFolder(path) => Ok(folder::open(path).map(|()| None)?),
            Self::Unpack(path) => {
                let data = path.parent().unwrap_or(path);
                let unpack = unpack.ok_or_else(|| ApplyError::Unpack("there is none".into()))?;
                let place = unpack(data).map_err(ApplyError::Unpack)?;
                Ok(Some(format!("the extension is in {}", place.display())))
            }
            Self::RemoveFolder(path) => {
                fs::remove_dir_all(path).map(|()| None).map_err(|source| gone(path, source))
            }
            Self::RemoveData(path) => undo::remove_data(path).map_err(|source| gone(path, source)),
        }
    }
}

#[cfg(test)]
mod tests;
