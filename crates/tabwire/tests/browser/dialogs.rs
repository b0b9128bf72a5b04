//! Dialogs: told at once, in everybody's way until they are answered, and answered as wanted.

use serde_json::{Value, json};

use crate::stage::{Driver, Stage, with};

async fn answer(client: &Driver, how: &str, more: Value) -> Value {
    let args = with(json!({"action": "dialog", "dialogAction": how}), more);
    client.call("browser_debug", args).await
}

#[tokio::test]
async fn a_click_that_opens_a_dialog_says_so_and_the_answer_reaches_the_page() {
    let stage = Stage::at("/dialogs.html").await;
    let client = &stage.client;
    for (kind, message, how, text, expected) in [
        ("alert", "Mind the gap", "accept", None, "alert closed"),
        ("confirm", "Really?", "accept", None, "confirm true"),
        ("confirm", "Really?", "dismiss", None, "confirm false"),
        ("prompt", "Your name?", "accept", Some("Zoë 🦊"), "prompt \"Zoë 🦊\""),
        ("prompt", "Your name?", "dismiss", None, "prompt null"),
    ] {
        let clicked = client.click(&format!("#{kind}")).await;
        assert_eq!(clicked["dialog"]["type"], kind, "{clicked}");
        assert_eq!(clicked["dialog"]["message"], message, "{clicked}");
        if kind == "prompt" {
            assert_eq!(clicked["dialog"]["defaultValue"], "nobody", "{clicked}");
        }
        let more = text.map_or(json!({}), |text| json!({"promptText": text}));
        let handled = answer(client, how, more).await;
        assert_eq!(handled["handled"], json!({"type": kind, "message": message}));
        assert_eq!(stage.seen().await, [expected]);
    }
    let none = json!({"action": "dialog", "dialogAction": "accept"});
    client.fails("browser_debug", none, "NO_DIALOG").await;
}

#[tokio::test]
async fn nothing_else_is_done_while_a_dialog_is_open_and_the_error_names_it() {
    let stage = Stage::at("/dialogs.html").await;
    let (site, client) = (&stage.site, &stage.client);
    let click = json!({"action": "click", "selector": "#confirm"});
    let words = client.text("browser_interact", click).await;
    assert!(words.contains("a dialog is open: confirm \"Really?\""), "{words}");
    for (tool, args) in [
        ("browser_interact", json!({"action": "click", "selector": "#alert"})),
        ("browser_interact", json!({"action": "press", "key": "Enter"})),
        ("browser_execute", json!({"expression": "note('passed by')"})),
        ("browser_snapshot", json!({})),
        ("browser_content", json!({"action": "screenshot"})),
        ("browser_navigate", json!({"action": "wait", "text": "Confirm"})),
        ("browser_navigate", json!({"url": site.url("/arrived.html")})),
    ] {
        let words = client.fails(tool, args, "DIALOG_OPEN").await;
        assert!(words.contains("confirm") && words.contains("Really?"), "{words}");
        assert!(words.contains("browser_debug"), "how to answer it is said: {words}");
    }
    // Another tab of the same client is not in its way.
    let other = client.new_tab(&site.url("/tab.html?other")).await;
    client.interact("click", json!({"tab": other, "selector": "#mark"})).await;
    assert_eq!(client.seen(site, json!({"tab": other})).await, ["click mark"]);
    let first = client.listed("the first tab", |it| it["title"] == "Dialogs").await["tab"].clone();
    answer(client, "accept", json!({"tab": first})).await;
    assert_eq!(client.seen(site, json!({"tab": first})).await, ["confirm true"]);
}

#[tokio::test]
async fn a_page_that_asks_before_it_is_left_stays_or_goes_as_answered() {
    let stage = Stage::at("/dialogs.html").await;
    let (site, client) = (&stage.site, &stage.client);
    client.click("#guard").await;
    let away = site.url("/arrived.html");
    let asked = client.go(&away).await;
    assert_eq!(asked["dialog"]["type"], "beforeunload", "{asked}");
    answer(client, "dismiss", json!({})).await;
    assert_eq!(client.evaluate("document.title").await, "Dialogs");
    assert!(site.reports("left").is_empty());

    assert_eq!(client.go(&away).await["dialog"]["type"], "beforeunload");
    answer(client, "accept", json!({})).await;
    site.reported("arrived", json!("/arrived.html")).await;
    site.report("left").await;
    assert_eq!(client.evaluate("document.title").await, "Arrived");
}
