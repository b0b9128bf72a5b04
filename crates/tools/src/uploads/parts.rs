//! What is sent of a file: its name, its type, its size, and its bytes part by part.
//!
//! Of a file on disk one part at a time is in memory. It has to have the bytes that it said it has
//! when it was opened, no fewer and no more.

use std::{
    fs::File,
    io::{self, Read},
    sync::Arc,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use model::{Code, Fault, page_text};
use serde_json::{Value, json};

use super::{kinds, opening::CheckedFile};

/// A file on its way to a browser.
pub(super) struct OutgoingFile {
    pub name: String,
    mime_type: String,
    /// Bytes in all.
    pub size: u64,
    /// Bytes that have been taken.
    taken: u64,
    bytes: Bytes,
}

enum Bytes {
    OnDisk(Arc<File>),
    InMemory(Vec<u8>),
}

impl OutgoingFile {
    /// Sends a file that was checked.
    pub fn of_file(checked: CheckedFile) -> Self {
        let CheckedFile { name, size, file, .. } = checked;
        let mime_type = kinds::of(&name).to_owned();
        Self { name, mime_type, size, taken: 0, bytes: Bytes::OnDisk(Arc::new(file)) }
    }

    /// Sends what a client gave; `None` means that it is not base64.
    pub fn of_base64(name: &str, mime_type: Option<&str>, data: &str) -> Option<Self> {
        let bytes = STANDARD.decode(data).ok()?;
        let mime_type = mime_type.unwrap_or_else(|| kinds::of(name)).to_owned();
        let (name, size) = (name.to_owned(), bytes.len() as u64);
        Some(Self { name, mime_type, size, taken: 0, bytes: Bytes::InMemory(bytes) })
    }

    /// Says what a browser is told about it besides its bytes.
    pub fn describe(&self) -> Value {
        json!({"name": self.name, "mimeType": self.mime_type, "size": self.size})
    }

    /// Takes the next part: where it belongs, and its bytes in base64. `None` is the end.
    pub async fn next_part(&mut self, most: usize) -> Result<Option<(u64, String)>, Fault> {
        let offset = self.taken;
        let part = match &self.bytes {
            Bytes::InMemory(bytes) => {
                let rest = &bytes[usize::try_from(offset).unwrap_or(bytes.len())..];
                rest[..rest.len().min(most)].to_vec()
            }
            Bytes::OnDisk(file) => {
                let (file, left) = (file.clone(), self.size - offset);
                let reading = tokio::task::spawn_blocking(move || read(&file, left, most)).await;
                let read =
                    reading.map_err(|error| Fault::new(Code::Internal, error.to_string()))?;
                read.map_err(|error| self.unreadable(&error.to_string()))?
            }
        };
        self.taken += part.len() as u64;
        Ok((!part.is_empty()).then(|| (offset, STANDARD.encode(part))))
    }

    fn unreadable(&self, why: &str) -> Fault {
        let message = format!("{} cannot be read: {why}", page_text::quoted_exact(&self.name));
        Fault::new(Code::Refused, message).hint("upload it again once nobody writes to it")
    }
}

/// Reads the next part of a file that has `left` bytes left; at its end, that it is the end.
fn read(mut file: &File, left: u64, most: usize) -> io::Result<Vec<u8>> {
    // One byte more at the end: what the kernel makes up as it is read has a size of 0.
    let wanted = left.min(most as u64);
    let mut bytes = Vec::new();
    file.by_ref().take(wanted.max(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == wanted {
        true => Ok(bytes),
        false => Err(io::Error::other("it does not have the bytes that it had when it was opened")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uploads::tests::Folder;

    fn outgoing(folder: &Folder, name: &str, size: u64) -> OutgoingFile {
        let path = folder.path().join(name);
        let file = File::open(&path).unwrap();
        OutgoingFile::of_file(CheckedFile { name: name.to_owned(), path, size, file })
    }

    async fn all(mut file: OutgoingFile, most: usize) -> Result<Vec<(u64, String)>, Fault> {
        let mut parts = Vec::new();
        while let Some(part) = file.next_part(most).await? {
            parts.push(part);
        }
        Ok(parts)
    }

    #[tokio::test]
    async fn a_file_is_read_in_parts_wherever_it_is() {
        let folder = Folder::new();
        folder.write("a.txt", "abcdefg");
        let expected = [(0, "YWJj".to_owned()), (3, "ZGVm".to_owned()), (6, "Zw==".to_owned())];
        assert_eq!(all(outgoing(&folder, "a.txt", 7), 3).await.unwrap(), expected);
        let given = OutgoingFile::of_base64("a.txt", None, "YWJjZGVmZw==").unwrap();
        assert_eq!(given.describe(), json!({"name": "a.txt", "mimeType": "text/plain", "size": 7}));
        assert_eq!(all(given, 3).await.unwrap(), expected);
        assert!(OutgoingFile::of_base64("a", None, "no base64").is_none());
    }

    #[tokio::test]
    async fn an_empty_file_has_no_parts() {
        let folder = Folder::new();
        folder.write("empty", "");
        assert_eq!(all(outgoing(&folder, "empty", 0), 3).await.unwrap(), []);
        let given = OutgoingFile::of_base64("empty", Some("a/b"), "").unwrap();
        assert_eq!(all(given, 3).await.unwrap(), []);
    }

    #[tokio::test]
    async fn a_file_that_has_other_bytes_than_it_said_is_refused() {
        let folder = Folder::new();
        folder.write("a.txt", "abcdefg");
        for size in [0, 6, 8] {
            let fault = all(outgoing(&folder, "a.txt", size), 3).await.unwrap_err();
            assert!(fault.to_string().contains("does not have the bytes"), "{size}: {fault}");
        }
    }
}
