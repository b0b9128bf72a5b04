//! Large answers that nobody reads: they cost the room that there is for them, and others go on.

use std::time::Duration;

use serde_json::json;
use testkit::{Answer, Era, FakeApp, FakeBrowser, Http, HubProcess, eventually, mcp::read_message};

use crate::{
    mcp_scene::{LEGACY, http, stdio},
    scene::Scene,
};

const MIB: u64 = 1024;
/// Bytes of an answer.
const LARGE: usize = 8 << 20;

/// Makes a large result, and returns where it can be read.
async fn large_result(scene: &Scene) -> (FakeApp, String) {
    let peer = FakeBrowser::app(scene.port(), "north");
    let text = "x".repeat(LARGE);
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

#[tokio::test]
async fn a_stdio_client_that_reads_no_large_answers_costs_what_one_stream_may_hold() {
    const READS: u64 = 40;
    for era in [Era::Modern, LEGACY] {
        let scene = Scene::new(&[]).await;
        let (_app, uri) = large_result(&scene).await;
        let mut client = stdio(&scene.hub, era).await;
        client.request("resources/read", json!({ "uri": uri })).await.result();
        let before = scene.hub.memory_kib();
        let mut ids = Vec::new();
        for _ in 0..READS {
            ids.push(client.ask("resources/read", json!({ "uri": uri })).await);
        }
        let grown = settled(&scene.hub).await.saturating_sub(before);
        assert!(grown < 96 * MIB, "{grown} KiB for {READS} answers that nobody reads");
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
}

#[tokio::test]
async fn connections_that_read_no_large_answers_cost_what_all_of_them_may_hold() {
    const READS: usize = 40;
    let scene = Scene::new(&[]).await;
    let (_app, uri) = large_result(&scene).await;
    let client = http(&scene.hub, Era::Modern).await;
    client.request("resources/read", json!({ "uri": uri })).await.result();
    let before = scene.hub.memory_kib();
    let mut unread = Vec::new();
    for _ in 0..READS {
        let message = client.message("resources/read", json!({ "uri": uri }));
        let mut http = Http::connect(scene.port()).await;
        http.send(&client.ask(&message).bytes(scene.port())).await.unwrap();
        unread.push(http);
    }
    for http in &unread {
        http.answer_begins().await;
    }
    let grown = scene.hub.memory_kib().saturating_sub(before);
    assert!(grown < 200 * MIB, "{grown} KiB for {READS} answers that nobody reads");
    scene.bystander_answers().await;
    let mut read = 0;
    for mut http in unread {
        let answer = http.read_response().await.unwrap().unwrap();
        let message = read_message(&answer.body);
        match message["error"]["message"].as_str() {
            Some(words) => assert!(words.contains("one after the other"), "{words}"),
            None => read += 1,
        }
    }
    assert!(read > 0);
    client.request("resources/read", json!({ "uri": uri })).await.result();
}
