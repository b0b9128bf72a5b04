//! What a client hears when the 3D page goes away, keeps silent or talks nonsense.
//!
//! Where an answer must come at once, the limits are longer than any test has patience.

use serde_json::{Value, json};
use testkit::{
    Dial, HubProcess, Incoming, McpClient, McpHttp,
    mcp::client::WAYS,
    seeds::{
        hello3d::{Doing, Hello3d, Queries},
        wire::{End, Order},
    },
};

use crate::{
    scene::PROGRAM,
    seed_browsers::LIVELY,
    seed_hello3d::{failed, hub_and_page, hub_for_pages, hub_that_waits, told},
};

/// Limits that no test waits for.
const PATIENT: &[&str] = &["--state-timeout", "60s", "--call-timeout", "60s"];
/// A limit that is soon over, and not before a page that answers has done so.
const SHORT_MS: u32 = 4000;

/// Starts a hub that does not wait for long, and opens a page.
async fn hasty_hub_and_page() -> (HubProcess, Hello3d) {
    let hub = hub_that_waits(SHORT_MS).flags(&["--compat", "hello3d=0"]).start().await;
    let page = Hello3d::open(hub.compat("hello3d"), "first").await;
    (hub, page)
}

/// Returns the code of the fault in a tool's result.
fn code(result: &Value) -> &str {
    result["_meta"]["tabwire"]["error"]["code"].as_str().unwrap_or_default()
}

async fn until_away(hub: &HubProcess) {
    hub.api().until_connected("hello3d", false).await;
}

#[tokio::test]
async fn a_page_that_goes_during_a_question_ends_it_at_once() {
    for way in WAYS {
        let (hub, mut page) = hub_and_page(PATIENT).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        page.with(|page| page.queries = Queries::Leave);
        let said = failed(&mut client, "get_model_color", json!({})).await;
        assert!(!said.contains("#"), "{way:?}: no colour is known: {said}");
        assert_eq!(page.ended().await, End::Left);
    }
}

#[tokio::test]
async fn what_is_cached_is_told_as_stale_when_the_page_goes_during_a_question() {
    for way in WAYS {
        let (hub, page) = hub_and_page(PATIENT).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        told(&mut client, "get_model_color", json!({})).await;
        page.with(|page| page.queries = Queries::Leave);
        let said = told(&mut client, "get_model_color", json!({"forceRefresh": true})).await;
        assert!(said.starts_with("Model color: #ffffff"), "{way:?}: {said}");
        assert!(said.to_lowercase().contains("stale"), "{way:?}: {said}");
        until_away(&hub).await;
        let said = told(&mut client, "get_model_color", json!({"forceRefresh": true})).await;
        assert!(said.to_lowercase().contains("stale"), "{way:?}: {said}");
    }
}

#[tokio::test]
async fn a_silent_or_failing_page_leaves_the_cached_value_with_the_reason() {
    let (hub, page) = hasty_hub_and_page().await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    page.with(|page| page.queries = Queries::Fail("the renderer is lost"));
    let said = failed(&mut client, "get_camera_fov", json!({})).await;
    assert!(said.contains("the renderer is lost"), "{said}");
    page.with(|page| page.queries = Queries::Ignore);
    failed(&mut client, "get_camera_fov", json!({})).await;
    page.with(|page| page.queries = Queries::Answer);
    told(&mut client, "get_camera_fov", json!({})).await;
    for (queries, reason) in
        [(Queries::Fail("the renderer is lost"), "renderer"), (Queries::Ignore, "stale")]
    {
        page.with(|page| page.queries = queries);
        let said = told(&mut client, "get_camera_fov", json!({"forceRefresh": true})).await;
        assert!(said.starts_with("Camera FOV: 1"), "{said}");
        let said = said.to_lowercase();
        assert!(said.contains("stale") && said.contains(reason), "{said}");
    }
}

#[tokio::test]
async fn a_page_that_goes_during_a_command_leaves_the_outcome_unknown() {
    for way in WAYS {
        let (hub, mut page) = hub_and_page(PATIENT).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        page.with(|page| page.doing = Doing::Leave);
        let result = client.call("change_model_size", json!({"size": 2})).await.result();
        assert_eq!(result["isError"], true, "{way:?}: {result}");
        assert_eq!(code(&result), "outcome_unknown", "{way:?}: {result}");
        page.ended().await;
        page.with(|page| page.doing = Doing::Obey);
        page.reconnect().await;
        told(&mut client, "get_model_scale", json!({"forceRefresh": true})).await;
        assert_eq!(page.commands().len(), 1, "{way:?}: it is not sent again blindly");
    }
}

#[tokio::test]
async fn a_command_without_a_page_is_an_error() {
    for way in WAYS {
        let hub = hub_for_pages(PATIENT).await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        let args = json!({"color": "#cc0000"});
        failed(&mut client, "change_model_color", args.clone()).await;
        failed(&mut client, "get_model_color", json!({})).await;
        let mut page = Hello3d::open(hub.compat("hello3d"), "first").await;
        page.vanish().await;
        until_away(&hub).await;
        let result = client.call("change_model_color", args.clone()).await.result();
        assert_eq!((&result["isError"], code(&result)), (&json!(true), "not_connected"));
        page.reconnect().await;
        let said = told(&mut client, "change_model_color", args).await;
        assert_eq!(said, "Model color changed to #cc0000", "{way:?}");
        assert_eq!(page.commands().len(), 1, "{way:?}");
    }
}

#[tokio::test]
async fn a_command_that_the_page_does_not_confirm_is_called_unconfirmed() {
    let check = async |way| {
        let (hub, page) = hasty_hub_and_page().await;
        let mut client = McpClient::connect(PROGRAM, &hub, way).await;
        page.with(|page| page.doing = Doing::Throw);
        let (_, said) = client.call("change_model_color", json!({"color": "#cc0000"})).await.told();
        assert!(said.contains("unconfirmed"), "{way:?}: {said}");
        page.with(|page| page.doing = Doing::Obey);
        let said = told(&mut client, "change_model_color", json!({"color": "#00cc00"})).await;
        assert_eq!(said, "Model color changed to #00cc00", "{way:?}");
        assert_eq!(page.commands().len(), 2, "{way:?}");
    };
    // Side by side: each waits for a limit to be over.
    let [one, two, three, four] = WAYS;
    tokio::join!(check(one), check(two), check(three), check(four));
}

#[tokio::test]
async fn a_page_that_comes_back_keeps_its_session() {
    let (hub, mut page) = hub_and_page(&[]).await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    told(&mut client, "get_model_color", json!({})).await;
    for _ in 0..3 {
        page.vanish().await;
        page.reconnect().await;
        let said = told(&mut client, "get_model_color", json!({"forceRefresh": true})).await;
        assert!(said.starts_with("Model color: #ffffff"), "{said}");
        assert!(!said.to_lowercase().contains("stale"), "{said}");
    }
    let sessions = hub.api().sessions().await;
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert_eq!(
        (&sessions[0]["name"], &sessions[0]["dialect"]),
        (&json!("hello3d"), &json!("hello3d"))
    );
}

#[tokio::test]
async fn a_page_may_call_itself_anything() {
    let hub = hub_for_pages(&[]).await;
    let long = "x".repeat(64);
    for id in ["1", "my page", "local:editor", "Zoë's/page?&=%20", &long] {
        let page = Hello3d::open(hub.compat("hello3d"), id).await;
        assert_eq!(page.heard("sessionRegistered")[0]["sessionId"], id);
    }
}

#[tokio::test]
async fn a_half_open_page_is_noticed_and_a_quiet_one_is_kept() {
    let (hub, page) = hub_and_page(LIVELY).await;
    let quiet = Hello3d::open(hub.compat("hello3d"), "quiet").await;
    page.order(Order::Freeze);
    until_away(&hub).await;
    let client = McpHttp::modern(hub.port());
    let args = json!({"session": "hello3d", "color": "#cc0000"});
    let (failed, said) = client.call("change_model_color", args).await.told();
    assert!(failed && said.contains("not_connected"), "{said}");
    assert!(quiet.is_connected(), "it answered the pings by itself");
    let args = json!({"session": "hello3d-2"});
    let (failed, said) = client.call("get_model_color", args).await.told();
    assert!(!failed, "{said}");
}

#[tokio::test]
async fn nonsense_is_answered_in_the_pages_own_words_and_costs_nothing() {
    let (hub, page) = hub_and_page(PATIENT).await;
    let bystander = Hello3d::open(hub.compat("hello3d"), "bystander").await;
    for (number, nonsense) in [
        "not JSON",
        "",
        "[]",
        "7",
        "null",
        "{}",
        r#"{"type":5}"#,
        r#"{"type":"makeCoffee"}"#,
        r#"{"type":"stateUpdate"}"#,
    ]
    .iter()
    .enumerate()
    {
        page.order(Order::Text((*nonsense).to_owned()));
        let errors = page.until("error", number + 1).await;
        assert!(errors[number]["message"].is_string(), "{nonsense}: {errors:?}");
    }
    let client = McpHttp::modern(hub.port());
    for (session, page) in [("hello3d", &page), ("hello3d-2", &bystander)] {
        let (failed, said) =
            client.call("get_model_color", json!({"session": session})).await.told();
        assert!(!failed && said.starts_with("Model color: #ffffff"), "{said}");
        assert!(page.is_connected());
        assert_eq!(hub.api().session(session).await["connections"], 1);
    }
    assert_eq!(bystander.heard("error"), [] as [Value; 0]);
}

#[tokio::test]
async fn an_answer_to_nothing_is_passed_over_and_the_right_one_is_taken() {
    let (hub, page) = hub_and_page(PATIENT).await;
    page.with(|page| {
        page.queries = Queries::Garble(&[
            "nonsense",
            r##"{"type":"stateResponse","requestId":"another","state":{"background":"#111111"}}"##,
            r#"{"type":"stateError","requestId":"another","error":"not yours"}"#,
            r##"{"type":"stateResponse","requestId":"$id","state":{"background":"#222222"}}"##,
        ]);
    });
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    let said = told(&mut client, "get_background_color", json!({})).await;
    assert!(said.starts_with("Background color: #222222"), "{said}");
    let said = failed(&mut client, "get_model_color", json!({})).await;
    assert!(said.contains("/model/color"), "what the state has not is not made up: {said}");
}

#[tokio::test]
async fn an_answer_that_is_none_is_an_error_and_not_a_state() {
    let (hub, page) = hasty_hub_and_page().await;
    let mut client = McpClient::connect(PROGRAM, &hub, WAYS[0]).await;
    for texts in [
        &[r#"{"type":"stateResponse","requestId":"$id"}"#] as &[&str],
        &[r#"{"type":"stateResponse","requestId":7,"state":{}}"#],
        &[r#"{"type":"stateResponse","state":{}}"#],
        &["{\"type\":\"stateResponse\",\"requestId\":\"$id\",\"sta"],
    ] {
        page.with(|page| page.queries = Queries::Garble(texts));
        failed(&mut client, "get_model_color", json!({})).await;
    }
    page.with(|page| page.queries = Queries::Answer);
    let said = told(&mut client, "get_model_color", json!({})).await;
    assert!(said.starts_with("Model color: #ffffff"), "{said}");
}

#[tokio::test]
async fn whoever_does_not_register_first_is_told_to() {
    let (hub, page) = hub_and_page(PATIENT).await;
    let mut stranger = Dial::root(hub.compat("hello3d")).offer_only(&[]).connect().await;
    stranger.send(&json!({"type": "stateUpdate", "state": {}, "timestamp": 1})).await;
    let Incoming::Message(error) = stranger.recv().await else { panic!("no answer") };
    assert_eq!(error["type"], "error");
    let said = error["message"].as_str().unwrap();
    assert!(said.to_lowercase().contains("not registered"), "{said}");
    stranger.send(&json!({"type": "registerSession", "sessionId": "late"})).await;
    let Incoming::Message(registered) = stranger.recv().await else { panic!("no answer") };
    assert_eq!(registered, json!({"type": "sessionRegistered", "sessionId": "late"}));
    assert!(page.is_connected());
}
