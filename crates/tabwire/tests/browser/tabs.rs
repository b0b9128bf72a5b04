//! Tabs: opened behind the user's back, never in their way, and each with an owner.

use serde_json::{Value, json};
use testkit::eventually;

use crate::stage::{Driver, Stage};

/// What the list says about a tab; `null` when it is not there. Whose it is, the hub knows by
/// itself; the rest it is told after what a call does.
async fn listed(client: &Driver, tab: u64) -> Value {
    let list = client.tab("list", json!({})).await;
    let tabs = list["tabs"].as_array().unwrap();
    tabs.iter().find(|entry| entry["tab"] == tab).cloned().unwrap_or_default()
}

#[tokio::test]
async fn a_new_tab_opens_in_the_background_and_the_one_in_front_stays_in_front() {
    let Stage { site, client, .. } = &Stage::alone().await;
    let opened = client.tab("new", json!({"url": site.url("/tab.html?front"), "active": true}));
    let front = opened.await["tab"].as_u64().unwrap();
    site.reported("loaded", json!("front")).await;
    client.tab("release", json!({"tab": front})).await;
    for name in ["second", "third"] {
        let tab = client.new_tab(&site.url(&format!("/tab.html?{name}"))).await;
        let how = site.report(&format!("front when {name} loaded")).await;
        assert_eq!(how, json!({"visible": "visible", "lost": []}));
        let is_front = |entry: &Value| entry["tab"] == front && entry["active"] == true;
        client.listed("the tab in front", is_front).await;
        let behind = client.listed("the new tab", |entry| entry["tab"] == tab).await;
        assert_eq!(behind["active"], false, "{behind}");
    }
}

#[tokio::test]
async fn a_client_lists_shows_and_closes_its_own_tabs_and_no_others() {
    let stage = Stage::alone().await;
    let (site, claude, codex) = (&stage.site, &stage.client, stage.another_client("codex"));
    let its = codex.new_tab(&site.url("/tab.html?its")).await;
    let mut tabs = Vec::new();
    for name in ["one", "two", "three"] {
        tabs.push(claude.new_tab(&site.url(&format!("/tab.html?{name}"))).await);
        site.reported("loaded", json!(name)).await;
    }
    let [one, two, three] = tabs[..] else { panic!("{tabs:?}") };
    let is_named = |entry: &Value| entry["tab"] == one && entry["title"] == "Tab";
    let entry = claude.listed("the first tab with its title", is_named).await;
    assert_eq!(entry["owner"], "yours");
    assert_eq!(entry["url"], site.url("/tab.html?one"));
    assert_eq!(listed(claude, its).await["owner"], "of codex");
    assert_eq!(listed(&codex, one).await["owner"], "of claude");

    let shown = claude.tab("activate", json!({"tab": two})).await;
    assert_eq!(shown, json!({"tab": two, "active": true}));
    let is_shown = |entry: &Value| entry["tab"] == two && entry["active"] == true;
    claude.listed("the tab that is shown", is_shown).await;
    assert_eq!(claude.tab("close", json!({"tab": three})).await, json!({"closed": three}));
    site.reported("gone", json!("three")).await;
    eventually("the closed one is not listed", async || {
        listed(claude, three).await.is_null().then_some(())
    })
    .await;

    let closed = claude.tab("close_others", json!({"tab": one})).await;
    assert_eq!(closed, json!({"closed": [two]}));
    site.reported("gone", json!("two")).await;
    codex.click("#mark").await;
    assert_eq!(codex.seen(site, json!({})).await, ["click mark"]);
    claude.interact("click", json!({"tab": one, "selector": "#mark"})).await;
    assert_eq!(claude.seen(site, json!({"tab": one})).await, ["click mark"]);
}

#[tokio::test]
async fn a_tab_of_another_client_is_out_of_reach_until_it_is_released_or_handed_over() {
    let stage = Stage::alone().await;
    let (site, claude, codex) = (&stage.site, &stage.client, stage.another_client("codex"));
    let tab = claude.new_tab(&site.url("/tab.html?its")).await;
    let click = json!({"tab": tab, "selector": "#mark"});
    let words = codex.refused("click", click.clone(), "tab_occupied").await;
    assert!(words.contains("belongs to the client \"claude\""), "{words}");
    for (tool, args) in [
        ("browser_snapshot", json!({"tab": tab})),
        ("browser_execute", json!({"tab": tab, "expression": "note('intruder')"})),
        ("browser_navigate", json!({"tab": tab, "url": site.url("/other.html")})),
        ("browser_tab", json!({"tab": tab, "action": "close"})),
        ("browser_tab", json!({"tab": tab, "action": "hand_over", "to": "codex"})),
    ] {
        let words = codex.fails(tool, args, "tab_occupied").await;
        assert!(words.contains("\"claude\""), "{words}");
    }
    assert!(claude.seen(site, json!({"tab": tab})).await.is_empty());

    claude.tab("hand_over", json!({"tab": tab, "to": "codex"})).await;
    assert_eq!(listed(claude, tab).await["owner"], "kept for codex");
    codex.interact("click", click.clone()).await;
    assert_eq!(codex.seen(site, json!({"tab": tab})).await, ["click mark"]);
    let words = claude.refused("click", click.clone(), "tab_occupied").await;
    assert!(words.contains("\"codex\""), "{words}");

    codex.tab("release", json!({"tab": tab})).await;
    assert_eq!(listed(claude, tab).await.get("owner"), None);
    claude.interact("click", click).await;
    assert_eq!(claude.seen(site, json!({"tab": tab})).await, ["click mark"]);
}
