//! Commands: confirmed, unconfirmed, lost, never sent; and the notice before every call.

use std::time::Duration;

use model::{Code, Retry};
use serde_json::{Value, json};
use tools::manifest::Manifest;

use crate::page::{Manner, Stage, client, state};

#[tokio::test(start_paused = true)]
async fn a_command_without_a_push_is_sent_but_unconfirmed() {
    let stage = Stage::start();
    let page = stage.peer("page", "hello3d", Manner::Silent).await;
    let begun = tokio::time::Instant::now();
    let output = stage.call("change_model_color", json!({"color": "snow"})).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(2), "the manifest's time");
    let expected = "change_model_color was sent, but is unconfirmed: \
                    the page did not push its state within 2s; read it with forceRefresh";
    assert!(output.text.starts_with(expected), "{}", output.text);
    assert_eq!(output.structured["confirmed"], false);
    assert_eq!(page.commands(), [("changeColor".to_owned(), json!({"color": "#ffffff"}))]);
}

/// A page on our own protocol says when it is done: however long it takes, nothing is guessed.
#[tokio::test(start_paused = true)]
async fn a_page_of_our_own_that_is_slow_is_waited_for() {
    let stage = Stage::start();
    let slow = Manner::Slow(Duration::from_secs(10));
    let page = stage.own_page_that("viewer", "manifest:hello3d", slow).await;
    let first = stage.call("walk_key_light_in", json!({}));
    let second = stage.call("walk_key_light_out", json!({}));
    let (first, second) = tokio::join!(first, second);
    for output in [first.unwrap(), second.unwrap()] {
        assert_eq!(output.structured["confirmed"], true, "{}", output.text);
    }
    assert_eq!(page.commands().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_only_waited_was_not_sent_and_says_so() {
    let stage = Stage::start();
    let page = stage.peer("page", "hello3d", Manner::Silent).await;
    let first = stage.call("walk_key_light_in", json!({}));
    let hasty = tools::Client { timeout: Some(Duration::from_millis(500)), ..client("test") };
    let second = stage.call_as(&hasty, "walk_key_light_out", json!({}));
    let (_, second) = tokio::join!(first, second);
    let fault = second.unwrap_err();
    assert_eq!((fault.code, fault.retry), (Code::TimedOut, Retry::Now), "{}", fault.message);
    assert_eq!(page.commands(), [("walkKeyLightIn".to_owned(), json!({}))]);
}

#[tokio::test]
async fn a_page_that_goes_away_during_a_command_leaves_the_outcome_open() {
    let stage = Stage::start();
    let _page = stage.peer("page", "hello3d", Manner::Leaving).await;
    let fault = stage.call("swing_fill_light_up", json!({})).await.unwrap_err();
    assert_eq!(fault.code, Code::OutcomeUnknown, "{fault}");
}

#[tokio::test]
async fn a_command_for_a_page_that_is_away_says_how_to_connect_it() {
    let stage = Stage::start();
    drop(stage.page("page").await);
    let fault = stage.call("swing_fill_light_up", json!({})).await.unwrap_err();
    assert_eq!(fault.code, Code::NotConnected);
    assert!(fault.message.contains("nothing was sent"), "{fault}");
    assert!(fault.hint.unwrap().contains("get_browser_connection_url"));
}

#[tokio::test]
async fn where_things_stand_is_left_out_when_the_state_does_not_tell() {
    let stage = Stage::start();
    let page = stage.page("page").await;
    page.push_state(json!({"camera": {}}));
    let output = stage.call("dolly_camera_in", json!({"amount": 2})).await.unwrap();
    assert_eq!(output.text, "Camera moved 2 units closer");
}

#[tokio::test]
async fn every_call_is_announced_to_the_page_before_it_is_done() {
    let stage = Stage::start();
    let page = stage.page("page").await;
    let before = now_ms();
    stage.call("get_model_color", json!({})).await.unwrap();
    stage.call("walk_key_light_in", json!({})).await.unwrap();
    let events = page.events();
    let names: Vec<_> = events.iter().map(|(name, data)| (&**name, &data["toolName"])).collect();
    let (get, walk) = (json!("get_model_color"), json!("walk_key_light_in"));
    assert_eq!(names, [("toolCall", &get), ("toolCall", &walk)]);
    for (_, data) in &events {
        let at = data["timestamp"].as_u64().unwrap();
        assert!((before..=now_ms()).contains(&at), "{at}");
    }
}

#[tokio::test]
async fn a_page_that_is_away_gets_no_notices_when_it_is_back() {
    let stage = Stage::start();
    drop(stage.page("page").await);
    stage.call("get_model_color", json!({})).await.unwrap();
    let page = stage.page("page").await;
    stage.call("walk_key_light_in", json!({})).await.unwrap();
    assert_eq!(page.events().len(), 1);
}

/// An app that answers calls, with the kinds of arguments that hello3d does not have.
const LAMP: &str = r#"
    name = "lamp"
    dialect = "lamp"

    [[tool]]
    name = "lamp.set"
    description = "sets the lamp"
    command = "set"
    reply = "{label} is {on} at {level}, {mode}"
    [tool.args]
    on = "boolean"
    level = "level"
    label = "text"
    mode = { type = "mode", default = "warm" }

    [types.level]
    kind = "integer"
    min = 1
    max = 9
    unit = " of 9"

    [types.mode]
    kind = "choice"
    choices = ["warm", "Ice Cold"]
"#;

fn lamp() -> Stage {
    Stage::with(vec![Manifest::parse("lamp.toml", LAMP).unwrap()])
}

#[tokio::test]
async fn the_other_kinds_of_arguments_are_checked_and_listed_too() {
    let stage = lamp();
    let page = stage.peer("page", "lamp", Manner::Willing).await;
    let args = json!({"on": true, "level": 3, "label": "desk", "mode": "ICE-cold"});
    let output = stage.call("lamp.set", args).await.unwrap();
    assert_eq!(output.text, "desk is true at 3 of 9, Ice Cold");
    let wire = json!({"on": true, "level": 3, "label": "desk", "mode": "Ice Cold"});
    assert_eq!(page.commands(), [("set".to_owned(), wire)]);
    assert_eq!(output.structured["result"], json!({"confirmed": true}), "an app that answers");
    let good = json!({"on": true, "level": 3, "label": "desk"});
    for (name, value, part) in [
        ("on", json!("yes"), "`on` must be true or false, not \"yes\""),
        ("level", json!(2.5), "`level` must be a whole number from 1 to 9, not 2.5"),
        ("label", json!("x".repeat(10_001)), "`label` must be a text of at most 10000 characters"),
        ("mode", json!("war"), "`mode` must be one of warm, Ice Cold, not \"war\"; did you mean"),
    ] {
        let mut args = good.clone();
        args[name] = value;
        let fault = stage.call("lamp.set", args).await.unwrap_err();
        assert!(fault.message.contains(part), "{fault}");
    }
    let schema = stage.apps.definition(&stage.toolbox.hub, "lamp.set").unwrap().input_schema;
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "on": {"type": "boolean"}, "level": {"type": "integer"},
                "label": {"type": "string"}, "mode": {"enum": ["warm", "Ice Cold"]},
                "session": {"type": "string"},
            },
            "required": ["on", "level", "label"],
        })
    );
}

#[tokio::test(start_paused = true)]
async fn an_app_that_answers_has_failed_when_it_does_not() {
    let stage = lamp();
    let page = stage.peer("page", "lamp", Manner::Silent).await;
    page.push_state(state());
    let args = json!({"on": true, "level": 3, "label": "desk"});
    let fault = stage.call("lamp.set", args).await.unwrap_err();
    assert_eq!(fault.code, Code::TimedOut);
    assert_eq!(page.events(), [] as [(String, Value); 0], "no notice is wanted");
}

fn now_ms() -> u64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64
}
