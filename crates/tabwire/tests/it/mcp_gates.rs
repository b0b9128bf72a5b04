//! MCP over HTTP is behind the same gates as everything else.

use serde_json::json;
use testkit::{Ask, FakeApp, HubOptions, McpHttp};

use crate::scene::{PROGRAM, Scene, hub};

const PATHS: [&str; 2] = ["/mcp", "/mcp/bystander"];
const SECRET: &str = "open-sesame-9b1f4c7d";

/// A call that would be answered, and the other methods that the endpoint knows.
fn asks(path: &str) -> Vec<Ask> {
    let client = McpHttp::modern(0).path(path);
    let params = json!({"name": "greet", "arguments": {}});
    let call = client.ask(&client.message("tools/call", params));
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": testkit::Era::Legacy("2025-11-25").handshake("evil"),
    });
    let accept = testkit::mcp::http::ACCEPT;
    vec![
        call,
        Ask::post(path, &initialize).header("Accept", accept),
        Ask::get(path).header("Accept", accept),
        Ask::new("DELETE", path),
        Ask::new("OPTIONS", path).header("Access-Control-Request-Method", "POST"),
    ]
}

async fn check(scene: &Scene, status: u16, change: impl Fn(Ask) -> Ask) {
    for path in PATHS {
        for ask in asks(path) {
            let answer = change(ask.clone()).send(scene.port()).await;
            assert_eq!(answer.status, status, "{:?}: {}", change(ask), answer.text());
            assert!(answer.header("access-control-allow-origin").is_none());
            assert!(answer.header("mcp-session-id").is_none());
        }
    }
    assert_eq!(scene.api().metrics().await.sum("tabwire_calls_total"), 0.0, "nothing happened");
}

#[tokio::test]
async fn a_foreign_host_is_refused() {
    let scene = Scene::new(&[]).await;
    let port = scene.port();
    for host in ["evil.example".to_owned(), format!("evil.example:{port}"), "127.0.0.1:1".into()] {
        check(&scene, 403, |ask| ask.host(&host)).await;
    }
    check(&scene, 403, Ask::without_host).await;
    scene.bystander_answers().await;
}

#[tokio::test]
async fn no_page_may_be_a_client_not_even_one_on_this_machine() {
    let scene = Scene::new(&[]).await;
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost:5173",
        "http://127.0.0.1",
        "https://[::1]:8443",
        "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
    ] {
        check(&scene, 403, |ask| ask.header("Origin", origin)).await;
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_configured_origin_may() {
    let scene = Scene::new(&["--allow-origin", "https://app.example"]).await;
    for path in PATHS {
        let client = McpHttp::modern(scene.port()).path(path);
        let client = client.header("Origin", "https://app.example");
        client.call("greet", json!({})).await.result();
        let near = McpHttp::modern(scene.port()).path(path).header("Origin", "http://app.example");
        assert_eq!(near.stream("tools/list", json!({})).await.head.status, 403);
    }
}

#[tokio::test]
async fn where_a_token_is_needed_it_must_be_shown() {
    let options = HubOptions::new(PROGRAM);
    let file = options.place().write("tokens", &format!("alice = {SECRET}\n"));
    let flags = ["--require-token", "--token-file", file.to_str().unwrap()];
    let hub = options.flags(&flags).start().await;
    let _app = FakeApp::echo(hub.port(), "bystander", &["greet"]).await;
    for path in PATHS {
        for ask in asks(path) {
            let without = ask.clone().send(hub.port()).await.must_be(401);
            assert!(without.header("www-authenticate").unwrap().starts_with("Bearer"));
            ask.bearer("another-secret-51e0aa").send(hub.port()).await.must_be(401);
        }
        let client = McpHttp::modern(hub.port()).path(path);
        let client = client.header("Authorization", &format!("Bearer {SECRET}"));
        client.call("greet", json!({})).await.result();
    }
    // The private socket is the gate of relays: who can open it needs no token.
    let mut relayed = crate::mcp_scene::stdio(&hub, testkit::Era::Modern).await;
    relayed.call("greet", json!({})).await.result();
}

#[tokio::test]
async fn a_wrong_token_is_refused_also_where_none_is_needed() {
    let hub = hub(&[]).await;
    let client = McpHttp::modern(hub.port()).header("Authorization", "Bearer nonsense");
    assert_eq!(client.stream("tools/list", json!({})).await.head.status, 401);
}
