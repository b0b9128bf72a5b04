//! References: each means one thing in one document, and nothing else ever after.

use serde_json::{Value, json};
use testkit::eventually;

use crate::stage::{Driver, Stage, reference_in};

/// Tries every action with a reference to what is gone.
async fn check_dead(client: &Driver, reference: &str) {
    for (action, more) in [
        ("click", json!({})),
        ("hover", json!({})),
        ("type", json!({"text": "x"})),
        ("check", json!({})),
        ("drag", json!({"toX": 1, "toY": 1})),
    ] {
        let args = crate::stage::with(json!({"ref": reference}), more);
        let words = client.refused(action, args, "DEAD_REFERENCE").await;
        assert!(words.contains(reference) && words.contains("snapshot"), "{words}");
    }
    let args = json!({"ref": reference});
    client.fails("browser_snapshot", args, "DEAD_REFERENCE").await;
}

async fn click(client: &Driver, reference: &str) -> Value {
    client.interact("click", json!({"ref": reference})).await
}

#[tokio::test]
async fn a_reference_follows_its_node_and_dies_with_it() {
    let stage = &Stage::at("/list.html").await;
    let client = &stage.client;
    let shown = client.snapshot().await;
    let [ann, bob, cyd] = ["Ann", "Bob", "Cyd"].map(|it| reference_in(&shown, it));
    // Moved: the same nodes in other places.
    client.evaluate("reverse()").await;
    click(client, &ann).await;
    click(client, &cyd).await;
    assert_eq!(stage.seen().await, ["click Ann", "click Cyd"]);
    // Renamed: still the same node.
    client.evaluate("at('list').lastElementChild.firstElementChild.textContent = 'Anna'").await;
    assert_eq!(click(client, &ann).await["element"]["name"], "Anna");
    assert_eq!(stage.seen().await, ["click Anna"]);
    // Removed.
    client.evaluate("at('list').lastElementChild.remove()").await;
    check_dead(client, &ann).await;
    click(client, &bob).await;
    assert_eq!(stage.seen().await, ["click Bob"]);
    // Written anew: it looks the same and is not.
    client.evaluate("render(['Ann', 'Bob', 'Cyd'])").await;
    for reference in [&ann, &bob, &cyd] {
        check_dead(client, reference).await;
    }
    assert!(stage.seen().await.is_empty());
    let new = client.reference("Bob").await;
    assert!(![&ann, &bob, &cyd].contains(&&new), "{new} was used before");
    click(client, &new).await;
    assert_eq!(stage.seen().await, ["click Bob"]);
}

#[tokio::test]
async fn a_reference_dies_with_its_document() {
    let Stage { site, client, .. } = &Stage::at("/list.html").await;
    let shown = client.snapshot().await;
    let ann = reference_in(&shown, "Ann");
    client.go(&site.url("/list.html")).await;
    check_dead(client, &ann).await;
    client.call("browser_navigate", json!({"action": "reload"})).await;
    let new = client.reference("Ann").await;
    assert_ne!(new, ann);
    check_dead(client, &ann).await;
    assert!(client.seen(site, json!({})).await.is_empty());
    click(client, &new).await;
    assert_eq!(client.seen(site, json!({})).await, ["click Ann"]);
}

#[tokio::test]
async fn a_reference_into_a_frame_dies_when_the_frame_is_loaded_again() {
    let Stage { site, client, .. } = &Stage::at("/list.html").await;
    site.report("frame loaded").await;
    let framed = client.reference("Framed").await;
    click(client, &framed).await;
    assert_eq!(client.seen(site, json!({})).await, ["click Framed"]);
    site.forget();
    client.evaluate("at('frame').contentWindow.location.reload()").await;
    site.report("frame loaded").await;
    check_dead(client, &framed).await;
    assert!(client.seen(site, json!({})).await.is_empty());
    let new = client.reference("Framed").await;
    assert_ne!(new, framed);
    click(client, &new).await;
    client.evaluate("at('frame').remove()").await;
    check_dead(client, &new).await;
    assert_eq!(client.seen(site, json!({})).await, ["click Framed"]);
}

#[tokio::test]
async fn a_reference_means_nothing_in_another_tab() {
    let Stage { site, client, .. } = &Stage::at("/list.html").await;
    // The second document of the other tab, so that the first tab has no such thing.
    let other = client.new_tab(&site.url("/list.html")).await;
    let reload = json!({"action": "reload", "tab": other});
    client.call("browser_navigate", reload).await;
    let shown = eventually("the frame is there", async || {
        let shown = client.text("browser_snapshot", json!({"tab": other})).await;
        shown.contains("Framed").then_some(shown)
    })
    .await;
    let theirs = reference_in(&shown, "Ann");
    let is_first = |it: &Value| it["title"] == "List" && it["tab"] != other;
    let first = client.listed("the first tab", is_first).await["tab"].clone();
    let args = json!({"ref": theirs, "tab": first});
    client.refused("click", args, "DEAD_REFERENCE|ELEMENT_NOT_FOUND").await;
    assert!(client.seen(site, json!({"tab": first})).await.is_empty());
    assert!(client.seen(site, json!({"tab": other})).await.is_empty());
}
