//! What becomes of calls, ports and neighbours when Moonsurf's extension goes, sleeps or babbles.

use serde_json::{Value, json};
use testkit::{
    Ask, HubProcess, McpClient, McpHttp, eventually,
    mcp::client::WAYS,
    seeds::{
        moonsurf::{Manner, Moonsurf},
        wire::Order,
    },
};

use crate::{
    scene::PROGRAM,
    seed_browsers::LIVELY,
    seed_hello3d::{failed, told},
    seed_moonsurf::{code, hub_and_extension},
};

/// Limits that no test waits for.
const PATIENT: &[&str] = &["--call-timeout", "60s"];

fn click() -> Value {
    json!({"action": "click", "selector": "#button"})
}

/// Waits until exactly one browser is connected; returns its name.
async fn only_session(hub: &HubProcess) -> String {
    eventually("one browser is connected", async || {
        let sessions = hub.api().sessions().await;
        let mut connected = sessions.iter().filter(|session| session["connected"] == true);
        let only = connected.next()?["name"].as_str()?.to_owned();
        connected.next().is_none().then_some(only)
    })
    .await
}

#[tokio::test]
async fn a_call_ends_at_once_when_its_browser_goes() {
    for way in WAYS {
        let (hub, extension) = hub_and_extension(PATIENT).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        extension.behave(Manner::Leave);
        let result = client.call("browser_interact", click()).await.result();
        assert_eq!(code(&result), "outcome_unknown", "{way:?}: {result}");
        extension.behave(Manner::Answer);
        extension.until("welcome", 2).await;
        only_session(&hub).await;
        told(&mut client, "browser_execute", json!({"expression": "1"})).await;
        let deeds = extension.with(|inside| inside.browser.deeds.clone());
        assert_eq!(deeds, [] as [String; 0], "{way:?}: it is not sent again blindly");
    }
}

#[tokio::test]
async fn a_browser_registers_anew_after_every_end_and_is_used_again() {
    let (hub, extension) = hub_and_extension(PATIENT).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    for round in 1..=3 {
        let before = extension.registration();
        extension.order(Order::Leave);
        extension.until("welcome", round + 1).await;
        assert_ne!(extension.registration().instance, before.instance);
        only_session(&hub).await;
        told(&mut client, "browser_interact", click()).await;
        assert_eq!(extension.calls().len(), round);
        let door = hub.compat("moonsurf");
        let listed = Ask::own_get("/instances").send(door).await.must_be(200).json();
        assert_eq!(listed["instances"].as_array().unwrap().len(), 1, "{listed}");
        let gone = json!({"instanceId": before.instance, "expression": "1"});
        failed(&mut client, "browser_execute", gone).await;
    }
}

#[tokio::test]
async fn one_browsers_end_does_not_touch_the_calls_of_another() {
    let (hub, first) = hub_and_extension(PATIENT).await;
    let second = Moonsurf::start(hub.compat("moonsurf")).await;
    first.behave(Manner::Hold);
    let client = McpHttp::modern(hub.port());
    let mut args = click();
    args["session"] = json!("moonsurf");
    let rest = async {
        first.until("tool_call", 1).await;
        second.quit().await;
        only_session(&hub).await;
        first.release();
    };
    let (answer, ()) = tokio::join!(client.call("browser_interact", args), rest);
    let (failed, said) = answer.told();
    assert!(!failed, "{said}");
}

#[tokio::test]
async fn a_call_that_is_not_answered_ends_at_its_limit() {
    let (hub, extension) = hub_and_extension(&["--call-timeout", "300ms"]).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    extension.behave(Manner::Hold);
    let result = client.call("browser_interact", click()).await.result();
    assert_eq!(code(&result), "timed_out", "{result}");
    // The late answer is nobody's, and the next call gets its own.
    extension.release();
    let next = json!({"expression": "1", "timeoutMs": 20_000});
    told(&mut client, "browser_execute", next).await;
}

#[tokio::test]
async fn the_keepalive_gets_no_answer() {
    let (hub, extension) = hub_and_extension(PATIENT).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    for _ in 0..3 {
        extension.order(Order::Say(json!({"type": "ping"})));
    }
    told(&mut client, "browser_interact", click()).await;
    let kinds: Vec<_> =
        extension.everything().iter().map(|message| message["type"].clone()).collect();
    assert_eq!(kinds, ["welcome", "tool_call"]);
}

#[tokio::test]
async fn a_half_open_browser_is_noticed_and_a_quiet_one_is_kept() {
    let (hub, frozen) = hub_and_extension(LIVELY).await;
    let quiet = Moonsurf::start(hub.compat("moonsurf")).await;
    frozen.order(Order::Freeze);
    hub.api().until_connected("moonsurf", false).await;
    let door = hub.compat("moonsurf");
    let listed = Ask::own_get("/instances").send(door).await.must_be(200).json();
    assert_eq!(listed["instances"][0]["id"], quiet.registration().instance, "{listed}");
    assert_eq!(listed["instances"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(quiet.registrations(), 1, "it answered the pings by itself");
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    told(&mut client, "browser_interact", click()).await;
    assert_eq!(quiet.calls().len(), 1, "the only one left");
}

#[tokio::test]
async fn nonsense_is_answered_with_an_error_and_costs_nothing() {
    let (hub, extension) = hub_and_extension(PATIENT).await;
    let bystander = Moonsurf::start(hub.compat("moonsurf")).await;
    for nonsense in [
        "not JSON",
        "",
        "[]",
        "7",
        "null",
        "{}",
        r#"{"type":5}"#,
        r#"{"type":"make coffee"}"#,
        r#"{"type":"tool_result"}"#,
        r#"{"type":"tool_result","id":"call_77","result":{}}"#,
        r#"{"type":"tool_error","id":"call_77","error":{"code":"X","message":"y"}}"#,
        r#"{"type":"tool_error","id":7}"#,
        r#"{"type":"hello","instanceId":"inst_again"}"#,
    ] {
        extension.order(Order::Text(nonsense.to_owned()));
    }
    let client = McpHttp::modern(hub.port());
    for (session, browser) in [("moonsurf", &extension), ("moonsurf-2", &bystander)] {
        let mut args = click();
        args["session"] = json!(session);
        let (failed, said) = client.call("browser_interact", args).await.told();
        assert!(!failed, "{session}: {said}");
        assert_eq!(browser.registrations(), 1, "{session}: {:?}", browser.endings());
        let heard = browser.everything();
        let (errors, said): (Vec<_>, Vec<_>) =
            heard.iter().partition(|message| message["type"] == "error");
        let kinds: Vec<_> = said.iter().map(|message| message["type"].clone()).collect();
        assert_eq!(kinds, ["welcome", "tool_call"], "{session}: {heard:?}");
        assert_eq!(errors.is_empty(), session == "moonsurf-2", "only who sent it hears of it");
        let code = |error: &Value| error["error"]["code"].is_string();
        assert!(errors.iter().all(|error| code(error)), "{errors:?}");
    }
}

#[tokio::test]
async fn only_the_right_answer_is_taken_and_only_once() {
    let (hub, extension) = hub_and_extension(PATIENT).await;
    extension.behave(Manner::Garble(&[
        "nonsense",
        r#"{"type":"tool_result","id":"call_another","result":{"result":"wrong"}}"#,
        r#"{"type":"tool_error","id":"call_another","error":{"code":"X","message":"wrong"}}"#,
        r#"{"type":"tool_result","id":"$id","result":{"result":"right"}}"#,
        r#"{"type":"tool_result","id":"$id","result":{"result":"late"}}"#,
    ]));
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    for _ in 0..3 {
        let said = told(&mut client, "browser_execute", json!({"expression": "1"})).await;
        assert!(said.contains("right"), "{said}");
    }
}

#[tokio::test]
async fn a_failure_keeps_its_code_in_whatever_form_it_comes() {
    let (hub, extension) = hub_and_extension(PATIENT).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    for (texts, parts) in [
        (
            &[r#"{"type":"tool_error","id":"$id","error":{"code":"NO_TAB","message":"gone"}}"#]
                as &[&str],
            &["NO_TAB", "gone"][..],
        ),
        (
            &[r#"{"type":"tool_error","id":"$id","error":{"message":"only words"}}"#],
            &["only words"],
        ),
        (&[r#"{"type":"tool_error","id":"$id","error":"just a text"}"#], &["just a text"]),
        (
            &[r#"{"type":"tool_error","id":"$id","error":{"code":-1003,"message":"a number"}}"#],
            &["-1003", "a number"],
        ),
        (&[r#"{"type":"tool_error","id":"$id"}"#], &[]),
    ] {
        extension.behave(Manner::Garble(texts));
        let said = failed(&mut client, "browser_execute", json!({"expression": "1"})).await;
        for part in parts {
            assert!(said.contains(part), "{texts:?}: {part} in {said}");
        }
    }
    extension.behave(Manner::Answer);
    told(&mut client, "browser_execute", json!({"expression": "1"})).await;
}
