//! Downloads: what the hub reads itself, and of whom.

use model::{Code, Fault};
use serde_json::{Value, json};

use crate::fake::{Abilities, Stage};

const EXTENSION: Abilities<'static> = Abilities {
    commands: &["browser_download_list", "browser_download_wait"],
    capabilities: &[],
    tabs: &[],
    at_home: true,
};

/// What a client gets that reads a download, of a browser that says it is this file.
async fn read(
    abilities: Abilities<'_>,
    path: &str,
    bytes: u64,
    more: Value,
) -> Result<Value, Fault> {
    let stage = Stage::start();
    let chrome = stage.able("chrome", abilities).await;
    let download = json!({
        "id": 7, "state": "complete", "path": path, "filename": "its-name", "bytes": bytes,
        "url": "https://a.example/", "mimeType": "image/png",
    });
    chrome.answers("browser_download_list", Ok(json!({ "downloads": [download] })));
    let mut args = json!({"action": "download_read", "id": "7"});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let output = stage.call("browser_network", args).await?;
    Ok(json!({"text": output.text, "structured": output.structured}))
}

/// A file that goes away with the test.
struct TempFile(std::path::PathBuf);

impl TempFile {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("tabwire-{name}-{}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn a_text_is_read_and_says_what_is_left_out() {
    let file = TempFile::new("text", "häl lo\n".as_bytes());
    let whole = read(EXTENSION, file.path(), 8, json!({})).await.unwrap();
    assert_eq!(whole["structured"]["text"], "häl lo\n");
    assert_eq!(whole["text"], "\"its-name\", 8 bytes:\n  häl lo\n");
    let part = read(EXTENSION, file.path(), 8, json!({"maxLength": 3})).await.unwrap();
    assert_eq!(part["structured"]["text"], "häl");
    assert_eq!(part["structured"]["leftOut"], 4);
    assert!(part["text"].as_str().unwrap().contains("4 of 7 characters are left out"), "{part}");
}

#[tokio::test]
async fn a_text_of_many_lines_is_no_longer_than_an_answer() {
    let text = "x\n".repeat(12_000);
    let file = TempFile::new("lines", text.as_bytes());
    let read = read(EXTENSION, file.path(), 24_000, json!({"maxLength": 24_000})).await.unwrap();
    let shown = read["text"].as_str().unwrap();
    assert!(shown.len() < 24_300, "{}", shown.len());
    let kept = read["structured"]["text"].as_str().unwrap().len();
    assert_eq!(kept + read["structured"]["leftOut"].as_u64().unwrap() as usize, 24_000);
}

#[tokio::test]
async fn other_bytes_are_a_file() {
    let file = TempFile::new("bytes", b"\x89PNG\0");
    let read = read(EXTENSION, file.path(), 5, json!({})).await.unwrap();
    let about = &read["structured"]["file"];
    assert_eq!((&about["mimeType"], &about["bytes"]), (&json!("image/png"), &json!(5)), "{read}");
}

#[tokio::test]
async fn a_browser_that_is_not_proven_to_be_here_has_none_of_our_files_read() {
    let file = TempFile::new("secret", b"secret");
    let away = Abilities { at_home: false, ..EXTENSION };
    let fault = read(away, file.path(), 6, json!({})).await.unwrap_err();
    assert_eq!(fault.code, Code::Unsupported);
    assert!(fault.to_string().contains("paired browser on this machine"), "{fault}");
}

#[tokio::test]
async fn wrong_arguments_say_what_is_right_and_a_path_is_none() {
    let file = TempFile::new("wrong", b"secret");
    for (more, part) in [
        (json!({"id": "/etc/passwd"}), "`id` must be the number of a download"),
        (json!({"id": "8"}), "no driven tab has begun a download 8"),
        (json!({"maxLength": 0}), "`maxLength` must be a whole number from 1"),
        (json!({"path": "/etc/passwd"}), "does not take `path`"),
    ] {
        let fault = read(EXTENSION, file.path(), 6, more).await.unwrap_err();
        assert!(fault.to_string().contains(part), "{part:?} not in {fault}");
    }
    let fault = read(EXTENSION, file.path(), 5, json!({})).await.unwrap_err();
    assert!(fault.to_string().contains("changed since"), "{fault}");
}

#[tokio::test]
async fn a_browser_that_reads_files_itself_is_asked_to() {
    let stage = Stage::start();
    let commands = &["browser_download_list", "browser_download_read"];
    let chrome = stage.able("chrome", Abilities { commands, ..EXTENSION }).await;
    stage.call("browser_network", json!({"action": "download_read", "id": "7"})).await.unwrap();
    assert_eq!(chrome.last().0, "browser_download_read");
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_a_time_lasts_a_minute() {
    let stage = Stage::start();
    let chrome = stage.able("chrome", EXTENSION).await;
    chrome.answers_never("browser_download_wait");
    let begun = tokio::time::Instant::now();
    let wait = json!({"action": "download_wait"});
    let fault = stage.call("browser_network", wait).await.unwrap_err();
    assert_eq!(fault.code, Code::TimedOut, "{fault}");
    assert!(begun.elapsed().as_secs() >= 60, "{:?}", begun.elapsed());
    assert_eq!(chrome.last().1, json!({}));
}
