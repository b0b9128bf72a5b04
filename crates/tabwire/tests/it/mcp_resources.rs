//! Sessions, states, tabs and events as resources: what is listed, what is read, what is not there.

use serde_json::{Value, json};
use testkit::{FakeApp, FakeBrowser, McpClient};

use crate::{
    mcp_scene::{app, content, each, every_way},
    scene::hub,
};

async fn read(client: &mut McpClient, uri: &str) -> Value {
    let result = client.request("resources/read", json!({"uri": uri})).await.result();
    assert_eq!(result["contents"][0]["uri"], uri);
    assert_eq!(result["contents"][0]["mimeType"], "application/json");
    content(&result)
}

async fn chrome(port: u16) -> FakeBrowser {
    let mut chrome = FakeBrowser::browser(port, "chrome");
    chrome.connect().await;
    for id in [7, 8] {
        let tab = json!({"id": id, "title": format!("Page {id}"), "url": "https://example.com/"});
        chrome.publish(json!({"type": "tabCreated", "tab": tab})).await;
    }
    chrome.settle().await;
    chrome
}

#[tokio::test]
async fn what_can_be_read_is_listed_by_address() {
    let hub = hub(&[]).await;
    let _north = app(&hub, "north", json!({"n": 1})).await;
    let _plain = FakeBrowser::connected(hub.port(), "plain").await;
    let _chrome = chrome(hub.port()).await;
    for (way, mut client) in every_way(&hub).await {
        let list = client.request("resources/list", json!({})).await.result();
        let mut uris = each(&list["resources"], "uri");
        uris.sort_unstable();
        let expected = [
            "tabwire://session/chrome/events",
            "tabwire://session/chrome/tabs",
            "tabwire://session/north/events",
            "tabwire://session/north/state",
            "tabwire://session/plain/events",
            "tabwire://sessions",
        ];
        assert_eq!(uris, expected, "{way:?}");
        for uri in &uris {
            read(&mut client, uri).await;
        }
        let again = client.request("resources/list", json!({})).await.result();
        assert_eq!(again["resources"], list["resources"], "{way:?}: always in the same order");
    }
}

#[tokio::test]
async fn the_forms_of_addresses_are_listed() {
    let hub = hub(&[]).await;
    for (way, mut client) in every_way(&hub).await {
        let list = client.request("resources/templates/list", json!({})).await.result();
        let forms = each(&list["resourceTemplates"], "uriTemplate");
        let expected = [
            "tabwire://session/{session}/events{?since}",
            "tabwire://session/{session}/state",
            "tabwire://session/{session}/tabs",
            "tabwire://result/{id}",
        ];
        assert_eq!(forms, expected, "{way:?}");
    }
}

#[tokio::test]
async fn sessions_and_states_are_read_by_name_and_by_id() {
    let hub = hub(&[]).await;
    let north = app(&hub, "north", json!({"color": "red"})).await;
    let id = north.welcome["sessionId"].as_str().unwrap();
    for (way, mut client) in every_way(&hub).await {
        let sessions = read(&mut client, "tabwire://sessions").await;
        let shown = &sessions["sessions"][0];
        assert_eq!((&shown["session"], &shown["id"]), (&json!("north"), &json!(id)), "{way:?}");
        assert_eq!((&shown["connected"], &shown["kind"]), (&json!(true), &json!("app")));
        assert_eq!(shown["tools"], json!(["paint"]));
        for session in ["north", id] {
            let uri = format!("tabwire://session/{session}/state");
            let state = read(&mut client, &uri).await;
            assert_eq!(state["value"], json!({"color": "red"}), "{way:?}");
            assert_eq!((&state["source"], &state["version"]), (&json!("cache"), &json!(1)));
            assert!(state["ageMs"].is_u64() && state["connected"] == true, "{way:?}: {state}");
        }
    }
}

#[tokio::test]
async fn tabs_are_read_with_the_tools_of_their_pages() {
    let hub = hub(&[]).await;
    let mut chrome = chrome(hub.port()).await;
    let tools = testkit::browser::tool_specs(&["add_to_cart"]);
    chrome.publish(json!({"type": "toolsChanged", "tabId": 8, "tools": tools})).await;
    chrome.settle().await;
    for (way, mut client) in every_way(&hub).await {
        let tabs = read(&mut client, "tabwire://session/chrome/tabs").await;
        let ids: Vec<_> = tabs["tabs"].as_array().unwrap().iter().map(|tab| &tab["tab"]).collect();
        assert_eq!(ids, [7, 8], "{way:?}");
        assert_eq!(tabs["tabs"][0]["title"], "Page 7");
        assert_eq!(tabs["tabs"][1]["tools"], json!(["add_to_cart"]));
    }
}

#[tokio::test]
async fn events_are_read_on_from_a_cursor() {
    let hub = hub(&[]).await;
    let mut north = FakeBrowser::connected(hub.port(), "north").await;
    for number in 0..450 {
        north.publish_event("tick", json!({"number": number})).await;
    }
    north.settle().await;
    for (way, mut client) in every_way(&hub).await {
        let (mut seen, mut since, mut pages) = (Vec::new(), 0, 0);
        loop {
            let uri = format!("tabwire://session/north/events?since={since}");
            let page = read(&mut client, &uri).await;
            let events = page["events"].as_array().unwrap();
            let ticks = events.iter().filter(|event| event["name"] == "tick");
            seen.extend(ticks.map(|event| event["data"]["number"].as_u64().unwrap()));
            since = page["next"].as_u64().unwrap();
            pages += 1;
            if page["more"] == false {
                break;
            }
        }
        assert_eq!(seen, (0..450).collect::<Vec<_>>(), "{way:?}");
        assert!(pages > 2, "{way:?}: pages are bounded");
        let uri = format!("tabwire://session/north/events?since={since}");
        let page = read(&mut client, &uri).await;
        assert_eq!((&page["events"], &page["next"]), (&json!([]), &json!(since)), "{way:?}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_an_error_of_its_era() {
    let hub = hub(&[]).await;
    let _north = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    for ((by, era), mut client) in every_way(&hub).await {
        let expected = if era.is_modern() { -32602 } else { -32002 };
        for uri in [
            "tabwire://session/nobody/state",
            "tabwire://session/north/nonsense",
            "tabwire://session/north",
            "tabwire://session/",
            "tabwire://session//state",
            "tabwire://sessions/more",
            "tabwire://result/nothing",
            "tabwire://result/",
            "tabwire://nonsense",
            "file:///etc/passwd",
            "nonsense",
        ] {
            let (code, said) = client.request("resources/read", json!({"uri": uri})).await.error();
            assert_eq!(code, expected, "{by:?} {era:?} {uri}: {said}");
        }
        let uri = "tabwire://session/nobody/state";
        let (_, said) = client.request("resources/read", json!({"uri": uri})).await.error();
        assert!(said.contains("\"north\""), "the choices are listed: {said}");
        for uri in
            ["tabwire://session/north/events?since=soon", "tabwire://session/north/events?since=-1"]
        {
            let (code, said) = client.request("resources/read", json!({"uri": uri})).await.error();
            assert_eq!(code, -32602, "{by:?} {era:?} {uri}: {said}");
            assert!(said.contains("since"), "{said}");
        }
        let (code, _) = client.request("resources/read", json!({"uri": 5})).await.error();
        assert_eq!(code, -32602, "{by:?} {era:?}: an address is a text");
    }
}

#[tokio::test]
async fn a_state_that_the_app_cannot_give_is_an_error_that_says_so() {
    let hub = hub(&["--state-timeout", "30s"]).await;
    let _north = FakeApp::echo(hub.port(), "north", &[]).await;
    for (way, mut client) in every_way(&hub).await {
        let uri = "tabwire://session/north/state";
        let (_, said) = client.request("resources/read", json!({"uri": uri})).await.error();
        assert!(said.contains("no state"), "{way:?}: {said}");
    }
}

#[tokio::test]
async fn events_of_every_kind_are_read_and_watched() {
    let hub = hub(&[]).await;
    let mut chrome = chrome(hub.port()).await;
    let uri = "tabwire://session/chrome/events";
    let mut client = crate::mcp_scene::stdio(&hub, crate::mcp_scene::LEGACY).await;
    client.request("resources/subscribe", json!({"uri": uri})).await.result();
    let kinds = ["console", "network", "dialog", "download", "navigation", "painted"];
    for kind in kinds {
        chrome.publish_event(kind, json!({"tabId": 7, "kind": kind})).await;
        loop {
            let heard = client.notification("notifications/resources/updated").await;
            assert_eq!(heard["params"]["uri"], uri);
            let page = client.request("resources/read", json!({"uri": uri})).await.result();
            let page = content(&page);
            let events = page["events"].as_array().unwrap();
            if events.iter().any(|event| event["name"] == kind && event["data"]["kind"] == kind) {
                break;
            }
        }
        let look = json!({"until": "event", "event": kind, "session": "chrome", "timeoutMs": 0});
        let seen = client.call("wait_for", look).await.result();
        assert_eq!(seen["structuredContent"]["events"][0]["data"]["kind"], kind, "{seen}");
    }
}
