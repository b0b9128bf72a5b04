//! What the hub counts, in the text format that others read.

use serde_json::json;
use testkit::{Answer, Ask, FakeApp, FakeBrowser};

use crate::scene::{Scene, hub};

#[tokio::test]
async fn the_text_can_be_read() {
    let scene = Scene::new(&[]).await;
    scene.bystander_answers().await;
    let answer = scene.api().get("/metrics").await.must_be(200);
    assert!(answer.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    // Reading it fails on anything that the format does not allow.
    let metrics = scene.api().metrics().await;
    assert!(metrics.kinds.len() > 10, "{:?}", metrics.kinds);
    assert!(metrics.names().all(|name| name.starts_with("tabwire_")), "one prefix for all");
    for (name, kind) in [
        ("tabwire_sessions", "gauge"),
        ("tabwire_calls_in_flight", "gauge"),
        ("tabwire_calls", "counter"),
        ("tabwire_call_seconds", "histogram"),
    ] {
        assert_eq!(metrics.kinds[name], kind, "{name}");
    }
}

#[tokio::test]
async fn calls_are_counted_by_tool_and_end() {
    let hub = hub(&["--abandoned-grace", "10ms"]).await;
    let peer = FakeBrowser::app(hub.port(), "north");
    let _app =
        FakeApp::start(peer, &["paint", "look?"], |call| match call["args"]["how"].as_str() {
            Some("badly") => Answer::Error("OUT_OF_PAINT", "there is none left"),
            Some("never") => Answer::Never,
            _ => Answer::Result(json!(1)),
        })
        .await;
    let api = hub.api();
    for (tool, how, timeout) in [
        ("paint", "well", 60_000),
        ("paint", "well", 60_000),
        ("look", "well", 60_000),
        ("paint", "badly", 60_000),
        ("look", "never", 50),
    ] {
        let args = json!({"how": how});
        api.call(json!({"tool": tool, "args": args, "timeoutMs": timeout})).await;
    }
    let metrics = api.metrics().await;
    for (tool, outcome, count) in [
        ("paint", "done", 2.0),
        ("look", "done", 1.0),
        ("paint", "failed", 1.0),
        ("look", "timed_out", 1.0),
        ("look", "failed", 0.0),
    ] {
        let sample = format!("tabwire_calls_total{{tool=\"{tool}\",outcome=\"{outcome}\"}}");
        assert_eq!(metrics.get(&sample), count, "{sample}");
    }
    assert_eq!(metrics.get("tabwire_call_seconds_count"), 5.0);
    assert_eq!(metrics.get("tabwire_calls_in_flight"), 0.0);
}

#[tokio::test]
async fn sessions_and_sockets_are_counted() {
    let scene = Scene::new(&[]).await;
    let mut guest = FakeBrowser::connected(scene.port(), "guest").await;
    let api = scene.api();
    let metrics = api.metrics().await;
    for sample in ["tabwire_sessions", "tabwire_sessions_connected", "tabwire_sockets"] {
        assert_eq!(metrics.get(sample), 2.0, "{sample}");
    }
    guest.vanish();
    api.until_metric("tabwire_sessions_connected", 1.0).await;
    api.until_metric("tabwire_sockets", 1.0).await;
    assert_eq!(api.metrics().await.get("tabwire_sessions"), 2.0, "it may come back");
}

#[tokio::test]
async fn refusals_are_counted_by_gate() {
    let scene = Scene::new(&[]).await;
    let port = scene.port();
    Ask::get("/health").host("evil.example").send(port).await.must_be(403);
    Ask::get("/health").header("Origin", "null").send(port).await.must_be(403);
    Ask::get("/health").bearer("not-a-known-token").send(port).await.must_be(401);
    Ask::own_get("/session/x").send(port).await.must_be(400);
    let metrics = scene.api().metrics().await;
    for gate in ["host", "origin", "credentials", "upgrade"] {
        let sample = format!("tabwire_refusals_total{{gate=\"{gate}\"}}");
        assert_eq!(metrics.get(&sample), 1.0, "{sample}");
    }
}

#[tokio::test]
async fn tool_names_cannot_break_or_flood_the_text() {
    let hub = hub(&[]).await;
    let names: Vec<_> = (0..256).map(|number| format!("tool.with-dots_{number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let _app = FakeApp::echo(hub.port(), "north", &names).await;
    for name in &names {
        hub.api().call_tool("north", name, json!({})).await.must_be(200);
    }
    for wrong in ["evil\"} 1\n# EOF\n", "a\\b", "{,}"] {
        hub.api().call_tool("north", wrong, json!({})).await.must_be(404);
    }
    let metrics = hub.api().metrics().await;
    assert_eq!(metrics.sum("tabwire_calls_total"), 256.0);
    let labels = metrics.names().filter(|name| name.starts_with("tabwire_calls_total")).count();
    assert!(labels <= 201, "{labels} labels");
}

#[tokio::test]
async fn commands_of_browsers_cannot_break_the_text() {
    let hub = hub(&[]).await;
    let mut browser = FakeBrowser::browser(hub.port(), "chrome");
    browser.connect().await;
    let api = hub.api();
    for wrong in ["evil\"} 1\n# EOF\n", "a\\b"] {
        let body = json!({"tool": wrong, "target": "command", "timeoutMs": 60_000});
        let (_, ()) = tokio::join!(api.call(body), async {
            let call = browser.call().await;
            browser.answer(&call, json!(1)).await;
        });
    }
    let text = api.get("/metrics").await.must_be(200).text();
    assert_eq!(text.matches("# EOF").count(), 1 + text.matches("\\n# EOF").count(), "{text}");
    assert!(text.ends_with("# EOF\n") && !text.contains("\n# EOF\\n"), "{text}");
}
