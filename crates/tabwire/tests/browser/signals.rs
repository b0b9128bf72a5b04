//! What an action says that came of it: it returns when the page is through with it, not before.

use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn what_changed_in_the_page_is_told() {
    let stage = &Stage::at("/signals.html").await;
    let nothing = json!({"action": "click", "selector": "#nothing"});
    let words = stage.client.text("browser_interact", nothing).await;
    assert!(words.contains("nothing changed in the page"), "{words}");
    let changed = stage.client.click("#sync").await;
    let changes = &changed["changes"];
    // The text is a node that takes another's place, the paragraph is added.
    let counts = ["added", "removed", "attributes"].map(|what| changes[what].as_u64());
    assert_eq!(counts, [Some(2), Some(1), Some(1)], "{changed}");
    assert_eq!(stage.client.evaluate("at('out').textContent").await, "changed");
    assert_eq!(stage.seen().await, ["click nothing", "click sync"]);
}

#[tokio::test]
async fn what_is_fetched_is_there_when_the_call_returns() {
    let Stage { site, client, .. } = &Stage::at("/signals.html").await;
    let fetched = client.click("#fetch").await;
    assert_eq!(client.evaluate("at('out').textContent").await, "late rendered");
    // The browser may ask for an icon at the same time.
    assert!(fetched["requests"].as_u64() >= Some(1) && fetched["busy"].is_null(), "{fetched}");
    let fetched = client.click("#chain").await;
    assert_eq!(client.evaluate("at('out').textContent").await, "late and late");
    assert!(fetched["requests"].as_u64() >= Some(2), "{fetched}");
    // What never ends is not waited for, and that is said.
    let words = json!({"action": "click", "selector": "#forever"});
    let words = client.text("browser_interact", words).await;
    assert!(words.contains("the page is still busy"), "{words}");
    site.let_go("forever");
    let seen = client.seen(site, json!({})).await;
    assert_eq!(seen, ["click fetch", "click chain", "click forever"]);
}

#[tokio::test]
async fn a_click_that_leads_elsewhere_says_where_to() {
    let Stage { site, client, .. } = &Stage::at("/signals.html").await;
    let pushed = client.click("#push").await;
    assert_eq!(pushed["url"], site.url("/pushed?page=2"));
    assert_eq!((&pushed["sameDocument"], &pushed["title"]), (&json!(true), &json!("Pushed")));
    assert_eq!(client.evaluate("at('out').textContent").await, "second page");
    let hash = client.click("#hash").await;
    assert_eq!(hash["url"], site.url("/pushed?page=2#there"));
    assert_eq!((&hash["sameDocument"], &hash["navigated"]), (&json!(true), &json!(null)));
    assert_eq!(client.seen(site, json!({})).await, ["click push", "click hash"]);

    client.go(&site.url("/signals.html")).await;
    let led = client.click("#link").await;
    assert_eq!(
        (&led["url"], &led["navigated"]),
        (&json!(site.url("/arrived.html?link")), &json!(true))
    );
    assert_eq!(led["title"], "Arrived");
    site.reported("arrived", json!("/arrived.html?link")).await;
    client.go(&site.url("/signals.html")).await;
    let led = client.click("#slow").await;
    assert_eq!(led["url"], site.url("/slow?ms=300&then=/arrived.html"));
    assert_eq!(client.evaluate("document.title").await, "Arrived");
}
