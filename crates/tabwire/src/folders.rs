//! Reads off the environment which folders of the user uploads are judged by.
//!
//! What may be uploaded from them is decided in `tools`.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use tools::UploadFolders;

use crate::config::Settings;

/// The variable, and the key of the desktop's file, that names the downloads folder.
const DOWNLOADS: &str = "XDG_DOWNLOAD_DIR";

/// Returns the folders of the user who runs the hub.
pub fn for_uploads(settings: &Settings) -> UploadFolders {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let (home, config) = (named("HOME"), named("XDG_CONFIG_HOME"));
    let downloads = named(DOWNLOADS).or_else(|| {
        let home = home.as_deref()?;
        let config = config.clone().unwrap_or_else(|| home.join(".config"));
        let written = fs::read_to_string(config.join("user-dirs.dirs")).unwrap_or_default();
        Some(downloads_in(&written, home).unwrap_or_else(|| home.join("Downloads")))
    });
    UploadFolders {
        home,
        config,
        data: std::path::absolute(&settings.own.data).ok(),
        downloads,
        roots: settings.tools.upload_roots.clone(),
    }
}

/// Finds the downloads folder in the file in which desktops keep it:
/// `XDG_DOWNLOAD_DIR="$HOME/Downloads"`.
fn downloads_in(written: &str, home: &Path) -> Option<PathBuf> {
    let mut value = written.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once('=')?;
        (name.trim() == DOWNLOADS).then(|| value.trim().trim_matches('"'))
    });
    let value = value.next_back()?;
    let path = match value.strip_prefix("$HOME") {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => PathBuf::from(value),
    };
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_downloads_folder_is_read_as_desktops_write_it() {
        let home = Path::new("/home/ann");
        for (written, found) in [
            ("XDG_DOWNLOAD_DIR=\"$HOME/Downloads\"", Some("/home/ann/Downloads")),
            (
                "# a\n XDG_DESKTOP_DIR=\"$HOME/a\"\nXDG_DOWNLOAD_DIR=\"/data/in\"\n",
                Some("/data/in"),
            ),
            ("XDG_DOWNLOAD_DIR=\"$HOME/\"", Some("/home/ann")),
            ("#XDG_DOWNLOAD_DIR=\"/data/in\"", None),
            ("XDG_DOWNLOAD_DIR=\"relative\"", None),
            ("", None),
        ] {
            assert_eq!(downloads_in(written, home), found.map(PathBuf::from), "{written}");
        }
    }
}
