//! Sessions come and go for long: neither memory nor open files grow.

use serde_json::json;
use testkit::{FakeApp, HubProcess, eventually, torture};

use crate::scene::hub;

/// How many are there at once.
const CROWD: usize = 50;
/// How much more memory than after the warm-up is no growth: allocators keep some, and so does the
/// cache of the store.
const SLACK_KIB: u64 = 1024;

/// Lets a crowd come, call each of it once, and waits until all are forgotten.
async fn come_and_go(hub: &HubProcess, round: u64) {
    let mut apps = Vec::new();
    for number in 0..CROWD {
        let name = format!("guest-{round}-{number}");
        apps.push(FakeApp::echo(hub.port(), &name, &["greet"]).await);
        let args = json!({"n": number});
        let answer = hub.api().call_tool(&name, "greet", args.clone()).await;
        assert_eq!(answer.must_be(200).json()["result"], args);
    }
    drop(apps);
    eventually("all are forgotten", async || hub.api().sessions().await.is_empty().then_some(()))
        .await;
}

#[tokio::test]
async fn sessions_that_come_and_go_leave_nothing_behind() {
    let hub = hub(&["--session-retention", "100ms"]).await;
    let rounds = torture::rounds(12, 2000);
    let warm_up = rounds / 3;
    for round in 0..warm_up {
        come_and_go(&hub, round).await;
    }
    let (memory, files) = (hub.memory_kib(), hub.open_files());
    for round in warm_up..rounds {
        come_and_go(&hub, round).await;
    }
    let growth = hub.memory_kib().saturating_sub(memory);
    println!("{rounds} rounds of {CROWD}: {memory} KiB, then {growth} KiB more; {files} files");
    assert!(growth <= memory / 20 + SLACK_KIB, "{growth} KiB more than {memory}");
    eventually("its files are closed", async || (hub.open_files() <= files).then_some(())).await;
}
