//! The pages as they were built, embedded in the program.
//!
//! Release builds hold the files; debug builds read the folders when they are asked, so that a
//! change of a page needs no build of the program.

use edge::pages::File;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../web/viewer/dist"]
#[allow_missing = true]
struct Viewer;

/// Finds a file of a page.
pub fn find(page: &str, path: &str) -> Option<File> {
    let found = match page {
        "viewer" => Viewer::get(path)?,
        _ => return None,
    };
    let hash = found.metadata.sha256_hash();
    let tag = hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    Some(File { bytes: found.data, tag })
}
