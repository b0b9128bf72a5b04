//! `page_tools`, `app_state` and `browser_instance`: what pages declare, what apps are like.

use serde_json::{Value, json};
use testkit::{Era, FakeApp, FakeBrowser, HubProcess, McpHttp};

use crate::{
    mcp_scene::{OURS, app, each, every_way, http, tool},
    scene::hub,
};

/// A browser with a shop in tab 7 and a map in tab 8; both pages can print.
async fn chrome(hub: &HubProcess) -> FakeBrowser {
    let mut chrome = FakeBrowser::browser(hub.port(), "chrome");
    chrome.connect().await;
    let any = json!({"type": "object"});
    let cart = json!({
        "type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"],
    });
    for (id, place, tools) in [
        (7, "shop", vec![tool("add_to_cart", &cart), tool("print", &any)]),
        (8, "map", vec![tool("find_place", &any), tool("print", &any)]),
    ] {
        let url = format!("https://{place}.example/");
        let tab = json!({"id": id, "title": place, "url": url});
        chrome.publish(json!({"type": "tabCreated", "tab": tab})).await;
        chrome.publish(json!({"type": "toolsChanged", "tabId": id, "tools": tools})).await;
    }
    chrome.settle().await;
    chrome
}

async fn page_tools(client: &McpHttp, args: Value) -> Value {
    let result = client.call("page_tools", args).await.result();
    assert_ne!(result["isError"], true, "{result}");
    result["structuredContent"].clone()
}

#[tokio::test]
async fn what_pages_declare_is_listed_and_found_but_never_becomes_a_tool_of_ours() {
    let hub = hub(&[]).await;
    let _chrome = chrome(&hub).await;
    for (way, mut client) in every_way(&hub).await {
        let list = client.request("tools/list", json!({})).await.result();
        assert_eq!(list["tools"].as_array().unwrap().len(), OURS.len() + 1, "{way:?}");
    }
    let client = http(&hub, Era::Modern).await;
    let all = page_tools(&client, json!({"action": "list"})).await;
    assert_eq!(each(&all["tools"], "tool"), ["add_to_cart", "print", "find_place", "print"]);
    assert_eq!(all["total"], 4);
    let cart = &all["tools"][0];
    assert_eq!((&cart["session"], &cart["tab"]), (&json!("chrome"), &json!(7)));
    assert_eq!(
        (&cart["url"], &cart["inputSchema"]["required"][0]),
        (&json!("https://shop.example/"), &json!("item"),)
    );
    let in_tab = page_tools(&client, json!({"action": "list", "tab": 8})).await;
    assert_eq!(each(&in_tab["tools"], "tool"), ["find_place", "print"]);
    let found = page_tools(&client, json!({"action": "find", "query": "CART add"})).await;
    assert_eq!(each(&found["tools"], "tool"), ["add_to_cart"]);
    let none = page_tools(&client, json!({"action": "find", "query": "fly"})).await;
    assert_eq!(none, json!({"tools": [], "total": 0}));
}

#[tokio::test]
async fn a_tool_of_a_page_is_called_in_its_tab() {
    let hub = hub(&[]).await;
    let mut chrome = chrome(&hub).await;
    for (way, mut client) in every_way(&hub).await {
        let args = json!({"action": "call", "tool": "add_to_cart", "args": {"item": "tea"}});
        let (answer, ()) = tokio::join!(client.call("page_tools", args), async {
            let call = chrome.call().await;
            assert_eq!((&call["target"], &call["tabId"]), (&json!("page"), &json!(7)));
            assert_eq!(
                (&call["toolName"], &call["args"]["item"]),
                (&json!("add_to_cart"), &json!("tea"),)
            );
            chrome.answer(&call, json!({"items": 1})).await;
        });
        let result = answer.result();
        assert_eq!(result["structuredContent"], json!({"items": 1}), "{way:?}");
        assert_eq!(result["_meta"]["tabwire"]["untrusted"], true, "{way:?}");
    }
}

#[tokio::test]
async fn a_tool_that_several_pages_declare_needs_a_tab_once() {
    let hub = hub(&[]).await;
    let mut chrome = chrome(&hub).await;
    let client = http(&hub, Era::Modern).await;
    let print = json!({"action": "call", "tool": "print"});
    let (failed, said) = client.call("page_tools", print.clone()).await.told();
    assert!(failed && said.contains("unknown_tab"), "{said}");
    assert!(said.contains('7') && said.contains('8'), "{said}");
    let mut named = print.clone();
    named["tab"] = json!(8);
    for args in [named, print] {
        let (answer, ()) = tokio::join!(client.call("page_tools", args), async {
            let call = chrome.call().await;
            assert_eq!(call["tabId"], 8, "the tab that this client used last");
            chrome.answer(&call, json!("printed")).await;
        });
        answer.result();
    }
}

#[tokio::test]
async fn a_call_of_a_page_that_cannot_be_made_is_for_the_model_to_read() {
    let hub = hub(&[]).await;
    let mut chrome = chrome(&hub).await;
    let client = http(&hub, Era::Modern).await;
    for (args, part) in [
        (json!({"action": "call", "tool": "add_to_cart"}), "`item`"),
        (json!({"action": "call", "tool": "add_to_cart", "args": {"item": 5}}), "`item`"),
        (json!({"action": "call"}), "`tool`"),
        (json!({"action": "find"}), "`query`"),
        (json!({"action": "dance"}), "`action`"),
        (json!({"action": "call", "tool": "print", "tab": 99}), "99"),
        (json!({"action": "list", "session": "east"}), "unknown_session"),
    ] {
        let (failed, said) = client.call("page_tools", args.clone()).await.told();
        assert!(failed && said.contains(part), "{args}: {said}");
    }
    hub.api().event("chrome", "marker", json!(null)).await;
    assert_eq!(chrome.socket().until("event").await["name"], "marker", "nothing was sent before");
}

#[tokio::test]
async fn a_tool_that_no_page_declares_is_for_the_model_to_read() {
    let hub = hub(&[]).await;
    let _chrome = chrome(&hub).await;
    let client = http(&hub, Era::Modern).await;
    for args in [
        json!({"action": "call", "tool": "fly"}),
        json!({"action": "call", "tool": "add_to_cart", "tab": 8, "args": {"item": "tea"}}),
    ] {
        // `page_tools` exists, so this is not the protocol's error.
        let (failed, said) = client.call("page_tools", args.clone()).await.told();
        assert!(failed && said.contains("unknown_tool"), "{args}: {said}");
    }
}

#[tokio::test]
async fn a_state_is_read_from_the_cache_by_path_and_fresh_on_demand() {
    let hub = hub(&["--state-timeout", "30s"]).await;
    let mut north = app(&hub, "north", json!({"model": {"color": "red"}})).await;
    let client = http(&hub, Era::Modern).await;
    let state = client.call("app_state", json!({"path": "/model/color"})).await.result();
    let found = &state["structuredContent"];
    assert_eq!((&found["value"], &found["source"]), (&json!("red"), &json!("cache")));
    assert_eq!((&found["session"], &found["version"]), (&json!("north"), &json!(1)));
    assert!(testkit::mcp::text(&state).starts_with("\"red\"\n(cache, "), "{state}");
    let args = json!({"forceRefresh": true, "path": "/model/color"});
    let (answer, ()) = tokio::join!(client.call("app_state", args.clone()), async {
        let request = north.until("requestState").await;
        let id = &request["requestId"];
        let state = json!({"model": {"color": "blue"}});
        north
            .say(json!({
                "type": "stateResponse", "requestId": id, "state": state, "stateEpoch": "first",
                "version": 2,
            }))
            .await;
    });
    let found = answer.result()["structuredContent"].clone();
    assert_eq!((&found["value"], &found["source"]), (&json!("blue"), &json!("live")));
    north.vanish();
    hub.api().until_connected("north", false).await;
    let stale = client.call("app_state", args).await.result();
    let found = &stale["structuredContent"];
    assert_eq!((&found["value"], &found["source"]), (&json!("blue"), &json!("stale")));
    assert_eq!(found["connected"], false);
    assert!(testkit::mcp::text(&stale).contains("STALE"), "{stale}");
}

#[tokio::test]
async fn a_state_that_nobody_has_is_for_the_model_to_read() {
    let hub = hub(&["--state-timeout", "30s"]).await;
    let client = http(&hub, Era::Modern).await;
    // `app_state` exists, so this is not the protocol's error.
    let (failed, said) = client.call("app_state", json!({})).await.told();
    assert!(failed && said.contains("connected yet"), "{said}");
    let _north = FakeApp::echo(hub.port(), "north", &[]).await;
    let (failed, said) = client.call("app_state", json!({"session": "north"})).await.told();
    assert!(failed && said.contains("no state"), "{said}");
}

#[tokio::test]
async fn waiting_where_nothing_is_connected_is_for_the_model_to_read() {
    let hub = hub(&[]).await;
    let client = http(&hub, Era::Modern).await;
    for until in ["state", "event"] {
        let (failed, said) = client.call("wait_for", json!({"until": until})).await.told();
        assert!(failed && said.contains("connected yet"), "{until}: {said}");
    }
}

#[tokio::test]
async fn browsers_and_apps_are_listed_with_the_names_that_can_be_passed_on() {
    let hub = hub(&[]).await;
    let client = http(&hub, Era::Modern).await;
    let nobody = client.call("browser_instance", json!({})).await.result();
    assert_eq!(nobody["structuredContent"], json!({"sessions": []}));
    let _chrome = chrome(&hub).await;
    drop(FakeApp::echo(hub.port(), "north", &["paint"]).await);
    hub.api().until_connected("north", false).await;
    let listed = client.call("browser_instance", json!({"action": "list"})).await.result();
    let sessions = listed["structuredContent"]["sessions"].clone();
    let mut names = each(&sessions, "session");
    names.sort_unstable();
    assert_eq!(names, ["chrome", "north"]);
    let text = testkit::mcp::text(&listed);
    assert!(text.contains("- chrome (browser, 2 tabs)"), "{text}");
    assert!(text.contains("- north (app, away): paint"), "{text}");
}
