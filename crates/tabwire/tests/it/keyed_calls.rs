//! Calls with an idempotency key: one execution, whoever asks how often, before and after a restart.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use serde_json::{Value, json};
use testkit::{Answer, Ask, Era, FakeApp, FakeBrowser, Http, HubProcess, McpHttp, rounds};

use crate::scene::hub;

/// An app `viewer` that counts how often it paints, and tells the number.
async fn painter(hub: &HubProcess, painted: &Arc<AtomicU64>) -> FakeApp {
    let painted = painted.clone();
    FakeApp::start(FakeBrowser::app(hub.port(), "viewer"), &["paint"], move |call| {
        let number = painted.fetch_add(1, Ordering::SeqCst) + 1;
        match call["args"]["how"].as_str() {
            Some("badly") => Answer::Error("ELEMENT_NOT_FOUND", "no element matches #buy"),
            _ => Answer::Result(json!({"number": number, "args": call["args"]})),
        }
    })
    .await
}

fn keyed(key: &str, args: Value) -> Value {
    json!({"session": "viewer", "tool": "paint", "args": args, "idempotencyKey": key})
}

async fn end(hub: &mut HubProcess, killed: bool) {
    if killed {
        hub.kill();
    } else {
        hub.terminate().await;
    }
}

#[tokio::test]
async fn one_key_fifty_times_at_once_and_after_a_restart_is_one_execution() {
    for killed in [false, true] {
        let mut hub = hub(&[]).await;
        let painted = Arc::<AtomicU64>::default();
        let app = painter(&hub, &painted).await;
        let api = hub.api();
        for round in 1..=rounds(3, 50) {
            let body = keyed(&format!("key-{round}"), json!({"round": round}));
            let asking: Vec<_> = (0..50)
                .map(|_| {
                    let (api, body) = (api.clone(), body.clone());
                    tokio::spawn(async move { api.call(body).await.must_be(200).json() })
                })
                .collect();
            for asked in asking {
                let answer = asked.await.unwrap();
                let expected = json!({"number": round, "args": {"round": round}});
                assert_eq!(answer["result"], expected, "all hear the same");
            }
            assert_eq!(painted.load(Ordering::SeqCst), round, "one execution");
        }
        let first = api.call(keyed("key-1", json!({"round": 1}))).await.must_be(200).json();
        end(&mut hub, killed).await;
        drop(app);
        hub.restart().await;
        let before = painted.load(Ordering::SeqCst);
        // Also while nobody is there who could do it.
        let again = hub.api().call(keyed("key-1", json!({"round": 1}))).await.must_be(200).json();
        assert_eq!(again, first, "killed: {killed}");
        let _app = painter(&hub, &painted).await;
        for round in 1..=3 {
            let body = keyed(&format!("key-{round}"), json!({"round": round}));
            assert_eq!(hub.api().call(body).await.must_be(200).json()["result"]["number"], round);
        }
        assert_eq!(painted.load(Ordering::SeqCst), before, "nothing is done again");
    }
}

#[tokio::test]
async fn an_error_of_the_tool_is_an_answer_too() {
    for killed in [false, true] {
        let mut hub = hub(&[]).await;
        let painted = Arc::<AtomicU64>::default();
        let app = painter(&hub, &painted).await;
        let body = keyed("badly", json!({"how": "badly"}));
        let first = hub.api().call(body.clone()).await.must_be(422);
        assert_eq!(first.fault(), "ELEMENT_NOT_FOUND");
        assert_eq!(hub.api().call(body.clone()).await.must_be(422).json(), first.json());
        end(&mut hub, killed).await;
        drop(app);
        hub.restart().await;
        let _app = painter(&hub, &painted).await;
        assert_eq!(hub.api().call(body).await.must_be(422).json(), first.json());
        assert_eq!(painted.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_question() {
    for killed in [false, true] {
        let mut hub = hub(&[]).await;
        let painted = Arc::<AtomicU64>::default();
        let app = painter(&hub, &painted).await;
        hub.api().call(keyed("k", json!({"color": "red"}))).await.must_be(200);
        let other = keyed("k", json!({"color": "blue"}));
        assert_eq!(hub.api().call(other.clone()).await.must_be(400).fault(), "invalid_argument");
        end(&mut hub, killed).await;
        drop(app);
        hub.restart().await;
        let _app = painter(&hub, &painted).await;
        assert_eq!(hub.api().call(other).await.must_be(400).fault(), "invalid_argument");
        assert_eq!(painted.load(Ordering::SeqCst), 1, "nothing was done for the other question");
    }
}

#[tokio::test]
async fn a_key_while_its_call_runs_belongs_to_that_question() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "viewer", &["paint"]).await;
    let api = hub.api();
    let (first, ()) = tokio::join!(api.call(keyed("k", json!({"color": "red"}))), async {
        let call = app.call().await;
        let other = api.call(keyed("k", json!({"color": "blue"}))).await;
        assert_eq!(other.must_be(400).fault(), "invalid_argument");
        app.answer(&call, json!("red")).await;
    });
    assert_eq!(first.must_be(200).json()["result"], "red");
}

#[tokio::test]
async fn odd_keys_are_refused() {
    let hub = hub(&[]).await;
    let painted = Arc::<AtomicU64>::default();
    let _app = painter(&hub, &painted).await;
    for key in [String::new(), "x".repeat(201), "ü".repeat(101)] {
        let answer = hub.api().call(keyed(&key, json!({}))).await;
        assert_eq!(answer.fault(), "invalid_argument", "{} bytes", key.len());
    }
    assert_eq!(painted.load(Ordering::SeqCst), 0);
    hub.api().call(keyed(&"x".repeat(200), json!({}))).await.must_be(200);
}

#[tokio::test]
async fn a_key_counts_for_a_call_that_names_its_target_too() {
    let hub = hub(&[]).await;
    let painted = Arc::<AtomicU64>::default();
    let _app = painter(&hub, &painted).await;
    let mut body = keyed("k", json!({}));
    body["target"] = json!("app");
    let answers = [hub.api().call(body.clone()).await, hub.api().call(body).await];
    // Done once, or refused with a reason; but not done as if there were no key.
    assert!(painted.load(Ordering::SeqCst) <= 1, "{} {}", answers[0].text(), answers[1].text());
}

#[tokio::test]
async fn the_key_of_a_call_that_never_happened_may_be_tried_again() {
    for killed in [false, true] {
        let mut hub = hub(&[]).await;
        let mut app = FakeBrowser::with_tools(hub.port(), "viewer", &["paint"]).await;
        app.until_acked().await;
        app.vanish();
        hub.api().until_connected("viewer", false).await;
        let body = keyed("k", json!({"color": "red"}));
        for _ in 0..2 {
            assert_eq!(hub.api().call(body.clone()).await.fault(), "not_connected");
        }
        end(&mut hub, killed).await;
        hub.restart().await;
        app.follow(hub.port());
        app.connect().await;
        app.offer_tools(&["paint"]).await;
        let api = hub.api();
        let (answer, ()) = tokio::join!(api.call(body.clone()), async {
            // A hub that was started again asks for the state too, whenever that is.
            let call = app.until("callTool").await;
            app.answer(&call, json!("done")).await;
        });
        assert_eq!(answer.must_be(200).json()["result"], "done");
        app.vanish();
        api.until_connected("viewer", false).await;
        assert_eq!(api.call(body).await.must_be(200).json()["result"], "done", "and then kept");
    }
}

#[tokio::test]
async fn a_hub_killed_in_the_middle_does_not_know_and_never_does_it_again() {
    let mut hub = hub(&[]).await;
    let mut app = FakeBrowser::app(hub.port(), "viewer").able("results");
    app.connect().await;
    app.offer_tools(&["paint"]).await;
    app.until_acked().await;
    let body = keyed("k", json!({"color": "red"}));
    let mut http = Http::connect(hub.port()).await;
    http.send(&Ask::own_post("/api/call", &body).bytes(hub.port())).await.unwrap();
    app.call().await;
    hub.kill();
    assert!(!matches!(http.read_response().await, Ok(Some(_))), "a broken connection");
    hub.restart().await;
    app.follow(hub.port());
    app.connect().await;
    app.offer_tools(&["paint"]).await;
    for _ in 0..2 {
        let answer = hub.api().call(body.clone()).await;
        assert_eq!((answer.status, answer.fault().as_str()), (502, "outcome_unknown"));
    }
    // The event comes first: no call was sent.
    hub.api().event("viewer", "marker", json!(null)).await;
    let seen = app.seen.delivered.len();
    assert!(app.until_delivered(seen + 1).await);
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.call(keyed("k2", json!({"color": "red"}))), async {
        let call = app.until("callTool").await;
        app.answer(&call, json!("again")).await;
    });
    assert_eq!(answer.must_be(200).json()["result"], "again", "another key is another call");
}

#[tokio::test]
async fn keys_are_kept_apart_by_principal_and_shared_by_its_clients() {
    let hub = hub(&[]).await;
    let painted = Arc::<AtomicU64>::default();
    let _app = painter(&hub, &painted).await;
    let first = hub.api().call(keyed("k", json!({}))).await.must_be(200).json();
    let ask = Ask::post("/api/call", &keyed("k", json!({}))).header("Tabwire-Client", "another");
    assert_eq!(hub.api().send(ask).await.must_be(200).json(), first);
    assert_eq!(painted.load(Ordering::SeqCst), 1);
}

async fn mcp_paint(client: &McpHttp, key: &str, args: Value) -> Value {
    let params = json!({"name": "paint", "arguments": args,
        "_meta": {"tabwire/idempotencyKey": key}});
    client.request("tools/call", params).await.result()
}

#[tokio::test]
async fn ai_clients_give_their_key_beside_the_arguments() {
    for era in [Era::Modern, Era::Legacy("2025-11-25")] {
        let mut hub = hub(&[]).await;
        let painted = Arc::<AtomicU64>::default();
        let app = painter(&hub, &painted).await;
        let client = McpHttp::connected(hub.port(), era).await;
        let first = mcp_paint(&client, "k", json!({"color": "red"})).await;
        assert_eq!(first["structuredContent"]["number"], 1, "{first}");
        assert_eq!(mcp_paint(&client, "k", json!({"color": "red"})).await, first);
        let other = mcp_paint(&client, "k", json!({"color": "blue"})).await;
        assert_eq!(other["isError"], true, "{other}");
        assert_eq!(painted.load(Ordering::SeqCst), 1);
        hub.kill();
        drop(app);
        hub.restart().await;
        let _app = painter(&hub, &painted).await;
        let client = McpHttp::connected(hub.port(), era).await;
        let again = mcp_paint(&client, "k", json!({"color": "red"})).await;
        assert_eq!(again["structuredContent"], first["structuredContent"]);
        assert_eq!(painted.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_client_whose_connection_broke_gets_the_answer_when_it_asks_again() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "viewer", &["paint"]).await;
    let body = keyed("k", json!({}));
    let mut http = Http::connect(hub.port()).await;
    http.send(&Ask::own_post("/api/call", &body).bytes(hub.port())).await.unwrap();
    let call = app.call().await;
    drop(http);
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.call(body), app.answer(&call, json!("painted")));
    assert_eq!(answer.json()["result"], "painted", "{}", answer.text());
}
