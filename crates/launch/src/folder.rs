//! Private files and folders: made for their owner alone, replaced whole, removed with patience.

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
    time::{Duration, Instant},
};

/// How long removing a folder may take in which somebody still writes.
const REMOVED_WITHIN: Duration = Duration::from_secs(2);
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
    let own = rustix::process::geteuid().as_raw();
    found.is_file() && found.uid() == own && found.permissions().mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_ours(found: &fs::Metadata) -> bool {
    found.is_file()
}

/// Removes a folder with all that is in it. Processes that are about to end may still write into
/// it, so it is tried for a while.
pub fn remove(folder: &Path) -> io::Result<()> {
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
