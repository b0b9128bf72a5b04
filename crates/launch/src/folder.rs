//! Private files and folders: made for their owner alone, replaced whole, removed with patience.

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
    time::{Duration, Instant},
};

/// How long removing a folder may take in which somebody still writes.
const REMOVED_WITHIN: Duration = Duration::from_secs(5);
const TRY_AGAIN: Duration = Duration::from_millis(50);

/// Makes a folder that only its owner can enter, with those above it.
pub fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Puts a file in the place of the one before. Links are replaced, never followed.
pub fn replace(path: &Path, text: &[u8], executable: bool) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}-{}", model::id::random_text(12)));
    let written = write_new(&draft, text, executable).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write_new(path: &Path, text: &[u8], executable: bool) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { 0o700 } else { 0o600 });
    let _ = executable;
    options.write(true).create_new(true).open(path)?.write_all(text)
}

/// Reads a short file of ours; `None` means that there is none, or that it is something else.
pub fn read(path: &Path, longest: u64) -> Option<Vec<u8>> {
    // Looked at before it is opened: opening a pipe would wait.
    if !is_ours(&fs::symlink_metadata(path).ok()?) {
        return None;
    }
    let mut text = Vec::new();
    fs::File::open(path).ok()?.take(longest + 1).read_to_end(&mut text).ok()?;
    (text.len() as u64 <= longest).then_some(text)
}

#[cfg(unix)]
fn is_ours(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    found.is_file()
        && found.uid() == processes::own_user()
        && found.permissions().mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_ours(found: &fs::Metadata) -> bool {
    found.is_file()
}

/// Removes a folder with all that is in it. Processes that are about to end may still write into
/// it, or make it anew, so they are waited for, and it is tried for a while.
pub fn remove(folder: &Path) -> io::Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < REMOVED_WITHIN && is_in_use(folder) {
        std::thread::sleep(TRY_AGAIN);
    }
    let begun = Instant::now();
    loop {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => {
                return Ok(());
            }
            Err(_) if begun.elapsed() < REMOVED_WITHIN => std::thread::sleep(TRY_AGAIN),
            done => return done,
        }
    }
}

/// Whether another process was started with this folder in its arguments, where that can be known.
/// A browser's helpers end a moment after it.
fn is_in_use(folder: &Path) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let own = std::process::id().to_string();
    let wanted = folder.as_os_str().as_encoded_bytes();
    processes
        .flatten()
        .filter(|process| process.file_name().to_str() != Some(own.as_str()))
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|line| line.windows(wanted.len().max(1)).any(|part| part == wanted))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::test_place::Place;

    #[test]
    fn what_a_helper_makes_anew_as_it_ends_is_removed_too() {
        let place = Place::new();
        let folder = place.path().join("profile");
        make(&folder).unwrap();
        let late = "echo there; sleep 0.3; mkdir -p \"$0/Crash Reports\"";
        let mut helper = Command::new("sh");
        helper.args(["-c", late]).arg(&folder).stdout(Stdio::piped());
        let mut helper = helper.spawn().unwrap();
        // Its arguments can be read from when it runs, not from when it was started.
        helper.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        remove(&folder).unwrap();
        helper.wait().unwrap();
        assert!(!folder.exists());
    }
}
