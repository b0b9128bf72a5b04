//! Tools of pages that have to be asked for.

use std::time::Duration;

use model::{Change, CloseReason, Code, Tab, TabId, ToolSpec};
use serde_json::json;
use tokio::time::Instant;
use tools::{ToolboxSettings, direct_pages::Origins};

use crate::fake::{Abilities, Stage, spec};

const WEBMCP: Abilities<'static> = Abilities {
    commands: &["browser_tab_new"],
    capabilities: &["discover_tools"],
    tabs: &[7, 8],
    at_home: false,
};

#[tokio::test(start_paused = true)]
async fn a_silent_tab_is_named_and_costs_the_others_nothing() {
    let stage = Stage::start();
    let chrome = stage.able("chrome", WEBMCP).await;
    chrome.declares(7, &[spec("buy", false)]);
    let start = Instant::now();
    let listed = stage.call("page_tools", json!({"action": "list"})).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    assert_eq!(listed.structured["tools"][0]["tool"], "buy");
    assert_eq!(listed.structured["silent"][0]["tab"], 8);
    assert!(listed.text.contains("(tab 8 of chrome could not be asked: no reply"), "{listed:?}");
    let only = stage.call("page_tools", json!({"action": "list", "tabId": 7})).await.unwrap();
    assert_eq!(only.structured["silent"], json!(null), "the other tab was not asked");
    let found = json!({"action": "find", "query": "does buy", "tab": 7});
    assert_eq!(stage.call("page_tools", found).await.unwrap().structured["total"], 1);
}

#[tokio::test]
async fn a_tool_that_nobody_told_of_is_asked_for_when_it_is_called() {
    let stage = Stage::start();
    let chrome = stage.able("chrome", WEBMCP).await;
    chrome.declares(7, &[spec("buy", false)]);
    chrome.declares(8, &[]);
    let call = json!({"action": "call", "tool": "buy", "args": {"color": "red"}});
    stage.call("page_tools", call).await.unwrap();
    assert_eq!(chrome.last(), ("buy".to_owned(), json!({"color": "red"}), Some(7)));
}

#[tokio::test]
async fn a_crowd_of_tabs_is_asked_in_part() {
    let stage = Stage::start();
    let tabs: Vec<_> = (1..=40).collect();
    let chrome = stage.able("chrome", Abilities { tabs: &tabs, ..WEBMCP }).await;
    for tab in &tabs {
        chrome.declares(*tab, &[]);
    }
    let listed = stage.call("page_tools", json!({"action": "list"})).await.unwrap();
    assert_eq!(chrome.calls(), 32);
    assert!(listed.text.contains("(8 more tabs were not asked"), "{}", listed.text);
}

#[tokio::test]
async fn browsers_that_tell_by_themselves_are_not_asked() {
    let stage = Stage::start();
    let chrome = stage.able("chrome", Abilities { capabilities: &[], ..WEBMCP }).await;
    stage.call("page_tools", json!({"action": "list"})).await.unwrap();
    assert_eq!(chrome.calls(), 0);
}

#[tokio::test]
async fn a_listed_page_tool_is_called_in_a_trusted_page_only() {
    let stage = Stage::start();
    let chrome = stage.able("chrome", Abilities { tabs: &[7, 8], ..Abilities::default() }).await;
    for tab in [7, 8] {
        let tools = vec![spec("buy", false)];
        chrome.change(Change::ToolsChanged { tab: Some(TabId(tab)), tools });
    }
    let direct_pages = Origins::parse(&["https://7.example".to_owned()]).unwrap();
    stage.toolbox.reconfigure(ToolboxSettings { direct_pages, ..ToolboxSettings::default() });
    let other = json!({"action": "call", "tool": "buy", "tab": 8, "args": {"color": "red"}});
    stage.call("page_tools", other).await.unwrap();
    assert_eq!(chrome.last().2, Some(8), "now that is the tab that was used last");
    stage.call("page.buy", json!({"color": "red"})).await.unwrap();
    assert_eq!(chrome.last().2, Some(7));
    let fault = stage.call("page.buy", json!({"color": "red", "tab": 8})).await.unwrap_err();
    assert_eq!(fault.code, Code::UnknownTool, "{fault}");
    assert_eq!(chrome.calls(), 2, "it has not reached the other page");
}

#[tokio::test]
async fn an_app_has_no_tabs_and_no_pages_of_others() {
    let stage = Stage::start();
    let app = stage.claiming_app("app", WEBMCP).await;
    app.declares(7, &[spec("buy", false)]);
    let tools = vec![spec("buy", false)];
    let claims = [
        Change::TabCreated(tab_at(7, "https://shop.example/")),
        Change::TabUpdated(tab_at(7, "https://shop.example/")),
        Change::TabFocused(TabId(7)),
        Change::ToolsChanged { tab: Some(TabId(7)), tools },
    ];
    for claim in claims {
        let closing = app.try_change(claim).unwrap_err();
        assert_eq!(closing.reason, CloseReason::ProtocolError);
    }
    let listed = stage.call("page_tools", json!({"action": "list"})).await.unwrap();
    assert_eq!((listed.structured["total"].as_u64(), app.calls()), (Some(0), 0));
    let call = json!({"action": "call", "tool": "buy", "args": {"color": "red"}});
    assert_eq!(stage.call("page_tools", call).await.unwrap_err().code, Code::UnknownTool);
}

fn tab_at(id: u64, url: &str) -> Tab {
    Tab { id: TabId(id), title: String::new(), url: url.to_owned(), active: false }
}

#[tokio::test]
async fn a_frame_in_a_trusted_page_is_trusted_by_its_own_origin() {
    let stage = Stage::start();
    let chrome = stage.able("chrome", Abilities { tabs: &[7], ..Abilities::default() }).await;
    let of_frame = |name: &str, origin: &str| {
        let origin = Some(origin.to_owned());
        ToolSpec { origin, ..spec(name, false) }
    };
    let tools = vec![
        spec("buy", false),
        of_frame("advise", "https://ads.example"),
        of_frame("pay", "https://8.example"),
        of_frame("hide", "null"),
    ];
    chrome.change(Change::ToolsChanged { tab: Some(TabId(7)), tools });
    let trusted = ["https://7.example", "https://8.example"].map(str::to_owned);
    let direct_pages = Origins::parse(&trusted).unwrap();
    stage.toolbox.reconfigure(ToolboxSettings { direct_pages, ..ToolboxSettings::default() });
    let listed = stage.toolbox.list();
    let pages: Vec<_> = listed.iter().filter(|tool| tool.name.starts_with("page.")).collect();
    let names: Vec<_> = pages.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["page.buy", "page.pay"]);
    let words = &pages[1].description;
    assert!(words.contains("declared by https://8.example)"), "{words}");
    let refused = stage.call("page.advise", json!({"color": "red"})).await.unwrap_err();
    assert_eq!(refused.code, Code::UnknownTool);
    let all = stage.call("page_tools", json!({"action": "list"})).await.unwrap();
    assert!(all.text.contains("from a frame of https://ads.example in https://7"), "{}", all.text);
}
