//! Progress: an app's reports reach the client that asked for them, and nobody else.

use serde_json::{Value, json};
use testkit::{Era, FakeBrowser, McpHttp, McpStdio, mcp::Reply};

use crate::{
    mcp_scene::{LEGACY, http, stdio},
    scene::hub,
};

const PROGRESS: &str = "notifications/progress";

fn paint(token: Value) -> Value {
    let mut params = json!({"name": "paint", "arguments": {}});
    if !token.is_null() {
        params["_meta"] = json!({"progressToken": token});
    }
    params
}

async fn report(app: &mut FakeBrowser, call: &Value, progress: u64, words: &str) {
    let id = &call["callId"];
    let message = json!({
        "type": "toolProgress", "callId": id, "progress": progress, "total": 10, "message": words,
    });
    app.say(message).await;
}

#[track_caller]
fn check(heard: &Value, token: &Value, progress: u64, words: &str) {
    let params = &heard["params"];
    assert_eq!(params["progressToken"], *token, "{heard}");
    assert_eq!(params["progress"].as_f64(), Some(progress as f64), "{heard}");
    assert_eq!(params["total"].as_f64(), Some(10.0), "{heard}");
    assert_eq!(params["message"], words, "{heard}");
}

async fn check_stdio(client: &mut McpStdio, app: &mut FakeBrowser, token: Value) {
    let id = client.ask("tools/call", paint(token.clone())).await;
    let call = app.call().await;
    for (progress, words, told) in
        [(3, "a third", "a third"), (7, "[most]\nof it", r"\[most\] of it")]
    {
        report(app, &call, progress, words).await;
        check(&client.notification(PROGRESS).await, &token, progress, told);
    }
    app.answer(&call, json!("done")).await;
    client.answer(id).await.result();
}

async fn check_http(client: &McpHttp, app: &mut FakeBrowser, token: Value) {
    // A newer client gets the head of the answer with the first message.
    let (mut stream, call) =
        tokio::join!(client.stream("tools/call", paint(token.clone())), async {
            let call = app.call().await;
            report(app, &call, 3, "a third").await;
            call
        });
    check(&stream.next().await.unwrap(), &token, 3, "a third");
    report(app, &call, 7, "most of it").await;
    check(&stream.next().await.unwrap(), &token, 7, "most of it");
    app.answer(&call, json!("done")).await;
    Reply(stream.next().await.unwrap()).result();
    assert_eq!(stream.next().await, None, "the answer is the end");
}

#[tokio::test]
async fn progress_goes_to_the_client_that_gave_a_token() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    for era in [Era::Modern, LEGACY] {
        let mut by_stdio = stdio(&hub, era).await;
        let by_http = http(&hub, era).await;
        for token in [json!("my-token"), json!(42)] {
            check_stdio(&mut by_stdio, &mut app, token.clone()).await;
            check_http(&by_http, &mut app, token).await;
        }
    }
}

#[tokio::test]
async fn without_a_token_there_is_no_progress() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    for era in [Era::Modern, LEGACY] {
        let mut by_stdio = stdio(&hub, era).await;
        let id = by_stdio.ask("tools/call", paint(Value::Null)).await;
        let call = app.call().await;
        report(&mut app, &call, 3, "a third").await;
        app.answer(&call, json!("done")).await;
        by_stdio.answer(id).await.result();
        assert!(by_stdio.notifications(PROGRESS).is_empty());
        let by_http = http(&hub, era).await;
        let ((reply, before), ()) =
            tokio::join!(by_http.exchange("tools/call", paint(Value::Null)), async {
                let call = app.call().await;
                report(&mut app, &call, 3, "a third").await;
                app.answer(&call, json!("done")).await;
            });
        reply.result();
        assert!(before.is_empty(), "{before:?}");
    }
}

#[tokio::test]
async fn two_clients_hear_of_their_own_calls_only() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint?"]).await;
    let mut clients = [stdio(&hub, Era::Modern).await, stdio(&hub, LEGACY).await];
    let mut calls = Vec::new();
    for client in &mut clients {
        // The same token: it means something to its own client only.
        let id = client.ask("tools/call", paint(json!("same"))).await;
        calls.push((id, app.call().await));
    }
    for (number, (_, call)) in calls.iter().enumerate() {
        report(&mut app, call, 1 + number as u64, &format!("of {number}")).await;
    }
    for (number, (client, (id, call))) in clients.iter_mut().zip(&calls).enumerate() {
        let words = format!("of {number}");
        check(&client.notification(PROGRESS).await, &json!("same"), 1 + number as u64, &words);
        app.answer(call, json!(number)).await;
        client.answer(*id).await.result();
        assert!(client.notifications(PROGRESS).is_empty());
    }
}

#[tokio::test]
async fn the_last_report_comes_before_the_answer_and_is_not_lost() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let mut client = stdio(&hub, Era::Modern).await;
    for round in 0..40u64 {
        let id = client.ask("tools/call", paint(json!(round))).await;
        let call = app.call().await;
        for progress in 1..=5 {
            report(&mut app, &call, progress, "on the way").await;
        }
        app.answer(&call, json!("done")).await;
        client.answer(id).await.result();
        let mut heard = Vec::new();
        while !client.notifications(PROGRESS).is_empty() {
            heard.push(client.notification(PROGRESS).await["params"]["progress"].clone());
        }
        let heard: Vec<_> = heard.iter().filter_map(Value::as_f64).collect();
        assert_eq!(heard, [1.0, 2.0, 3.0, 4.0, 5.0], "round {round}");
    }
}
