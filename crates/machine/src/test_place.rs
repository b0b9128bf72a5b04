//! A folder of its own for a test; it goes when the test does.

use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// A folder below the system's folder for such things.
pub(crate) struct Place(PathBuf);

impl Place {
    /// Names a folder that does not exist yet.
    pub(crate) fn absent() -> Self {
        Self(std::env::temp_dir().join(format!("tabwire-m-{}", model::id::random_text(8))))
    }

    /// Makes a folder that only its owner may enter.
    pub(crate) fn private() -> Self {
        let place = Self::absent();
        fs::DirBuilder::new().mode(0o700).create(&place.0).unwrap();
        place
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
