//! More tools, tabs or state than the hub keeps: the peer is told so, and the hub keeps no more.

use serde_json::{Value, json};
use testkit::{FakeBrowser, browser::tool_specs};

use crate::scene::Scene;

/// Publishes something that is over a limit.
async fn check(scene: &Scene, message: Value, part: &str) {
    let mut peer = FakeBrowser::browser(scene.port(), "greedy");
    peer.connect().await;
    peer.publish(message).await;
    let ending = peer.take_socket().must_close(4513).await;
    let bye = ending.bye().unwrap();
    assert_eq!((&bye["code"], &bye["retry"]), (&json!("limit_exceeded"), &json!(false)));
    assert!(bye["message"].as_str().unwrap().contains(part), "{bye}");
    scene.bystander_answers().await;
}

fn tools(tools: Value) -> Value {
    json!({"type": "toolsChanged", "tools": tools})
}

#[tokio::test]
async fn too_many_tools_are_over_the_limit() {
    let scene = Scene::new(&[]).await;
    let names: Vec<_> = (0..257).map(|number| format!("tool_{number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let mut within = FakeBrowser::connected(scene.port(), "modest").await;
    within.offer_tools(&names[..256]).await;
    assert_eq!(scene.api().session("modest").await["tools"].as_array().unwrap().len(), 256);
    check(&scene, tools(json!(tool_specs(&names))), "256").await;
}

#[tokio::test]
async fn tools_that_are_too_long_or_have_no_proper_name_are_over_the_limit() {
    let scene = Scene::new(&[]).await;
    for (tool, part) in [
        (json!({"name": "x".repeat(129)}), "128"),
        (json!({"name": ""}), "name"),
        (json!({"name": "no spaces"}), "name"),
        (json!({"name": "x", "description": "d".repeat(4097)}), "4096"),
        (json!({"name": "x", "inputSchema": {"title": "t".repeat(65_536)}}), "65536"),
    ] {
        check(&scene, tools(json!([tool])), part).await;
    }
    check(&scene, tools(json!([{"name": "x"}, {"name": "x"}])), "twice").await;
}

#[tokio::test]
async fn too_many_tabs_are_over_the_limit() {
    let scene = Scene::new(&[]).await;
    let mut peer = FakeBrowser::browser(scene.port(), "greedy");
    peer.connect().await;
    for id in 0..1000 {
        peer.publish(json!({"type": "tabCreated", "tab": {"id": id}})).await;
    }
    peer.settle().await;
    assert_eq!(scene.api().session("greedy").await["tabs"].as_array().unwrap().len(), 1000);
    peer.publish(json!({"type": "tabUpdated", "tab": {"id": 3, "title": "known"}})).await;
    peer.settle().await;
    peer.publish(json!({"type": "tabCreated", "tab": {"id": 1000}})).await;
    peer.take_socket().must_close(4513).await;
    scene.bystander_answers().await;
}

#[tokio::test]
async fn too_large_a_state_is_over_the_limit() {
    let scene = Scene::new(&[]).await;
    let large = "x".repeat(4 << 20);
    let update = json!({"type": "stateUpdate", "stateEpoch": "p", "version": 1, "state": large});
    check(&scene, update, "4194304").await;
    let mut peer = FakeBrowser::connected(scene.port(), "viewer").await;
    peer.publish_state("p", 1, json!({})).await;
    peer.publish(json!({
        "type": "stateUpdate", "stateEpoch": "p", "version": 2,
        "patch": [{"op": "add", "path": "/large", "value": large}],
    }))
    .await;
    peer.take_socket().must_close(4513).await;
    scene.bystander_answers().await;
}

/// Sends a small patch that would make the state large; the hub must keep what it had.
async fn check_bomb(scene: &Scene, operations: Value, part: &str) {
    assert!(operations.to_string().len() < 4096, "the patch itself is small");
    let mut peer = FakeBrowser::app(scene.port(), "viewer");
    peer.connect().await;
    let seed = json!({"text": "x".repeat(1000), "a": {"a": {"a": {}}}});
    peer.publish_state("p", 1, seed.clone()).await;
    peer.settle().await;
    let before = scene.hub.memory_kib();
    peer.publish(json!({
        "type": "stateUpdate", "stateEpoch": "p", "version": 2, "patch": operations,
    }))
    .await;
    let ending = peer.take_socket().must_close(4513).await;
    let bye = ending.bye().unwrap();
    assert!(bye["message"].as_str().unwrap().contains(part), "{bye}");
    let growth = scene.hub.memory_kib().saturating_sub(before);
    assert!(growth < 48 << 10, "the hub grew by {growth} KiB");
    let kept = scene.api().state("viewer", "").await.must_be(200).json();
    assert_eq!((&kept["version"], &kept["value"]), (&json!(1), &seed));
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_patch_that_doubles_the_state_again_and_again_is_over_the_limit() {
    let scene = Scene::new(&[]).await;
    let copies: Vec<_> =
        (0..20).map(|n| json!({"op": "copy", "from": "", "path": format!("/{n}")})).collect();
    check_bomb(&scene, json!(copies), "4194304").await;
}

#[tokio::test]
async fn a_patch_that_puts_a_chain_onto_its_own_end_is_over_the_limit() {
    let scene = Scene::new(&[]).await;
    // Each copy makes it twice as long.
    let lengths = [3, 6, 12, 24, 48, 96, 192];
    let copies: Vec<_> = lengths
        .iter()
        .map(|length| json!({"op": "copy", "from": "/a", "path": "/a".repeat(length + 1)}))
        .collect();
    check_bomb(&scene, json!(copies), "128").await;
}

#[tokio::test]
async fn too_large_a_state_in_an_answer_is_an_error_of_that_answer() {
    let scene = Scene::new(&["--state-timeout", "60s"]).await;
    let mut peer = FakeBrowser::connected(scene.port(), "viewer").await;
    let api = scene.api();
    let (answer, ()) = tokio::join!(api.state("viewer", ""), async {
        let request = peer.until("requestState").await;
        peer.say(json!({"type": "stateResponse", "requestId": request["requestId"],
                        "state": "x".repeat(4 << 20), "stateEpoch": "p", "version": 1}))
            .await;
    });
    assert_eq!((answer.status, answer.fault().as_str()), (503, "state_unavailable"));
    assert!(answer.text().contains("4194304"), "{}", answer.text());
    peer.settle().await;
}

#[tokio::test]
async fn a_peer_that_was_over_a_limit_can_come_back() {
    let scene = Scene::new(&[]).await;
    let mut peer = FakeBrowser::connected(scene.port(), "viewer").await;
    peer.publish(tools(json!([{"name": "no spaces"}]))).await;
    peer.take_socket().must_close(4513).await;
    peer.connect().await;
    peer.offer_tools(&["proper"]).await;
    assert_eq!(scene.api().session("viewer").await["tools"][0]["name"], "proper");
}

/// So many tools with schemas of 20 KB each.
fn heavy_tools(count: usize) -> Value {
    let tool = |number: usize| json!({"name": format!("heavy_{number}"), "inputSchema": {"title": "x".repeat(20_000)}});
    (0..count).map(tool).collect()
}

#[tokio::test]
async fn all_tools_together_are_limited() {
    let scene = Scene::new(&[]).await;
    check(&scene, tools(heavy_tools(250)), "4194304").await;
    let mut peer = FakeBrowser::browser(scene.port(), "pages");
    peer.connect().await;
    for tab in 1..=2 {
        peer.publish(json!({"type": "tabCreated", "tab": {"id": tab}})).await;
        let message = json!({"type": "toolsChanged", "tabId": tab, "tools": heavy_tools(150)});
        peer.publish(message).await;
    }
    // What one page declares does not cost the browser its connection.
    peer.settle().await;
    let list = json!({"tool": "page_tools", "args": {"action": "list"}});
    let listed = scene.api().call(list).await.json();
    assert_eq!(listed["result"]["total"], 150, "the second page goes without");
    scene.bystander_answers().await;
}

#[tokio::test]
async fn tools_that_were_refused_are_not_offered() {
    let scene = Scene::new(&[]).await;
    let mut peer = FakeBrowser::with_tools(scene.port(), "viewer", &["proper"]).await;
    peer.publish(tools(heavy_tools(250))).await;
    peer.take_socket().must_close(4513).await;
    let offered = scene.api().session("viewer").await["tools"].clone();
    let offered = offered.as_array().unwrap();
    assert_eq!((offered.len(), &offered[0]["name"]), (1, &json!("proper")));
}

#[tokio::test]
async fn titles_and_addresses_of_tabs_are_cut() {
    let scene = Scene::new(&[]).await;
    let mut peer = FakeBrowser::browser(scene.port(), "chrome");
    peer.connect().await;
    let tab = json!({"id": 1, "title": "ø".repeat(5_000), "url": "u".repeat(50_000)});
    peer.publish(json!({"type": "tabCreated", "tab": tab})).await;
    peer.settle().await;
    let shown = scene.api().session("chrome").await["tabs"][0].clone();
    // With a few letters more, that say how much was cut.
    let letters = |key: &str| shown[key].as_str().unwrap().chars().count();
    assert!((1_000..=1_040).contains(&letters("title")), "{}", letters("title"));
    assert!((8_192..=8_232).contains(&letters("url")), "{}", letters("url"));
}
