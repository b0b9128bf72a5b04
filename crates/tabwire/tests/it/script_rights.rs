//! What a client that may only browse cannot do, whichever way it asks: run script, go to local files
//! or to the hub's own pages.

use serde_json::{Value, json};
use testkit::{Answer, Era, FakeApp, FakeBrowser, HubProcess};

use crate::{mcp_scene::http, scene::hub};

async fn browser(hub: &HubProcess) -> FakeApp {
    let peer = FakeBrowser::browser(hub.port(), "chrome");
    FakeApp::start(peer, &[], |_| Answer::Result(json!({"ok": true}))).await
}

/// Asks for a command past the list, as `/api/call` lets programs do.
fn command(name: &str, args: Value) -> Value {
    json!({"tool": name, "target": "command", "session": "chrome", "args": args})
}

#[tokio::test]
async fn without_the_right_to_run_script_nothing_that_runs_it_is_done() {
    let hub = hub(&["--tools", "browse,network"]).await;
    let browser = browser(&hub).await;
    let client = http(&hub, Era::Modern).await;
    for (tool, args) in [
        ("browser_execute", json!({"expression": "1"})),
        ("browser_evaluate", json!({"expression": "1"})),
        ("browser_navigate", json!({"action": "wait", "expression": "steal()"})),
        ("browser_wait_for", json!({"expression": "steal()"})),
        ("browser_network", json!({"action": "mock", "url": "/a.js", "body": "steal()"})),
    ] {
        let answer = client.call(tool, args.clone()).await.0;
        let text = answer.to_string();
        assert!(text.contains("browser_execute") || text.contains("browser_evaluate"), "{text}");
    }
    for (name, args) in [
        ("browser_evaluate", json!({"expression": "1"})),
        ("browser_wait_for", json!({"expression": "steal()"})),
        ("browser_mock_request", json!({"url": "/a.js", "body": "steal()"})),
    ] {
        let answer = hub.api().call(command(name, args)).await;
        assert_eq!(answer.fault(), "unknown_tool", "{name}: {}", answer.text());
    }
    assert!(browser.received("callTool").is_empty());
    // What runs no script is done as before.
    client.call("browser_navigate", json!({"action": "wait", "text": "x"})).await.result();
    hub.api().call(command("browser_wait_for", json!({"text": "x"}))).await.must_be(200);
    assert_eq!(browser.received("callTool").len(), 2);
}

#[tokio::test]
async fn no_way_leads_to_local_files_or_to_the_hubs_own_pages() {
    let hub = hub(&[]).await;
    let browser = browser(&hub).await;
    let client = http(&hub, Era::Modern).await;
    let own = format!("http://127.0.0.1:{}", hub.port());
    for url in [
        "file:///etc/passwd".to_owned(),
        "chrome://settings".to_owned(),
        "javascript:steal()".to_owned(),
        format!("{own}/"),
        format!("{own}/api/sessions"),
        format!("{own}/dashboard/"),
        format!("http://localhost:{}/metrics", hub.port()),
    ] {
        for (tool, args) in [
            ("browser_navigate", json!({"url": url})),
            ("browser_tab", json!({"action": "new", "url": url})),
        ] {
            let answer = client.call(tool, args).await.result();
            assert_eq!(answer["isError"], true, "{tool} {url}: {answer}");
        }
        for name in ["browser_navigate", "browser_tab_new"] {
            let answer = hub.api().call(command(name, json!({"url": url}))).await;
            assert!([400, 403].contains(&answer.status), "{name} {url}: {}", answer.text());
        }
    }
    assert!(browser.received("callTool").is_empty());
    let viewer = format!("{own}/viewer/");
    hub.api().call(command("browser_navigate", json!({"url": viewer}))).await.must_be(200);
}
