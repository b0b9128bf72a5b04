//! Tabs belong to someone: one client at a time, until it lets go, and the user comes first.

use serde_json::{Value, json};
use testkit::{Answer, Era, FakeApp, FakeBrowser, HubProcess, McpHttp, StdioOptions, eventually};

use crate::scene::{PROGRAM, hub};

/// A browser that shows whose tabs are whose; it opens tab 100, 101, … when asked.
async fn browser(hub: &HubProcess, instance: &str) -> FakeApp {
    let peer = FakeBrowser::browser(hub.port(), instance).able("tab_owners");
    let mut opened = 99;
    let browser = FakeApp::start(peer, &[], move |call| match call["toolName"].as_str() {
        Some("browser_tab_new") => {
            opened += 1;
            Answer::Result(json!({"tab": opened, "url": "about:blank", "title": ""}))
        }
        _ => Answer::Result(json!({"url": "https://a.example/", "changes": {"added": 1}})),
    })
    .await;
    for tab in [1, 2, 100, 101] {
        let tab = json!({"id": tab, "title": "A page", "url": "https://a.example/"});
        browser.publish(json!({"type": "tabCreated", "tab": tab}));
    }
    let all = async || {
        let tabs = hub.api().session(instance).await["tabs"].as_array().map(Vec::len);
        (tabs == Some(4)).then_some(())
    };
    eventually("the tabs are known", all).await;
    browser
}

fn client(hub: &HubProcess, name: &str) -> McpHttp {
    McpHttp::modern(hub.port()).named(name).header("Tabwire-Client", name)
}

async fn click(client: &McpHttp, tab: Option<u64>) -> Result<Value, String> {
    let mut args = json!({"action": "click", "ref": "e1"});
    if let Some(tab) = tab {
        args["tab"] = json!(tab);
    }
    call(client, "browser_interact", args).await
}

async fn call(client: &McpHttp, tool: &str, args: Value) -> Result<Value, String> {
    let result = client.call(tool, args).await.result();
    match result["isError"] == true {
        true => Err(result["content"][0]["text"].as_str().unwrap().to_owned()),
        false => Ok(result["structuredContent"].clone()),
    }
}

fn clicks(browser: &FakeApp) -> usize {
    let calls = browser.received("callTool");
    calls.iter().filter(|call| call["toolName"] == "browser_mouse_click").count()
}

#[tokio::test]
async fn another_client_hears_whose_tab_it_is_and_nothing_reaches_the_browser() {
    let hub = hub(&[]).await;
    let browser = browser(&hub, "chrome").await;
    let (claude, cursor) = (client(&hub, "claude"), client(&hub, "cursor"));
    click(&claude, Some(1)).await.unwrap();
    let sent = browser.received("callTool").pop().unwrap();
    assert_eq!(sent["client"], json!({"id": "claude", "name": "claude"}));
    let refused = click(&cursor, Some(1)).await.unwrap_err();
    assert!(refused.contains("belongs to the client \"claude\""), "{refused}");
    assert!(refused.contains("browser_tab new"), "{refused}");
    let read = call(&cursor, "browser_snapshot", json!({"tab": 1})).await.unwrap_err();
    assert!(read.contains("\"claude\""), "{read}");
    assert_eq!(clicks(&browser), 1);
    click(&cursor, Some(2)).await.unwrap();
    click(&cursor, None).await.unwrap();
    assert_eq!(browser.received("callTool").pop().unwrap()["tabId"], 2, "its own is the last one");
}

#[tokio::test]
async fn a_client_without_a_tab_gets_one_by_going_somewhere() {
    let hub = hub(&[]).await;
    let browser = browser(&hub, "chrome").await;
    let claude = client(&hub, "claude");
    let lost = click(&claude, None).await.unwrap_err();
    assert!(lost.contains("name one of these as `tab`"), "{lost}");
    let url = "https://b.example/";
    call(&claude, "browser_navigate", json!({"url": url})).await.unwrap();
    let calls = browser.received("callTool");
    let names: Vec<_> = calls.iter().map(|call| call["toolName"].as_str().unwrap()).collect();
    assert_eq!(names, ["browser_tab_new", "browser_navigate"]);
    assert_eq!((&calls[1]["tabId"], &calls[1]["args"]["url"]), (&json!(100), &json!(url)));
    click(&claude, None).await.unwrap();
    assert_eq!(browser.received("callTool").pop().unwrap()["tabId"], 100);
    let other = click(&client(&hub, "cursor"), Some(100)).await.unwrap_err();
    assert!(other.contains("\"claude\""), "what a client opens is its own: {other}");
}

#[tokio::test]
async fn a_tab_is_released_and_handed_over() {
    let hub = hub(&[]).await;
    let browser = browser(&hub, "chrome").await;
    let (claude, cursor) = (client(&hub, "claude"), client(&hub, "cursor"));
    click(&claude, Some(1)).await.unwrap();
    let not_its = call(&cursor, "browser_tab", json!({"action": "release", "tab": 1})).await;
    assert!(not_its.unwrap_err().contains("\"claude\""));
    let offer = json!({"action": "hand_over", "tab": 1, "to": "cursor"});
    call(&claude, "browser_tab", offer).await.unwrap();
    assert!(click(&claude, Some(1)).await.unwrap_err().contains("kept for the client \"cursor\""));
    click(&cursor, Some(1)).await.unwrap();
    call(&cursor, "browser_tab", json!({"action": "release"})).await.unwrap();
    click(&claude, Some(1)).await.unwrap();
    let told = async || {
        let owners = browser.received("event");
        let owners: Vec<_> = owners.iter().filter(|event| event["name"] == "tabOwner").collect();
        let kept = json!({"tabId": 1, "client": null, "keptFor": "cursor"});
        let free = json!({"tabId": 1, "client": null});
        let told: Vec<_> = owners.iter().map(|event| &event["data"]).collect();
        (told == [&kept, &free]).then_some(())
    };
    eventually("the browser is told", told).await;
}

#[tokio::test]
async fn the_user_takes_a_tab_back_and_gives_it_again() {
    let hub = hub(&[]).await;
    let browser = browser(&hub, "chrome").await;
    let claude = client(&hub, "claude");
    click(&claude, Some(1)).await.unwrap();
    browser.publish(json!({"type": "event", "name": "tabTaken", "data": {"tabId": 1}}));
    let taken = async || click(&claude, Some(1)).await.err();
    let words = eventually("it is taken back", taken).await;
    assert!(words.contains("the user took tab 1 back"), "{words}");
    let list = call(&claude, "browser_tab", json!({"action": "list"})).await.unwrap();
    assert_eq!(list["tabs"][0]["owner"], "taken back by the user");
    browser.publish(json!({"type": "event", "name": "tabGiven", "data": {"tabId": 1}}));
    eventually("it is given", async || click(&claude, Some(1)).await.ok()).await;
}

#[tokio::test]
async fn the_user_gives_a_tab_to_one_client() {
    let hub = hub(&[]).await;
    let browser = browser(&hub, "chrome").await;
    let (claude, cursor) = (client(&hub, "claude"), client(&hub, "cursor"));
    let given = json!({"tabId": 1, "client": {"id": "cursor", "name": "Cursor"}});
    browser.publish(json!({"type": "event", "name": "tabGiven", "data": given}));
    let kept = async || click(&claude, Some(1)).await.err();
    let words = eventually("it is another's", kept).await;
    assert!(words.contains("\"Cursor\""), "{words}");
    click(&cursor, None).await.unwrap();
    let unknown = json!({"tabId": 77, "client": {"id": "cursor", "name": "Cursor"}});
    browser.publish(json!({"type": "event", "name": "tabGiven", "data": unknown}));
    browser.publish(json!({"type": "event", "name": "tabGiven", "data": {"tabId": 1}}));
    eventually("it is free", async || click(&claude, Some(1)).await.ok()).await;
    assert!(hub.api().session("chrome").await["owners"].get("77").is_none());
}

#[tokio::test]
async fn how_many_tabs_the_user_keeps_is_said_and_survives_the_hub() {
    let mut hub = hub(&[]).await;
    let first = browser(&hub, "chrome").await;
    first.publish(json!({"type": "event", "name": "tabsHidden", "data": {"count": 7}}));
    let text = async |hub: &HubProcess| {
        let listed = client(hub, "claude").call("browser_tab", json!({"action": "list"})).await;
        let text = listed.result()["content"][0]["text"].as_str().unwrap().to_owned();
        text.contains("7 more tabs of the user's own, not shown").then_some(())
    };
    eventually("it is said", async || text(&hub).await).await;
    drop(first);
    hub.terminate().await;
    hub.restart().await;
    let _second = browser(&hub, "chrome").await;
    assert!(text(&hub).await.is_some());
}

#[tokio::test]
async fn whose_tab_it_is_survives_the_hub_and_not_the_browser() {
    let mut hub = hub(&[]).await;
    let first = browser(&hub, "chrome").await;
    click(&client(&hub, "claude"), Some(1)).await.unwrap();
    drop(first);
    hub.terminate().await;
    hub.restart().await;
    let second = browser(&hub, "chrome").await;
    // It may have come back on another port.
    let (claude, cursor) = (client(&hub, "claude"), client(&hub, "cursor"));
    assert!(click(&cursor, Some(1)).await.unwrap_err().contains("\"claude\""));
    click(&claude, Some(1)).await.unwrap();
    second.publish(json!({"type": "event", "name": "browserStarted", "data": null}));
    eventually("numbers mean other tabs now", async || click(&cursor, Some(1)).await.ok()).await;
}

#[tokio::test]
async fn a_stdio_client_that_leaves_lets_go_of_its_tabs() {
    let hub = hub(&[]).await;
    let _browser = browser(&hub, "chrome").await;
    let mut leaving = StdioOptions::of(PROGRAM, &hub).connect(Era::Modern).await;
    let args = json!({"action": "click", "ref": "e1", "tab": 1});
    leaving.call("browser_interact", args).await.result();
    let cursor = client(&hub, "cursor");
    assert!(click(&cursor, Some(1)).await.is_err());
    leaving.finish().await;
    eventually("its tab is free", async || click(&cursor, Some(1)).await.ok()).await;
}

#[tokio::test]
async fn a_read_only_hub_refuses_what_acts_and_reads_on() {
    let hub = hub(&["--read-only"]).await;
    let browser = browser(&hub, "chrome").await;
    let claude = client(&hub, "claude");
    let refused = click(&claude, Some(1)).await.unwrap_err();
    assert!(refused.contains("read-only"), "{refused}");
    call(&claude, "browser_snapshot", json!({"tab": 1})).await.unwrap();
    assert_eq!(clicks(&browser), 0);
}

/// Who a browser was told of last, by name.
fn told_clients(browser: &FakeApp) -> Vec<Value> {
    let events = browser.received("event");
    let told = events.iter().rev().find(|event| event["name"] == "clients");
    let clients = told.map(|event| event["data"]["clients"].as_array().unwrap().clone());
    clients.unwrap_or_default().iter().map(|client| client["name"].clone()).collect()
}

#[tokio::test]
async fn a_browser_hears_of_clients_that_have_never_called_it() {
    let hub = hub(&[]).await;
    let first = browser(&hub, "first").await;
    let claude = client(&hub, "claude");
    call(&claude, "browser_instance", json!({"action": "list"})).await.unwrap();
    let told = async |browser: &FakeApp, names: &[&str]| {
        eventually("it is told", async || (told_clients(browser) == names).then_some(())).await;
    };
    told(&first, &["claude"]).await;
    let mut cursor = StdioOptions::of(PROGRAM, &hub).connect(Era::Modern).await;
    cursor.call("browser_instance", json!({"action": "list"})).await.result();
    eventually("two are told", async || (told_clients(&first).len() == 2).then_some(())).await;
    // Who comes later is told too, and who leaves is told no more.
    let mut second = FakeBrowser::browser(hub.port(), "second").able("tab_owners");
    second.connect().await;
    assert!(second.until_delivered(1).await);
    let told_second = &second.seen.delivered[0];
    assert_eq!(told_second["data"]["clients"].as_array().map(Vec::len), Some(2), "{told_second}");
    cursor.finish().await;
    told(&first, &["claude"]).await;
}
