//! `hub.log` in the data folder: what a hub in the background has to say.
//!
//! The hub writes to it as its standard error. It is kept short by moving what is there to
//! `hub.log.1` and beginning anew, at every start and whenever the hub looks after it.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use crate::folder::is_private_file;

/// The log's name in the data folder.
pub const FILE: &str = "hub.log";
/// Where the lines before go.
const OLDER: &str = "hub.log.1";
/// A log that is longer begins anew.
const LONGEST: u64 = 1 << 20;
/// How much of the end is read to find the last lines.
const TAIL: u64 = 4096;

/// Opens the log for a hub that is about to be started, and returns where its lines begin.
pub(crate) fn open(folder: &Path) -> io::Result<(File, u64)> {
    shorten(folder)?;
    let path = folder.join(FILE);
    let file = fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

/// Begins the log anew if it is long. Whoever writes to it goes on at its new end; a line that is
/// written in this moment may be lost.
pub fn shorten(folder: &Path) -> io::Result<()> {
    let path = folder.join(FILE);
    let found = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if !is_private_file(&found) {
        return Err(io::Error::other(format!("{} is not a private file of ours", path.display())));
    }
    if found.len() <= LONGEST {
        return Ok(());
    }
    let draft = folder.join(format!(".{FILE}-{}", model::id::random_text(12)));
    fs::copy(&path, &draft)?;
    fs::rename(&draft, folder.join(OLDER))?;
    fs::OpenOptions::new().write(true).open(&path)?.set_len(0)
}

/// Returns the last lines from a place on, at most `count`.
pub(crate) fn last_lines(folder: &Path, from: u64, count: usize) -> io::Result<String> {
    let mut file = File::open(folder.join(FILE))?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(from.max(length.saturating_sub(TAIL)).min(length)))?;
    let mut text = Vec::new();
    file.take(TAIL).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    Ok(lines[lines.len().saturating_sub(count)..].join("\n"))
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::fs::symlink};

    use super::*;
    use crate::test_place::Place;

    #[test]
    fn lines_are_appended_and_found_from_where_they_begin() {
        let place = Place::private();
        for round in 0..3 {
            let (mut file, from) = open(place.path()).unwrap();
            for line in 0..10 {
                writeln!(file, "round {round} line {line}\n").unwrap();
            }
            let expected = format!("round {round} line 8\nround {round} line 9");
            assert_eq!(last_lines(place.path(), from, 2).unwrap(), expected);
        }
        let (_, from) = open(place.path()).unwrap();
        assert_eq!(last_lines(place.path(), from, 2).unwrap(), "");
    }

    #[test]
    fn a_long_log_begins_anew_under_the_pen_of_its_writer() {
        let place = Place::private();
        let (mut file, _) = open(place.path()).unwrap();
        file.write_all(&vec![b'x'; (LONGEST + 1) as usize]).unwrap();
        shorten(place.path()).unwrap();
        file.write_all(b"after\n").unwrap();
        assert_eq!(fs::read_to_string(place.path().join(FILE)).unwrap(), "after\n");
        assert_eq!(fs::metadata(place.path().join(OLDER)).unwrap().len(), LONGEST + 1);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_link_is_not_written_through() {
        let place = Place::private();
        let elsewhere = place.path().join("elsewhere");
        fs::write(&elsewhere, "precious").unwrap();
        symlink(&elsewhere, place.path().join(FILE)).unwrap();
        assert!(open(place.path()).is_err());
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
    }
}
