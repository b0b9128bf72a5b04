//! What is refused before a file is read, and what is shown of one that is.

use std::path::PathBuf;

use super::*;
use crate::command_results::ResultType;

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tabwire-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn check_refused(path: &Path, expected: u64, code: Code, part: &str) {
    let fault = read_file(path, expected).unwrap_err();
    assert_eq!(fault.code, code, "{fault}");
    assert!(fault.to_string().contains(part), "{part:?} not in {fault}");
}

#[test]
fn a_plain_file_of_the_counted_size_is_read_and_nothing_else() {
    let folder = Folder::new("downloads");
    let path = folder.file("a.txt", b"hello");
    assert_eq!(read_file(&path, 5).unwrap(), b"hello");
    check_refused(&path, 4, Code::Refused, "5 bytes and the download had 4");
    check_refused(&folder.0, 5, Code::Refused, "not a plain file");
    check_refused(&folder.0.join("gone"), 5, Code::NotFound, "cannot be read");
    check_refused(Path::new("a.txt"), 5, Code::Refused, "no whole path");
    check_refused(Path::new(""), 5, Code::Refused, "no whole path");
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_file_on_a_disk_is_not_read() {
    check_refused(Path::new("/proc/version"), 0, Code::Refused, "does not have the bytes");
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let folder = Folder::new("links");
    let path = folder.file("a.txt", b"hello");
    let link = folder.0.join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    check_refused(&link, 5, Code::Refused, "not a plain file");
}

#[test]
fn a_file_over_the_limit_is_refused_and_one_at_it_is_read() {
    let folder = Folder::new("large");
    let path = folder.0.join("large");
    let file = fs::File::create(&path).unwrap();
    file.set_len(LARGEST).unwrap();
    assert_eq!(read_file(&path, LARGEST).unwrap().len() as u64, LARGEST);
    file.set_len(LARGEST + 1).unwrap();
    check_refused(&path, LARGEST + 1, Code::TooLarge, "at most 8388608");
}

#[test]
fn text_is_told_from_other_bytes() {
    assert_eq!(text_of("häl\tlo\r\n".as_bytes()), Some("häl\tlo\r\n"));
    for bytes in [&b"a\0b"[..], b"\xff\xfe", b"\x1b[0m"] {
        assert_eq!(text_of(bytes), None, "{bytes:?}");
    }
}

#[test]
fn only_a_complete_download_is_found() {
    let list = json!({"downloads": [
        {"id": 1, "state": "complete", "path": "/a", "filename": "a", "url": "u", "bytes": 3},
        {"id": 2, "state": "in_progress", "path": "/b", "filename": "b", "url": "u", "bytes": 3},
        {"id": 3, "state": "interrupted", "path": "/c", "filename": "c",
            "url": "u", "error": "NETWORK_FAILED", "bytes": 0},
        {"id": 4, "state": "complete", "path": "/d", "filename": "d", "url": "u"},
    ]});
    let found = find(&list, 1).unwrap();
    assert_eq!((found.path.as_str(), found.bytes), ("/a", 3));
    assert_eq!(found.mime_type, "application/octet-stream");
    for (id, code, part) in [
        (2, Code::Busy, "download_wait"),
        (3, Code::ToolFailed, "NETWORK_FAILED"),
        (4, Code::MalformedReply, "size"),
        (5, Code::NotFound, "browser_network downloads"),
    ] {
        let fault = find(&list, id).err().unwrap();
        assert_eq!(fault.code, code, "{fault}");
        assert!(fault.to_string().contains(part), "{fault}");
    }
    assert_eq!(find(&json!("nothing"), 1).err().unwrap().code, Code::NotFound);
}

#[test]
fn downloads_are_said_in_lines() {
    let one = json!({
        "id": 7, "state": "in_progress", "path": "/d/a.zip", "filename": "a.zip", "bytes": 10, "totalBytes": 40,
        "url": "https://a.example/a.zip",
    });
    let line = "7 in_progress: \"/d/a.zip\", 10 of 40 bytes, from https://a.example/a.zip";
    assert_eq!((ResultType::of::<DownloadReport>().words)(&one).as_deref(), Some(line));
    let said = |list: Value| (ResultType::of::<DownloadList>().words)(&list);
    let list = json!({"downloads": [one], "older": 2});
    let lines = format!("{line}\n(2 older ones are not shown)");
    assert_eq!(said(list), Some(lines));
    let none = said(json!({"downloads": []}));
    assert_eq!(none.as_deref(), Some("no driven tab has downloaded such"));
    assert_eq!(said(json!({"files": []})), None);
}
