//! Every call has one end, whatever dies; and answers that nobody waits for do no harm.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Answer, Api, Ask, FakeApp, FakeBrowser, Response, Unanswered, eventually, strict};

use crate::scene::hub;

const LATE: &str = "tabwire_stray_answers_total{reason=\"late\"}";
const DUPLICATE: &str = "tabwire_stray_answers_total{reason=\"duplicate\"}";
const UNKNOWN: &str = "tabwire_stray_answers_total{reason=\"unknown\"}";
/// Longer than anything that happens at once …
const CALL_TIMEOUT: &[&str] = &["--call-timeout", "80s", "--resume-grace", "80s"];
/// … which takes less than this on a machine that does nothing else.
const AT_ONCE: Duration = Duration::from_secs(1);

async fn paint(api: &Api, args: Value) -> Response {
    api.call_tool("north", "paint", args).await
}

/// Waits until the session has so many calls: sent, or in line.
async fn until_calls(api: &Api, count: u64) {
    eventually(&format!("{count} calls"), async || {
        (api.session("north").await["callsInFlight"] == count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn results_and_errors_of_tools_are_passed_on_as_they_are() {
    let hub = hub(&[]).await;
    let peer = FakeBrowser::app(hub.port(), "north");
    let _app = FakeApp::start(peer, &["paint"], |call| match call["args"]["how"].as_str() {
        Some("badly") => Answer::Error("ELEMENT_NOT_FOUND", "no element matches #buy"),
        Some("namelessly") => Answer::Error("", "it broke"),
        Some("emptily") => Answer::Result(Value::Null),
        _ => Answer::Result(json!({"exact": [1, 2.50, "ü", {"deep": null}]})),
    })
    .await;
    let done = paint(&hub.api(), json!({})).await.must_be(200).json();
    assert_eq!(done["result"], json!({"exact": [1, 2.50, "ü", {"deep": null}]}));
    let empty = paint(&hub.api(), json!({"how": "emptily"})).await.must_be(200).json();
    assert!(empty["result"].is_null() && empty.as_object().unwrap().contains_key("result"));
    let failed = paint(&hub.api(), json!({"how": "badly"})).await.must_be(422);
    assert_eq!(failed.fault(), "ELEMENT_NOT_FOUND");
    assert_eq!(failed.json()["error"]["message"], "no element matches #buy");
    let failed = paint(&hub.api(), json!({"how": "namelessly"})).await.must_be(422);
    assert_eq!(failed.fault(), "tool_failed");
}

#[tokio::test]
async fn a_browser_that_goes_away_in_the_middle_is_told_at_once() {
    let hub = hub(CALL_TIMEOUT).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint", "look?"]).await;
    let api = hub.api();
    let unanswered = Unanswered::call(hub.port()).await;
    let started = Instant::now();
    let (running, queued, reading, ()) = tokio::join!(
        paint(&api, json!({"n": 1})),
        async {
            // The first is on its way before the second comes.
            until_calls(&api, 1).await;
            paint(&api, json!({"n": 2})).await
        },
        async {
            until_calls(&api, 2).await;
            api.call_tool("north", "look", json!({})).await
        },
        async {
            assert_eq!(app.call().await["args"]["n"], 1);
            assert_eq!(app.call().await["toolName"], "look");
            app.vanish();
        }
    );
    unanswered.must_be_under_way("at once, not after the timeout").await;
    strict(AT_ONCE, started.elapsed(), "the ends of calls to a browser that went away");
    assert_eq!((running.status, running.fault().as_str()), (502, "outcome_unknown"));
    assert_eq!(running.json()["error"]["retry"], "check");
    assert_eq!((queued.status, queued.fault().as_str()), (503, "not_delivered"));
    assert_eq!(queued.json()["error"]["retry"], "now");
    assert_eq!(reading.json()["error"]["retry"], "now", "reads may be repeated");
    assert_eq!(api.session("north").await["callsInFlight"], 0);
    // The one that nobody answers is left.
    api.until_metric("tabwire_calls_in_flight", 1.0).await;
}

#[tokio::test]
async fn a_late_answer_is_counted_and_dropped() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let api = hub.api();
    // Long enough to be sent: a call whose time is over is not.
    let hasty = json!({"session": "north", "tool": "paint", "timeoutMs": 2_000});
    let (answer, call) = tokio::join!(api.call(hasty), app.call());
    assert_eq!((answer.status, answer.fault().as_str()), (504, "timed_out"));
    assert_eq!(answer.json()["error"]["retry"], "check");
    assert_eq!(app.until("cancel").await["callId"], call["callId"]);
    app.answer(&call, json!("too late")).await;
    app.settle().await;
    assert_eq!(api.metrics().await.get(LATE), 1.0);
    let (answer, ()) = tokio::join!(paint(&api, json!({})), async {
        let call = app.call().await;
        app.answer(&call, json!("in time")).await;
    });
    assert_eq!(answer.must_be(200).json()["result"], "in time", "the connection stays");
}

#[tokio::test]
async fn a_doubled_answer_is_counted_and_dropped() {
    let hub = hub(&[]).await;
    let peer = FakeBrowser::app(hub.port(), "north");
    let _app = FakeApp::start(peer, &["paint"], |call| Answer::Twice(call["args"].clone())).await;
    for number in 1..=3 {
        let answer = paint(&hub.api(), json!({"n": number})).await.must_be(200).json();
        assert_eq!(answer["result"]["n"], number);
        hub.api().until_metric(DUPLICATE, f64::from(number)).await;
    }
    assert_eq!(hub.api().session("north").await["connections"], 1);
}

#[tokio::test]
async fn an_answer_to_the_call_of_another_session_is_counted_and_dropped() {
    let hub = hub(&[]).await;
    let mut north = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let mut thief = FakeBrowser::with_tools(hub.port(), "thief", &["steal"]).await;
    let api = hub.api();
    let (answer, ()) = tokio::join!(paint(&api, json!({})), async {
        let call = north.call().await;
        thief.answer(&call, json!("forged")).await;
        thief.say(json!({"type": "toolProgress", "callId": call["callId"], "progress": 1})).await;
        thief.answer(&json!({"callId": "c0-1"}), json!("made up")).await;
        thief.answer(&json!({"callId": "nonsense"}), json!("made up")).await;
        thief.settle().await;
        assert_eq!(api.metrics().await.get(UNKNOWN), 4.0);
        north.answer(&call, json!("true")).await;
    });
    assert_eq!(answer.must_be(200).json()["result"], "true");
    for peer in [&mut north, &mut thief] {
        peer.settle().await;
    }
}

#[tokio::test]
async fn an_answer_that_is_none_ends_the_call_at_once() {
    let hub = hub(CALL_TIMEOUT).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let api = hub.api();
    let unanswered = Unanswered::call(hub.port()).await;
    for wrong in [
        json!({"type": "toolResult"}),
        json!({"type": "toolResult", "error": "a text"}),
        json!({"type": "toolResult", "error": {"code": 7}}),
    ] {
        let started = Instant::now();
        let (answer, ()) = tokio::join!(paint(&api, json!({})), async {
            let call = app.call().await;
            let mut message = wrong.clone();
            message["callId"] = call["callId"].clone();
            app.say(message).await;
        });
        assert_eq!((answer.status, answer.fault().as_str()), (502, "malformed_reply"), "{wrong}");
        unanswered.must_be_under_way("at once, not after the timeout").await;
        strict(AT_ONCE, started.elapsed(), "the end of a call with an answer that is none");
    }
    app.settle().await;
}

#[tokio::test]
async fn progress_does_not_end_a_call_and_a_large_result_arrives_whole() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let api = hub.api();
    let large = "ø".repeat(4 << 20);
    let (answer, ()) = tokio::join!(paint(&api, json!({})), async {
        let call = app.call().await;
        for step in 1..=3 {
            let id = &call["callId"];
            app.say(json!({"type": "toolProgress", "callId": id, "progress": step, "total": 3}))
                .await;
        }
        app.settle().await;
        assert_eq!(api.session("north").await["callsInFlight"], 1);
        app.answer(&call, json!(large)).await;
    });
    let answer = answer.must_be(200).json();
    let id = answer["links"][0]["uri"].as_str().unwrap().rsplit('/').next().unwrap();
    let whole = Ask::own_get(&format!("/api/results/{id}")).send(hub.port()).await.must_be(200);
    assert!(whole.text() == large, "8 MiB as they were");
    assert!(answer["text"].as_str().unwrap().chars().count() < 25_000, "what is read has a cap");
    assert_eq!(api.metrics().await.sum("tabwire_stray_answers_total"), 0.0);
}

#[tokio::test]
async fn one_call_more_than_allowed_is_busy() {
    let hub = hub(&["--calls-per-session", "2", "--calls-total", "3"]).await;
    let mut north = FakeBrowser::with_tools(hub.port(), "north", &["look?"]).await;
    let mut south = FakeBrowser::with_tools(hub.port(), "south", &["look?"]).await;
    let api = hub.api();
    let look = async |session: &str| api.call_tool(session, "look", json!({})).await;
    let (first, second, third, ()) =
        tokio::join!(look("north"), look("north"), look("south"), async {
            let calls = [north.call().await, north.call().await];
            let other = south.call().await;
            for session in ["north", "south"] {
                let busy = look(session).await;
                assert_eq!((busy.status, busy.fault().as_str()), (429, "busy"), "{session}");
                assert_eq!(busy.json()["error"]["retry"], "later");
            }
            south.answer(&other, json!(3)).await;
            api.until_metric("tabwire_calls_in_flight", 2.0).await;
            assert_eq!(look("north").await.fault(), "busy", "the session's own limit");
            for (call, result) in calls.iter().zip([1, 2]) {
                north.answer(call, json!(result)).await;
            }
        });
    for answer in [first, second, third] {
        answer.must_be(200);
    }
}
