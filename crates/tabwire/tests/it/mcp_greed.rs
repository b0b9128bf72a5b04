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
    mcp_scene::{LEGACY, every_way, http, stdio},
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

/// Texts that would be large as trees.
fn bombs(bytes: usize) -> Vec<Vec<u8>> {
    let list = |item: &str| {
        let mut text = b"[".to_vec();
        while text.len() < bytes {
            text.extend_from_slice(item.as_bytes());
            text.push(b',');
        }
        text.pop();
        text.push(b']');
        text
    };
    let argument = |bomb: Vec<u8>| {
        let mut text = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"sleep","arguments":{"a":"#
            .to_vec();
        text.extend(bomb);
        text.extend(b"}}}");
        text
    };
    let items = ["{}", "[]", "1", r#"{"a":1}"#, r#""""#];
    items.iter().flat_map(|item| [list(item), argument(list(item))]).collect()
}

#[tokio::test]
async fn a_body_of_many_small_values_costs_no_more_than_three_times_its_bytes() {
    const BYTES: usize = 15 << 20;
    for at_once in [1, 8] {
        for bomb in bombs(BYTES) {
            let scene = Scene::new(&[]).await;
            // Once before, so that what everybody needs is there.
            let small = Ask::own("POST", "/mcp").header("Content-Type", "application/json");
            let small = small.header("Accept", ACCEPT);
            small.clone().body(b"{}".to_vec()).send(scene.port()).await.must_be(400);
            let before = scene.hub.peak_memory_kib();
            let asks: Vec<_> = (0..at_once)
                .map(|_| {
                    let (ask, port) = (small.clone().body(bomb.clone()), scene.port());
                    tokio::spawn(async move { ask.send(port).await })
                })
                .collect();
            for asked in asks {
                let answer = asked.await.unwrap().must_be(413);
                let message = read_message(&answer.body);
                assert_eq!(message["error"]["code"], -32600, "{message}");
                let words = message["error"]["message"].as_str().unwrap();
                assert!(words.contains("50000 values"), "{words}");
            }
            let grown = scene.hub.peak_memory_kib() - before;
            let limit = 3 * at_once * (bomb.len() >> 10) as u64;
            let start = String::from_utf8_lossy(&bomb[..40]);
            assert!(grown <= limit, "{grown} KiB for {at_once} of {start}, limit {limit}");
            scene.bystander_answers().await;
        }
    }
}

#[tokio::test]
async fn a_body_that_is_one_long_text_costs_no_more_than_three_times_its_bytes() {
    for piece in ["x", "\\n", "\\ud83d\\ude00"] {
        let scene = Scene::new(&[]).await;
        let ask = Ask::own("POST", "/mcp").header("Content-Type", "application/json");
        let ask = ask.header("Accept", ACCEPT);
        ask.clone().body(b"{}".to_vec()).send(scene.port()).await.must_be(400);
        let before = scene.hub.peak_memory_kib();
        let text = format!("\"{}\"", piece.repeat((15 << 20) / piece.len()));
        let limit = 3 * (text.len() >> 10) as u64;
        ask.body(text.into_bytes()).send(scene.port()).await.must_be(400);
        let grown = scene.hub.peak_memory_kib() - before;
        assert!(grown <= limit, "{grown} KiB for a text of {piece:?}, limit {limit}");
    }
}

#[tokio::test]
async fn a_line_of_many_small_values_is_refused_with_its_id() {
    let scene = Scene::new(&[]).await;
    for era in [Era::Modern, LEGACY] {
        let mut client = stdio(&scene.hub, era).await;
        client.request("tools/list", json!({})).await.result();
        let before = scene.hub.memory_kib();
        for bomb in bombs(4 << 20).into_iter().filter(|bomb| bomb[0] == b'{') {
            client.send_bytes(&bomb).await;
            client.send_bytes(b"\n").await;
            let (code, words) = client.answer(7).await.error();
            assert!(code == -32600 && words.contains("50000 values"), "{code} {words}");
        }
        check_growth(&scene.hub, before, 16 * MIB);
        client.request("tools/list", json!({})).await.result();
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn sessions_that_older_clients_leave_behind_cost_little() {
    let hub = hub(&[]).await;
    let open = async |count: usize| {
        for _ in 0..count {
            http(&hub, LEGACY).await.request("tools/list", json!({})).await.result();
        }
    };
    open(20).await;
    let before = hub.memory_kib();
    open(1000).await;
    check_growth(&hub, before, 8 * MIB);
    // One that is listened to is not among those that make room.
    let listener = http(&hub, LEGACY).await;
    let _listening = listener.listen().await;
    open(100).await;
    listener.request("tools/list", json!({})).await.result();
}
