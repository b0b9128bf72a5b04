//! Where manifests come from: the binary itself, and folders.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use super::{LARGEST, Manifest, ManifestError};

/// The manifests of `apps/` that are part of the binary: file name and text.
pub const SHIPPED: &[(&str, &str)] =
    &[("hello3d.toml", include_str!("../../../../apps/hello3d.toml"))];

/// Returns the manifests that are part of the binary.
pub fn shipped() -> Vec<Manifest> {
    let parse = |(file, text): &(&str, &str)| {
        Manifest::parse(&format!("apps/{file}"), text).expect("a test reads every shipped manifest")
    };
    SHIPPED.iter().map(parse).collect()
}

/// A folder with manifests, which may change. A file that can no longer be used stays as it was
/// when it could: somebody is still at it.
#[derive(Default)]
pub struct Folder {
    /// The last text of each file that could be used.
    usable: HashMap<PathBuf, String>,
}

impl Folder {
    /// Reads all `*.toml` of a folder, by file name. A file that cannot be used costs only itself.
    pub fn load(&mut self, folder: &Path) -> (Vec<Manifest>, Vec<ManifestError>) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return (Vec::new(), vec![unreadable(folder, &error)]),
        };
        let mut paths: Vec<_> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .collect();
        paths.sort();
        self.usable.retain(|path, _| paths.contains(path));
        let (mut manifests, mut errors): (Vec<Manifest>, Vec<ManifestError>) = Default::default();
        for path in paths {
            let manifest = match self.read(&path) {
                Ok(manifest) => Some(manifest),
                Err(error) => {
                    errors.push(error);
                    self.as_it_was(&path)
                }
            };
            let Some(manifest) = manifest else { continue };
            match manifests.iter().find(|known| known.name == manifest.name) {
                None => manifests.push(manifest),
                Some(known) => {
                    let message = format!("the name `{}` is {}'s", known.name, known.file);
                    errors.push(ManifestError::whole(&manifest.file, message));
                }
            }
        }
        (manifests, errors)
    }

    fn read(&mut self, path: &Path) -> Result<Manifest, ManifestError> {
        let file = path.display().to_string();
        // Looked at before it is read: somebody may have put a film there.
        let size = fs::metadata(path).map_err(|error| unreadable(path, &error))?.len();
        if size > LARGEST as u64 {
            let message = format!("{size} bytes; a manifest has at most {LARGEST}");
            return Err(ManifestError::whole(&file, message));
        }
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        let manifest = Manifest::parse(&file, &text)?;
        self.usable.insert(path.to_owned(), text);
        Ok(manifest)
    }

    fn as_it_was(&self, path: &Path) -> Option<Manifest> {
        Manifest::parse(&path.display().to_string(), self.usable.get(path)?).ok()
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> ManifestError {
    ManifestError::whole(&path.display().to_string(), format!("cannot be read: {error}"))
}

/// Puts manifests over others: one with the same name takes the other's place, the rest follow.
pub fn merge(mut below: Vec<Manifest>, above: Vec<Manifest>) -> Vec<Manifest> {
    for manifest in above {
        match below.iter_mut().find(|known| known.name == manifest.name) {
            Some(known) => *known = manifest,
            None => below.push(manifest),
        }
    }
    below
}
