//! The mark beside the file: the newest commit that anybody may have been told of.
//!
//! A file that lost its newest commits (a cut or changed write-ahead log, a restored copy, a
//! disk that lied) looks whole, and its logs would give the same numbers to other messages. The
//! mark is written after each commit and not synced, so it is never ahead of a healthy file and
//! survives the death of the process; a file that is behind its mark is known as such.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, Write},
    path::Path,
};

use super::{files, table::CRC};

/// Which file, and how far it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// The name that the file got when it was made.
    pub identity: String,
    /// How many commits it has seen.
    pub commits: u64,
}

/// The open mark of a store.
pub(super) struct MarkFile(File);

impl Mark {
    /// Returns whether a name can be read back from a mark, as every name that we give can.
    pub fn can_hold(identity: &str) -> bool {
        (1..=64).contains(&identity.len()) && identity.bytes().all(|it| it.is_ascii_alphanumeric())
    }

    /// Reads the mark of a store; none when there is none or it is damaged.
    pub fn read(store: &Path) -> Option<Self> {
        let mut text = String::new();
        File::open(files::mark_of(store)).ok()?.take(200).read_to_string(&mut text).ok()?;
        let mut words = text.split_whitespace();
        words.next().filter(|word| *word == "tabwire-mark")?;
        let identity = words.next()?.to_owned();
        let mark = Self { identity, commits: words.next()?.parse().ok()? };
        (mark.to_text() == text).then_some(mark)
    }

    fn to_text(&self) -> String {
        let content = format!("tabwire-mark {} {:020}", self.identity, self.commits);
        format!("{content} {:08x}\n", CRC.checksum(content.as_bytes()))
    }
}

impl MarkFile {
    /// Opens the mark of a store, writes it and syncs it once.
    pub fn open(store: &Path, mark: &Mark) -> io::Result<Self> {
        let path = files::mark_of(store);
        files::create_private(&path)?;
        let mut file = Self(OpenOptions::new().write(true).open(path)?);
        file.write(mark)?;
        file.0.set_len(mark.to_text().len() as u64)?;
        file.sync()?;
        Ok(file)
    }

    /// Writes a mark over the one before; its length never changes.
    pub fn write(&mut self, mark: &Mark) -> io::Result<()> {
        self.0.rewind()?;
        self.0.write_all(mark.to_text().as_bytes())
    }

    /// Waits until it is on disk.
    pub fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}
