//! What the hub does with a peer's numbered messages: each once, in order, and it asks for what
//! is missing.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Api, FakeBrowser, Incoming, strict};

use crate::scene::{Scene, hub};

/// The data of all events in the feed of `viewer`.
async fn delivered(api: &Api) -> Vec<u64> {
    let events = api.feed("viewer").await.into_iter().filter(|item| item["kind"] == "event");
    events.map(|item| item["body"].as_u64().unwrap()).collect()
}

fn tick(number: u64) -> Value {
    json!({"type": "event", "name": "tick", "level": "info", "data": number})
}

/// Reads up to a message of one type; returns from where the hub asked for a replay meanwhile.
async fn requests_until(app: &mut FakeBrowser, end: &str) -> Vec<Value> {
    let mut requests = Vec::new();
    loop {
        match app.socket().recv().await {
            Incoming::Message(message) if message["type"] == end => return requests,
            Incoming::Message(message) if message["type"] == "replayRequest" => {
                requests.push(message["from"].clone());
            }
            Incoming::Message(_) => {}
            lost => panic!("{lost:?}"),
        }
    }
}

#[tokio::test]
async fn a_missing_number_is_asked_for_once_and_filled() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    app.publish(tick(1)).await;
    app.log.push(tick(2));
    for number in 3..=5 {
        app.publish(tick(number)).await;
    }
    // Past the duties: a request is kept here and not answered. After the pong the hub has taken
    // everything in, and what it has to say comes before the event.
    let mut requests = Vec::new();
    app.say(json!({"type": "ping"})).await;
    requests.extend(requests_until(&mut app, "pong").await);
    hub.api().event("viewer", "marker", json!(null)).await;
    requests.extend(requests_until(&mut app, "event").await);
    assert_eq!(requests, [json!({"epoch": app.log.epoch, "sequence": 1})], "once");
    assert_eq!(delivered(&hub.api()).await, [1], "nothing is delivered out of order");
    let page = app.log.page(1);
    app.say(page).await;
    app.until_acked().await;
    assert_eq!(delivered(&hub.api()).await, [1, 2, 3, 4, 5]);
    assert_eq!(hub.api().metrics().await.get("tabwire_gaps_total"), 1.0);
}

#[tokio::test]
async fn a_long_gap_is_filled_page_by_page() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    for number in 1..=350 {
        app.log.push(tick(number));
    }
    app.publish(tick(351)).await;
    app.until_acked().await;
    assert_eq!(delivered(&hub.api()).await, (1..=351).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_comes_again_is_dropped_and_counted() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    for number in 1..=3 {
        app.publish(tick(number)).await;
    }
    for again in app.log.after(0) {
        app.say(again).await;
    }
    app.publish(tick(4)).await;
    app.until_acked().await;
    assert_eq!(delivered(&hub.api()).await, [1, 2, 3, 4]);
    assert_eq!(hub.api().metrics().await.get("tabwire_duplicate_messages_total"), 3.0);
}

#[tokio::test]
async fn an_ack_comes_soon_and_unasked() {
    // The hub has nothing else to say that could bring an ack along until it asks who is silent;
    // that comes after what is due soon, and before what is not.
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    for burst in [1, 1, 7, 200] {
        let started = Instant::now();
        for number in 0..burst {
            app.publish(tick(number)).await;
        }
        while app.log.acked < app.log.newest() {
            match app.socket().recv().await {
                Incoming::Message(message) if message["type"] == "ack" => {
                    app.do_duty(message).await;
                }
                other => panic!("something else came before the ack: {other:?}"),
            }
        }
        strict(Duration::from_secs(1), started.elapsed(), "an ack");
    }
}

#[tokio::test]
async fn what_a_peer_has_lost_is_a_gap_in_the_feed_and_a_full_sync() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    app.publish(tick(1)).await;
    for number in 2..=9 {
        app.log.push(tick(number));
    }
    let epoch = app.log.epoch.clone();
    let tenth = app.log.push(tick(10));
    app.say(tenth).await;
    app.socket().until("replayRequest").await;
    app.say(json!({"type": "replayPage", "epoch": epoch, "upto": 10, "recovered": false,
                   "reason": "expired", "messages": [], "more": false}))
        .await;
    app.until("requestState").await;
    app.publish(tick(11)).await;
    app.until_acked().await;
    assert_eq!(delivered(&hub.api()).await, [1, 11]);
    let feed = hub.api().feed("viewer").await;
    let gap = feed.iter().find(|item| item["name"] == "gap").expect("an entry for the gap");
    let found = (&gap["kind"], &gap["level"], &gap["body"]["reason"], &gap["body"]["upto"]);
    let expected = (&json!("session"), &json!("warning"), &json!("expired"), &json!(10));
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_page_that_goes_back_makes_nothing_come_twice() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    for number in 1..=5 {
        app.publish(tick(number)).await;
    }
    app.settle().await;
    let epoch = app.log.epoch.clone();
    app.say(json!({"type": "replayPage", "epoch": epoch, "upto": 2, "recovered": false,
                   "reason": "gap", "messages": [], "more": false}))
        .await;
    for number in 3..=5 {
        let mut again = tick(number);
        again["sequence"] = json!(number);
        app.try_say(&again).await;
    }
    // Whether it is ignored or ends the connection: what was seen is not delivered again.
    app.try_say(&json!({"type": "ping"})).await;
    while matches!(app.socket().recv().await, Incoming::Message(got) if got["type"] != "pong") {}
    assert_eq!(delivered(&hub.api()).await, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_reconnected_peer_is_told_how_far_it_was_received() {
    let hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    assert_eq!(app.welcome["received"], json!({"epoch": app.log.epoch, "sequence": 0}));
    for number in 1..=3 {
        app.publish(tick(number)).await;
    }
    app.settle().await;
    app.vanish();
    app.publish(tick(4)).await;
    let welcome = app.connect().await;
    assert_eq!(welcome["received"], json!({"epoch": app.log.epoch, "sequence": 3}));
    assert!(app.send_again().await);
    app.until_acked().await;
    assert_eq!(delivered(&hub.api()).await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn another_life_starts_another_log_and_its_tabs_are_told_anew() {
    let hub = hub(&[]).await;
    let mut browser = FakeBrowser::browser(hub.port(), "viewer");
    browser.connect().await;
    browser.publish(json!({"type": "tabCreated", "tab": {"id": 7}})).await;
    browser.settle().await;
    assert_eq!(hub.api().session("viewer").await["tabs"][0]["id"], 7);
    browser.forget();
    let welcome = browser.connect().await;
    assert_eq!(welcome["received"], json!({"epoch": browser.log.epoch, "sequence": 0}));
    browser.until("requestState").await;
    assert_eq!(hub.api().session("viewer").await["tabs"], json!([]));
    browser.publish(tick(1)).await;
    browser.until_acked().await;
    assert_eq!(delivered(&hub.api()).await, [1]);
}

#[tokio::test]
async fn a_page_of_another_log_or_with_other_messages_is_out_of_turn() {
    let scene = Scene::new(&[]).await;
    for (epoch, messages, code) in [
        (Some("another-life"), json!([]), 4500),
        (None, json!([{"type": "pong"}]), 4500),
        (None, json!([{"type": "telepathy"}]), 4500),
        (None, json!([{"type": "event", "name": "x"}]), 4400),
        (None, json!([{"type": "event", "sequence": 0, "name": "x"}]), 4400),
    ] {
        let mut app = FakeBrowser::connected(scene.port(), "viewer").await;
        let epoch = epoch.unwrap_or(&app.log.epoch);
        app.say(json!({"type": "replayPage", "epoch": epoch, "upto": 1, "recovered": true,
                       "messages": messages, "more": false}))
            .await;
        app.take_socket().must_close(code).await;
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn the_feed_is_read_with_a_cursor_and_says_what_is_no_longer_kept() {
    let hub = hub(&["--replay-messages", "20"]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    for number in 1..=50 {
        app.publish(tick(number)).await;
    }
    app.settle().await;
    let api = hub.api();
    let first = api.feed_page("viewer", 0, 5).await;
    assert_eq!(first["items"].as_array().unwrap().len(), 5);
    let newest = first["newest"].as_u64().unwrap();
    assert_eq!(first["missed"], newest - 20, "all but the newest 20 are gone");
    let next = first["next"].as_u64().unwrap();
    let second = api.feed_page("viewer", next, 1000).await;
    assert_eq!((&second["missed"], &second["next"]), (&json!(0), &json!(newest)));
    assert_eq!(second["items"].as_array().unwrap().len(), 15);
    let last = api.feed_page("viewer", newest, 10).await;
    assert_eq!((&last["items"], &last["next"]), (&json!([]), &json!(newest)));
}

#[tokio::test]
async fn a_cursor_from_the_future_starts_over() {
    let scene = Scene::new(&[]).await;
    for since in [1_000_000, u64::MAX - 1, u64::MAX] {
        let path = format!("/api/sessions/bystander/feed?since={since}");
        let mut http = testkit::Http::connect(scene.port()).await;
        http.send(&testkit::Ask::own_get(&path).bytes(scene.port())).await.unwrap();
        let answer = http.read_response().await.ok().flatten();
        let answer = answer.unwrap_or_else(|| panic!("no answer at all for since={since}"));
        // It is from before a crash that took the newest entries: nothing may be passed over.
        let first = &answer.must_be(200).json()["items"][0]["sequence"];
        assert_eq!(first, 1, "{since}");
    }
    scene.bystander_answers().await;
}
