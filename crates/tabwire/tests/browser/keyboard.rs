//! The keyboard: typing into every kind of field, and keys for what they do.

use serde_json::json;

use crate::stage::{Stage, with};

#[tokio::test]
async fn typing_replaces_or_adds_and_what_is_typed_is_what_is_there() {
    let stage = Stage::at("/keyboard.html").await;
    let client = &stage.client;
    let value = async |id: &str| client.evaluate(&format!("at('{id}').value")).await;
    let typed = client.interact("type", json!({"selector": "#name", "text": "new"})).await;
    assert_eq!((value("name").await, &typed["value"]), (json!("new"), &json!("new")));
    let name = client.reference("textbox \"Name\"").await;
    let more = json!({"ref": name, "text": "er", "clear": false});
    client.interact("type", more).await;
    assert_eq!(value("name").await, "newer");
    client.interact("type", json!({"text": "!", "delayMs": 1})).await;
    assert_eq!(value("name").await, "newer!", "what has the focus is typed into");

    let text = "Grüße 日本語 👩‍👩‍👧 e\u{301} <b>\"it's\"</b> \\n";
    client.interact("type", json!({"selector": "#name", "text": text})).await;
    assert_eq!(value("name").await, text);
    client.interact("type", json!({"selector": "#name", "text": ""})).await;
    assert_eq!(value("name").await, "");
    client.interact("type", json!({"selector": "#notes", "text": "one\ntwo\n"})).await;
    assert_eq!(value("notes").await, "one\ntwo\n");
    let typed = client.interact("type", json!({"selector": "#short", "text": "1234567"})).await;
    assert_eq!((value("short").await, &typed["value"]), (json!("12345"), &json!("12345")));
    client.interact("type", json!({"selector": "#many", "text": "42"})).await;
    assert_eq!(value("many").await, "42");
    client.interact("type", json!({"selector": "#day", "text": "2026-02-28"})).await;
    assert_eq!(value("day").await, "2026-02-28");
    client.interact("type", json!({"selector": "#free", "text": "free 👋"})).await;
    assert_eq!(client.evaluate("at('free').textContent").await, "free 👋");

    let untrusted: Vec<_> =
        stage.seen().await.into_iter().filter(|it| it.contains("untrusted")).collect();
    assert!(untrusted.iter().all(|it| it.contains(" day")), "{untrusted:?}");
}

#[tokio::test]
async fn typing_submits_when_it_is_told_to() {
    let stage = &Stage::at("/keyboard.html").await;
    let submit = json!({"selector": "#name", "text": "me", "submit": true});
    stage.client.interact("type", submit).await;
    assert_eq!(stage.seen().await, ["change name", "submit me"]);
}

#[tokio::test]
async fn keys_do_what_they_do_for_a_person() {
    let stage = &Stage::at("/keyboard.html").await;
    let client = &stage.client;
    let focused = async || client.evaluate("document.activeElement.id").await;
    client.click("#name").await;
    client.evaluate("keys = true").await;
    for (key, expected) in [
        (json!({"key": "Tab"}), "keydown name Tab"),
        (json!({"key": "Tab", "shift": true}), "keydown short shift Tab"),
        (json!({"key": "ArrowDown"}), "keydown name ArrowDown"),
        (json!({"key": "Control+A"}), "keydown name ctrl a"),
        (json!({"key": "Escape"}), "keydown name Escape"),
        (json!({"key": "F2"}), "keydown name F2"),
    ] {
        client.interact("press", key.clone()).await;
        let seen = stage.seen().await;
        assert_eq!(seen.last().unwrap(), expected, "{key}: {seen:?}");
    }
    assert_eq!(focused().await, "name");
    client.evaluate("keys = false").await;
    client.interact("press", json!({"key": "Control+A"})).await;
    client.interact("press", json!({"key": "x"})).await;
    client.interact("press", json!({"key": "Y", "shift": true})).await;
    assert_eq!(client.evaluate("at('name').value").await, "xY");
    client.interact("press", json!({"key": "Backspace"})).await;
    assert_eq!(client.evaluate("at('name').value").await, "x");
    client.interact("press", json!({"key": "Enter"})).await;
    let seen = stage.seen().await;
    assert!(seen.contains(&"submit x".to_owned()), "{seen:?}");
    let words = client.refused("press", json!({"key": "Hyperspace"}), "INVALID_ARGUMENT").await;
    assert!(words.contains("Hyperspace"), "{words}");
}

#[tokio::test]
async fn a_key_for_an_element_gives_it_the_focus_first() {
    let stage = &Stage::at("/keyboard.html").await;
    let client = &stage.client;
    client.click("#name").await;
    client.evaluate("keys = true").await;
    let button = client.reference("button \"Button\"").await;
    let pressed = client.interact("press", json!({"key": "Escape", "ref": button})).await;
    assert_eq!(pressed["element"]["name"], "Button", "{pressed}");
    assert_eq!(stage.seen().await.last().unwrap(), "keydown button Escape");
    client.interact("press", json!({"key": "End", "selector": "#name"})).await;
    assert_eq!(stage.seen().await.last().unwrap(), "keydown name End");
    // A field that has the focus keeps its caret: the letter goes where the arrow led.
    client.interact("press", json!({"key": "ArrowLeft", "selector": "#name"})).await;
    client.interact("press", json!({"key": "x", "selector": "#name"})).await;
    assert_eq!(client.evaluate("at('name').value").await, "olxd");
    for (target, codes) in [
        (json!({"selector": "form"}), "WRONG_ELEMENT"),
        (json!({"selector": "#nothing"}), "ELEMENT_NOT_FOUND"),
        (json!({"selector": "#name", "ref": "e1"}), "INVALID_ARGUMENT"),
    ] {
        let press = with(json!({"key": "y"}), target);
        client.refused("press", press, codes).await;
    }
    assert_eq!(
        client.evaluate("at('name').value").await,
        "olxd",
        "what is refused presses nothing"
    );
}
