//! One term for the lock, the store and the relays, and a hub that has lost its place.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use testkit::{FakeBrowser, HubOptions, HubProcess, eventually};

use crate::scene::{PROGRAM, hub};

fn data_of(hub: &HubProcess) -> PathBuf {
    hub.place().folder("data").join("tabwire")
}

/// What the holder of the lock says about itself.
fn record(data: &Path) -> Value {
    serde_json::from_slice(&fs::read(data.join("hub.json")).unwrap()).unwrap()
}

/// What `tabwire store check` finds.
async fn checked(hub: &HubProcess, data: &Path) -> Value {
    let args = ["store", "check", "--json", "--data", data.to_str().unwrap()];
    hub.commands(PROGRAM).run(&args).await.must_exit(0).json()
}

#[tokio::test]
async fn lock_store_and_relays_know_one_term() {
    let mut hub = hub(&[]).await;
    let data = data_of(&hub);
    let mut last = 0;
    for lost in [false, false, true] {
        if lost {
            // Whoever counts anew is still ahead of what the store has seen.
            fs::remove_file(data.join("hub.json")).unwrap();
        }
        if last > 0 {
            hub.restart().await;
        }
        let term = record(&data)["term"].as_u64().unwrap();
        assert!(term > last, "{term} after {last}");
        assert_eq!(checked(&hub, &data).await["term"], term);
        let status = hub.commands(PROGRAM).run(&["status", "--json"]).await.must_exit(0).json();
        assert_eq!(status["term"], term);
        last = term;
        hub.terminate().await;
    }
}

#[tokio::test]
async fn a_hub_that_lost_its_place_writes_nothing_and_ends() {
    let mut first = hub(&[]).await;
    let data = data_of(&first);
    // Somebody has tidied up: nothing shows any more that a hub is here.
    for file in ["hub.lock", "hub.sock"] {
        fs::remove_file(data.join(file)).unwrap();
    }
    let flags = ["--data", data.to_str().unwrap()];
    let mut second = HubOptions::new(PROGRAM).flags(&flags).start().await;
    let newer = record(&data);
    assert_eq!(newer["port"], second.port());
    // Whoever comes to the older one makes it write.
    let mut ghost = FakeBrowser::app(first.port(), "ghost");
    ghost.connect_if_possible().await;
    assert_eq!(first.exited().await.code(), Some(0));
    // What it said last may come after its end is known.
    eventually("it says why", async || {
        first.stderr().contains("another hub has the store").then_some(())
    })
    .await;
    assert_eq!(record(&data), newer, "it leaves the record of the other alone");
    assert!(data.join("hub.sock").exists(), "and its socket");
    FakeBrowser::connected(second.port(), "viewer").await;
    assert_eq!(second.terminate().await.code(), Some(0));
    let checked = checked(&second, &data).await;
    assert_eq!(checked["term"], newer["term"]);
    let tables = checked["tables"].as_array().unwrap();
    let sessions = tables.iter().find(|table| table["name"] == "sessions").unwrap();
    assert_eq!(sessions["rows"], 1, "the viewer, and no ghost");
}
