//! mcp-browser (seed 003): being found by its scan, the handshake, heartbeats, several at once.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{
    Dial, HubProcess, Incoming,
    seeds::{
        mcp_browser::{
            McpBrowser, McpBrowserOptions, ORIGIN, VERSION,
            probe::{Found, probe},
        },
        wire::Order,
    },
};

use crate::seed_browsers::{
    LIVELY, client, done, failed, hub_for_extensions, names, session, stays,
};

/// Starts a hub and connects an extension with a tab.
pub async fn hub_and_browser(flags: &[&str]) -> (HubProcess, McpBrowser) {
    let hub = hub_for_extensions(flags).await;
    let browser = McpBrowser::connect(hub.compat("mcp_browser")).await;
    session(&hub, "mcp-browser").await;
    (hub, browser)
}

#[tokio::test]
async fn a_scan_finds_the_hub_and_leaves_no_trace() {
    let hub = hub_for_extensions(&[]).await;
    for _ in 0..3 {
        match probe(hub.compat("mcp_browser"), ORIGIN).await {
            Found::Server(info) => {
                assert!(info["project_name"].as_str().is_some_and(|name| name.len() > 1), "{info}");
            }
            other => panic!("{other:?}"),
        }
    }
    let sessions = hub.api().sessions().await;
    assert!(sessions.is_empty(), "a probe is no browser: {sessions:?}");
}

#[tokio::test]
async fn a_probe_is_never_closed_first() {
    // Its time for a hello must not be over, however slow this is.
    let hub = hub_for_extensions(&["--hello-timeout", "60s"]).await;
    let dial = McpBrowserOptions::new(hub.compat("mcp_browser")).dial();
    let mut silent = dial.connect().await;
    let mut asking = dial.connect().await;
    for socket in [&mut silent, &mut asking] {
        match socket.recv().await {
            Incoming::Message(first) => assert_eq!(first["type"], "connection_ack"),
            other => panic!("{other:?}"),
        }
    }
    asking.send(&json!({"type": "server_info"})).await;
    asking.until("server_info_response").await;
    // The scan gives each port two seconds and closes by itself.
    let limit = Duration::from_millis(2200);
    let (silent, asking) = tokio::join!(silent.recv_for(limit), asking.recv_for(limit));
    assert_eq!((silent, asking), (None, None));
}

#[tokio::test]
async fn the_answer_to_an_introduction_makes_the_extension_ready() {
    let (hub, browser) = hub_and_browser(&[]).await;
    let ack = browser.ack();
    assert!(ack["currentSequence"].is_u64(), "{ack}");
    assert_eq!(ack["replay"], json!([]), "{ack}");
    let names = ["project_id", "project_name"].map(|key| ack[key].as_str().unwrap_or_default());
    assert!(names.iter().all(|name| !name.is_empty()), "{ack}");
    assert!(browser.knows_the_port(), "it comes back by itself after a restart of its worker");
    let session = session(&hub, "mcp-browser").await;
    assert_eq!((&session["kind"], &session["dialect"]), (&json!("browser"), &json!("mcp_browser")));
    assert_eq!((&session["origin"], &session["version"]), (&json!(ORIGIN), &json!(VERSION)));
    for capability in ["console_capture", "dom_interaction"] {
        let known = session["capabilities"].as_array().unwrap();
        assert!(known.contains(&json!(capability)), "{session}");
    }
}

#[tokio::test]
async fn the_extensions_own_version_is_echoed_so_that_nobody_is_bothered() {
    let hub = hub_for_extensions(&[]).await;
    for version in [VERSION, "1.0.0", "99.1.2-beta+7"] {
        let options = McpBrowserOptions::new(hub.compat("mcp_browser")).version(version);
        let browser = options.connect().await;
        assert!(browser.notifications().is_empty(), "{version}: {:?}", browser.notifications());
        assert_eq!(browser.ack()["serverVersion"], version);
    }
}

#[tokio::test]
async fn an_introduction_with_gaps_is_taken_all_the_same() {
    let hub = hub_for_extensions(&[]).await;
    let port = hub.compat("mcp_browser");
    let browser = McpBrowserOptions::new(port).sequence(None).connect().await;
    assert!(browser.ack()["currentSequence"].is_u64());
    drop(browser);
    hub.api().until_connected("mcp-browser", false).await;
    for odd in [
        json!({}),
        json!({"lastSequence": null}),
        json!({"lastSequence": -1}),
        json!({"lastSequence": 1.5}),
        json!({"lastSequence": "7"}),
        json!({"lastSequence": 9_007_199_254_740_993_u64}),
        json!({"lastSequence": 0, "extensionVersion": null, "capabilities": null}),
    ] {
        let mut socket = McpBrowserOptions::new(port).dial().connect().await;
        socket.until("connection_ack").await;
        let mut init = odd.clone();
        init["type"] = json!("connection_init");
        socket.send(&init).await;
        let ack = socket.until("connection_ack").await;
        assert!(ack["currentSequence"].is_u64() && ack["replay"].is_array(), "{odd}: {ack}");
        assert!(!ack["serverVersion"].is_number(), "{odd}: {ack}");
        socket.close().await;
    }
}

#[tokio::test]
async fn heartbeats_are_answered_for_as_long_as_they_come() {
    let hub = hub_for_extensions(LIVELY).await;
    let options = McpBrowserOptions::new(hub.compat("mcp_browser"))
        .heartbeat(Duration::from_millis(100), Duration::from_secs(30));
    let browser = options.connect().await;
    // For longer than it might be silent.
    let pongs = browser.line.until_heard_times("pong", 50).await;
    assert_eq!(pongs[0]["timestamp"], json!(1_765_000_000_000_u64), "as the heartbeat said");
    browser.line.must_be_open();
    assert_eq!(session(&hub, "mcp-browser").await["connections"], 1);
}

#[tokio::test]
async fn an_extension_that_is_there_stays_and_one_that_stands_still_is_given_up() {
    let (hub, browser) = hub_and_browser(LIVELY).await;
    stays(&hub, "mcp-browser").await;
    assert!(browser.line.heard_of("ping").is_empty(), "it would not know what that is");
    browser.line.order(Order::Freeze);
    hub.api().until_connected("mcp-browser", false).await;
    let args = json!({"url": "https://gone.example/"});
    let said = failed(&client(&hub, "claude"), "browser_navigate", args).await;
    assert!(said.contains("not_connected"), "{said}");
}

#[tokio::test]
async fn a_second_extension_is_a_second_session() {
    let hub = hub_for_extensions(&[]).await;
    let options = McpBrowserOptions::new(hub.compat("mcp_browser"));
    let home = options.clone().label("home").connect().await;
    session(&hub, "mcp-browser").await;
    let work = options.label("work").connect().await;
    session(&hub, "mcp-browser-2").await;
    let claude = client(&hub, "claude");
    for (name, label) in [("mcp-browser", "home"), ("mcp-browser-2", "work")] {
        let args = json!({"action": "query", "session": name, "selector": "#price"});
        let found = done(&claude, "browser_content", args).await;
        assert!(found.to_string().contains(&format!("{label} #price")), "{name}: {found}");
    }
    for browser in [&home, &work] {
        assert!(browser.line.heard_of("connection_rejected").is_empty());
        assert_eq!(browser.line.heard_of("dom_command").len(), 1, "each got its own only");
        browser.line.must_be_open();
    }
    let said =
        failed(&claude, "browser_content", json!({"action": "query", "selector": "a"})).await;
    assert!(said.contains("ambiguous_session"), "{said}");
    drop(home);
    hub.api().until_connected("mcp-browser", false).await;
    work.line.must_be_open();
    assert_eq!(names(&hub).await, ["mcp-browser", "mcp-browser-2"]);
}

#[tokio::test]
async fn what_the_peers_own_tools_ask_is_answered() {
    let hub = hub_for_extensions(&[]).await;
    let dial = McpBrowserOptions::new(hub.compat("mcp_browser")).dial();
    let mut socket = dial.connect().await;
    socket.until("connection_ack").await;
    for question in ["server_info", "get_capabilities", "get_server_status"] {
        socket.send(&json!({"type": question})).await;
        match socket.recv().await {
            Incoming::Message(answer) => assert!(answer["type"].is_string(), "{question}"),
            other => panic!("{question}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_port_has_nothing_but_its_dialect() {
    let (hub, browser) = hub_and_browser(&[]).await;
    let port = hub.compat("mcp_browser");
    for path in ["/api/sessions", "/mcp", "/api/call", "/mcp/mcp-browser"] {
        let answer = testkit::Ask::own_get(path).send(port).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
    }
    let native = Dial::root(port).try_connect().await;
    assert!(
        native.is_err()
            || native.is_ok_and(|one| one.response.header("sec-websocket-protocol").is_none())
    );
    let names: Vec<Value> =
        hub.api().sessions().await.iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["mcp-browser"]);
    browser.line.must_be_open();
}
