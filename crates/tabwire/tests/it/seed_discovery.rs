//! The file by which other programs find a running hub (seed 004).

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use testkit::{HubOptions, HubProcess, Place, eventually};

use crate::{
    scene::{PROGRAM, hub},
    seed_browsers::until_said,
};

/// Returns the discovery files in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = found.collect();
    found.sort();
    found
}

/// Waits until a folder has so many discovery files; returns them.
async fn until_files(folder: &Path, count: usize) -> Vec<PathBuf> {
    eventually(&format!("{count} files"), async || {
        let found = files(folder);
        (found.len() == count).then_some(found)
    })
    .await
}

fn found(hub: &HubProcess) -> PathBuf {
    hub.place().path().join("found")
}

/// Returns the number of a process that has ended.
fn dead_process() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    pid
}

/// Fails the test unless this is a time as `2024-01-01T00:00:00.000Z`.
#[track_caller]
fn must_be_iso(text: &str) {
    let shape: String =
        text.chars().map(|one| if one.is_ascii_digit() { '0' } else { one }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000Z", "{text}");
}

#[tokio::test]
async fn a_running_hub_can_be_found_and_a_stopped_one_cannot() {
    let mut hub = hub(&[]).await;
    let files_now = until_files(&found(&hub), 1).await;
    let entry: Value = serde_json::from_slice(&fs::read(&files_now[0]).unwrap()).unwrap();
    let keys: Vec<_> = entry.as_object().unwrap().keys().cloned().collect();
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(sorted, ["pid", "port", "startedAt"], "nothing else: {entry}");
    assert_eq!(entry["port"], hub.port());
    let pid = entry["pid"].as_u64().unwrap();
    assert_eq!(files_now[0].file_name().unwrap(), &*format!("server-{pid}.json"));
    let status = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(status.contains("serve"), "the hub's own number: {status:?}");
    must_be_iso(entry["startedAt"].as_str().unwrap());
    let mode = fs::metadata(&files_now[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "all may read it, nobody else may write");
    assert_eq!(hub.terminate().await.code(), Some(0));
    assert!(files(&found(&hub)).is_empty());
}

#[tokio::test]
async fn what_crashed_hubs_left_behind_is_cleared_and_nothing_else() {
    let options = HubOptions::new(PROGRAM);
    let folder = options.place().folder("found");
    let (dead, alive) = (dead_process(), std::process::id());
    let body =
        |pid: u32| format!(r#"{{"port":8765,"pid":{pid},"startedAt":"2024-01-01T00:00:00.000Z"}}"#);
    let stale = folder.join(format!("server-{dead}.json"));
    fs::write(&stale, body(dead)).unwrap();
    let kept = [
        (folder.join(format!("server-{alive}.json")), body(alive)),
        (folder.join("notes.txt"), "mine".to_owned()),
        (folder.join("server-x.json"), "{}".to_owned()),
    ];
    for (path, text) in &kept {
        fs::write(path, text).unwrap();
    }
    let hub = options.start().await;
    until_files(&found(&hub), 4).await;
    assert!(!stale.exists(), "its process is dead");
    for (path, text) in &kept {
        assert_eq!(fs::read_to_string(path).unwrap(), *text, "{path:?}");
    }
}

#[tokio::test]
async fn a_hub_that_was_killed_is_cleared_by_the_next() {
    let place = Place::create();
    let folder = place.folder("shared");
    let start =
        || HubOptions::new(PROGRAM).variable("TABWIRE_DISCOVERY", folder.to_str().unwrap()).start();
    let first = start().await;
    let left = until_files(&folder, 1).await;
    drop(first);
    assert_eq!(files(&folder), left, "nobody could clear it");
    let second = start().await;
    eventually("the old file is replaced", async || {
        let now = files(&folder);
        (now.len() == 1 && now != left).then_some(())
    })
    .await;
    let third = start().await;
    // Two hubs side by side.
    until_files(&folder, 2).await;
    drop((second, third));
}

/// Starts a hub whose folder is not safe; it must say so and serve all the same.
async fn unsafe_folder(options: HubOptions, folder: &Path, before: &[PathBuf]) {
    let hub = options.start().await;
    hub.api().get("/health").await.must_be(200);
    // It names the folder.
    until_said(&hub, &["WARN", folder.to_str().unwrap()]).await;
    if let Ok(entries) = fs::read_dir(folder) {
        let now: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(now, before, "nothing was written there");
    }
}

#[tokio::test]
async fn a_folder_that_is_a_link_is_not_used() {
    let options = HubOptions::new(PROGRAM);
    let target = options.place().folder("elsewhere");
    let link = options.place().path().join("link");
    symlink(&target, &link).unwrap();
    let options = options.variable("TABWIRE_DISCOVERY", link.to_str().unwrap());
    unsafe_folder(options, &link, &[]).await;
    let _ = target;
}

#[tokio::test]
async fn a_folder_that_others_may_write_to_is_not_used() {
    let options = HubOptions::new(PROGRAM);
    for mode in [0o777, 0o1777, 0o770] {
        let folder = options.place().folder("open");
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let other = HubOptions::new(PROGRAM);
        let other = other.variable("TABWIRE_DISCOVERY", folder.to_str().unwrap());
        unsafe_folder(other, &folder, &[]).await;
    }
}

#[tokio::test]
async fn a_folder_that_is_a_file_is_not_used() {
    let options = HubOptions::new(PROGRAM);
    let file = options.place().write("file", "mine");
    let options = options.variable("TABWIRE_DISCOVERY", file.to_str().unwrap());
    let hub = options.start().await;
    until_said(&hub, &["WARN", file.to_str().unwrap()]).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    hub.api().get("/health").await.must_be(200);
}

#[tokio::test]
async fn a_link_in_place_of_the_file_is_not_written_through() {
    let options = HubOptions::new(PROGRAM);
    let folder = options.place().folder("found");
    let victim = options.place().write("victim", "precious");
    // Nobody knows the next process's number, so every likely one is taken.
    let near = dead_process();
    for pid in near..near + 400 {
        let _ = symlink(&victim, folder.join(format!("server-{pid}.json")));
    }
    let hub = options.start().await;
    hub.api().get("/health").await.must_be(200);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

#[tokio::test]
async fn it_can_be_turned_off() {
    let hub = HubOptions::new(PROGRAM).variable("TABWIRE_DISCOVERY", "").start().await;
    assert!(files(&found(&hub)).is_empty());
    assert!(!hub.stderr().contains("WARN"), "{}", hub.stderr());
}

#[tokio::test]
async fn a_folder_that_is_missing_is_made_and_closed_to_others() {
    let options = HubOptions::new(PROGRAM);
    let folder = options.place().path().join("deep/browser-mcp");
    fs::create_dir(options.place().path().join("deep")).unwrap();
    let hub = options.variable("TABWIRE_DISCOVERY", folder.to_str().unwrap()).start().await;
    until_files(&folder, 1).await;
    hub.api().get("/health").await.must_be(200);
    let mode = fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o022, 0, "only its owner may write there");
}
