//! ripulio/browser-mcp (seed 004): the hub asks, tabs and their pages' tools appear.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{
    HubProcess, McpHttp, PATIENCE, eventually,
    seeds::{
        webmcp::{ORIGIN, Tab, WebMcp, WebMcpOptions},
        wire::Order,
    },
    within,
};

use crate::{
    mcp_scene::{each, tool},
    seed_browsers::{LIVELY, client, done, failed, feed_of, hub_for_extensions, session, stays},
};

/// A page in a tab that can search and fails when it is asked to.
pub fn shop(id: i64) -> Tab {
    let search = json!({
        "type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"],
    });
    let any = json!({"type": "object"});
    Tab::new(id, "Shop", "https://shop.example/")
        .tools(vec![tool("search", &search), tool("fail_always", &any)])
}

/// Connects a browser with a shop in tab 71 and a page without tools in tab 72.
pub async fn shopping(hub: &HubProcess) -> WebMcp {
    let blank = Tab::new(72, "Blank", "about:blank");
    let browser = WebMcpOptions::new(hub.port()).tabs(vec![shop(71), blank]).connect().await;
    session(hub, "chrome").await;
    browser
}

/// Waits until a session's tabs are these, by number and title.
pub async fn until_tabs(hub: &HubProcess, name: &str, expected: &[(i64, &str)]) {
    eventually(&format!("the tabs of {name} are {expected:?}"), async || {
        let tabs = hub.api().session(name).await["tabs"].clone();
        let found: Vec<_> = tabs.as_array().into_iter().flatten().collect();
        let same = found.len() == expected.len()
            && expected.iter().all(|(id, title)| {
                found.iter().any(|tab| tab["id"] == *id && tab["title"] == *title)
            });
        same.then_some(())
    })
    .await;
}

/// Returns the tools that pages declare, once each of them has answered in its time.
pub async fn page_tools(client: &McpHttp, args: Value) -> Vec<Value> {
    eventually("all pages tell their tools", async || {
        let told = done(client, "page_tools", args.clone()).await;
        told["silent"].is_null().then(|| told["tools"].as_array().unwrap().clone())
    })
    .await
}

#[tokio::test]
async fn the_hub_asks_first_and_the_browser_is_a_session_with_its_tabs() {
    let hub = hub_for_extensions(&[]).await;
    let browser = shopping(&hub).await;
    let asked = browser.line().until_heard("connect").await;
    assert!(asked.get("sessionId").is_none_or(Value::is_string), "{asked}");
    until_tabs(&hub, "chrome", &[(71, "Shop"), (72, "Blank")]).await;
    let session = hub.api().session("chrome").await;
    assert_eq!((&session["kind"], &session["dialect"]), (&json!("browser"), &json!("webmcp")));
    assert_eq!((&session["origin"], &session["version"]), (&json!(ORIGIN), &json!("156.0.0.0")));
    let listed = done(&client(&hub, "claude"), "browser_tab", json!({"action": "list"})).await;
    let tabs = listed["tabs"].as_array().unwrap().iter();
    let seen: Vec<_> = tabs.map(|tab| (tab["tab"].clone(), tab["url"].clone())).collect();
    let expected = [(71, "https://shop.example/"), (72, "about:blank")];
    assert_eq!(seen, expected.map(|(id, url)| (json!(id), json!(url))));
}

#[tokio::test]
async fn pings_are_answered_and_keep_the_browser_there() {
    let hub = hub_for_extensions(LIVELY).await;
    let options = WebMcpOptions::new(hub.port()).ping_every(Duration::from_millis(100));
    let browser = options.connect().await;
    // For longer than it might be silent.
    browser.line().until_heard_times("pong", 50).await;
    browser.line().must_be_open();
    assert_eq!(session(&hub, "chrome").await["connections"], 1);
}

#[tokio::test]
async fn a_browser_that_says_nothing_and_answers_the_sockets_own_pings_is_there() {
    let hub = hub_for_extensions(LIVELY).await;
    let browser = shopping(&hub).await;
    stays(&hub, "chrome").await;
    assert!(browser.line().heard_of("ping").is_empty(), "it would not know what that is");
    browser.line().order(Order::Freeze);
    hub.api().until_connected("chrome", false).await;
}

#[tokio::test]
async fn tabs_appear_change_and_go_with_the_user() {
    let hub = hub_for_extensions(&[]).await;
    let browser = shopping(&hub).await;
    until_tabs(&hub, "chrome", &[(71, "Shop"), (72, "Blank")]).await;
    browser.user_opens(Tab::new(73, "News", "https://news.example/"));
    until_tabs(&hub, "chrome", &[(71, "Shop"), (72, "Blank"), (73, "News")]).await;
    browser.user_goes(73, "Weather", "https://weather.example/");
    until_tabs(&hub, "chrome", &[(71, "Shop"), (72, "Blank"), (73, "Weather")]).await;
    browser.user_closes(73);
    until_tabs(&hub, "chrome", &[(71, "Shop"), (72, "Blank")]).await;
    let created = feed_of(&hub, "chrome", "tabCreated").await;
    assert_eq!(created.iter().filter(|item| item.to_string().contains("73")).count(), 1);
    assert_eq!(feed_of(&hub, "chrome", "tabClosed").await.len(), 1);
}

#[tokio::test]
async fn events_before_the_introduction_are_not_lost() {
    let hub = hub_for_extensions(&[]).await;
    let options = WebMcpOptions::new(hub.port()).tabs(vec![shop(71)]);
    let mut socket = options.dial().connect().await;
    let early = json!({"id": 99, "title": "Early", "url": "https://early.example/", "tools": []});
    socket.send(&json!({"type": "tabCreated", "tab": early})).await;
    let asked = socket.until("connect").await;
    let mut connected = json!({
        "type": "connected", "browser": {"name": "Chrome", "version": "156.0.0.0"},
        "tabs": [{"id": 71, "title": "Shop", "url": "https://shop.example/", "tools": []}, early],
    });
    if let Some(id) = asked.get("sessionId") {
        connected["sessionId"] = id.clone();
    }
    socket.send(&connected).await;
    session(&hub, "chrome").await;
    until_tabs(&hub, "chrome", &[(71, "Shop"), (99, "Early")]).await;
}

#[tokio::test]
async fn what_pages_declare_is_listed_with_its_schema() {
    let hub = hub_for_extensions(&[]).await;
    let browser = shopping(&hub).await;
    let claude = client(&hub, "claude");
    let tools = page_tools(&claude, json!({"action": "list"})).await;
    assert_eq!(each(&json!(tools), "tool"), ["search", "fail_always"]);
    assert_eq!((&tools[0]["session"], &tools[0]["tab"]), (&json!("chrome"), &json!(71)));
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["query"]));
    let asked = browser.line().heard_of("discoverTools");
    assert!(asked.iter().all(|one| one["tabId"].is_number() && one["callId"].is_string()));
    // A page may change what it declares without a word.
    let any = json!({"type": "object"});
    browser.change_tools(71, vec![tool("checkout", &any)]);
    eventually("the new tool is found", async || {
        let tools = page_tools(&claude, json!({"action": "list"})).await;
        (each(&json!(tools), "tool") == ["checkout"]).then_some(())
    })
    .await;
    // An update of the tab says nothing about tools, although it has an empty list.
    browser.user_goes(71, "Checkout", "https://shop.example/checkout");
    until_tabs(&hub, "chrome", &[(71, "Checkout"), (72, "Blank")]).await;
    let tools = page_tools(&claude, json!({"action": "list", "tab": 71})).await;
    assert_eq!(each(&json!(tools), "tool"), ["checkout"]);
}

#[tokio::test]
async fn a_tool_of_a_page_is_called_with_arguments_that_fit() {
    let hub = hub_for_extensions(&[]).await;
    let browser = shopping(&hub).await;
    let claude = client(&hub, "claude");
    page_tools(&claude, json!({"action": "list"})).await;
    let args = json!({"action": "call", "tool": "search", "tab": 71, "args": {"query": "tea"}});
    let result = done(&claude, "page_tools", args).await;
    let expected = json!({"from": "webmcp", "tab": 71, "tool": "search", "args": {"query": "tea"}});
    assert_eq!(result, expected);
    let call = &browser.line().heard_of("callTool")[0];
    assert_eq!((&call["toolName"], &call["tabId"]), (&json!("search"), &json!(71)));
    assert!(call["callId"].is_string(), "{call}");
    for args in [json!({}), json!({"query": 5})] {
        let args = json!({"action": "call", "tool": "search", "tab": 71, "args": args});
        let said = failed(&claude, "page_tools", args).await;
        assert!(said.contains("`query`"), "{said}");
    }
    assert_eq!(browser.line().heard_of("callTool").len(), 1, "nothing was sent that does not fit");
    let args = json!({"action": "call", "tool": "fail_always", "tab": 71});
    let said = failed(&claude, "page_tools", args).await;
    assert!(said.contains("the page is out of order"), "{said}");
}

#[tokio::test]
async fn a_page_that_hangs_does_not_hold_up_the_others() {
    let hub = hub_for_extensions(&["--call-timeout", "90s"]).await;
    let hanging = Tab::new(70, "Stuck", "https://stuck.example/").hanging();
    let browser = WebMcpOptions::new(hub.port()).tabs(vec![hanging, shop(71)]).connect().await;
    session(&hub, "chrome").await;
    let claude = client(&hub, "claude");
    eventually("a list in spite of one page", async || {
        let told = done(&claude, "page_tools", json!({"action": "list"})).await;
        (each(&told["tools"], "tool") == ["search", "fail_always"]).then_some(())
    })
    .await;
    let listed = done(&claude, "browser_tab", json!({"action": "list"}));
    let tabs = within(PATIENCE, "the tabs in spite of one page", listed).await;
    assert!(tabs.to_string().contains("stuck.example"), "{tabs}");
    let args = json!({"action": "call", "tool": "search", "tab": 71, "args": {"query": "tea"}});
    within(PATIENCE, "a call in another tab", done(&claude, "page_tools", args)).await;
    browser.line().must_be_open();
}

#[tokio::test]
async fn without_user_scripts_there_are_no_tools_and_calls_say_why() {
    let hub = hub_for_extensions(&[]).await;
    let options = WebMcpOptions::new(hub.port()).tabs(vec![shop(71)]).without_scripts();
    let _browser = options.connect().await;
    session(&hub, "chrome").await;
    let claude = client(&hub, "claude");
    let tools = page_tools(&claude, json!({"action": "list"})).await;
    assert!(tools.is_empty(), "{tools:?}");
    let args = json!({"action": "call", "tool": "search", "tab": 71, "args": {"query": "tea"}});
    within(PATIENCE, "an answer", failed(&claude, "page_tools", args)).await;
}
