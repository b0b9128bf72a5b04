//! Manifests of apps: those in the binary and those in the user's folder, in force at once and
//! again whenever a file changes.
//!
//! The folder is looked at every so often instead of watched: one look costs less than a library
//! that watches, and nobody waits for it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use edge::Edge;
use tools::manifest::{self, Folder, Manifest, ManifestError};

/// How often the folder is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// What a folder looked like: each file with its time and size.
type Look = Vec<(PathBuf, Option<SystemTime>, u64)>;

/// Puts the manifests in force; the returned work does so again after each change, until the hub
/// stops.
pub fn keep_fresh(edge: Arc<Edge>, folder: PathBuf) -> impl Future<Output = ()> {
    let known = look(&folder);
    let mut files = Folder::default();
    put_in_force(&edge, &folder, &mut files);
    watch(edge, folder, known, files)
}

async fn watch(edge: Arc<Edge>, folder: PathBuf, mut known: Look, mut files: Folder) {
    loop {
        // Cancel-safe: nothing is taken before it is returned.
        tokio::select! {
            () = edge.stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
        let now = look(&folder);
        if now != known {
            known = now;
            tracing::info!(folder = %folder.display(), "manifests changed");
            put_in_force(&edge, &folder, &mut files);
        }
    }
}

fn look(folder: &Path) -> Look {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Look = entries
        .filter_map(|entry| {
            let found = fs::metadata(entry.path()).ok()?;
            Some((entry.path(), found.modified().ok(), found.len()))
        })
        .collect();
    files.sort();
    files
}

/// Reads all manifests, the user's over the shipped ones, and puts them in force.
fn put_in_force(edge: &Edge, folder: &Path, files: &mut Folder) {
    let (own, errors) = match folder.exists() {
        true => files.load(folder),
        false => Default::default(),
    };
    report(&errors);
    let manifests = manifest::merge(manifest::shipped(), own);
    let manifests = manifests.into_iter().map(|manifest| as_enabled(edge, manifest)).collect();
    report(&edge.toolbox.set_manifests(manifests));
}

/// A manifest's tools are there while its dialect is; the link to its page always.
fn as_enabled(edge: &Edge, manifest: Manifest) -> Manifest {
    let Some(info) = dialect::find(manifest.dialect()) else {
        tracing::error!(
            manifest = manifest.file(),
            dialect = manifest.dialect(),
            "there is no such dialect; see `tabwire dialects`"
        );
        return manifest.close("Its dialect does not exist.");
    };
    let open = edge.ports.open_compat().any(|port| port.info.name == info.name);
    match info.compat_port {
        Some(_) if !open => {
            let remark = format!(
                "The hub does not listen for this page; start it with --compat {}.",
                info.name
            );
            manifest.close(remark)
        }
        _ => manifest,
    }
}

fn report(errors: &[ManifestError]) {
    for error in errors {
        tracing::error!(%error, "manifest not used");
    }
}
