//! Where manifests come from: the binary itself, and folders.

use std::{fs, path::Path};

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

/// Reads all `*.toml` of a folder, by file name. A file that cannot be used costs only itself.
pub fn load_folder(folder: &Path) -> (Vec<Manifest>, Vec<ManifestError>) {
    let unreadable = |path: &Path, error: std::io::Error| {
        ManifestError::whole(&path.display().to_string(), format!("cannot be read: {error}"))
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return (Vec::new(), vec![unreadable(folder, error)]),
    };
    let mut paths: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    let (mut manifests, mut errors): (Vec<Manifest>, Vec<ManifestError>) = Default::default();
    for path in paths {
        match read(&path) {
            Ok(Ok(manifest)) => match manifests.iter().find(|known| known.name == manifest.name) {
                None => manifests.push(manifest),
                Some(known) => {
                    let message = format!("the name `{}` is {}'s", known.name, known.file);
                    errors.push(ManifestError::whole(&manifest.file, message));
                }
            },
            Ok(Err(error)) => errors.push(error),
            Err(error) => errors.push(unreadable(&path, error)),
        }
    }
    (manifests, errors)
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

fn read(path: &Path) -> std::io::Result<Result<Manifest, ManifestError>> {
    let file = path.display().to_string();
    // Looked at before it is read: somebody may have put a film there.
    let size = fs::metadata(path)?.len();
    if size > LARGEST as u64 {
        let message = format!("{size} bytes; a manifest has at most {LARGEST}");
        return Ok(Err(ManifestError::whole(&file, message)));
    }
    Ok(Manifest::parse(&file, &fs::read_to_string(path)?))
}
