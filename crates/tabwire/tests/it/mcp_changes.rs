//! Pushes: clients that asked for it hear that a list or a resource changed, and nobody else.

use serde_json::{Value, json};
use testkit::{Era, FakeApp, FakeBrowser, McpStdio, McpStream};

use crate::{
    mcp_scene::{LEGACY, app, declared_names, each, http, stdio},
    scene::hub,
};

const TOOLS: &str = "notifications/tools/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
/// Where a newer client finds what a notification belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Opens a subscription through a relay and waits until it holds; returns its id.
async fn subscribe(client: &mut McpStdio, filter: Value) -> u64 {
    let id = client.ask("subscriptions/listen", json!({"notifications": filter})).await;
    let first = client.recv().await.unwrap();
    check_acknowledged(&first, &filter);
    assert_eq!(first["params"]["_meta"][SUBSCRIPTION], id, "{first}");
    id
}

#[track_caller]
fn check_acknowledged(message: &Value, filter: &Value) {
    assert_eq!(message["method"], ACKNOWLEDGED, "{message}");
    assert_eq!(message["params"]["notifications"], *filter, "{message}");
}

/// Opens a subscription over HTTP and waits until it holds.
async fn subscribe_over_http(port: u16, filter: Value) -> McpStream {
    let client = testkit::McpHttp::modern(port);
    let params = json!({"notifications": filter});
    let mut stream = client.stream("subscriptions/listen", params).await;
    assert_eq!(stream.head.status, 200);
    assert!(stream.is_events(), "{:?}", stream.head);
    check_acknowledged(&stream.next().await.unwrap(), &filter);
    stream
}

#[tokio::test]
async fn an_older_client_hears_through_its_relay_that_tools_changed() {
    let hub = hub(&[]).await;
    let mut client = stdio(&hub, LEGACY).await;
    // Whoever has a list hears of every change after it.
    client.request("tools/list", json!({})).await.result();
    let north = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    loop {
        client.notification(TOOLS).await;
        // The session was known before its tools were; each is told.
        let list = client.request("tools/list", json!({})).await.result();
        if each(&list["tools"], "name").contains(&"paint".to_owned()) {
            break;
        }
    }
    north.publish(
        json!({"type": "toolsChanged", "tools": testkit::browser::tool_specs(&["erase"])}),
    );
    loop {
        client.notification(TOOLS).await;
        let list = client.request("tools/list", json!({})).await.result();
        if declared_names(&list) == ["erase"] {
            break;
        }
    }
}

#[tokio::test]
async fn an_older_client_hears_on_its_own_stream_that_tools_changed() {
    let hub = hub(&[]).await;
    let client = http(&hub, LEGACY).await;
    let mut stream = client.listen().await;
    assert_eq!(stream.head.status, 200);
    client.request("tools/list", json!({})).await.result();
    let _north = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    loop {
        stream.until(TOOLS).await;
        let list = client.request("tools/list", json!({})).await.result();
        if each(&list["tools"], "name").contains(&"paint".to_owned()) {
            break;
        }
    }
}

#[tokio::test]
async fn a_newer_client_hears_what_it_subscribed_to() {
    let hub = hub(&[]).await;
    let mut by_stdio = stdio(&hub, Era::Modern).await;
    let filter = json!({"toolsListChanged": true, "resourcesListChanged": true});
    let id = subscribe(&mut by_stdio, filter.clone()).await;
    let mut by_http = subscribe_over_http(hub.port(), filter).await;
    let _north = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    for method in [TOOLS, "notifications/resources/list_changed"] {
        let heard = by_stdio.notification(method).await;
        assert_eq!(heard["params"]["_meta"][SUBSCRIPTION], id, "{heard}");
    }
    let heard = by_http.until(TOOLS).await;
    assert!(!heard["params"]["_meta"][SUBSCRIPTION].is_null(), "{heard}");
}

#[tokio::test]
async fn a_newer_client_hears_nothing_that_it_did_not_ask_for() {
    let hub = hub(&[]).await;
    let mut silent = stdio(&hub, Era::Modern).await;
    silent.request("tools/list", json!({})).await.result();
    let mut states = stdio(&hub, Era::Modern).await;
    let uri = "tabwire://session/north/state";
    subscribe(&mut states, json!({"resourceSubscriptions": [uri]})).await;
    let mut north = app(&hub, "north", json!({"n": 1})).await;
    let mut south = app(&hub, "south", json!({"n": 1})).await;
    let heard = states.recv().await.unwrap();
    assert_eq!((&heard["method"], &heard["params"]["uri"]), (&json!(UPDATED), &json!(uri)));
    south.publish_state("first", 2, json!({"n": 2})).await;
    south.settle().await;
    north.publish_state("first", 2, json!({"n": 2})).await;
    let heard = states.recv().await.unwrap();
    assert_eq!((&heard["method"], &heard["params"]["uri"]), (&json!(UPDATED), &json!(uri)));
    silent.request("tools/list", json!({})).await.result();
    let ended = silent.finish().await;
    assert!(ended.messages.is_empty(), "{:?}", ended.messages);
}

#[tokio::test]
async fn a_resource_is_watched_by_name_and_by_id_in_both_eras() {
    let hub = hub(&[]).await;
    let mut north = app(&hub, "north", json!({"n": 1})).await;
    let id = north.welcome["sessionId"].as_str().unwrap().to_owned();
    for (session, version) in [("north", 2), (id.as_str(), 3)] {
        let uri = format!("tabwire://session/{session}/state");
        let mut older = stdio(&hub, LEGACY).await;
        older.request("resources/subscribe", json!({"uri": uri})).await.result();
        let older_http = http(&hub, LEGACY).await;
        older_http.request("resources/subscribe", json!({"uri": uri})).await.result();
        let mut older_stream = older_http.listen().await;
        let mut newer = stdio(&hub, Era::Modern).await;
        let filter = json!({"resourceSubscriptions": [uri]});
        subscribe(&mut newer, filter.clone()).await;
        let mut newer_stream = subscribe_over_http(hub.port(), filter).await;
        north.publish_state("first", version, json!({"n": session})).await;
        for heard in [
            older.notification(UPDATED).await,
            older_stream.until(UPDATED).await,
            newer.notification(UPDATED).await,
            newer_stream.until(UPDATED).await,
        ] {
            assert_eq!(heard["params"]["uri"], uri);
        }
    }
}

#[tokio::test]
async fn sessions_events_and_tabs_are_watched_too() {
    let hub = hub(&[]).await;
    let mut chrome = FakeBrowser::browser(hub.port(), "chrome");
    chrome.connect().await;
    let part = |name: &str| format!("tabwire://session/chrome/{name}");
    let watched = [part("events"), part("tabs"), "tabwire://sessions".to_owned()];
    let mut client = stdio(&hub, Era::Modern).await;
    subscribe(&mut client, json!({"resourceSubscriptions": watched})).await;
    let expect = async |client: &mut McpStdio, uri: &str| {
        let wanted = |message: &Value| message["params"]["uri"] == uri;
        client.until(uri, wanted).await;
    };
    chrome.publish_event("clicked", json!({})).await;
    expect(&mut client, &watched[0]).await;
    let tab = json!({"id": 7, "title": "A page", "url": "https://example.com/"});
    chrome.publish(json!({"type": "tabCreated", "tab": tab})).await;
    expect(&mut client, &watched[1]).await;
    let _other = FakeBrowser::connected(hub.port(), "other").await;
    expect(&mut client, &watched[2]).await;
}

#[tokio::test]
async fn what_is_no_longer_watched_is_no_longer_told() {
    let hub = hub(&[]).await;
    let mut north = app(&hub, "north", json!({"n": 1})).await;
    let [state, events] = ["state", "events"].map(|part| format!("tabwire://session/north/{part}"));
    let mut older = stdio(&hub, LEGACY).await;
    for uri in [&state, &events] {
        older.request("resources/subscribe", json!({"uri": uri})).await.result();
    }
    older.request("resources/unsubscribe", json!({"uri": state})).await.result();
    let mut newer = stdio(&hub, Era::Modern).await;
    let first = subscribe(&mut newer, json!({"resourceSubscriptions": [state]})).await;
    newer.notify("notifications/cancelled", json!({"requestId": first})).await;
    // Messages of one client are taken in order, so the cancellation is known by now.
    let filter = json!({"resourceSubscriptions": [events]});
    newer.ask("subscriptions/listen", json!({"notifications": filter})).await;
    newer.notification(ACKNOWLEDGED).await;
    north.publish_state("first", 2, json!({"n": 2})).await;
    for client in [&mut older, &mut newer] {
        let heard = client.notification(UPDATED).await;
        assert_eq!(heard["params"]["uri"], events, "a push of state is an event as well");
        client.request("tools/list", json!({})).await.result();
        let more = client.notifications(UPDATED);
        assert!(more.iter().all(|heard| heard["params"]["uri"] == events), "{more:?}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_hears_of_each_thing_once() {
    let hub = hub(&[]).await;
    let mut north = app(&hub, "north", json!({"n": 0})).await;
    let uri = "tabwire://session/north/state";
    let mut stream = subscribe_over_http(hub.port(), json!({"resourceSubscriptions": [uri]})).await;
    let mut lazy = stdio(&hub, Era::Modern).await;
    subscribe(&mut lazy, json!({"resourceSubscriptions": [uri]})).await;
    for number in 1..=500u64 {
        north.publish_state("first", number + 1, json!({"n": number})).await;
    }
    north.settle().await;
    stream.until(UPDATED).await;
    lazy.notification(UPDATED).await;
    lazy.request("tools/list", json!({})).await.result();
    let count = 1 + lazy.notifications(UPDATED).len();
    assert!((1..=500).contains(&count), "{count}");
    let read = lazy.request("resources/read", json!({"uri": uri})).await.result();
    assert_eq!(crate::mcp_scene::content(&read)["value"]["n"], 500);
}
