//! Peers that want more memory than they should get: the hub holds what it says it holds.

use serde_json::json;
use testkit::{
    Ask, FakeBrowser, Http, HubProcess, PATIENCE, eventually,
    frame::{self, frame, opcode},
    kernel::unread_bytes,
    within,
};

use crate::scene::Scene;

/// What one greedy peer, or a crowd of small ones, may cost: less than it sends. Most of it is what
/// the allocator keeps for the next message.
const GROWTH_KIB: u64 = 48 << 10;
/// Sends about 64 MiB in this many messages of a MiB.
const MESSAGES: usize = 64;

/// The bystander lives beside a peer that keeps the test busy; it need not answer meanwhile.
const NO_PINGS: &[&str] = &["--ping-after", "10m"];

/// Fails the test when the hub has grown by more than a greedy peer may cost.
fn check_growth(hub: &HubProcess, before: u64) {
    let growth = hub.memory_kib().saturating_sub(before);
    assert!(growth < GROWTH_KIB, "the hub grew by {growth} KiB");
}

#[tokio::test]
async fn a_reader_that_never_reads_is_closed_and_costs_little() {
    // That it says nothing is not what it is closed for.
    let scene = Scene::new(&["--write-timeout", "700ms", "--ping-after", "10m"]).await;
    let _lazy = FakeBrowser::connected(scene.port(), "lazy").await;
    let api = scene.api();
    let before = scene.hub.memory_kib();
    let large = json!("x".repeat(64 << 10));
    // More than a fast machine can make in that time; a slow one makes less.
    let (enough, mut sent) = (20 * unread_bytes(), 0);
    while api.session("lazy").await["connected"] == true {
        for _ in 0..50 {
            api.event("lazy", "large", large.clone()).await;
        }
        sent += 50 * (64 << 10);
        scene.bystander_answers().await;
        check_growth(&scene.hub, before);
        assert!(sent < enough, "still connected after {sent} bytes that it did not read");
    }
    for _ in 0..50 {
        api.event("lazy", "large", large.clone()).await;
    }
    check_growth(&scene.hub, before);
    api.until_metric("tabwire_closes_total{reason=\"slow_consumer\"}", 1.0).await;
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_peer_that_pings_and_reads_nothing_is_closed_and_costs_little() {
    let scene = Scene::new(NO_PINGS).await;
    let before = scene.hub.memory_kib();
    let pings = frame(opcode::PING, true, &[b'x'; 100]).repeat(1000);
    for is_welcomed in [false, true] {
        let mut http = Http::connect(scene.port()).await;
        http.ask(&Ask::upgrade("/session/pinger")).await.must_be(101);
        if is_welcomed {
            let hello = FakeBrowser::app(scene.port(), "pinger").hello();
            let origin = Ask::upgrade("/session/pinger").header("Origin", "http://localhost:1");
            http = Http::connect(scene.port()).await;
            http.ask(&origin).await.must_be(101);
            http.send(&frame::text(&hello.to_string())).await.unwrap();
            eventually("it is welcomed", async || {
                let sessions = scene.api().sessions().await;
                sessions.iter().any(|session| session["name"] == "pinger").then_some(())
            })
            .await;
        }
        let (enough, mut sent) = (20 * unread_bytes(), 0);
        while within(PATIENCE, "the hub reads or ends it", http.send(&pings)).await.is_ok() {
            sent += pings.len();
            assert!(sent < enough, "still connected after {sent} bytes of pings");
        }
        let growth = scene.hub.memory_kib().saturating_sub(before);
        assert!(growth < 8 << 10, "the hub grew by {growth} KiB");
        scene.bystander_answers().await;
    }
    scene.api().until_metric("tabwire_closes_total{reason=\"slow_consumer\"}", 2.0).await;
}

#[tokio::test]
async fn a_reader_that_is_only_slow_gets_everything_by_replay() {
    let scene = Scene::new(&["--outbox-messages", "8", "--replay-messages", "5000"]).await;
    let mut slow = FakeBrowser::connected(scene.port(), "slow").await;
    let api = scene.api();
    for number in 0..300 {
        api.event("slow", "tick", json!(number)).await;
    }
    // Closed for being too slow or not: with reconnecting, all of it arrives.
    while slow.seen.delivered.len() < 300 {
        if !slow.until_delivered(300).await {
            slow.connect().await;
            slow.ask_for_more().await;
        }
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_flood_of_events_costs_no_more_than_the_feed_may_hold() {
    let scene = Scene::new(NO_PINGS).await;
    let mut peer = FakeBrowser::connected(scene.port(), "greedy").await;
    let before = scene.hub.memory_kib();
    for _ in 0..MESSAGES {
        peer.publish_event("large", json!("x".repeat(1 << 20))).await;
        peer.settle().await;
    }
    check_growth(&scene.hub, before);
    scene.bystander_answers().await;
}

/// Publishes large messages until the hub has had enough or all are sent.
async fn publish_greedily(
    scene: &Scene,
    message: impl Fn(usize) -> serde_json::Value,
) -> Option<u16> {
    let mut peer = FakeBrowser::browser(scene.port(), "greedy");
    peer.connect().await;
    for number in 0..MESSAGES {
        peer.publish(message(number)).await;
    }
    peer.try_say(&json!({"type": "ping"})).await;
    loop {
        match peer.recv().await {
            testkit::Incoming::Message(message) if message["type"] == "pong" => return None,
            testkit::Incoming::Message(_) => {}
            testkit::Incoming::Close(code, _) => return Some(code),
            testkit::Incoming::Lost(_) => return Some(0),
        }
    }
}

#[tokio::test]
async fn tools_of_tabs_that_do_not_exist_are_not_kept() {
    let scene = Scene::new(NO_PINGS).await;
    let before = scene.hub.memory_kib();
    let ended = publish_greedily(&scene, |number| {
        let tool = |index: usize| {
            json!({"name": format!("t{index}"), "inputSchema": {"title": "x".repeat(60_000)}})
        };
        let tools: Vec<_> = (0..17).map(tool).collect();
        json!({"type": "toolsChanged", "tabId": 1_000_000 + number, "tools": tools})
    })
    .await;
    assert!(matches!(ended, None | Some(4513)), "{ended:?}");
    check_growth(&scene.hub, before);
    scene.bystander_answers().await;
}

#[tokio::test]
async fn titles_and_addresses_of_tabs_are_limited() {
    let scene = Scene::new(NO_PINGS).await;
    let before = scene.hub.memory_kib();
    let ended = publish_greedily(&scene, |number| {
        let (title, url) = ("t".repeat(1 << 19), "u".repeat(1 << 19));
        json!({"type": "tabCreated", "tab": {"id": number, "title": title, "url": url}})
    })
    .await;
    assert!(matches!(ended, None | Some(4513)), "{ended:?}");
    check_growth(&scene.hub, before);
    scene.bystander_answers().await;
}

#[tokio::test]
async fn what_a_session_says_of_itself_is_limited() {
    let scene = Scene::new(NO_PINGS).await;
    let before = scene.hub.memory_kib();
    let large = "x".repeat(300_000);
    for number in 0..MESSAGES {
        let mut hello = FakeBrowser::app(scene.port(), &format!("peer-{number}")).hello();
        hello["name"] = json!(large);
        hello["version"] = json!(large);
        hello["capabilities"] = json!([large]);
        let mut socket = scene.stranger().await;
        socket.send(&hello).await;
        // A welcome or a close: the hub may cut short or refuse.
        socket.recv().await;
    }
    check_growth(&scene.hub, before);
    scene.bystander_answers().await;
}
