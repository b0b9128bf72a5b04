//! A private folder of this process, in memory if `FUZZ_SCRATCH` names a place there. Whoever named
//! it removes it.

use std::{
    env, fs,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process,
    sync::OnceLock,
};

/// Returns the folder.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let place = env::var_os("FUZZ_SCRATCH").map_or_else(env::temp_dir, PathBuf::from);
        let folder = place.join(format!("tabwire-fuzz-{}", process::id()));
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.expect("a folder can be made there");
        folder
    })
}

/// Puts a private file into the folder, in the place of the one before.
pub fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
    std::io::Write::write_all(&mut file.expect("the folder is ours"), bytes)
        .expect("there is room for an input");
    path
}
