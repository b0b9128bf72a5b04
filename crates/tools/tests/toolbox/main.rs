//! The toolbox over a real hub, with apps that are tasks and no sockets.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod answers;
mod bad_input;
mod batches;
mod bystanders;
mod commands;
mod discovery;
mod downloads;
mod events;
mod examples;
mod fake;
mod forging;
mod launches;
mod list;
mod originals;
mod selection;
mod snapshots;
mod tabs;
mod uploads;

use fake::{Stage, client, spec};
use model::{Change, Code, TabId};
use serde_json::json;

#[tokio::test]
async fn app_tools_are_listed_by_their_own_names_and_called() {
    let stage = Stage::start();
    let app = stage.app("viewer").await;
    app.offer(&[spec("paint", false), spec("look", true)]);
    let names: Vec<_> = stage.toolbox.list().into_iter().map(|tool| tool.name).collect();
    assert!(names.ends_with(&["look".to_owned(), "paint".to_owned()]), "{names:?}");
    let output = stage.call("paint", json!({"color": "red"})).await.unwrap();
    assert_eq!(output.structured, json!({"did": "paint", "args": {"color": "red"}}));
    assert_eq!(output.source.unwrap().session, "viewer");
}

#[tokio::test]
async fn arguments_are_checked_before_anything_is_sent() {
    let stage = Stage::start();
    let app = stage.app("viewer").await;
    app.offer(&[spec("paint", false)]);
    for (args, part) in [
        (json!({}), "`color` is missing"),
        (json!({"color": 7}), "`color`"),
        (json!({"color": "red", "colour": "x"}), "`colour`"),
        (json!([1]), "object"),
        (json!({"color": "red", "session": 7}), "`session`"),
    ] {
        let fault = stage.call("paint", args.clone()).await.unwrap_err();
        assert_eq!(fault.code, Code::InvalidArgument, "{args}");
        assert!(fault.message.contains(part), "{args}: {fault}");
    }
    assert_eq!(app.calls(), 0, "nothing reached the app");
}

#[tokio::test]
async fn apps_with_the_same_tool_share_it_and_session_picks() {
    let stage = Stage::start();
    let (first, second) = (stage.app("viewer").await, stage.app("viewer").await);
    first.offer(&[spec("paint", false)]);
    second.offer(&[spec("paint", false)]);
    let paints = stage.toolbox.list().into_iter().filter(|tool| tool.name.contains("paint"));
    assert_eq!(paints.count(), 1, "one entry for both");
    let fault = stage.call("paint", json!({"color": "x"})).await.unwrap_err();
    assert_eq!(fault.code, Code::AmbiguousSession);
    let hint = fault.hint.unwrap();
    assert!(hint.contains("\"viewer\"") && hint.contains("\"viewer-2\""), "{hint}");
    stage.call("paint", json!({"color": "x", "session": "viewer-2"})).await.unwrap();
    assert_eq!((first.calls(), second.calls()), (0, 1));
}

#[tokio::test]
async fn different_schemas_and_our_own_names_get_the_sessions_name_in_front() {
    let stage = Stage::start();
    let (first, second) = (stage.app("a").await, stage.app("b").await);
    let mut other = spec("paint", false);
    other.input_schema = model::Json::of(&json!({"type": "object"}));
    first.offer(&[spec("paint", false), spec("sleep", false)]);
    second.offer(&[other]);
    let names: Vec<_> = stage.toolbox.list().into_iter().map(|tool| tool.name).collect();
    for name in ["a.paint", "b.paint", "a.sleep", "sleep"] {
        assert!(names.iter().any(|listed| listed == name), "{name} not in {names:?}");
    }
    assert!(!names.iter().any(|name| name == "paint"));
    stage.call("b.paint", json!({})).await.unwrap();
    assert_eq!((first.calls(), second.calls()), (0, 1));
}

#[tokio::test]
async fn tools_of_an_app_that_is_away_stay_listed_and_say_so() {
    let stage = Stage::start();
    let app = stage.app("viewer").await;
    app.offer(&[spec("paint", false)]);
    drop(app);
    assert!(stage.toolbox.list().iter().any(|tool| tool.name == "paint"));
    let fault = stage.call("paint", json!({"color": "x"})).await.unwrap_err();
    assert_eq!(fault.code, Code::NotConnected, "{fault}");
}

#[tokio::test]
async fn an_unknown_tool_names_the_nearest() {
    let stage = Stage::start();
    let fault = stage.call("app_stat", json!({})).await.unwrap_err();
    assert_eq!(fault.code, Code::UnknownTool);
    assert!(fault.to_string().contains("app_state"), "{fault}");
}

#[tokio::test]
async fn changes_of_the_list_are_announced() {
    let stage = Stage::start();
    let mut changes = stage.toolbox.changes();
    let app = stage.app("viewer").await;
    changes.changed().await.unwrap();
    changes.mark_unchanged();
    app.offer(&[spec("paint", false)]);
    changes.changed().await.unwrap();
}

#[tokio::test]
async fn app_state_tells_value_source_and_age() {
    let stage = Stage::start();
    let app = stage.app("viewer").await;
    app.push_state(json!({"model": {"color": "#ff0000"}}));
    let output = stage.call("app_state", json!({"path": "/model/color"})).await.unwrap();
    assert_eq!(output.structured["value"], "#ff0000");
    assert_eq!(output.structured["source"], "cache");
    assert!(output.text.starts_with("\"#ff0000\"\n(cache, "), "{}", output.text);
    drop(app);
    let output = stage.call("app_state", json!({"forceRefresh": true})).await.unwrap();
    assert_eq!(output.structured["source"], "stale");
    assert!(output.text.contains("STALE: the page could not be asked"), "{}", output.text);
    let fault = stage.call("app_state", json!({"path": "/nothing"})).await.unwrap_err();
    assert!(fault.to_string().contains("/model"), "{fault}");
}

#[tokio::test]
async fn wait_for_sees_a_state_change_and_a_match() {
    let stage = Stage::start();
    let app = stage.app("viewer").await;
    app.push_state(json!({"n": 1}));
    let at_once =
        stage.call("wait_for", json!({"until": "state", "path": "/n", "equals": 1})).await;
    assert_eq!(at_once.unwrap().structured["happened"], true);
    let waiting = stage.call("wait_for", json!({"until": "state", "path": "/n"}));
    let pushing = async {
        app.push_state(json!({"n": 1, "other": true}));
        app.push_state(json!({"n": 2}));
    };
    let (waited, ()) = tokio::join!(waiting, pushing);
    assert_eq!(waited.unwrap().structured["value"], 2);
    let late = stage.call("wait_for", json!({"until": "state", "path": "/n", "since": 1})).await;
    assert_eq!(late.unwrap().structured["version"], 3, "it changed before we asked");
}

#[tokio::test]
async fn wait_for_reads_events_with_a_cursor() {
    let stage = Stage::start();
    let app = stage.app("viewer").await;
    app.event("console", json!({"text": "one"}));
    app.event("network", json!({}));
    let output = stage.call("wait_for", json!({"until": "event", "event": "console", "since": 0}));
    let output = output.await.unwrap().structured;
    assert_eq!(output["events"][0]["data"]["text"], "one");
    let again = json!({"until": "event", "event": "console", "since": output["next"]});
    let waiting = stage.call("wait_for", again);
    let (waited, ()) =
        tokio::join!(waiting, async { app.event("console", json!({"text": "two"})) });
    assert_eq!(waited.unwrap().structured["events"][0]["data"]["text"], "two");
}

#[tokio::test(start_paused = true)]
async fn wait_for_running_out_of_time_is_an_answer() {
    let stage = Stage::start();
    let output = stage.call("wait_for", json!({"until": "connected", "timeoutMs": 5000})).await;
    assert_eq!(output.unwrap().structured, json!({"happened": false}));
}

#[tokio::test]
async fn wait_for_sees_a_session_connect() {
    let stage = Stage::start();
    let waiting = stage.call("wait_for", json!({"until": "connected", "session": "viewer"}));
    let (waited, _app) = tokio::join!(waiting, stage.app("viewer"));
    assert_eq!(waited.unwrap().structured["session"], "viewer");
}

#[tokio::test(start_paused = true)]
async fn sleep_takes_both_words_and_not_together() {
    let stage = Stage::start();
    for args in [json!({"durationMs": 50}), json!({"duration": 50})] {
        assert_eq!(stage.call("sleep", args).await.unwrap().structured, json!({"sleptMs": 50}));
    }
    for args in
        [json!({"duration": 1, "durationMs": 1}), json!({}), json!({"durationMs": 99999999})]
    {
        let fault = stage.call("sleep", args).await.unwrap_err();
        assert!(fault.message.contains("durationMs"), "{fault}");
    }
}

#[tokio::test]
async fn page_tools_are_listed_found_and_called_with_their_page() {
    let stage = Stage::start();
    let browser = stage.browser("chrome").await;
    for (id, url) in [(7, "https://shop.example/"), (8, "https://news.example/")] {
        browser.change(Change::TabCreated(model::Tab {
            id: TabId(id),
            title: "t".into(),
            url: url.into(),
            active: false,
        }));
    }
    let declare = |tab: u64, name: &str| {
        browser
            .change(Change::ToolsChanged { tab: Some(TabId(tab)), tools: vec![spec(name, false)] });
    };
    declare(7, "buy");
    declare(8, "read");
    let listed = stage.call("page_tools", json!({"action": "list"})).await.unwrap();
    assert_eq!(listed.structured["total"], 2);
    assert!(listed.text.contains("https://shop.example/"), "{}", listed.text);
    let found = stage.call("page_tools", json!({"action": "find", "query": "BUY"})).await.unwrap();
    assert_eq!(found.structured["tools"][0]["tab"], 7);
    let call = json!({"action": "call", "tool": "buy", "args": {"color": "red"}});
    let output = stage.call("page_tools", call).await.unwrap();
    assert_eq!(output.structured["did"], "buy");
    let wrong = json!({"action": "call", "tool": "buy", "args": {}});
    assert!(stage.call("page_tools", wrong).await.unwrap_err().message.contains("`color`"));
    let none = json!({"action": "call", "tool": "fly"});
    assert_eq!(stage.call("page_tools", none).await.unwrap_err().code, Code::UnknownTool);
    assert!(!stage.toolbox.list().iter().any(|tool| tool.name == "buy"), "never in our list");
}

#[tokio::test]
async fn browser_instance_lists_names_that_can_be_pasted_back() {
    let stage = Stage::start();
    let empty = stage.call("browser_instance", json!({})).await.unwrap();
    assert!(empty.text.contains("no browser"), "{}", empty.text);
    let _app = stage.app("My Viewer").await;
    let listed = stage.call("browser_instance", json!({"action": "list"})).await.unwrap();
    assert_eq!(listed.structured["sessions"][0]["session"], "my-viewer");
    assert!(listed.text.contains("- my-viewer (app)"), "{}", listed.text);
}

// The clock stands still while there is something to do, however busy the machine is.
#[tokio::test(start_paused = true)]
async fn dropping_a_call_cancels_it() {
    let stage = Stage::start();
    let app = stage.app("viewer").await;
    app.offer(&[spec("never", false)]);
    let client = client();
    let call = stage.toolbox.call(&client, "never", json!({"color": "x"}));
    let slept = tokio::time::timeout(std::time::Duration::from_millis(100), call).await;
    assert!(slept.is_err());
    app.cancelled().await;
}
