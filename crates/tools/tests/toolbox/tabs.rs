//! Which tab a call happens in, and what tabs there are.

use hub::Caller;
use model::{Change, ClientId, Code, Fault, TabId};
use serde_json::json;
use tools::Client;

use crate::fake::{Abilities, Stage, client, tab};

const WEBMCP: Abilities<'static> = Abilities {
    commands: &["browser_tab_new", "browser_tab_close", "browser_tab_activate"],
    capabilities: &["discover_tools"],
    tabs: &[],
    at_home: false,
};

#[tokio::test]
async fn the_tab_is_the_named_one_else_the_last_one_else_the_browsers_own() {
    let stage = Stage::start();
    let chrome = stage.able("chrome", Abilities { tabs: &[7, 8], ..Abilities::default() }).await;
    let back = json!({"action": "back"});
    stage.call("browser_navigate", back.clone()).await.unwrap();
    assert_eq!(chrome.last().2, None, "no tab was used before");
    stage.call("browser_navigate", json!({"action": "back", "tab": 8})).await.unwrap();
    stage.call("browser_navigate", back.clone()).await.unwrap();
    assert_eq!(chrome.last().2, Some(8), "the client's last one");
    let fault = stage.call("browser_navigate", json!({"action": "back", "tab": 9})).await;
    let fault = fault.unwrap_err();
    assert_eq!(fault.code, Code::UnknownTab);
    assert!(fault.to_string().contains("https://7.example/"), "{fault}");
    chrome.change(Change::TabClosed(TabId(8)));
    stage.call("browser_navigate", back).await.unwrap();
    assert_eq!(chrome.last().2, None, "a closed tab is not used again");
}

#[tokio::test]
async fn a_browser_that_tells_no_tabs_gets_the_number_as_it_is() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    stage.call("browser_navigate", json!({"action": "back", "tab": 42.0})).await.unwrap();
    assert_eq!(chrome.last().2, Some(42));
    stage.call("browser_tab", json!({"action": "close"})).await.unwrap();
    assert_eq!(chrome.last().2, Some(42), "the tab that this client used last");
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    stage.call("browser_navigate", json!({"action": "back"})).await.unwrap();
    assert_eq!(chrome.last().2, None, "it has a tab of its own");
}

#[tokio::test]
async fn a_tab_that_a_client_opens_is_its_last_one() {
    let stage = Stage::start();
    for (name, field) in [("one", "tab"), ("two", "tabId")] {
        let browser = stage.able(name, Abilities { tabs: &[7], ..Abilities::default() }).await;
        browser.change(Change::TabCreated(tab(9)));
        browser.answers("browser_tab_new", Ok(json!({field: 9})));
        stage.call("browser_tab", json!({"action": "new", "session": name})).await.unwrap();
        stage.call("browser_reload", json!({"session": name})).await.unwrap();
        assert_eq!(browser.last().2, Some(9));
        let mut other = client();
        other.caller.client = "somebody-else".parse().unwrap();
        let args = json!({"session": name});
        stage.toolbox.call(&other, "browser_reload", args).await.unwrap();
        assert_eq!(browser.last().2, None, "another client has its own");
    }
}

#[tokio::test]
async fn closing_in_a_browser_without_a_tab_of_its_own_needs_one() {
    let stage = Stage::start();
    let chrome = stage.able("chrome", Abilities { tabs: &[7, 8], ..WEBMCP }).await;
    for action in ["close", "activate"] {
        let fault = stage.call("browser_tab", json!({ "action": action })).await.unwrap_err();
        assert_eq!(fault.code, Code::UnknownTab);
        assert!(fault.to_string().contains("7 \"page 7\""), "{fault}");
    }
    stage.call("browser_tab", json!({"action": "activate", "tab": 7})).await.unwrap();
    stage.call("browser_tab", json!({"action": "close"})).await.unwrap();
    assert_eq!(chrome.last(), ("browser_tab_close".to_owned(), json!({}), Some(7)));
}

#[tokio::test]
async fn goto_opens_a_tab_where_that_is_all_a_browser_can() {
    let stage = Stage::start();
    let chrome = stage.able("chrome", Abilities { tabs: &[7, 9], ..WEBMCP }).await;
    chrome.answers("browser_tab_new", Ok(json!({"tab": 9})));
    let goto = json!({"url": "https://a.example/"});
    let output = stage.call("browser_navigate", goto.clone()).await.unwrap();
    assert!(output.text.starts_with("opened tab 9"), "{}", output.text);
    assert_eq!(output.structured, json!({"tab": 9, "opened": true}));
    assert_eq!(chrome.last(), ("browser_tab_new".to_owned(), goto.clone(), None));
    let fault = stage.call("browser_navigate", goto).await.unwrap_err();
    assert_eq!(fault.code, Code::Unsupported, "now a tab is known");
    assert!(fault.to_string().contains("tab 9") && fault.to_string().contains("browser_tab new"));
}

#[tokio::test]
async fn tabs_of_all_browsers_are_listed_from_whoever_knows_them() {
    let stage = Stage::start();
    let none = stage.call("browser_tab", json!({"action": "list"})).await.unwrap_err();
    assert_eq!(none.code, Code::NotConnected);
    let telling = stage.able("alpha", Abilities { tabs: &[7], ..WEBMCP }).await;
    let quiet = stage.able("beta", WEBMCP).await;
    let asked = stage.browser("gamma").await;
    let told = json!({"tabs": [{"id": 3, "title": "t", "url": "https://t.example/",
        "active": true, "index": 0}], "activeTabId": 3});
    asked.answers("browser_tab_list", Ok(told));
    let failing = stage.browser("omega").await;
    failing.answers("browser_tab_list", Err(Fault::new(Code::ToolFailed, "it broke")));
    let _app = stage.app("viewer").await;
    let all = stage.call("browser_tab", json!({"action": "list"})).await.unwrap();
    assert_eq!(
        all.text,
        "alpha:\n- 7 \"page 7\" https://7.example/\nbeta: no tabs\n\
         gamma:\n- 3 \"t\" https://t.example/ (active)\nomega: it broke",
    );
    assert_eq!(all.structured["tabs"][1]["session"], "gamma");
    assert_eq!(all.structured["tabs"][1]["tab"], 3);
    assert_eq!(all.structured["failed"][0]["session"], "omega");
    assert_eq!((telling.calls(), asked.calls()), (0, 1), "only who does not tell is asked");
    let one = stage.call("browser_tab", json!({"action": "list", "session": "alpha"})).await;
    assert_eq!(one.unwrap().structured["tabs"].as_array().unwrap().len(), 1);
    let args = json!({"action": "list", "session": "omega"});
    assert_eq!(stage.call("browser_tab", args).await.unwrap_err().message, "it broke");
    drop((telling, quiet, asked, failing));
    let none = stage.call("browser_tab", json!({"action": "list"})).await.unwrap_err();
    assert_eq!(none.code, Code::NotConnected, "all are away: {none}");
    let args = json!({"action": "list", "session": "alpha"});
    assert_eq!(stage.call("browser_tab", args).await.unwrap_err().code, Code::NotConnected);
}

#[tokio::test]
async fn the_name_of_another_client_stays_in_its_brackets() {
    let stage = Stage::start();
    let abilities = Abilities { capabilities: &["tab_owners"], tabs: &[7], ..Abilities::default() };
    let _chrome = stage.able("chrome", abilities).await;
    let caller = Caller::new(ClientId::parse("other").unwrap(), "local").named("x] [yours");
    let other = Client { caller, ..client() };
    let back = json!({"action": "back", "tab": 7});
    stage.toolbox.call(&other, "browser_navigate", back.clone()).await.unwrap();
    let listed = stage.call("browser_tab", json!({"action": "list"})).await.unwrap().text;
    assert!(listed.ends_with(r"https://7.example/ [of x\] \[yours]"), "{listed}");
    let fault = stage.call("browser_navigate", back).await.unwrap_err().to_string();
    assert!(fault.contains(r#"the client "x\] \[yours""#), "{fault}");
}
