//! What the hub sends a peer that missed something: all of it in order, or a reason and nothing.

use serde_json::{Value, json};
use testkit::{Api, FakeBrowser, Incoming, Position, eventually};

use crate::scene::hub;

/// Sends so many events to `viewer`, numbered in their data.
async fn send_events(api: &Api, count: u64) {
    for number in 1..=count {
        api.event("viewer", "tick", json!(number)).await;
    }
}

/// An app that was connected, went away, and missed so many events.
async fn who_missed(api: &Api, port: u16, count: u64) -> FakeBrowser {
    let mut app = FakeBrowser::connected(port, "viewer").await;
    app.vanish();
    api.until_connected("viewer", false).await;
    send_events(api, count).await;
    app
}

fn numbers(messages: &Value) -> Vec<u64> {
    let messages = messages.as_array().unwrap();
    messages.iter().map(|message| message["sequence"].as_u64().unwrap()).collect()
}

/// Fails the test unless a welcome or a page says that the log cannot continue, and nothing more.
#[track_caller]
fn check_refused(answer: &Value, messages: &str, reason: &str) {
    let found = (&answer["recovered"], &answer["reason"], &answer["more"], &answer[messages]);
    let expected = (&json!(false), &json!(reason), &json!(false), &json!([]));
    assert_eq!(found, expected, "{answer}");
}

#[tokio::test]
async fn what_was_missed_comes_with_the_welcome() {
    let hub = hub(&[]).await;
    let mut app = who_missed(&hub.api(), hub.port(), 3).await;
    let welcome = app.connect().await;
    assert_eq!((&welcome["recovered"], &welcome["more"]), (&json!(true), &json!(false)));
    assert_eq!(
        (numbers(&welcome["replay"]), &welcome["currentSequence"]),
        (vec![1, 2, 3], &json!(3))
    );
    let first = &welcome["replay"][0];
    assert_eq!(
        (&first["type"], &first["name"], &first["data"]),
        (&json!("event"), &json!("tick"), &json!(1))
    );
    app.ack().await;
    app.settle().await;
    app.vanish();
    assert_eq!(numbers(&app.connect().await["replay"]), Vec::<u64>::new(), "nothing comes twice");
}

#[tokio::test]
async fn a_peer_without_a_position_begins_now() {
    let hub = hub(&[]).await;
    let mut app = who_missed(&hub.api(), hub.port(), 3).await;
    app.seen.position = None;
    let welcome = app.connect().await;
    assert_eq!((&welcome["recovered"], numbers(&welcome["replay"])), (&json!(true), vec![]));
    hub.api().event("viewer", "tick", json!(4)).await;
    assert!(app.until_delivered(1).await);
    assert_eq!(app.seen.delivered[0]["sequence"], 4);
}

#[tokio::test]
async fn pages_have_a_hundred_messages_at_most() {
    let hub = hub(&[]).await;
    let mut app = who_missed(&hub.api(), hub.port(), 250).await;
    let welcome = app.connect().await;
    assert_eq!(numbers(&welcome["replay"]), (1..=100).collect::<Vec<_>>());
    assert_eq!((&welcome["more"], &welcome["currentSequence"]), (&json!(true), &json!(250)));
    for (from, upto, more) in [(100, 200, true), (200, 250, false)] {
        let from = Position::new(welcome["epoch"].as_str().unwrap(), from);
        app.say(json!({"type": "replayRequest", "from": from.to_json()})).await;
        let page = app.socket().until("replayPage").await;
        assert_eq!(numbers(&page["messages"]), (from.sequence + 1..=upto).collect::<Vec<_>>());
        assert_eq!((&page["upto"], &page["more"]), (&json!(upto), &json!(more)));
        assert_eq!((&page["recovered"], &page["partial"]), (&json!(true), &json!(false)));
    }
}

#[tokio::test]
async fn too_many_missed_messages_are_a_gap_and_a_full_sync() {
    let hub = hub(&["--replay-messages", "10"]).await;
    let mut app = who_missed(&hub.api(), hub.port(), 20).await;
    let start = app.seen.position.clone().unwrap();
    let welcome = app.connect().await;
    check_refused(&welcome, "replay", "gap");
    assert_eq!(welcome["currentSequence"], 20);
    app.until("requestState").await;
    app.say(json!({"type": "replayRequest", "from": start.to_json()})).await;
    let page = app.socket().until("replayPage").await;
    check_refused(&page, "messages", "gap");
    assert_eq!(page["upto"], 20, "from where it goes on");
    hub.api().event("viewer", "tick", json!(21)).await;
    assert!(app.until_delivered(1).await);
    assert_eq!(app.seen.delivered[0]["sequence"], 21);
}

#[tokio::test]
async fn too_many_missed_bytes_are_a_gap() {
    let hub = hub(&["--replay-bytes", "10000"]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    app.vanish();
    hub.api().until_connected("viewer", false).await;
    for _ in 0..5 {
        hub.api().event("viewer", "tick", json!("x".repeat(3000))).await;
    }
    check_refused(&app.connect().await, "replay", "gap");
}

#[tokio::test]
async fn a_position_in_another_log_or_in_the_future_is_refused() {
    let hub = hub(&[]).await;
    let mut app = who_missed(&hub.api(), hub.port(), 3).await;
    let epoch = app.seen.position.clone().unwrap().epoch;
    for (position, reason) in [
        (Position::new("another-life", 1), "epoch_changed"),
        (Position::new(&epoch, 4), "future_sequence"),
        (Position::new(&epoch, u64::MAX), "future_sequence"),
    ] {
        app.seen.position = Some(position.clone());
        check_refused(&app.connect().await, "replay", reason);
        app.until("requestState").await;
        for selection in [json!({}), json!({"types": ["tick"]}), json!({"errorsFirst": true})] {
            let mut request = json!({"type": "replayRequest", "from": position.to_json()});
            request.as_object_mut().unwrap().extend(selection.as_object().unwrap().clone());
            app.say(request).await;
            check_refused(&app.socket().until("replayPage").await, "messages", reason);
        }
        app.vanish();
    }
    let refused = hub.api().metrics().await;
    assert_eq!(refused.get("tabwire_refused_resumes_total{reason=\"future_sequence\"}"), 8.0);
}

#[tokio::test]
async fn messages_that_are_too_old_are_expired() {
    let hub = hub(&["--replay-age", "300ms"]).await;
    let mut app = who_missed(&hub.api(), hub.port(), 1).await;
    let start = app.seen.position.clone();
    let welcome = eventually("the first message is too old", async || {
        hub.api().event("viewer", "tick", json!("a younger one")).await;
        app.seen.position = start.clone();
        let welcome = app.connect().await;
        app.vanish();
        (welcome["recovered"] == false).then_some(welcome)
    })
    .await;
    check_refused(&welcome, "replay", "expired");
}

#[tokio::test]
async fn messages_are_too_old_also_when_no_younger_one_came() {
    let hub = hub(&["--replay-age", "300ms"]).await;
    let mut app = who_missed(&hub.api(), hub.port(), 1).await;
    let start = app.seen.position.clone();
    let welcome = eventually("the only message is too old", async || {
        app.seen.position = start.clone();
        let welcome = app.connect().await;
        app.vanish();
        (welcome["recovered"] == false).then_some(welcome)
    })
    .await;
    check_refused(&welcome, "replay", "expired");
}

#[tokio::test]
async fn what_was_acked_is_dropped_and_a_foolish_ack_means_nothing() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    let start = app.seen.position.clone();
    send_events(&hub.api(), 3).await;
    assert!(app.until_delivered(3).await);
    let epoch = start.clone().unwrap().epoch;
    for foolish in [Position::new("another-life", 3), Position::new(&epoch, 99)] {
        app.say(json!({"type": "ack", "position": foolish.to_json()})).await;
    }
    app.settle().await;
    app.vanish();
    app.seen.position = start.clone();
    assert_eq!(numbers(&app.connect().await["replay"]), [1, 2, 3], "all were kept");
    app.ack().await;
    app.settle().await;
    app.vanish();
    app.seen.position = start;
    check_refused(&app.connect().await, "replay", "gap");
}

#[tokio::test]
async fn a_selection_is_labelled_as_partial() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    let start = app.seen.position.clone().unwrap().to_json();
    for (name, level) in [
        ("tick", "info"),
        ("alarm", "error"),
        ("tick", "warning"),
        ("tock", "info"),
        ("alarm", "error"),
    ] {
        let body = json!({"session": "viewer", "name": name, "level": level});
        hub.api().post("/api/events", &body).await.must_be(200);
    }
    for (selection, expected) in [
        (json!({"types": ["tick"]}), vec![1, 3]),
        (json!({"types": ["tick", "tock"]}), vec![1, 3, 4]),
        (json!({"types": ["event"]}), vec![1, 2, 3, 4, 5]),
        (json!({"types": ["nothing"]}), vec![]),
        (json!({"errorsFirst": true}), vec![2, 5, 3, 1, 4]),
        (json!({"types": ["tick", "alarm"], "errorsFirst": true}), vec![2, 5, 3, 1]),
    ] {
        let mut request = json!({"type": "replayRequest", "from": start});
        request.as_object_mut().unwrap().extend(selection.as_object().unwrap().clone());
        app.say(request).await;
        let page = app.socket().until("replayPage").await;
        assert_eq!(numbers(&page["messages"]), expected, "{selection}");
        let found = (&page["partial"], &page["recovered"], &page["more"]);
        assert_eq!(found, (&json!(true), &json!(true), &json!(false)), "{selection}");
    }
}

#[tokio::test]
async fn a_large_selection_says_that_there_is_more() {
    let hub = hub(&[]).await;
    let mut app = who_missed(&hub.api(), hub.port(), 150).await;
    let epoch = app.connect().await["epoch"].as_str().unwrap().to_owned();
    let from = Position::new(&epoch, 0).to_json();
    app.say(json!({"type": "replayRequest", "from": from, "types": ["tick"]})).await;
    let page = app.socket().until("replayPage").await;
    assert_eq!(numbers(&page["messages"]), (1..=100).collect::<Vec<_>>());
    assert_eq!(
        (&page["more"], &page["partial"], &page["upto"]),
        (&json!(true), &json!(true), &json!(100))
    );
}

#[tokio::test]
async fn events_arrive_in_order_as_they_happen() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    send_events(&hub.api(), 5).await;
    for expected in 1..=5 {
        match app.socket().recv().await {
            Incoming::Message(event) => assert_eq!(
                (&event["type"], &event["sequence"], &event["data"]),
                (&json!("event"), &json!(expected), &json!(expected))
            ),
            other => panic!("{other:?}"),
        }
    }
}
