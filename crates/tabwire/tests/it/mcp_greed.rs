//! Too much: lines, bodies and requests beyond the limits cost their sender, and no memory.

use std::time::Duration;

use serde_json::json;
use testkit::{
    Ask, Era, FakeBrowser, Http, HubProcess, PATIENCE, eventually,
    mcp::{http::ACCEPT, read_message},
    within,
};
use tokio::io::AsyncWriteExt;

use crate::{
    mcp_scene::{LEGACY, every_way, stdio},
    scene::{Scene, hub},
};

const MIB: u64 = 1024;

/// Fails the test when the hub holds so much more than before.
#[track_caller]
fn check_growth(hub: &HubProcess, before: u64, limit: u64) {
    let grown = hub.memory_kib().saturating_sub(before);
    assert!(grown < limit, "{grown} KiB more than the {before} KiB before");
}

#[tokio::test]
async fn a_line_of_50_megabytes_is_refused_and_not_kept() {
    let scene = Scene::new(&[]).await;
    for era in [Era::Modern, LEGACY] {
        let mut client = stdio(&scene.hub, era).await;
        client.request("tools/list", json!({})).await.result();
        let (hub_before, relay_before) = (scene.hub.memory_kib(), client.memory_kib());
        client.send_bytes(br#"{"jsonrpc":"2.0","method":"tools/call","params":{"x":""#).await;
        let piece = vec![b'x'; 1 << 20];
        let mut most = 0;
        for _ in 0..50 {
            client.send_bytes(&piece).await;
            most = most.max(scene.hub.memory_kib());
        }
        client.send_bytes(b"\"},\"id\":4711}\n").await;
        let refused = client.answer(4711).await;
        assert_eq!(refused.error().0, -32600);
        let grown = most.max(scene.hub.memory_kib()).saturating_sub(hub_before);
        assert!(grown < 64 * MIB, "the hub grew by {grown} KiB");
        let grown = client.memory_kib().saturating_sub(relay_before);
        assert!(grown < 8 * MIB, "the relay grew by {grown} KiB");
        client.request("tools/list", json!({})).await.result();
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_line_without_an_end_is_not_kept() {
    let scene = Scene::new(&[]).await;
    let mut client = stdio(&scene.hub, LEGACY).await;
    let before = scene.hub.memory_kib();
    for _ in 0..50 {
        client.send_bytes(&vec![b'['; 1 << 20]).await;
    }
    check_growth(&scene.hub, before, 64 * MIB);
    let ended = client.finish().await;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.messages.iter().all(|answer| answer["error"]["code"].is_i64()));
    scene.bystander_answers().await;
}

#[tokio::test]
async fn what_is_nested_without_end_is_refused() {
    let hub = hub(&[]).await;
    for (way, mut client) in every_way(&hub).await {
        let deep = (0..110).fold(json!(1), |inner, _| json!([inner]));
        let answer = client.call("sleep", json!({"durationMs": 0, "deep": deep})).await;
        assert!(answer.told().0, "{way:?}: there is no such argument");
        client.request("tools/list", json!({})).await.result();
    }
    let mut client = stdio(&hub, LEGACY).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let line = format!(r#"{{"jsonrpc":"2.0","id":9,"method":"ping","params":{{"a":{deep}}}}}"#);
    client.send_line(&line).await;
    let refused = client.recv().await.unwrap();
    assert!(refused["error"]["code"].is_i64(), "{refused}");
    client.request("ping", json!({})).await.result();
}

#[tokio::test]
async fn ten_thousand_requests_of_a_client_that_does_not_read_cost_little_and_lose_nothing() {
    let scene = Scene::new(&[]).await;
    for era in [Era::Modern, LEGACY] {
        let mut client = stdio(&scene.hub, era).await;
        client.request("tools/list", json!({})).await.result();
        let (hub_before, relay_before) = (scene.hub.memory_kib(), client.memory_kib());
        let first = 2 + u64::from(!era.is_modern());
        let lines: String = (0..10_000)
            .map(|_| format!("{}\n", client.message("prompts/list", json!({}))))
            .collect();
        let mut input = client.take_input();
        let writer = tokio::spawn(async move {
            let written = input.write_all(lines.as_bytes()).await;
            (input, written)
        });
        // Everybody waits for somebody else: the hub for the relay, the relay for the client.
        let mut calm = 0;
        let mut last = (0, 0);
        eventually("the hub has stopped taking in requests", async || {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let now = (scene.hub.memory_kib(), client.memory_kib());
            calm = if now == last { calm + 1 } else { 0 };
            last = now;
            (calm > 10).then_some(())
        })
        .await;
        assert!(!writer.is_finished(), "somebody must have stopped reading");
        check_growth(&scene.hub, hub_before, 32 * MIB);
        let grown = client.memory_kib().saturating_sub(relay_before);
        assert!(grown < 8 * MIB, "the relay grew by {grown} KiB");
        scene.bystander_answers().await;
        for id in first..first + 10_000 {
            client.answer(id).await.result();
        }
        let (_input, written) = within(PATIENCE, "writing", writer).await.unwrap();
        written.unwrap();
        check_growth(&scene.hub, hub_before, 32 * MIB);
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let scene = Scene::new(&[]).await;
    let before = scene.hub.memory_kib();
    for size in [(16 << 20) + 1, 40 << 20] {
        let ask = Ask::own("POST", "/mcp")
            .header("Content-Type", "application/json")
            .header("Accept", ACCEPT)
            .body(vec![b' '; size]);
        let mut http = Http::connect(scene.port()).await;
        // The hub need not read to the end, and what it says then may be lost with the rest.
        let sent = within(PATIENCE, "writing", http.send(&ask.bytes(scene.port()))).await;
        let answer = within(PATIENCE, "an answer", http.read_response()).await;
        if let (Ok(()), Ok(Some(answer))) = (&sent, &answer) {
            assert_eq!(answer.status, 413, "{}", answer.text());
            let message = read_message(&answer.body);
            assert_eq!(message["error"]["code"], -32600, "{message}");
        } else {
            assert_eq!(size, 40 << 20, "one byte too many is answered: {sent:?} {answer:?}");
        }
        check_growth(&scene.hub, before, 64 * MIB);
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn more_calls_than_one_client_may_have_open_are_refused_and_the_others_answered() {
    let hub = hub(&[]).await;
    let mut client = stdio(&hub, Era::Modern).await;
    let late = json!({"until": "connected", "session": "late", "timeoutMs": 300_000});
    let args = json!({"name": "wait_for", "arguments": late});
    let mut ids = Vec::new();
    for _ in 0..300 {
        ids.push(client.ask("tools/call", args.clone()).await);
    }
    // What the others wait for happens only when one was refused.
    let first = client.until("an answer", |message| message.get("method").is_none()).await;
    assert_eq!(first["error"]["code"], -32000, "{first}");
    let _late = FakeBrowser::connected(hub.port(), "late").await;
    let (mut met, mut refused) = (0, 1);
    for id in ids.into_iter().filter(|id| first["id"] != *id) {
        match client.answer(id).await.0.get("error") {
            None => met += 1,
            Some(error) => {
                assert_eq!(error["code"], -32000, "{error}");
                refused += 1;
            }
        }
    }
    assert!(met >= 256 && met + refused == 300, "{met} met, {refused} refused");
}
