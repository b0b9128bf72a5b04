//! Consolidated tools on their way to a browser: which session, which arguments, how long.

use std::time::Duration;

use model::{Code, Fault};
use serde_json::{Value, json};
use tools::ToolboxSettings;

use crate::fake::{Abilities, Peer, Stage, client};

const MOONSURF: Abilities<'static> = Abilities {
    commands: &["browser_navigate", "browser_go_back", "browser_tab_list", "browser_evaluate"],
    capabilities: &[],
    tabs: &[],
    at_home: false,
};

#[track_caller]
fn check_words(fault: &Fault, code: Code, parts: &[&str]) {
    assert_eq!(fault.code, code, "{fault}");
    for part in parts {
        assert!(fault.to_string().contains(part), "{part:?} not in {fault}");
    }
}

#[tokio::test]
async fn an_action_becomes_its_command_with_its_arguments() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    for (tool, args, command, sent) in [
        (
            "browser_navigate",
            json!({"url": "https://a.example/"}),
            "browser_navigate",
            json!({"url": "https://a.example/"}),
        ),
        (
            "browser_interact",
            json!({"action": "press", "key": "a", "ctrl": true, "session": "chrome"}),
            "browser_keyboard_press",
            json!({"key": "a", "ctrl": true}),
        ),
        (
            "browser_execute",
            json!({"expression": "1+1", "timeoutMs": 500}),
            "browser_evaluate",
            json!({"expression": "1+1"}),
        ),
        (
            "browser_debug",
            json!({"action": "dialog", "dialogAction": "accept"}),
            "browser_handle_dialog",
            json!({"dialogAction": "accept"}),
        ),
        ("browser_navigate", json!({"action": "refresh"}), "browser_reload", json!({})),
        (
            "browser_content",
            json!({"action": "get_viewport_dom", "maxElements": 5}),
            "browser_get_viewport_dom",
            json!({"maxElements": 5}),
        ),
    ] {
        let output = stage.call(tool, args).await.unwrap();
        assert_eq!(output.source.unwrap().session, "chrome");
        assert_eq!(chrome.last(), (command.to_owned(), sent, None));
    }
}

#[tokio::test]
async fn arguments_are_those_of_the_action_and_complete() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    for (tool, args, parts) in [
        ("browser_navigate", json!({}), &["goto needs `url`"][..]),
        (
            "browser_navigate",
            json!({"url": "https://a.example/", "selector": "a"}),
            &["goto does not take `selector`", "`url`, `waitUntil`, `timeoutMs`", "for wait"],
        ),
        (
            "browser_navigate",
            json!({"action": "wait"}),
            &["`selector`, `text`, `url`, `expression`, `networkIdle` or"],
        ),
        (
            "browser_interact",
            json!({"action": "click", "x": 1}),
            &["click needs `selector`, `ref`, `text` or `x` with `y`"],
        ),
        ("browser_interact", json!({"action": "select", "ref": "e1"}), &["`value`, `label`"]),
        ("browser_interact", json!({"action": "fly"}), &["`action`", "\"click\"", "\"fly\""]),
        ("browser_interact", json!({}), &["`action` is missing", "click, move"]),
        ("browser_interact", json!({"action": 7}), &["`action`"]),
        ("browser_interact", json!({"action": "press", "key": 7}), &["`key`", "string"]),
        (
            "browser_interact",
            json!({"action": "click", "selectr": "a"}),
            &["click does not take `selectr`", "did you mean `selector`?"],
        ),
        ("browser_execute", json!({}), &["browser_execute needs `expression`"]),
        ("browser_execute", json!({"action": "x", "expression": "1"}), &["no argument `action`"]),
        (
            "browser_content",
            json!({"action": "screenshot", "format": "html"}),
            &["screenshot takes as `format` one of png, jpeg, webp, not \"html\""],
        ),
        (
            "browser_network",
            json!({"action": "get_storage", "storageType": "all"}),
            &["localStorage, sessionStorage"],
        ),
        ("browser_tab", json!({"action": "new", "tab": 7}), &["new does not take `tab`"]),
        ("browser_tab", json!({"action": "close", "tab": -1}), &["`tab`", "whole number"]),
        ("browser_tab", json!({"action": "list", "timeoutMs": 0}), &["`timeoutMs`", "from 1"]),
        ("browser_tab", json!({"action": "list", "session": 7}), &["`session`"]),
        ("browser_tab", json!([]), &["the arguments"]),
    ] {
        let fault = stage.call(tool, args.clone()).await.unwrap_err();
        check_words(&fault, Code::InvalidArgument, parts);
    }
    assert_eq!(chrome.calls(), 0, "nothing reached the browser");
}

#[tokio::test]
async fn words_of_other_servers_are_understood_but_not_twice() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let args = json!({"action": "type", "text": "a", "delay": 5, "instanceId": "chrome",
        "tabId": 7, "timeout": 900});
    stage.call("browser_interact", args).await.unwrap();
    let sent = json!({"text": "a", "delayMs": 5});
    assert_eq!(chrome.last(), ("browser_type".to_owned(), sent, Some(7)));
    let args = json!({"action": "list", "instanceId": "chrome", "session": "chrome"});
    let fault = stage.call("browser_tab", args).await.unwrap_err();
    check_words(&fault, Code::InvalidArgument, &["`instanceId` is another word for `session`"]);
}

#[tokio::test]
async fn a_call_goes_to_the_only_browser_that_can() {
    let stage = Stage::start();
    let (moonsurf, other) =
        (stage.able("moonsurf", MOONSURF).await, stage.able("other", just("browser_pdf")).await);
    let _app = stage.app("viewer").await;
    stage.call("browser_navigate", json!({"action": "back"})).await.unwrap();
    stage.call("browser_content", json!({"action": "pdf"})).await.unwrap();
    assert_eq!((moonsurf.calls(), other.calls()), (1, 1));
    let _third = stage.able("third", just("browser_pdf")).await;
    let fault = stage.call("browser_content", json!({"action": "pdf"})).await.unwrap_err();
    check_words(&fault, Code::AmbiguousSession, &["browser_content pdf", "other", "third"]);
}

fn just(command: &'static str) -> Abilities<'static> {
    // Leaked, because a test's browsers are few.
    let commands = Vec::leak(vec![command]);
    Abilities { commands, ..Abilities::default() }
}

#[tokio::test]
async fn what_a_browser_cannot_do_is_said_with_what_it_can() {
    let stage = Stage::start();
    let fault = stage.call("browser_pdf", json!({})).await.unwrap_err();
    check_words(&fault, Code::NotConnected, &["no browser is connected", "browser_content pdf"]);
    let moonsurf = stage.able("moonsurf", MOONSURF).await;
    let _app = stage.app("viewer").await;
    let can = "browser_execute; browser_navigate goto, back; browser_tab list";
    let args = json!({"action": "pdf", "session": "moonsurf"});
    let fault = stage.call("browser_content", args).await.unwrap_err();
    let parts = ["moonsurf cannot do browser_content pdf", "it can: ", can];
    check_words(&fault, Code::Unsupported, &parts);
    let fault = stage.call("browser_content", json!({"action": "pdf"})).await.unwrap_err();
    let parts = ["no browser here can do browser_content pdf", "moonsurf can: ", can];
    check_words(&fault, Code::Unsupported, &parts);
    let mut bound = client();
    bound.binding = Some("moonsurf".to_owned());
    let bound = stage.toolbox.call(&bound, "browser_content", json!({"action": "pdf"})).await;
    check_words(&bound.unwrap_err(), Code::Unsupported, &["moonsurf cannot do"]);
    let args = json!({"action": "pdf", "session": "viewer"});
    let fault = stage.call("browser_content", args).await.unwrap_err();
    check_words(&fault, Code::Unsupported, &["viewer cannot do", "app"]);
    let args = json!({"action": "pdf", "session": "nobody"});
    let fault = stage.call("browser_content", args).await.unwrap_err();
    check_words(&fault, Code::UnknownSession, &["nobody"]);
    assert_eq!(moonsurf.calls(), 0);
}

#[tokio::test]
async fn a_browsers_own_error_arrives_as_it_is() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let failed = Fault::new(Code::Foreign("ELEMENT_NOT_FOUND".into()), "no element matches #a");
    chrome.answers("browser_mouse_click", Err(failed.clone()));
    let args = json!({"action": "click", "selector": "#a"});
    assert_eq!(stage.call("browser_interact", args).await.unwrap_err(), failed);
}

#[tokio::test]
async fn an_unnamed_tool_of_a_browser_that_is_away_says_so() {
    let stage = Stage::start();
    drop(stage.able("moonsurf", MOONSURF).await);
    let fault = stage.call("browser_execute", json!({"expression": "1"})).await.unwrap_err();
    check_words(&fault, Code::NotConnected, &["moonsurf"]);
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_waits_has_time_to_say_for_what() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let wait = json!({"action": "wait", "text": "ready", "timeoutMs": 5000});
    check_time(&stage, &chrome, "browser_navigate", wait, 10_000, Some(5000)).await;
    let goto = json!({"url": "https://a.example/", "timeout": 9000});
    check_time(&stage, &chrome, "browser_navigate", goto, 14_000, Some(9000)).await;
    let reload = json!({"action": "reload", "timeoutMs": 5000});
    check_time(&stage, &chrome, "browser_navigate", reload, 5000, None).await;
    let pause = json!({"action": "wait", "timeMs": 40_000});
    check_time(&stage, &chrome, "browser_navigate", pause, 70_000, None).await;
    let back = json!({"action": "back"});
    check_time(&stage, &chrome, "browser_navigate", back, 30_000, None).await;
}

async fn check_time(
    stage: &Stage,
    chrome: &Peer,
    tool: &str,
    args: Value,
    deadline_ms: u64,
    told_ms: Option<u64>,
) {
    stage.call(tool, args.clone()).await.unwrap();
    assert_eq!(chrome.last_call().deadline, Duration::from_millis(deadline_ms), "{args}");
    assert_eq!(chrome.last().1["timeoutMs"].as_u64(), told_ms, "{args}");
}

#[tokio::test]
async fn browsers_are_sent_to_web_addresses_only_and_never_to_the_hub() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let own_hosts = vec!["127.0.0.1:8765".to_owned()];
    stage.toolbox.reconfigure(ToolboxSettings { own_hosts, ..ToolboxSettings::default() });
    for (url, code) in [
        ("file:///etc/passwd", Code::InvalidArgument),
        ("javascript:alert(1)", Code::InvalidArgument),
        ("http://127.0.0.1:8765/mcp", Code::Refused),
    ] {
        for (tool, args) in [
            ("browser_navigate", json!({"url": url})),
            ("browser_tab", json!({"action": "new", "url": url})),
            ("browser_tab_new", json!({"url": url})),
        ] {
            assert_eq!(stage.call(tool, args).await.unwrap_err().code, code, "{tool} {url}");
        }
    }
    assert_eq!(chrome.calls(), 0);
    stage.call("browser_navigate", json!({"url": "http://127.0.0.1:8765/viewer/"})).await.unwrap();
    stage.call("browser_tab", json!({"action": "new", "url": "about:blank"})).await.unwrap();
    assert_eq!(chrome.calls(), 2);
}

// The clock stands still while there is something to do, however busy the machine is.
#[tokio::test(start_paused = true)]
async fn an_open_dialog_can_be_answered_while_its_tab_is_held_up() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    chrome.answers_never("browser_evaluate");
    let client = client();
    let held = stage.toolbox.call(&client, "browser_execute", json!({"expression": "alert()"}));
    let mut held = Box::pin(held);
    let soon = Duration::from_millis(50);
    assert!(tokio::time::timeout(soon, &mut held).await.is_err());
    let args = json!({"action": "dialog", "dialogAction": "accept"});
    stage.call("browser_debug", args).await.unwrap();
    let waiting = stage.call("browser_navigate", json!({"action": "back"}));
    assert!(tokio::time::timeout(soon, waiting).await.is_err(), "acting calls wait in line");
}
