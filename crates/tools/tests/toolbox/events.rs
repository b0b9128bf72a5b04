//! Events as a pull: what there is, what comes, and how much of it is told at once.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::fake::{Peer, Stage};

async fn look(stage: &Stage, more: Value) -> Value {
    let mut args = json!({"until": "event", "timeoutMs": 0});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    stage.call("wait_for", args).await.unwrap().structured
}

fn tell_all(chrome: &Peer) {
    chrome.event("console", json!({"tabId": 7, "text": "Out of Cheese"}));
    chrome.event("network", json!({"tabId": 7, "url": "https://a.example/cheese"}));
    chrome.event("dialog", json!({"tabId": 8, "type": "alert"}));
    chrome.event("download", json!({"filename": "a.pdf"}));
    chrome.event("navigation", json!({"tabId": 8, "url": "https://a.example/"}));
    chrome.event("painted", json!({"color": "red"}));
}

fn names(answer: &Value) -> Vec<&str> {
    let events = answer["events"].as_array().into_iter().flatten();
    events.map(|event| event["name"].as_str().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn just_looking_tells_what_there_is_at_once() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let begun = Instant::now();
    let nothing = look(&stage, json!({})).await;
    assert_eq!((&nothing["happened"], names(&nothing).len()), (&json!(false), 0));
    tell_all(&chrome);
    let all = look(&stage, json!({})).await;
    let expected = ["console", "network", "dialog", "download", "navigation", "painted"];
    assert_eq!(names(&all), expected);
    for (narrow, expected) in [
        (json!({"event": "dialog"}), &["dialog"][..]),
        (json!({"tab": 7}), &["console", "network"]),
        (json!({"contains": "CHEESE"}), &["console", "network"]),
        (json!({"contains": "cheese", "event": "console", "tab": 7}), &["console"]),
        (json!({"since": nothing["next"]}), &expected),
        (json!({"since": all["next"]}), &[]),
        (json!({"event": "nothing"}), &[]),
    ] {
        let answer = look(&stage, narrow.clone()).await;
        assert_eq!(names(&answer), expected, "{narrow}");
        assert_eq!(answer["happened"], !expected.is_empty());
        assert_eq!(answer["next"], all["next"], "{narrow}: the cursor moves on all the same");
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn waiting_begins_now_unless_a_cursor_is_given() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    tell_all(&chrome);
    let waiting = stage.call("wait_for", json!({"until": "event", "event": "console"}));
    let (waited, ()) =
        tokio::join!(waiting, async { chrome.event("console", json!({"text": "new"})) });
    assert_eq!(waited.unwrap().structured["events"][0]["data"]["text"], "new");
}

#[tokio::test]
async fn an_answer_has_the_newest_fifty_and_says_what_is_left_out() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    for number in 0..70 {
        chrome.event("console", json!({"number": number}));
    }
    let output = stage.call("wait_for", json!({"until": "event", "timeoutMs": 0})).await.unwrap();
    let events = output.structured["events"].as_array().unwrap();
    assert_eq!((events.len(), &events[0]["data"]["number"]), (50, &json!(20)));
    assert_eq!(output.structured["leftOut"], 20);
    assert!(output.text.starts_with("(20 older ones are left out"), "{}", output.text);
}

#[tokio::test]
async fn long_events_are_cut_and_fewer() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    for _ in 0..40 {
        chrome.event("console", json!({"text": "ä".repeat(5000)}));
    }
    let output = stage.call("wait_for", json!({"until": "event", "timeoutMs": 0})).await.unwrap();
    assert!(output.text.len() < 25_000, "{}", output.text.len());
    let events = output.structured["events"].as_array().unwrap();
    assert!(!events.is_empty() && events[0]["data"].as_str().unwrap().chars().count() <= 2100);
    assert_eq!(output.structured["leftOut"], 40 - events.len());
}
