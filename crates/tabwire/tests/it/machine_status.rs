//! `tabwire status` and `tabwire stop`: what they say, and whom they end.

use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    process::{Child, Command},
};

use serde_json::{Value, json};
use testkit::{
    Era, Machine, eventually,
    machine::{gone, is_alive},
};

use crate::{mcp_scene::LEGACY, scene::PROGRAM};

/// A process that has nothing to do with us. It ends with the test.
struct Bystander(Child);

impl Bystander {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn start_time(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap()
    }

    #[track_caller]
    fn must_live(&self) {
        assert!(is_alive(self.0.id()), "a process was ended that is not ours");
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Changes what the last hub has written down.
fn rewrite(machine: &Machine, changes: &Value) {
    let mut record = machine.record();
    for (key, value) in changes.as_object().unwrap() {
        record[key] = value.clone();
    }
    fs::write(machine.data().join("hub.json"), record.to_string()).unwrap();
}

#[tokio::test]
async fn without_a_hub_both_say_so() {
    let machine = Machine::new(PROGRAM);
    for exists in [false, true] {
        if exists {
            fs::DirBuilder::new().mode(0o700).create(machine.data()).unwrap();
        }
        let told = machine.run(&["status"]).await.must_exit(3);
        assert!(told.stderr.contains("no hub runs") && told.stdout.is_empty(), "{told:?}");
        let told = machine.run(&["status", "--json"]).await.must_exit(3);
        assert_eq!(told.json(), json!({"state": "not_running"}));
        for flags in [&["stop"][..], &["stop", "--force"]] {
            let told = machine.run(flags).await.must_exit(3);
            assert!(told.stderr.contains("no hub runs"), "{told:?}");
        }
        assert_eq!(machine.data().exists(), exists, "looking makes nothing");
    }
}

#[tokio::test]
async fn a_running_hub_is_described_and_stopped() {
    let machine = Machine::new(PROGRAM);
    let client = machine.relay().connect(LEGACY).await;
    let pid = machine.pid();
    let told = machine.run(&["status"]).await.must_exit(0);
    for part in [machine.port().to_string(), pid.to_string()] {
        assert!(told.stdout.contains(&part) && told.stderr.is_empty(), "{told:?}");
    }
    let status = machine.run(&["status", "--json"]).await.must_exit(0).json();
    let record = machine.record();
    assert_eq!(status["state"], "running");
    for field in ["pid", "port", "term", "version", "since"] {
        assert_eq!(status[field], record[field], "{field}");
    }
    assert_eq!((&status["port"], &status["pid"]), (&json!(machine.port()), &json!(pid)));
    assert_eq!(client.finish().await.status.code(), Some(0));
    let stopped = machine.run(&["stop", "--json"]).await.must_exit(0);
    assert_eq!(stopped.json(), json!({"stopped": true, "forced": false}));
    assert!(!is_alive(pid), "`stop` returns when the hub has ended");
    machine.run(&["stop"]).await.must_exit(3);
    assert_eq!(machine.status().await, json!({"state": "not_running"}));
}

#[tokio::test]
async fn a_hub_that_was_stopped_comes_back_only_when_it_is_needed() {
    let machine = Machine::new(PROGRAM);
    let mut clients = Vec::new();
    for era in [Era::Modern, LEGACY] {
        clients.push(machine.relay().connect(era).await);
    }
    let first = machine.running().await;
    let other = Machine::new(PROGRAM);
    let _relay = other.relay().connect(LEGACY).await;
    machine.run(&["stop"]).await.must_exit(0);
    // A hub that dies later comes back by itself, twice; this one does not.
    for _ in 0..2 {
        let before = other.running().await;
        other.kill_hub().await;
        eventually("the other hub is back", async || {
            let now = other.status().await;
            (now["state"] == "running" && now["pid"] != before["pid"]).then_some(())
        })
        .await;
    }
    assert!(machine.hubs().is_empty(), "nobody has asked for anything");
    for client in &mut clients {
        client.request("tools/list", json!({})).await.result();
    }
    let second = machine.running().await;
    assert!(second["term"].as_u64() > first["term"].as_u64(), "{first} {second}");
}

#[tokio::test]
async fn a_killed_hub_is_told_apart_from_one_that_ended() {
    let machine = Machine::new(PROGRAM);
    let client = machine.relay().connect(LEGACY).await;
    let pid = machine.pid();
    client.finish().await;
    machine.kill_hub().await;
    let told = machine.run(&["status", "--json"]).await.must_exit(3).json();
    assert_eq!((&told["state"], &told["pid"]), (&json!("stale"), &json!(pid)));
    machine.run(&["stop", "--force"]).await.must_exit(3);
    let mut client = machine.relay().connect(LEGACY).await;
    client.request("tools/list", json!({})).await.result();
    assert_eq!(machine.status().await["state"], "running");
}

#[tokio::test]
async fn a_frozen_hub_is_ended_by_force_only() {
    let machine = Machine::new(PROGRAM);
    let client = machine.relay().connect(LEGACY).await;
    client.finish().await;
    let pid = machine.pid();
    machine.freeze_hub().await;
    // Side by side: each waits for an answer for as long as a living hub may take.
    let (words, data, stop) = tokio::join!(
        machine.run(&["status"]),
        machine.run(&["status", "--json"]),
        machine.run(&["stop"])
    );
    let told = words.must_exit(1);
    assert!(told.stderr.contains("does not answer") && told.stderr.contains("--force"), "{told:?}");
    let told = data.must_exit(1).json();
    assert_eq!((&told["state"], &told["pid"]), (&json!("unresponsive"), &json!(pid)));
    let told = stop.must_exit(1);
    assert!(told.stderr.contains("--force"), "{told:?}");
    assert!(is_alive(pid));
    let second = machine.run(&["serve", "--port", "0"]).await.must_exit(1);
    assert!(second.stderr.contains("another hub"), "it keeps its lock: {}", second.stderr);
    let told = machine.run(&["stop", "--force", "--json"]).await.must_exit(0);
    assert_eq!(told.json(), json!({"stopped": true, "forced": true}));
    gone(pid).await;
    let mut client = machine.relay().connect(LEGACY).await;
    client.request("tools/list", json!({})).await.result();
}

#[tokio::test]
async fn a_process_that_only_has_the_pid_is_never_ended() {
    let machine = Machine::new(PROGRAM);
    machine.relay().connect(LEGACY).await.finish().await;
    machine.kill_hub().await;
    let bystander = Bystander::new();
    let (pid, start_time) = (bystander.0.id(), bystander.start_time());
    // The id was used again: another start time.
    rewrite(&machine, &json!({"pid": pid}));
    machine.run(&["stop", "--force"]).await.must_exit(3);
    bystander.must_live();
    // Even the right start time and the lock's own word prove nothing: it does not hold the lock.
    rewrite(&machine, &json!({"pid": pid, "startTime": start_time}));
    machine.run(&["stop"]).await.must_exit(3);
    let refused = machine.run(&["stop", "--force"]).await.must_exit(4);
    assert!(refused.stderr.contains(&pid.to_string()), "{}", refused.stderr);
    bystander.must_live();
    let told = machine.run(&["status", "--json"]).await.must_exit(3).json();
    assert_eq!(told["state"], "stale");
    for (lock, word) in [(true, "another"), (false, "")] {
        match lock {
            true => fs::write(machine.data().join("hub.lock"), word).unwrap(),
            false => fs::remove_file(machine.data().join("hub.lock")).unwrap(),
        }
        machine.run(&["stop", "--force"]).await.must_exit(4);
        bystander.must_live();
    }
    // It is in nobody's way either.
    let mut client = machine.relay().connect(LEGACY).await;
    client.request("tools/list", json!({})).await.result();
    assert_ne!(machine.pid(), pid);
    machine.run(&["stop", "--force"]).await.must_exit(0);
    bystander.must_live();
}

#[tokio::test]
async fn a_running_hub_is_not_confused_by_a_record_that_names_another_process() {
    let machine = Machine::new(PROGRAM);
    let client = machine.relay().connect(LEGACY).await;
    client.finish().await;
    let hub = machine.pid();
    let bystander = Bystander::new();
    let changes = json!({"pid": bystander.0.id(), "startTime": bystander.start_time()});
    rewrite(&machine, &changes);
    let told = machine.run(&["status", "--json"]).await.must_exit(0).json();
    assert_eq!(told["pid"], hub, "the hub itself is asked");
    machine.run(&["stop", "--force"]).await.must_exit(0);
    gone(hub).await;
    bystander.must_live();
}
