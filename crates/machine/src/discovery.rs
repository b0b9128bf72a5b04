//! The discovery file that other tools look for: `server-<pid>.json` in a folder that all may read.
//!
//! It says where the hub listens and holds no secret. It is written only into a folder that no other
//! user can tamper with, never through a link, and goes when the hub does; files that our own dead
//! hubs left behind are cleared away.

use std::{
    fs, io,
    io::Write,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use processes::own_user;

/// Why the file is not written. The hub works without it.
#[derive(Debug, thiserror::Error)]
pub enum DiscoveryError {
    /// Others could replace what is in the folder.
    #[error("{path} is not safe to write to: {why}")]
    Unsafe {
        /// The folder of discovery files.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The folder or the file cannot be made.
    #[error("{path} cannot be written: {source}")]
    Failed {
        /// The folder or the file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// The written file. It goes when this is dropped.
#[derive(Debug)]
pub struct DiscoveryFile {
    path: PathBuf,
}

impl DiscoveryFile {
    /// Writes the file of this process.
    pub fn write(folder: &Path, port: u16) -> Result<Self, DiscoveryError> {
        let us = open_folder(folder)?;
        clear_stale(folder, us);
        let pid = std::process::id();
        let path = folder.join(format!("server-{pid}.json"));
        let failed = |source| DiscoveryError::Failed { path: path.display().to_string(), source };
        let body = serde_json::json!({
            "port": port, "pid": pid, "startedAt": iso_time(SystemTime::now()),
        });
        // Whatever has our name is a leftover of ours: the folder is nobody else's to write.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        // A new file or none: an existing one, a link too, is an error.
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o644)
            .open(&path)
            .map_err(failed)?;
        let written = writeln!(file, "{body}").map_err(failed);
        let kept = Self { path: path.clone() };
        written.map(|()| kept)
    }
}

impl Drop for DiscoveryFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, path = %self.path.display(), "discovery file not removed");
        }
    }
}

/// Makes sure that the folder is ours alone to write; returns who we are.
fn open_folder(folder: &Path) -> Result<u32, DiscoveryError> {
    let shown = folder.display().to_string();
    let failed = |source| DiscoveryError::Failed { path: shown.clone(), source };
    let distrust = |why| DiscoveryError::Unsafe { path: shown.clone(), why };
    match fs::DirBuilder::new().mode(0o755).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let found = fs::symlink_metadata(folder).map_err(failed)?;
    if found.is_symlink() {
        return Err(distrust("it is a link"));
    }
    if !found.is_dir() {
        return Err(distrust("it is not a folder"));
    }
    let us = own_user();
    if found.uid() != us {
        return Err(distrust("it belongs to another user"));
    }
    if found.permissions().mode() & 0o022 != 0 {
        return Err(distrust("others may write to it; chmod 755 it"));
    }
    Ok(us)
}

/// Clears away the files of our own hubs that are gone.
fn clear_stale(folder: &Path, us: u32) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid =
            name.to_str().and_then(|name| name.strip_prefix("server-")?.strip_suffix(".json"));
        let Some(pid) = pid.and_then(|pid| pid.parse::<u32>().ok()) else { continue };
        let ours = entry.metadata().is_ok_and(|found| found.is_file() && found.uid() == us);
        if ours && !is_running(pid) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns whether a process exists; where that cannot be told, it does.
fn is_running(pid: u32) -> bool {
    !Path::new("/proc/self").exists() || Path::new(&format!("/proc/{pid}")).exists()
}

/// Writes a time as ISO 8601 in UTC, to the millisecond; it has no words for years above 9999.
pub fn iso_time(time: SystemTime) -> String {
    let last = UNIX_EPOCH + Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(time.clamp(UNIX_EPOCH, last)).to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn scratch() -> PathBuf {
        let path = std::env::temp_dir().join(format!("tabwire-{}", model::id::random_text(12)));
        fs::create_dir(&path).unwrap();
        path
    }

    #[test]
    fn the_file_says_where_and_goes_with_its_owner() {
        let folder = scratch().join("found");
        let path = folder.join(format!("server-{}.json", std::process::id()));
        let file = DiscoveryFile::write(&folder, 8765).unwrap();
        let body: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((&body["port"], &body["pid"]), (&8765.into(), &std::process::id().into()));
        assert_eq!(body["startedAt"].as_str().map(str::len), Some(24));
        assert_eq!(body.as_object().map(|fields| fields.len()), Some(3));
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn folders_that_others_can_tamper_with_are_not_written_to() {
        let root = scratch();
        let real = root.join("real");
        fs::create_dir(&real).unwrap();
        let link = root.join("link");
        symlink(&real, &link).unwrap();
        let open = root.join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let file = root.join("file");
        fs::write(&file, "").unwrap();
        for (path, word) in [(&link, "link"), (&open, "others may write"), (&file, "not a folder")]
        {
            let error = DiscoveryFile::write(path, 1).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        assert_eq!(fs::read_dir(&real).unwrap().count(), 0);
    }

    #[test]
    fn a_link_under_our_name_is_replaced_and_not_followed() {
        let root = scratch();
        let victim = root.join("victim");
        fs::write(&victim, "precious").unwrap();
        let folder = root.join("found");
        fs::create_dir(&folder).unwrap();
        symlink(&victim, folder.join(format!("server-{}.json", std::process::id()))).unwrap();
        let _file = DiscoveryFile::write(&folder, 1).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn files_of_dead_hubs_are_cleared_away_and_others_stay() {
        let folder = scratch();
        // Beyond the largest process id that Linux gives.
        fs::write(folder.join("server-4194305.json"), "{}").unwrap();
        fs::write(folder.join("server-1.json"), "{}").unwrap();
        fs::write(folder.join("notes.json"), "{}").unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let _file = DiscoveryFile::write(&folder, 1).unwrap();
        let exists = |name: &str| folder.join(name).exists();
        assert!(!exists("server-4194305.json"));
        assert!(exists("server-1.json") && exists("notes.json"));
    }

    #[test]
    fn times_are_written_as_people_read_them() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_704_067_199, "2023-12-31T23:59:59.000Z"),
            (1_704_067_200, "2024-01-01T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (u64::MAX / 1000, "9999-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(iso_time(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
