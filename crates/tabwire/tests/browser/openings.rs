//! Windows that pages open: they belong to the client whose action opened them.

use serde_json::json;

use crate::stage::Stage;

/// Clicks on what opens a window, and looks whose it is.
async fn check(selector: &str, name: &str) {
    let stage = Stage::at("/signals.html").await;
    let (site, client) = (&stage.site, &stage.client);
    let codex = stage.another_client("codex");
    let first = stage.open("/signals.html").await;
    let clicked = client.click(selector).await;
    let tab = clicked["newTab"]["tab"].as_u64().unwrap_or_else(|| panic!("{clicked}"));
    assert_eq!(clicked["newTab"]["url"], site.url(&format!("/tab.html?{name}")));
    assert_eq!(clicked["url"], first["url"], "the page itself is still there");
    site.reported("loaded", json!(name)).await;
    let entry = client.listed("the new tab", |entry| entry["tab"] == tab).await;
    assert_eq!(entry["owner"], "yours", "{entry}");
    let click = json!({"tab": tab, "selector": "#mark"});
    codex.refused("click", click.clone(), "tab_occupied").await;
    client.interact("click", click).await;
    assert_eq!(client.seen(site, json!({"tab": tab})).await, ["click mark"]);
    client.tab("close", json!({"tab": tab})).await;
    site.reported("gone", json!(name)).await;
}

#[tokio::test]
async fn a_window_that_a_link_opens_belongs_to_the_client() {
    check("#blank", "blank").await;
}

#[tokio::test]
async fn a_window_that_a_script_opens_belongs_to_the_client() {
    check("#open", "opened").await;
}

#[tokio::test]
async fn a_browser_is_started_with_a_page_that_is_loaded_and_the_clients_own() {
    let stage = Stage::alone().await;
    let other = stage.another_client("codex");
    let url = stage.site.url("/tab.html?first");
    let session = other.start_browser(json!({"url": url})).await;
    let here = json!({"session": session, "expression": "document.readyState + location.href"});
    assert_eq!(other.text("browser_execute", here).await, format!("complete{url}"));
}
