//! What cannot be done: each a clear error with its own code, and nothing happens in the page.

use serde_json::{Value, json};

use crate::stage::{Stage, code, with};

#[tokio::test]
async fn what_cannot_be_touched_is_told_apart_and_not_touched() {
    let stage = &Stage::at("/obstacles.html").await;
    let client = &stage.client;
    for (action, args, code, named) in [
        ("click", json!({"ref": "e99999"}), "DEAD_REFERENCE|ELEMENT_NOT_FOUND", "e99999"),
        ("click", json!({"ref": "d77e1"}), "DEAD_REFERENCE|ELEMENT_NOT_FOUND", "d77e1"),
        ("click", json!({"ref": "button"}), "INVALID_ARGUMENT", "button"),
        ("click", json!({"selector": "##"}), "INVALID_SELECTOR", "##"),
        ("click", json!({"selector": "div[a="}), "INVALID_SELECTOR", r"div\[a="),
        ("click", json!({"selector": "#nothing"}), "ELEMENT_NOT_FOUND", "#nothing"),
        ("click", json!({"text": "No such words"}), "ELEMENT_NOT_FOUND", "No such words"),
        ("click", json!({"selector": "#gone"}), "ELEMENT_HIDDEN", "\"Gone\""),
        ("click", json!({"selector": "#unseen"}), "ELEMENT_HIDDEN", "\"Unseen\""),
        ("click", json!({"selector": "#off"}), "ELEMENT_DISABLED", "\"Off\""),
        ("click", json!({"selector": "#covered"}), "ELEMENT_COVERED", "Cookies"),
        ("click", json!({"x": -5, "y": 10}), "INVALID_ARGUMENT|ELEMENT_NOT_FOUND", "-5"),
        ("click", json!({"x": 90_000, "y": 10}), "INVALID_ARGUMENT|ELEMENT_NOT_FOUND", "90000"),
        ("type", json!({"selector": "#off-text", "text": "x"}), "ELEMENT_DISABLED", "\"Off too\""),
        (
            "type",
            json!({"selector": "#fixed", "text": "x"}),
            "WRONG_ELEMENT|ELEMENT_DISABLED",
            "read",
        ),
        ("type", json!({"selector": "#words", "text": "x"}), "WRONG_ELEMENT", "field"),
        ("select", json!({"selector": "#text", "value": "x"}), "WRONG_ELEMENT", "\"Text\""),
        ("check", json!({"selector": "#text"}), "WRONG_ELEMENT", "check box"),
        ("submit", json!({"selector": "#words"}), "WRONG_ELEMENT|ELEMENT_NOT_FOUND", "form"),
        ("scroll", json!({"selector": "#nothing"}), "ELEMENT_NOT_FOUND", "#nothing"),
        (
            "drag",
            json!({"selector": "#text", "toSelector": "#nothing"}),
            "ELEMENT_NOT_FOUND",
            "#nothing",
        ),
    ] {
        let words = client.refused(action, args.clone(), code).await;
        assert!(words.contains(named), "{action} {args}: {named:?} is not in {words:?}");
    }
    assert!(stage.seen().await.is_empty());
    assert_eq!(client.evaluate("at('fixed').value").await, "as it is");
}

#[tokio::test]
async fn what_is_covered_is_named_with_a_reference_and_can_be_forced() {
    let stage = &Stage::at("/obstacles.html").await;
    let client = &stage.client;
    let words = client.refused("click", json!({"selector": "#covered"}), "ELEMENT_COVERED").await;
    let cover = client.reference("dialog \"Cookies\"").await;
    assert!(words.contains(&cover), "the cover's reference {cover} is not in {words:?}");
    client.evaluate("at('cover').remove()").await;
    client.click("#covered").await;
    assert_eq!(stage.seen().await, ["click covered"]);
    stage.open("/obstacles.html").await;
    client.interact("click", json!({"selector": "#covered", "force": true})).await;
    assert_eq!(stage.seen().await, ["click cover"], "a forced click hits what is there");
}

#[tokio::test]
async fn a_selector_that_fits_several_never_acts_twice() {
    let stage = &Stage::at("/obstacles.html").await;
    let args = json!({"action": "click", "selector": ".twin"});
    let result = stage.client.result("browser_interact", args).await;
    let clicks = stage.seen().await.len();
    match result["isError"] == true {
        true => assert_eq!((code(&result), clicks), ("INVALID_SELECTOR", 0), "{result}"),
        false => assert_eq!(clicks, 1, "{result}"),
    }
}

#[tokio::test]
async fn a_client_without_a_tab_is_told_so() {
    let Stage { client, .. } = &Stage::start().await;
    let words = client.refused("click", json!({"selector": "#x"}), "unknown_tab").await;
    assert!(words.contains("tab"), "{words}");
}

#[tokio::test]
async fn a_closed_tab_is_named() {
    let Stage { site, client, .. } = &Stage::start().await;
    let tab = client.new_tab(&site.url("/obstacles.html")).await;
    client.tab("close", json!({"tab": tab})).await;
    for (tool, args) in [
        ("browser_interact", json!({"action": "click", "selector": "#x", "tab": tab})),
        ("browser_snapshot", json!({"tab": tab})),
        ("browser_snapshot", json!({"tab": 987_654})),
        ("browser_tab", json!({"action": "close", "tab": tab})),
    ] {
        let number = args["tab"].to_string();
        let words = client.fails(tool, args, "unknown_tab|TAB_NOT_FOUND").await;
        assert!(words.contains(&number), "{words}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_named() {
    let Stage { site, client, .. } = &Stage::at("/obstacles.html").await;
    for (action, args, named) in [
        ("click", json!({}), "selector"),
        ("click", json!({"selector": "#text", "button": "fourth"}), "middle"),
        ("click", json!({"selector": "#text", "clickCount": 9}), "clickCount"),
        ("click", json!({"selector": "#text", "colour": "red"}), "colour"),
        ("scroll", json!({"direction": "sideways"}), "left"),
        ("select", json!({"selector": "#text"}), "value"),
    ] {
        let args: Value = with(json!({"action": action}), args);
        let codes = "invalid_argument|INVALID_ARGUMENT";
        let words = client.fails("browser_interact", args, codes).await;
        assert!(words.contains(named), "{words}");
    }
    assert!(client.seen(site, json!({})).await.is_empty());
}
