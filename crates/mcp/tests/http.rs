//! The HTTP endpoint beyond what the conformance suite covers.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use axum::{Router, body::Body};
use conformance::Fixture;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use mcp::{Caller, Change, Changes, Mcp, http as endpoint};
use serde_json::{Value, json};
use tokio::time;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// How long anything may take that should happen at once, on a machine that does much else too.
const PATIENCE: Duration = Duration::from_secs(30);

struct Hub {
    routes: Router,
    changes: Changes,
    stop: CancellationToken,
}

fn hub(config: endpoint::Config) -> Hub {
    let changes = Changes::default();
    let fixture = Fixture::new(changes.clone()).unwrap();
    let stop = CancellationToken::new();
    let mcp = Mcp::new(fixture, changes.clone(), stop.clone());
    Hub { routes: endpoint::routes(mcp, &config), changes, stop }
}

impl Hub {
    async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.routes.clone().oneshot(request).await.unwrap()
    }
}

fn post(path: &str) -> http::request::Builder {
    Request::post(path)
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

fn modern(path: &str, method: &str, name: Option<&str>, mut params: Value) -> Request<Body> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut request =
        post(path).header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
    if let Some(name) = name {
        request = request.header("mcp-name", name);
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    request.body(Body::from(body.to_string())).unwrap()
}

fn call(path: &str, tool: &str) -> Request<Body> {
    modern(path, "tools/call", Some(tool), json!({"name": tool, "arguments": {}}))
}

fn legacy(session: Option<&str>, message: Value) -> Request<Body> {
    let mut request = post("/mcp");
    if let Some(session) = session {
        request =
            request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
    }
    request.body(Body::from(message.to_string())).unwrap()
}

fn initialize() -> Request<Body> {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "old", "version": "1"},
    });
    legacy(None, json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
}

fn session_of(response: &Response<Body>) -> String {
    response.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

fn ping() -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})
}

async fn body(response: Response<Body>) -> Value {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap()
}

/// Waits until `condition` holds.
async fn until(condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            time::sleep(Duration::from_millis(5)).await;
        }
    };
    time::timeout(PATIENCE, waiting).await.expect("the condition never held");
}

#[tokio::test]
async fn broken_bodies_are_json_rpc_errors() {
    let hub = hub(endpoint::Config { max_body: 1000, ..Default::default() });
    let too_long = format!("{{\"x\":\"{}\"}}", "y".repeat(1000));
    let cases = [
        ("hello", StatusCode::BAD_REQUEST, -32700),
        ("[]", StatusCode::BAD_REQUEST, -32600),
        ("{\"id\":4}", StatusCode::BAD_REQUEST, -32600),
        (&too_long, StatusCode::PAYLOAD_TOO_LARGE, -32600),
    ];
    for (text, status, code) in cases {
        let response = hub.send(post("/mcp").body(Body::from(text.to_owned())).unwrap()).await;
        assert_eq!(response.status(), status, "{text}");
        assert_eq!(body(response).await["error"]["code"], code, "{text}");
    }
}

#[tokio::test]
async fn the_path_binds_and_the_header_names_the_client() {
    let hub = hub(endpoint::Config::default());
    let mut request = call("/mcp/chrome-work", "test_caller");
    request.headers_mut().insert("tabwire-client", "agent-1".parse().unwrap());
    request.extensions_mut().insert(Caller { principal: "alice".into(), ..Default::default() });
    let answer = body(hub.send(request).await).await;
    let caller = &answer["result"]["structuredContent"];
    assert_eq!(caller["binding"], "chrome-work");
    assert_eq!(caller["client"], "agent-1");
    assert_eq!(caller["principal"], "alice");
    assert_eq!(caller["era"], "Modern");
}

#[tokio::test]
async fn a_dropped_request_cancels_its_call() {
    let hub = hub(endpoint::Config::default());
    let waiting = hub.send(call("/mcp", "test_wait_for_cancel"));
    // Time enough for the call to begin.
    time::timeout(Duration::from_secs(1), waiting).await.unwrap_err();
    let waiting = async {
        loop {
            let answer = body(hub.send(call("/mcp", "test_caller")).await).await;
            if answer["result"]["structuredContent"]["cancelled"] == 1 {
                return;
            }
        }
    };
    time::timeout(PATIENCE, waiting).await.unwrap();
}

#[tokio::test]
async fn a_listener_hears_what_it_asked_for_and_leaves_nothing_behind() {
    let hub = hub(endpoint::Config::default());
    let filter = json!({"notifications": {"resourceSubscriptions": ["test://a"]}});
    let response = hub.send(modern("/mcp", "subscriptions/listen", None, filter)).await;
    // The mailbox is open before the acknowledgement is out, so this cannot be missed.
    assert_eq!(hub.changes.listeners(), 1);
    hub.changes.announce(&Change::Tools);
    hub.changes.announce(&Change::Resource("test://a".into()));
    let mut stream = response.into_body();
    let mut text = String::new();
    while !text.contains("resources/updated") {
        let frame = stream.frame().await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    assert!(text.contains("subscriptions/acknowledged"), "{text}");
    assert!(!text.contains("list_changed"), "{text}");
    drop(stream);
    until(|| hub.changes.listeners() == 0).await;
}

#[tokio::test]
async fn a_session_belongs_to_who_opened_it() {
    let hub = hub(endpoint::Config::default());
    let mut request = initialize();
    request.extensions_mut().insert(Caller { principal: "alice".into(), ..Default::default() });
    let session = session_of(&hub.send(request).await);
    for (principal, expected) in [("alice", StatusCode::OK), ("bob", StatusCode::NOT_FOUND)] {
        let mut request = legacy(Some(&session), ping());
        let caller = Caller { principal: principal.into(), ..Default::default() };
        request.extensions_mut().insert(caller);
        assert_eq!(hub.send(request).await.status(), expected, "{principal}");
    }
}

#[tokio::test]
async fn the_oldest_session_makes_room() {
    let hub = hub(endpoint::Config { max_sessions: 2, ..Default::default() });
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(session_of(&hub.send(initialize()).await));
    }
    let mut statuses = Vec::new();
    for session in &sessions {
        statuses.push(hub.send(legacy(Some(session), ping())).await.status());
    }
    assert_eq!(statuses, [StatusCode::NOT_FOUND, StatusCode::OK, StatusCode::OK]);
}

#[tokio::test]
async fn a_closed_session_leaves_no_feed_behind() {
    let hub = hub(endpoint::Config::default());
    let session = session_of(&hub.send(initialize()).await);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    hub.send(legacy(Some(&session), initialized)).await;
    until(|| hub.changes.listeners() == 1).await;
    let delete =
        Request::delete("/mcp").header("host", "127.0.0.1").header("mcp-session-id", session);
    hub.send(delete.body(Body::empty()).unwrap()).await;
    until(|| hub.changes.listeners() == 0).await;
}

#[tokio::test]
async fn listeners_are_told_of_the_end() {
    let hub = hub(endpoint::Config::default());
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let response = hub.send(modern("/mcp", "subscriptions/listen", None, filter)).await;
    hub.stop.cancel();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = std::str::from_utf8(&bytes).unwrap();
    assert!(text.contains(r#""result":{"resultType":"complete""#), "{text}");
}
