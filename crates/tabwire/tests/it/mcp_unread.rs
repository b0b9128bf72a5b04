//! Large answers that nobody reads: they cost the room that there is for them, and others go on.

use std::time::Duration;

use serde_json::json;
use testkit::{
    Answer, Era, FakeApp, FakeBrowser, Http, HubProcess, eventually,
    mcp::{http::McpHttp, read_message},
};
use tokio::{sync::watch, task::JoinSet};

use crate::{
    mcp_scene::{LEGACY, http, stdio},
    scene::Scene,
};

const MIB: u64 = 1024;
/// Bytes of an answer.
const LARGE: usize = 8 << 20;

/// Makes a large result, and returns where it can be read.
async fn large_result(scene: &Scene, text: String) -> (FakeApp, String) {
    let peer = FakeBrowser::app(scene.port(), "north");
    let app = FakeApp::start(peer, &["look?"], move |_| Answer::Result(json!(text))).await;
    let client = http(&scene.hub, Era::Modern).await;
    let result = client.call("look", json!({})).await.result();
    (app, result["structuredContent"]["uri"].as_str().unwrap().to_owned())
}

/// Waits until the hub's memory does not change any more, and returns how much it is.
async fn settled(hub: &HubProcess) -> u64 {
    let (mut last, mut calm) = (0, 0);
    eventually("the hub makes no more answers", async || {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let now = hub.memory_kib();
        calm = if now == last { calm + 1 } else { 0 };
        last = now;
        (calm > 25).then_some(now)
    })
    .await
}

/// Reads a resource often and does not look at the answers: at first one after the other was made,
/// so that none is still being made when the next is asked for, then all at once.
async fn check_unread_lines(scene: &Scene, era: Era, uri: &str) {
    const READS: usize = 12;
    let mut client = stdio(&scene.hub, era).await;
    client.request("resources/read", json!({ "uri": uri })).await.result();
    let before = scene.hub.memory_kib();
    let mut ids = Vec::new();
    for read in 0..READS {
        ids.push(client.ask("resources/read", json!({ "uri": uri })).await);
        if read < READS / 2 {
            settled(&scene.hub).await;
        }
    }
    let grown = settled(&scene.hub).await.saturating_sub(before);
    assert!(grown < 48 * MIB, "{grown} KiB for {READS} answers of {uri} that nobody reads");
    scene.bystander_answers().await;
    let mut read = 0;
    for id in ids {
        let answer = client.answer(id).await;
        if answer.0.get("error").is_some() {
            let (code, words) = answer.error();
            assert!(code == -32000 && words.contains("one after the other"), "{words}");
        } else {
            read += 1;
        }
    }
    assert!(read > 0);
    client.request("resources/read", json!({ "uri": uri })).await.result();
}

#[tokio::test]
async fn a_stdio_client_that_reads_no_large_answers_costs_what_one_stream_may_hold() {
    for era in [Era::Modern, LEGACY] {
        let scene = Scene::new(&[]).await;
        let (_app, uri) = large_result(&scene, "x".repeat(LARGE)).await;
        check_unread_lines(&scene, era, &uri).await;
    }
}

#[tokio::test]
async fn answers_that_grow_when_they_are_written_take_the_room_that_they_need() {
    let scene = Scene::new(&[]).await;
    // Each takes three bytes, and ten characters once it is to be seen.
    let (_app, uri) = large_result(&scene, "\u{200b}".repeat(LARGE / 12)).await;
    check_unread_lines(&scene, Era::Modern, &uri).await;
}

#[tokio::test]
async fn large_events_that_are_not_read_cost_what_one_stream_may_hold() {
    let scene = Scene::new(&[]).await;
    let mut north = FakeBrowser::connected(scene.port(), "north").await;
    for _ in 0..6 {
        let data = json!({"text": "x".repeat(1 << 20)});
        north.publish(json!({"type": "event", "name": "large", "data": data})).await;
    }
    north.settle().await;
    check_unread_lines(&scene, Era::Modern, "tabwire://session/north/events").await;
}

/// Asks for a resource and reads nothing.
async fn ask_for(scene: &Scene, client: &McpHttp, uri: &str) -> Http {
    let message = client.message("resources/read", json!({ "uri": uri }));
    let mut http = Http::connect(scene.port()).await;
    http.send(&client.ask(&message).bytes(scene.port())).await.unwrap();
    http
}

#[tokio::test]
async fn connections_that_read_no_large_answers_cost_what_all_of_them_may_hold() {
    const READS: usize = 40;
    let scene = Scene::new(&["--write-timeout", "10m"]).await;
    let (_app, uri) = large_result(&scene, "x".repeat(LARGE)).await;
    let client = http(&scene.hub, Era::Modern).await;
    client.request("resources/read", json!({ "uri": uri })).await.result();
    let before = scene.hub.memory_kib();
    let mut unread = JoinSet::new();
    let (begin, begun) = watch::channel(false);
    for _ in 0..READS {
        let (mut http, mut begun) = (ask_for(&scene, &client, &uri).await, begun.clone());
        unread.spawn(async move {
            begun.wait_for(|begun| *begun).await.unwrap();
            read_message(&http.read_response().await.unwrap().unwrap().body)
        });
    }
    let grown = settled(&scene.hub).await.saturating_sub(before);
    assert!(grown < 200 * MIB, "{grown} KiB for {READS} answers that nobody reads");
    scene.bystander_answers().await;
    begin.send(true).unwrap();
    let mut read = 0;
    while let Some(message) = unread.join_next().await {
        match message.unwrap()["error"]["message"].as_str() {
            Some(words) => assert!(words.contains("one after the other"), "{words}"),
            None => read += 1,
        }
    }
    assert!(read > 0);
    client.request("resources/read", json!({ "uri": uri })).await.result();
}

#[tokio::test]
async fn a_connection_that_reads_nothing_of_its_answer_ends_and_others_get_theirs() {
    // As many as there is room for.
    const STUCK: usize = 8;
    let scene = Scene::new(&["--write-timeout", "500ms"]).await;
    let (_app, uri) = large_result(&scene, "x".repeat(LARGE)).await;
    let client = http(&scene.hub, Era::Modern).await;
    let mut stuck = Vec::new();
    for _ in 0..STUCK {
        stuck.push(ask_for(&scene, &client, &uri).await);
    }
    for http in &stuck {
        http.answer_begins().await;
    }
    client.request("resources/read", json!({ "uri": uri })).await.result();
    for mut http in stuck {
        let answer = http.read_response().await;
        assert!(!matches!(answer, Ok(Some(_))), "it should have ended before its end");
    }
}
