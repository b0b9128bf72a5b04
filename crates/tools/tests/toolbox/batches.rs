//! Several calls in one, and calls that are noted to be made again.

use std::time::Duration;

use model::{Code, Fault};
use serde_json::{Value, json};

use crate::fake::{Abilities, Stage, client, spec};

const CLICK: &str = "browser_mouse_click";

async fn batch(stage: &Stage, args: Value) -> Result<tools::Output, Fault> {
    stage.call("batch", args).await
}

#[tokio::test]
async fn steps_are_done_in_order_and_told_in_short() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let app = stage.app("viewer").await;
    app.offer(&[spec("paint", false)]);
    let report = json!({"url": "https://a.example/", "title": "A", "navigated": true});
    chrome.answers("browser_navigate", Ok(report.clone()));
    let output = batch(
        &stage,
        json!({"steps": [
            {"tool": "browser_navigate", "url": "https://a.example/"},
            {"tool": "browser_click", "ref": "e1"},
            {"tool": "paint", "color": "red"},
            {"tool": "paint", "arguments": {"color": "blue"}},
            {"tool": "sleep", "durationMs": 0},
        ]}),
    );
    let output = output.await.unwrap();
    let lines: Vec<_> = output.text.lines().collect();
    assert_eq!(lines[0], "1. browser_navigate: the page is now \"A\"; at https://a.example/");
    assert!(lines[1].starts_with("2. browser_click: "), "{}", lines[1]);
    assert_eq!(lines[4], "5. sleep: slept 0 ms");
    assert_eq!((output.failed, &output.structured["done"]), (false, &json!(5)));
    let results = &output.structured["results"];
    let first = json!({"step": 1, "tool": "browser_navigate", "result": report});
    assert_eq!(results[0], first);
    assert_eq!(results[3]["result"]["args"]["color"], "blue");
    assert_eq!((chrome.calls(), app.calls()), (2, 2));
}

#[tokio::test]
async fn the_first_failure_ends_it_and_says_what_was_done() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let gone = Fault::new(Code::Foreign("ELEMENT_NOT_FOUND".into()), "no element matches #a");
    chrome.answers(CLICK, Err(gone));
    let click = json!({"tool": "browser_interact", "action": "click", "selector": "#a"});
    let back = json!({"tool": "browser_navigate", "action": "back"});
    let steps = json!({"steps": [back, click, back, back]});
    let output = batch(&stage, steps).await.unwrap();
    assert!(output.failed);
    let end = "2. browser_interact click: failed: no element matches #a \
               [ELEMENT_NOT_FOUND, retry: never]\n(step 1 was done, steps 3 to 4 were not)";
    assert!(output.text.ends_with(end), "{}", output.text);
    assert_eq!(output.structured["done"], 1);
    assert_eq!(output.structured["failed"]["step"], 2);
    assert_eq!(output.structured["failed"]["error"]["code"], "ELEMENT_NOT_FOUND");
    assert_eq!(chrome.calls(), 2, "nothing after it was done");
    let fault = batch(&stage, json!({"steps": [click, back]})).await.unwrap_err();
    assert_eq!(fault.code, Code::Foreign("ELEMENT_NOT_FOUND".into()));
    assert!(fault.message.contains("step 1") && fault.message.contains("nothing was done"));
    chrome.answers(CLICK, Err(Fault::new(Code::OutcomeUnknown, "the browser went away")));
    let fault = batch(&stage, json!({"steps": [click, back]})).await.unwrap_err();
    assert!(fault.message.ends_with("; no other step was done"), "{fault}");
}

#[tokio::test]
async fn what_is_wrong_in_any_step_is_said_before_the_first_is_done() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let back = json!({"tool": "browser_navigate", "action": "back"});
    let many = vec![back.clone(); 51];
    for (args, parts) in [
        (json!({}), &["run needs `steps`"][..]),
        (json!({"steps": []}), &["1 to 50", "not 0"]),
        (json!({"steps": many}), &["1 to 50", "not 51"]),
        (json!({"steps": [back, {"action": "back"}]}), &["`tool` is missing"]),
        (
            json!({"steps": [back, {"tool": "browser_navigate"}]}),
            &["`steps.1`", "goto needs `url`"],
        ),
        (json!({"steps": [back, {"tool": "batch", "steps": [back]}]}), &["no batch in it"]),
        (json!({"steps": [back, {"tool": "batch", "action": "stop"}]}), &["neither record nor"]),
        (json!({"steps": [back, {"tool": "browser_nap"}]}), &["`steps.1`", "nearest"]),
        (json!({"steps": [back, {"tool": "sleep", "durationMs": "x"}]}), &["`durationMs`"]),
        (json!({"steps": "all"}), &["`steps`", "array"]),
        (json!({"action": "record", "steps": [back]}), &["`steps` is for run"]),
        (json!({"action": "stop"}), &["nothing is being recorded"]),
        (json!({"action": "rewind"}), &["`action`", "\"record\""]),
    ] {
        let fault = batch(&stage, args.clone()).await.unwrap_err();
        for part in parts {
            assert!(fault.to_string().contains(part), "{part:?} not in {fault}");
        }
    }
    assert_eq!(chrome.calls(), 0);
}

#[tokio::test]
async fn session_and_tab_are_for_the_steps_that_take_them() {
    let stage = Stage::start();
    let first = stage.able("one", Abilities { tabs: &[7, 8], ..Abilities::default() }).await;
    let second = stage.able("two", Abilities { tabs: &[7], ..Abilities::default() }).await;
    let output = batch(
        &stage,
        json!({"session": "one", "tab": 7, "steps": [
            {"tool": "sleep", "durationMs": 0},
            {"tool": "browser_instance"},
            {"tool": "browser_tab", "action": "new"},
            {"tool": "browser_reload"},
            {"tool": "browser_reload", "tabId": 8},
            {"tool": "browser_reload", "session": "two"},
        ]}),
    );
    let output = output.await.unwrap();
    assert_eq!(output.structured["done"], 6, "{}", output.text);
    assert_eq!((first.calls(), second.calls()), (3, 1));
    assert_eq!(first.last().2, Some(8), "a step's own word counts");
    assert_eq!(second.last().2, Some(7));
}

#[tokio::test]
async fn long_texts_share_the_room_and_are_linked() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    chrome.answers("browser_get_content", Ok(json!("x".repeat(20_000))));
    let get = json!({"tool": "browser_content", "action": "get"});
    let output = batch(&stage, json!({"steps": [get, get, {"tool": "sleep", "durationMs": 0}]}));
    let output = output.await.unwrap();
    assert!(output.text.len() < 25_000, "{}", output.text.len());
    assert!(output.text.ends_with("3. sleep: slept 0 ms"), "short ones are whole");
    assert_eq!(output.links.len(), 2);
    assert!(output.links.iter().all(|link| output.text.contains(&link.uri)));
    let id = output.links[0].uri.rsplit('/').next().unwrap();
    assert_eq!(stage.toolbox.shelf.read("local", id).unwrap().content.len(), 20_000);
    assert!(output.structured.to_string().len() < 25_000);
}

#[tokio::test]
async fn pictures_of_steps_are_passed_on_up_to_four() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let image = json!({"image": {"mimeType": "image/png", "data": "QUJD"}});
    chrome.answers("browser_screenshot", Ok(image));
    let shot = json!({"tool": "browser_screenshot"});
    let output = batch(&stage, json!({"steps": vec![shot; 6]})).await.unwrap();
    assert_eq!(output.images.len(), 4);
    assert!(output.text.ends_with("(2 pictures are left out; at most 4 are passed on)"));
}

// The clock stands still while there is something to do, however busy the machine is.
#[tokio::test(start_paused = true)]
async fn dropping_a_batch_cancels_the_step_and_does_no_other() {
    let stage = Stage::start();
    let app = stage.app("viewer").await;
    app.offer(&[spec("never", false), spec("paint", false)]);
    let client = client();
    let steps = json!({"steps": [
        {"tool": "paint", "color": "a"}, {"tool": "never", "color": "b"},
        {"tool": "paint", "color": "c"},
    ]});
    let call = stage.toolbox.call(&client, "batch", steps);
    assert!(tokio::time::timeout(Duration::from_millis(100), call).await.is_err());
    app.cancelled().await;
    assert_eq!(app.calls(), 2);
}

#[tokio::test]
async fn a_keyed_batch_is_once_as_a_whole() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let keyed = tools::Client { key: Some("k1".to_owned()), ..client() };
    let back = json!({"tool": "browser_navigate", "action": "back"});
    let args = json!({"steps": [back, back]});
    let first = stage.toolbox.call(&keyed, "batch", args.clone()).await.unwrap();
    let again = stage.toolbox.call(&keyed, "batch", args).await.unwrap();
    assert_eq!((first, chrome.calls()), (again, 2));
}

#[tokio::test]
async fn a_recording_has_what_acts_and_runs_again() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let element = json!({"ref": "e3", "role": "button", "name": "Buy", "selector": "#buy"});
    let report = json!({"url": "https://a.example/", "element": element});
    chrome.answers(CLICK, Ok(report));
    let field = json!({"ref": "e4", "role": "textbox", "name": "Password", "selector": "#p"});
    chrome.answers("browser_type", Ok(json!({"url": "https://a.example/", "element": field})));
    chrome.answers("browser_hover", Err(Fault::new(Code::ToolFailed, "no")));
    let call = async |tool: &str, args: Value| drop(stage.call(tool, args).await);
    call("browser_reload", json!({})).await;
    let begun = batch(&stage, json!({"action": "record"})).await.unwrap();
    assert_eq!(begun.structured, json!({"recording": true}));
    call("browser_navigate", json!({"url": "https://a.example/", "session": "chrome"})).await;
    call("browser_content", json!({"action": "get"})).await;
    call("browser_click", json!({"ref": "e3", "session": "chrome"})).await;
    call("browser_interact", json!({"action": "hover", "ref": "e3"})).await;
    call("browser_interact", json!({"action": "type", "ref": "e4", "text": "hunter2"})).await;
    call("batch", json!({"steps": [{"tool": "sleep", "duration": 1}]})).await;
    call("browser_network", json!({"action": "get_cookies"})).await;
    call("browser_network", json!({"action": "clear_cookies"})).await;
    let mut other = client();
    other.caller.client = "somebody-else".parse().unwrap();
    stage.toolbox.call(&other, "browser_reload", json!({})).await.unwrap();
    let stopped = batch(&stage, json!({"action": "stop"})).await.unwrap();
    let steps = json!([
        {"tool": "browser_navigate", "action": "goto", "url": "https://a.example/"},
        {"tool": "browser_interact", "action": "click", "selector": "#buy"},
        {"tool": "browser_interact", "action": "type", "selector": "#p", "text": "•••"},
        {"tool": "sleep", "durationMs": 1},
        {"tool": "browser_network", "action": "clear_cookies"},
    ]);
    assert_eq!(stopped.structured["steps"], steps, "{}", stopped.text);
    assert!(!stopped.text.contains("hunter2"));
    assert!(stopped.text.contains("(step 3: what was typed as a password"), "{}", stopped.text);
    let again = batch(&stage, json!({ "steps": steps })).await.unwrap();
    assert_eq!(again.structured["done"], 5, "{}", again.text);
    let ended = batch(&stage, json!({"action": "stop"})).await.unwrap_err();
    assert_eq!(ended.code, Code::InvalidArgument);
}

#[tokio::test]
async fn a_long_recording_is_linked() {
    let stage = Stage::start();
    let _chrome = stage.browser("chrome").await;
    batch(&stage, json!({"action": "record"})).await.unwrap();
    let long = format!("'{}'", "x".repeat(30_000));
    stage.call("browser_execute", json!({"expression": long})).await.unwrap();
    let stopped = batch(&stage, json!({"action": "stop"})).await.unwrap();
    let link = &stopped.links[0];
    assert_eq!(
        (&stopped.structured["uri"], &stopped.structured["count"]),
        (&json!(link.uri), &json!(1))
    );
    let kept = stage.toolbox.shelf.read("local", link.uri.rsplit('/').next().unwrap()).unwrap();
    let steps: Value = serde_json::from_slice(&kept.content).unwrap();
    assert_eq!(steps["steps"][0]["expression"], long);
}

#[tokio::test]
async fn a_step_that_names_its_tab_by_another_word_keeps_it() {
    let stage = Stage::start();
    let _chrome = stage.browser("chrome").await;
    let wait = json!({"tool": "wait_for", "until": "event", "tabId": 8, "timeoutMs": 0});
    batch(&stage, json!({"steps": [wait], "tab": 7})).await.unwrap();
}
