//! Cancelling: a client that gives up, or goes away, ends its own calls down to the page.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::{Api, Era, FakeBrowser, HubProcess, McpStdio, eventually, mcp::Reply};

use crate::{
    mcp_scene::{LEGACY, http, stdio},
    scene::hub,
};

const ERAS: [Era; 2] = [Era::Modern, LEGACY];

/// A hub with an app whose calls are answered by hand, all at the same time.
async fn scene() -> (HubProcess, FakeBrowser) {
    let hub = hub(&["--call-timeout", "60s", "--call-timeout-max", "60s"]).await;
    let app = FakeBrowser::with_tools(hub.port(), "north", &["look?"]).await;
    (hub, app)
}

fn look(of: &str) -> Value {
    json!({"name": "look", "arguments": {"of": of}})
}

/// Asks through a relay and waits until the app has the call.
async fn begin(client: &mut McpStdio, app: &mut FakeBrowser, of: &str) -> (u64, Value) {
    let id = client.ask("tools/call", look(of)).await;
    let call = app.call().await;
    assert_eq!(call["args"]["of"], of);
    (id, call)
}

/// Fails the test unless exactly this call was withdrawn and no other is under way.
async fn check_cancelled(api: &Api, app: &mut FakeBrowser, call: &Value, others: f64) {
    assert_eq!(app.until("cancel").await["callId"], call["callId"]);
    api.until_metric("tabwire_calls_in_flight", others).await;
}

#[tokio::test]
async fn a_cancellation_reaches_the_app_and_nothing_else_is_disturbed() {
    let (hub, mut app) = scene().await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        let (first, withdrawn) = begin(&mut client, &mut app, "first").await;
        let (second, kept) = begin(&mut client, &mut app, "second").await;
        let params = json!({"requestId": first, "reason": "changed my mind"});
        client.notify("notifications/cancelled", params).await;
        check_cancelled(&hub.api(), &mut app, &withdrawn, 1.0).await;
        // A late answer has nowhere to go.
        app.answer(&withdrawn, json!("late")).await;
        app.answer(&kept, json!("in time")).await;
        let answer = client.answer(second).await.result();
        assert_eq!(answer["structuredContent"], json!({"result": "in time"}), "{era:?}");
        client.request("tools/list", json!({})).await.result();
        let early = client.kept().any(|message| message["id"] == first);
        assert!(!early, "{era:?}: a cancelled request is not answered");
    }
}

#[tokio::test]
async fn a_cancellation_of_nothing_does_nothing() {
    let (hub, mut app) = scene().await;
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        let (id, call) = begin(&mut client, &mut app, "it").await;
        for params in [
            json!({"requestId": 999}),
            json!({"requestId": "999"}),
            json!({"requestId": id.to_string()}),
            json!({}),
        ] {
            client.notify("notifications/cancelled", params).await;
        }
        client.request("tools/list", json!({})).await.result();
        app.answer(&call, json!("answered")).await;
        client.answer(id).await.result();
        client.notify("notifications/cancelled", json!({"requestId": id})).await;
        client.request("tools/list", json!({})).await.result();
    }
    assert_eq!(hub.api().metrics().await.sum("tabwire_calls_in_flight"), 0.0);
}

#[tokio::test]
async fn one_client_cannot_cancel_the_call_of_another() {
    let (hub, mut app) = scene().await;
    for era in ERAS {
        let mut owner = stdio(&hub, era).await;
        let mut other = stdio(&hub, era).await;
        let (id, call) = begin(&mut owner, &mut app, "mine").await;
        other.notify("notifications/cancelled", json!({"requestId": id})).await;
        other.request("tools/list", json!({})).await.result();
        let by_http = http(&hub, era).await;
        by_http.notify("notifications/cancelled", json!({"requestId": id})).await;
        app.answer(&call, json!("kept")).await;
        assert_eq!(owner.answer(id).await.result()["structuredContent"]["result"], "kept");
    }
}

#[tokio::test]
async fn an_older_client_cancels_over_http_by_saying_so() {
    let (hub, mut app) = scene().await;
    let client = http(&hub, LEGACY).await;
    let message = client.message("tools/call", look("it"));
    let (stream, call) = tokio::join!(client.post(&message), app.call());
    let params = json!({"requestId": message["id"]});
    client.notify("notifications/cancelled", params).await.must_be(202);
    check_cancelled(&hub.api(), &mut app, &call, 0.0).await;
    drop(stream);
}

#[tokio::test]
async fn a_newer_client_cancels_over_http_by_closing_the_request() {
    let (hub, mut app) = scene().await;
    let client = http(&hub, Era::Modern).await;
    let ask = client.ask(&client.message("tools/call", look("it")));
    let mut request = testkit::Http::connect(hub.port()).await;
    request.send(&ask.bytes(hub.port())).await.unwrap();
    let call = app.call().await;
    drop(request);
    check_cancelled(&hub.api(), &mut app, &call, 0.0).await;
}

#[tokio::test]
async fn a_newer_client_cancels_by_closing_a_stream_that_has_begun() {
    let (hub, mut app) = scene().await;
    let client = http(&hub, Era::Modern).await;
    let mut params = look("it");
    params["_meta"] = json!({"progressToken": 1});
    let (stream, call) = tokio::join!(client.stream("tools/call", params), async {
        let call = app.call().await;
        let id = &call["callId"];
        app.say(json!({"type": "toolProgress", "callId": id, "progress": 1})).await;
        call
    });
    assert!(stream.is_events(), "{:?}", stream.head);
    drop(stream);
    check_cancelled(&hub.api(), &mut app, &call, 0.0).await;
}

#[tokio::test]
async fn an_older_client_that_loses_its_stream_comes_back_for_the_answer() {
    let (hub, mut app) = scene().await;
    let client = http(&hub, LEGACY).await;
    // In the older revisions a closed stream is not a cancellation: only saying so is.
    let mut params = look("it");
    params["_meta"] = json!({"progressToken": 1});
    let (mut stream, call) = tokio::join!(client.stream("tools/call", params), app.call());
    let id = &call["callId"];
    app.say(json!({"type": "toolProgress", "callId": id, "progress": 1})).await;
    stream.until("notifications/progress").await;
    let event = stream.last_event.clone().expect("events are numbered");
    drop(stream);
    app.settle().await;
    let mut stream = client.resume(&event).await;
    app.answer(&call, json!("not lost")).await;
    // The event that was named may come once more before it.
    let answer = loop {
        let message = stream.next().await.expect("the answer");
        if message.get("method").is_none() {
            break Reply(message).result();
        }
    };
    assert_eq!(answer["structuredContent"]["result"], "not lost");
}

#[tokio::test]
async fn an_older_client_that_ends_its_session_ends_its_calls() {
    let (hub, mut app) = scene().await;
    let client = http(&hub, LEGACY).await;
    let (_stream, call) = tokio::join!(client.stream("tools/call", look("it")), app.call());
    assert!([200, 202, 204].contains(&client.delete().await.status));
    check_cancelled(&hub.api(), &mut app, &call, 0.0).await;
}

#[tokio::test]
async fn clients_that_leave_end_their_own_calls_only() {
    let (hub, mut app) = scene().await;
    let (mut leave, mut stay, mut withdrawn) = (Vec::new(), Vec::new(), BTreeSet::new());
    for era in ERAS {
        for of in ["closes its input", "is killed"] {
            let mut client = stdio(&hub, era).await;
            let (_, call) = begin(&mut client, &mut app, of).await;
            withdrawn.insert(call["callId"].to_string());
            leave.push(client);
        }
        let mut client = stdio(&hub, era).await;
        let (id, call) = begin(&mut client, &mut app, "stays").await;
        stay.push((client, id, call));
    }
    for clients in leave.chunks_mut(2) {
        clients[0].close_input();
        clients[1].kill();
    }
    while !withdrawn.is_empty() {
        let cancel = app.until("cancel").await;
        assert!(withdrawn.remove(&cancel["callId"].to_string()), "not this one: {cancel}");
    }
    hub.api().until_metric("tabwire_calls_in_flight", 2.0).await;
    for (mut client, id, call) in stay {
        app.answer(&call, json!("still here")).await;
        let answer = client.answer(id).await.result();
        assert_eq!(answer["structuredContent"]["result"], "still here");
    }
    for client in leave.into_iter().step_by(2) {
        let ended = client.finish().await;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    }
}

#[tokio::test]
async fn a_wait_that_is_cancelled_ends_too() {
    let (hub, _app) = scene().await;
    let args = json!({"name": "wait_for", "arguments": {"until": "event", "timeoutMs": 300_000}});
    for era in ERAS {
        let mut client = stdio(&hub, era).await;
        // All that one stream may have open at the same time: they must not stay.
        for _ in 0..3 {
            let mut waits = Vec::new();
            for _ in 0..200 {
                waits.push(client.ask("tools/call", args.clone()).await);
            }
            for id in waits {
                client.notify("notifications/cancelled", json!({"requestId": id})).await;
            }
        }
        client.request("tools/list", json!({})).await.result();
    }
}

#[tokio::test]
async fn a_client_that_dies_has_its_calls_withdrawn_at_once() {
    let (hub, mut app) = scene().await;
    for era in ERAS {
        for relay_dies_too in [false, true] {
            // Waited for, because it has only said everything: its call outlives the other's.
            let mut patient = stdio(&hub, era).await;
            let (_, waited) = begin(&mut patient, &mut app, "something").await;
            let mut client = stdio(&hub, era).await;
            let (_, call) = begin(&mut client, &mut app, "something").await;
            patient.close_input();
            if relay_dies_too {
                client.kill();
            }
            client.vanish();
            assert_eq!(app.until("cancel").await["callId"], call["callId"]);
            patient.vanish();
            assert_eq!(app.until("cancel").await["callId"], waited["callId"]);
            hub.api().until_metric("tabwire_calls_in_flight", 0.0).await;
            eventually("its relay ends", async || client.has_ended().then_some(())).await;
        }
    }
}
