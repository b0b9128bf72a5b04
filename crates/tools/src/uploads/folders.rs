//! Which folders may be uploaded from: a client's own, the downloads folder, and the configured.
//!
//! All comparing is done with real paths, links resolved. A folder that holds the user's home or
//! the hub's data would allow nearly everything, so it is no root, whoever names it.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use model::{Code, Fault, page_text};

use super::secrets;
use crate::{action::invalid, definition::Workplace};

/// Folders of this machine by which uploads are judged. The program reads them; rooms do not read
/// the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadFolders {
    /// The user's home; none where it is not known.
    pub home: Option<PathBuf>,
    /// Where programs keep their settings, if that is not `.config` in the home.
    pub config: Option<PathBuf>,
    /// The hub's data folder.
    pub data: Option<PathBuf>,
    /// The user's downloads folder.
    pub downloads: Option<PathBuf>,
    /// The setting `upload_roots`.
    pub roots: Vec<PathBuf>,
}

impl UploadFolders {
    /// Says what is wrong with the setting `upload_roots`. May block.
    pub fn check(&self) -> Result<(), String> {
        for root in &self.roots {
            let shown = in_words(root);
            if !root.is_absolute() {
                return Err(format!("{shown} is not a whole path; write it as /srv/reports"));
            }
            let real = fs::canonicalize(root).unwrap_or_else(|_| plain(root));
            if let Some(why) = self.why_no_root(&real) {
                return Err(format!("{shown} is too much to upload from: {why}"));
            }
        }
        Ok(())
    }

    /// Returns the folders that count for a client. May block.
    pub(super) fn roots_for(&self, workplace: &Workplace) -> Result<UploadRoots<'_>, Fault> {
        let (base, mut own, is_known) = match workplace {
            Workplace::Elsewhere => return Err(elsewhere()),
            Workplace::Unknown => (None, Vec::new(), false),
            Workplace::Here { folder, roots } => (folder.clone(), roots.clone(), true),
        };
        own.splice(0..0, base.clone());
        let mut roots = UploadRoots {
            folders: self,
            base,
            roots: Vec::new(),
            written: Vec::new(),
            too_wide: Vec::new(),
            is_known,
        };
        own.iter().chain(&self.downloads).chain(&self.roots).for_each(|root| roots.add(root));
        Ok(roots)
    }

    /// Says why a folder is no root, if it is none.
    fn why_no_root(&self, root: &Path) -> Option<&'static str> {
        let is_in = |folder: &Option<PathBuf>| {
            let folder = folder.as_deref().and_then(|folder| fs::canonicalize(folder).ok());
            folder.is_some_and(|folder| folder.starts_with(root))
        };
        if root.parent().is_none() {
            Some("it is the whole file system")
        } else if is_in(&self.home) {
            Some("it is the home folder, or holds it")
        } else if is_in(&self.data) {
            Some("it holds the hub's data folder")
        } else {
            None
        }
    }
}

/// The folders that count for one call.
pub(super) struct UploadRoots<'a> {
    pub folders: &'a UploadFolders,
    /// Where relative paths begin.
    base: Option<PathBuf>,
    roots: Vec<PathBuf>,
    /// As they were named: what is missing has no real path.
    written: Vec<PathBuf>,
    /// Named folders that are no roots, and why.
    too_wide: Vec<String>,
    /// Whether the client's working folder is known.
    is_known: bool,
}

impl UploadRoots<'_> {
    fn add(&mut self, root: &Path) {
        // One that is missing holds nothing.
        let Ok(real) = fs::canonicalize(root) else { return };
        if self.roots.contains(&real) || !root.is_absolute() {
            return;
        }
        match self.folders.why_no_root(&real) {
            Some(why) => self.too_wide.push(format!("{} is none: {why}", in_words(&real))),
            None => {
                self.written.push(plain(root));
                self.roots.push(real);
            }
        }
    }

    /// Makes a path whole.
    pub fn whole(&self, given: &str) -> Result<PathBuf, Fault> {
        let path = Path::new(given);
        match &self.base {
            _ if path.is_absolute() => Ok(path.to_owned()),
            Some(base) => Ok(base.join(path)),
            None => {
                let given = page_text::quoted_exact(given);
                Err(invalid(format!("{given} is no whole path, and {}", self.no_folder())))
            }
        }
    }

    /// Resolves the links of a whole path. Whoever may not upload from somewhere is not told
    /// either whether there is something.
    pub fn resolve(&self, given: &str, whole: &Path) -> Result<PathBuf, Fault> {
        let error = match fs::canonicalize(whole) {
            Ok(real) => return Ok(real),
            Err(error) => error,
        };
        let written = plain(whole);
        match self.roots.iter().chain(&self.written).any(|root| written.starts_with(root)) {
            true => Err(unreadable(given, &error)),
            false => Err(self.outside(given)),
        }
    }

    /// Refuses what lies outside, and what is never uploaded.
    pub fn check(&self, given: &str, whole: &Path, real: &Path) -> Result<(), Fault> {
        if !self.roots.iter().any(|root| real.starts_with(root)) {
            return Err(match real == whole {
                true => self.outside(given),
                false => self.outside(&format!("{given} (which is {})", in_words(real))),
            });
        }
        // Both: a secret may lie behind a link, and a link's own name may say what it leads to.
        let why =
            [real, &plain(whole)].into_iter().find_map(|path| secrets::why(self.folders, path));
        match why {
            Some(why) => {
                Err(Fault::new(Code::Refused, format!("{given} is never uploaded: {why}"))
                    .hint("no setting allows it; the user can upload it by hand"))
            }
            None => Ok(()),
        }
    }

    fn outside(&self, shown: &str) -> Fault {
        let list: Vec<_> = self.roots.iter().map(|root| in_words(root)).collect();
        let list = if list.is_empty() { "there are none".to_owned() } else { list.join(", ") };
        let mut message =
            format!("{shown} is outside the folders that may be uploaded from ({list})");
        for too_wide in &self.too_wide {
            message += &format!("; {too_wide}");
        }
        let hint = match self.is_known {
            true => "start the client in a folder that holds it, or add its folder to the setting \
                     upload_roots"
                .to_owned(),
            false => format!(
                "{}; send the file's bytes as `contents`, or add its folder to the setting \
                 upload_roots",
                self.no_folder()
            ),
        };
        Fault::new(Code::Refused, message).hint(hint)
    }

    fn no_folder(&self) -> &'static str {
        match self.is_known {
            true => "this client has not told its working folder",
            false => "a client over HTTP has no working folder",
        }
    }
}

/// Writes a path for a reader. Folders and files may have names that others have given them.
pub(super) fn in_words(path: &Path) -> String {
    page_text::quoted_exact(&path.to_string_lossy())
}

/// Takes `.` and `..` out of a path by its words alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The error of a file that may be uploaded and cannot be read.
pub(super) fn unreadable(given: &str, error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::NotFound => Fault::new(Code::NotFound, format!("there is no file {given}"))
            .hint("look at its path; relative ones begin in the client's working folder"),
        _ => Fault::new(Code::Refused, format!("{given} cannot be read: {error}")),
    }
}

fn elsewhere() -> Fault {
    let message = "a path means a file on the client's own machine, and this client is on another \
                   machine than the hub";
    Fault::new(Code::Refused, message)
        .hint("send the bytes: `contents: [{name, mimeType, data}]`, with `data` in base64")
}
