//! What a browser has to say, in a file of its profile folder.
//!
//! The browser writes to it by itself, so it goes on when the hub ends. It is kept short by
//! beginning anew; between two looks it may grow beyond its limit.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use model::page_text;

/// The log's name in the profile's folder.
pub const FILE: &str = "tabwire-browser.log";
/// A log that is longer begins anew.
pub const LONGEST: u64 = 1 << 20;
/// Lines that an error shows.
pub const LAST_LINES: usize = 10;
/// How much of the end is read to find them.
const TAIL: u64 = 4096;
/// Longest line that is shown.
const WIDEST: usize = 300;

/// What every browser says on a machine without a desktop, dozens of times.
const NOISE: &str = ":ERROR:dbus/";

/// Begins the log of a browser that is about to be started.
pub fn create(user_data_dir: &Path) -> io::Result<File> {
    let path = user_data_dir.join(FILE);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.append(true).create_new(true).open(path)
}

/// Begins the log anew if it is long. Whoever writes to it goes on at its new end.
pub fn shorten(user_data_dir: &Path) -> io::Result<()> {
    let path = user_data_dir.join(FILE);
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() && found.len() > LONGEST => {
            File::options().write(true).open(&path)?.set_len(0)
        }
        _ => Ok(()),
    }
}

/// Returns the last lines, joined by ` | `; empty where there are none.
pub fn last_lines(user_data_dir: &Path) -> String {
    let mut text = Vec::new();
    let read = File::open(user_data_dir.join(FILE)).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        file.take(TAIL).read_to_end(&mut text)
    });
    if read.is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            // Pages write into it too.
            let line: String = page_text::folded(line).chars().take(WIDEST).collect();
            page_text::escaped(&line).into_owned()
        })
        .filter(|line: &String| !line.is_empty() && !line.contains(NOISE))
        .collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join(" | ")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::test_place::Place;

    #[test]
    fn the_last_lines_are_found_and_made_harmless() {
        let place = Place::new();
        assert_eq!(last_lines(place.path()), "");
        let mut file = create(place.path()).unwrap();
        for number in 0..30 {
            writeln!(file, "line {number}\u{1b}[31m\n").unwrap();
        }
        writeln!(file, "{}", "x".repeat(1000)).unwrap();
        writeln!(file, "[1:1:1115/1.1:ERROR:dbus/bus.cc:405] no bus").unwrap();
        let said = last_lines(place.path());
        assert!(said.starts_with(r"line 21\[31m | line 22\[31m"), "{said}");
        assert_eq!(said.split(" | ").count(), LAST_LINES);
        assert!(said.ends_with('x') && said.len() < 1000, "{said}");
        create(place.path()).unwrap();
        assert_eq!(last_lines(place.path()), "", "each start begins anew");
    }

    #[test]
    fn a_long_log_begins_anew_under_the_pen_of_its_writer() {
        let place = Place::new();
        let mut file = create(place.path()).unwrap();
        file.write_all(&vec![b'x'; LONGEST as usize]).unwrap();
        shorten(place.path()).unwrap();
        assert_eq!(fs::metadata(place.path().join(FILE)).unwrap().len(), LONGEST);
        file.write_all(b"x").unwrap();
        shorten(place.path()).unwrap();
        file.write_all(b"after\n").unwrap();
        assert_eq!(last_lines(place.path()), "after");
    }
}
