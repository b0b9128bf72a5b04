//! Files: given to a page from the client's machine, and saved from a page.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::json;
use testkit::Place;

use crate::stage::Stage;

/// Where a client over HTTP may upload from without a setting.
fn downloads(stage: &Stage) -> PathBuf {
    stage.hub.place().folder("home/Downloads")
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn files_reach_the_page_with_their_names_and_contents() {
    let stage = &Stage::at("/forms.html").await;
    let (site, client, folder) = (&stage.site, &stage.client, downloads(stage));
    let (one, two) = (write(&folder, "one.txt", "first\n"), write(&folder, "zwei ü.csv", "a;b"));
    client.interact("upload", json!({"selector": "#file", "files": [one]})).await;
    site.reported("file", json!([["one.txt", 6, "first\n"]])).await;
    let files = client.reference("\"Files\"").await;
    let content = json!({"name": "three.txt", "data": "dGhpcmQ="});
    let wish = json!({"ref": files, "files": [one, two], "contents": [content]});
    client.interact("upload", wish).await;
    let three =
        json!([["one.txt", 6, "first\n"], ["zwei ü.csv", 3, "a;b"], ["three.txt", 5, "third"]]);
    site.reported("files", three).await;
    client.interact("upload", json!({"ref": files, "files": []})).await;
    site.reported("files", json!([])).await;

    let outside = Place::create();
    let secret = write(outside.path(), "secret.txt", "x");
    symlink(&secret, folder.join("linked.txt")).unwrap();
    let (missing, linked) = (folder.join("missing.txt"), folder.join("linked.txt"));
    for (args, codes, named) in [
        (json!({"selector": "#file", "files": [missing]}), "not_found", "missing.txt"),
        (json!({"selector": "#file", "files": [secret]}), "refused", "upload_roots"),
        (json!({"selector": "#file", "files": [linked]}), "refused", "secret.txt"),
        (json!({"selector": "#file", "files": [folder]}), "invalid_argument", "is a folder"),
        (json!({"selector": "#file", "files": ["one.txt"]}), "invalid_argument", "whole path"),
        (json!({"selector": "#file", "files": [one, two]}), "WRONG_ELEMENT", "one file"),
        (json!({"selector": "#send", "files": [one]}), "WRONG_ELEMENT", "file"),
    ] {
        let words = client.refused("upload", args, codes).await;
        assert!(words.contains(named), "{words}");
    }
    assert_eq!(site.reports("file").len(), 1);
    assert_eq!(client.evaluate("at('file').files[0].name").await, "one.txt");
}

/// The number that `uploads.js` makes of a file.
fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)))
}

#[tokio::test]
async fn large_files_arrive_whole_in_frames_of_other_sites_too() {
    let stage = &Stage::at("/uploads.html").await;
    let (site, client, folder) = (&stage.site, &stage.client, downloads(stage));
    site.report("inner loaded").await;
    let bytes: Vec<_> = (0..3_000_001_u32).map(|place| (place % 251) as u8).collect();
    let large = write(&folder, "large.png", &bytes);
    for (selector, report) in [("#large", "large"), ("#inner", "inner")] {
        client.interact("upload", json!({"selector": selector, "files": [large]})).await;
        let expected = json!(["large.png", "image/png", bytes.len(), sum(&bytes)]);
        site.reported(report, expected).await;
    }
    let most = fs::File::create(folder.join("most.bin")).unwrap();
    most.set_len(50 << 20).unwrap();
    let most = folder.join("most.bin");
    let whole = json!({"selector": "#large", "files": [most], "timeoutMs": 300_000});
    client.interact("upload", whole).await;
    site.reported("large", json!(["most.bin", "application/octet-stream", 50 << 20, 0])).await;
    let both = json!({"selector": "#large", "files": [most, large]});
    let words = client.refused("upload", both, "too_large").await;
    assert!(words.contains("52428800"), "{words}");
}

#[tokio::test]
async fn a_download_that_a_click_starts_is_told() {
    let stage = &Stage::at("/signals.html").await;
    let saved = stage.client.click("#download").await;
    let name = saved["download"]["filename"].as_str().unwrap_or_else(|| panic!("{saved}"));
    assert!(name.contains("report") && name.ends_with(".txt"), "{name}");
    assert_eq!(saved["download"]["url"], stage.site.url("/download/report.txt"));
    assert_eq!(saved["url"], stage.site.url("/signals.html"), "the page is still there");
    assert_ne!(saved["navigated"], true);
    stage.site.until_asked("/download/report.txt").await;
    assert_eq!(stage.seen().await, ["click download"]);
}
