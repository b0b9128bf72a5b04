//! Asking for an app's state: from the cache, from the page, and honestly when that fails.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{FakeBrowser, Response, Unanswered, eventually, strict};

use crate::scene::hub;

/// Longer than any page of these tests takes to answer.
const PATIENT: &[&str] = &["--state-timeout", "80s"];
/// What happens at once takes less than this on a machine that does nothing else.
const AT_ONCE: Duration = Duration::from_secs(1);

/// An app that has told its state once.
async fn painted(port: u16) -> FakeBrowser {
    let mut app = FakeBrowser::connected(port, "viewer").await;
    app.publish_state("p1", 1, json!({"color": "red", "size": {"width": 3}})).await;
    app.settle().await;
    app
}

/// Asks for the state while the app answers the request with a message made from its id.
async fn ask_while(
    app: &mut FakeBrowser,
    port: u16,
    query: &str,
    answer: impl FnOnce(&Value) -> Value,
) -> Response {
    let api = testkit::Api::new(port);
    let (response, ()) = tokio::join!(api.state("viewer", query), async {
        let request = app.until("requestState").await;
        app.say(answer(&request["requestId"])).await;
    });
    response
}

#[tokio::test]
async fn a_cached_state_is_answered_without_asking_the_page() {
    let hub = hub(&[]).await;
    let started = Instant::now();
    let mut app = painted(hub.port()).await;
    let body = hub.api().state("viewer", "").await.must_be(200).json();
    assert_eq!(body["value"], json!({"color": "red", "size": {"width": 3}}));
    assert_eq!((&body["source"], &body["version"]), (&json!("cache"), &json!(1)));
    assert_eq!((&body["stateEpoch"], &body["connected"]), (&json!("p1"), &json!(true)));
    assert!(u128::from(body["ageMs"].as_u64().unwrap()) <= started.elapsed().as_millis(), "{body}");
    assert_eq!(hub.api().metrics().await.get("tabwire_state_answers_total{reason=\"cache\"}"), 1.0);
    // The event comes first: the page was asked nothing.
    hub.api().event("viewer", "marker", json!(null)).await;
    assert_eq!(app.socket().until("event").await["name"], "marker");
}

#[tokio::test]
async fn a_forced_refresh_asks_the_page_and_fills_the_cache() {
    let hub = hub(PATIENT).await;
    let mut app = painted(hub.port()).await;
    let body = ask_while(&mut app, hub.port(), "forceRefresh=true", |id| {
        json!({"type": "stateResponse", "requestId": id, "state": {"color": "blue"},
               "stateEpoch": "p1", "version": 2})
    })
    .await
    .must_be(200)
    .json();
    assert_eq!((&body["source"], &body["value"]), (&json!("live"), &json!({"color": "blue"})));
    let cached = hub.api().state("viewer", "").await.must_be(200).json();
    assert_eq!((&cached["source"], &cached["version"]), (&json!("cache"), &json!(2)));
}

#[tokio::test]
async fn a_state_that_is_too_old_is_asked_for() {
    let hub = hub(PATIENT).await;
    let mut app = painted(hub.port()).await;
    let young = hub.api().state("viewer", "maxAgeMs=600000").await.must_be(200).json();
    assert_eq!(young["source"], "cache");
    eventually("the state has an age", async || {
        let body = hub.api().state("viewer", "").await.json();
        (body["ageMs"].as_u64().unwrap() >= 2).then_some(())
    })
    .await;
    let body = ask_while(&mut app, hub.port(), "maxAgeMs=1", |id| {
        json!({"type": "stateResponse", "requestId": id, "state": "new", "stateEpoch": "p1",
               "version": 5})
    })
    .await
    .must_be(200)
    .json();
    assert_eq!((&body["source"], &body["value"]), (&json!("live"), &json!("new")));
}

#[tokio::test]
async fn a_refresh_without_the_page_answers_stale_with_age_and_reason() {
    let hub = hub(PATIENT).await;
    let mut app = painted(hub.port()).await;
    app.vanish();
    hub.api().until_connected("viewer", false).await;
    let unanswered = Unanswered::state(hub.port()).await;
    let started = Instant::now();
    let body = hub.api().state("viewer", "forceRefresh=true").await.must_be(200).json();
    unanswered.must_be_under_way("at once, not after the timeout").await;
    strict(AT_ONCE, started.elapsed(), "a stale answer");
    assert_eq!((&body["source"], &body["connected"]), (&json!("stale"), &json!(false)));
    assert_eq!(body["value"]["color"], "red");
    assert!(body["ageMs"].is_u64(), "{body}");
    let reason = body["stale"].as_str().unwrap();
    assert!(reason.contains("not connected") && reason.contains("ago"), "{reason}");
}

#[tokio::test]
async fn a_page_that_does_not_answer_is_stale_after_the_timeout() {
    let hub = hub(&["--state-timeout", "200ms"]).await;
    let _app = painted(hub.port()).await;
    let body = hub.api().state("viewer", "forceRefresh=true").await.must_be(200).json();
    assert_eq!(body["source"], "stale");
    assert!(body["stale"].as_str().unwrap().contains("no reply within"), "{body}");
}

#[tokio::test]
async fn nothing_cached_and_no_page_is_an_error() {
    let hub = hub(&[]).await;
    FakeBrowser::connected(hub.port(), "viewer").await.vanish();
    hub.api().until_connected("viewer", false).await;
    let answer = hub.api().state("viewer", "").await;
    assert_eq!((answer.status, answer.fault().as_str()), (503, "state_unavailable"));
    assert!(answer.text().contains("not connected"), "{}", answer.text());
}

#[tokio::test]
async fn a_malformed_answer_is_an_error_at_once() {
    let hub = hub(PATIENT).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    let malformed: [fn(&Value) -> Value; 3] = [
        |id| json!({"type": "stateResponse", "requestId": id}),
        |id| json!({"type": "stateResponse", "requestId": id, "state": 1, "version": "new"}),
        |id| json!({"type": "stateError", "requestId": id, "error": 7}),
    ];
    let unanswered = Unanswered::state(hub.port()).await;
    for answer in malformed {
        let started = Instant::now();
        let response = ask_while(&mut app, hub.port(), "", answer).await;
        unanswered.must_be_under_way("at once, not after the timeout").await;
        strict(AT_ONCE, started.elapsed(), "a malformed answer");
        assert_eq!(response.status, 503, "{}", response.text());
        assert_eq!(response.fault(), "state_unavailable");
        assert!(response.text().contains("malformed"), "{}", response.text());
    }
    app.settle().await;
}

#[tokio::test]
async fn the_answer_to_another_question_is_not_a_live_state() {
    let hub = hub(PATIENT).await;
    let mut app = painted(hub.port()).await;
    let body = ask_while(
        &mut app,
        hub.port(),
        "forceRefresh=true",
        |id| json!({"type": "toolResult", "callId": id, "result": {"color": "none"}}),
    )
    .await
    .must_be(200)
    .json();
    assert_eq!(body["source"], "stale", "the page told no state: {body}");
}

#[tokio::test]
async fn a_state_error_is_passed_on_in_words() {
    let hub = hub(PATIENT).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    let why = "the scene is not loaded yet";
    let error = |id: &Value| json!({"type": "stateError", "requestId": id, "error": why});
    let answer = ask_while(&mut app, hub.port(), "", error).await;
    assert_eq!((answer.status, answer.fault().as_str()), (503, "state_unavailable"));
    assert!(answer.text().contains(why), "{}", answer.text());
    app.publish_state("p1", 1, json!(1)).await;
    app.settle().await;
    let stale = ask_while(&mut app, hub.port(), "forceRefresh=true", error).await.must_be(200);
    assert_eq!(stale.json()["source"], "stale");
    assert!(stale.text().contains(why), "{}", stale.text());
}

#[tokio::test]
async fn a_json_pointer_chooses_a_part() {
    let hub = hub(&[]).await;
    let _app = painted(hub.port()).await;
    for (path, expected) in [
        ("/color", json!("red")),
        ("/size/width", json!(3)),
        ("%2Fsize", json!({"width": 3})),
        ("", json!({"color": "red", "size": {"width": 3}})),
    ] {
        let body = hub.api().state("viewer", &format!("path={path}")).await.must_be(200).json();
        assert_eq!(body["value"], expected, "{path}");
    }
    let answer = hub.api().state("viewer", "path=/height").await;
    assert_eq!((answer.status, answer.fault().as_str()), (400, "invalid_argument"));
    assert!(answer.text().contains("/color"), "it says what there is: {}", answer.text());
}

#[tokio::test]
async fn an_unknown_parameter_is_refused() {
    let hub = hub(&[]).await;
    let _app = painted(hub.port()).await;
    for query in ["maxage=1", "maxAgeMs=soon", "forceRefresh=perhaps"] {
        let answer = hub.api().state("viewer", query).await;
        assert_eq!((answer.status, answer.fault().as_str()), (400, "invalid_argument"), "{query}");
    }
}
