//! What is there again after the hub was stopped or killed and started in the same folder.

use serde_json::{Value, json};
use testkit::{FakeBrowser, FakeClock, HubOptions, HubProcess, Position, eventually};

use crate::scene::{PROGRAM, hub};

/// How a hub may end.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Stopped,
    Killed,
}

const ENDS: [End; 2] = [End::Stopped, End::Killed];

/// Ends a hub and starts it again.
async fn again(hub: &mut HubProcess, end: End) {
    match end {
        End::Stopped => assert_eq!(hub.terminate().await.code(), Some(0)),
        End::Killed => hub.kill(),
    }
    hub.restart().await;
}

fn numbers(messages: &Value) -> Vec<u64> {
    let messages = messages.as_array().unwrap();
    messages.iter().map(|message| message["sequence"].as_u64().unwrap()).collect()
}

/// Sends `viewer` events, and fails the test unless each is on disk.
async fn send_kept(hub: &HubProcess, data: impl IntoIterator<Item = u64>) {
    for number in data {
        let body = json!({"session": "viewer", "name": "tick", "data": number});
        let answer = hub.api().post("/api/events", &body).await.must_be(200).json();
        assert_eq!(answer["kept"], true, "{answer}");
    }
}

/// The data of all events in the feed of `viewer`.
async fn delivered(hub: &HubProcess) -> Vec<u64> {
    let items = hub.api().feed("viewer").await.into_iter();
    items
        .filter(|item| item["kind"] == "event" && item["name"] == "tock")
        .map(|item| item["body"].as_u64().unwrap())
        .collect()
}

#[tokio::test]
async fn sessions_keep_their_ids_and_names() {
    for end in ENDS {
        let mut hub = hub(&[]).await;
        let mut peers = Vec::new();
        for (instance, expected) in [("a", "viewer"), ("b", "viewer-2"), ("c", "viewer-3")] {
            let mut peer = FakeBrowser::app(hub.port(), instance).named(Some("Viewer"));
            assert_eq!(peer.connect().await["name"], expected);
            peer.publish_event("tock", json!(instance)).await;
            peer.until_acked().await;
            peers.push(peer);
        }
        let before = hub.api().sessions().await;
        again(&mut hub, end).await;
        let after = hub.api().sessions().await;
        assert_eq!(after.len(), 3, "{end:?}");
        for (old, new) in before.iter().zip(&after) {
            for field in ["id", "name", "instanceId", "kind", "dialect", "sent", "received"] {
                assert_eq!(old[field], new[field], "{field} {end:?}");
            }
            assert_eq!(new["connected"], false);
        }
        // In another order: names belong to sessions, not to who comes first.
        for peer in peers.iter_mut().rev() {
            let old = peer.welcome.clone();
            peer.follow(hub.port());
            let new = peer.connect().await;
            assert_eq!((&new["sessionId"], &new["name"]), (&old["sessionId"], &old["name"]));
            assert_eq!(new["recovered"], true, "{end:?}");
        }
    }
}

#[tokio::test]
async fn tools_are_known_before_and_after_their_app_is_back() {
    for end in ENDS {
        let mut hub = hub(&[]).await;
        let mut app = FakeBrowser::with_tools(hub.port(), "viewer", &["paint"]).await;
        app.until_acked().await;
        again(&mut hub, end).await;
        let refused = hub.api().call_tool("viewer", "paint", json!({})).await;
        assert_eq!(refused.fault(), "not_connected", "{end:?}: {}", refused.text());
        app.follow(hub.port());
        let welcome = app.connect().await;
        assert_eq!(welcome["received"]["sequence"], 1, "the tools are not asked for again");
        let api = hub.api();
        let (answer, ()) = tokio::join!(api.call_tool("viewer", "paint", json!({})), async {
            // It is asked for its state too, which may have changed meanwhile.
            let call = app.until("callTool").await;
            app.answer(&call, json!("done")).await;
        });
        assert_eq!(answer.must_be(200).json()["result"], "done");
    }
}

#[tokio::test]
async fn tabs_are_known_after_their_browser_is_back() {
    for end in ENDS {
        let mut hub = hub(&[]).await;
        let mut browser = FakeBrowser::browser(hub.port(), "chrome");
        browser.connect().await;
        let tab = json!({"id": 7, "title": "Shop", "url": "https://shop.example/", "active": true});
        browser.publish(json!({"type": "tabCreated", "tab": tab})).await;
        browser.until_acked().await;
        assert_eq!(hub.api().session("chrome").await["tabs"], json!([tab]));
        again(&mut hub, end).await;
        browser.follow(hub.port());
        let welcome = browser.connect().await;
        assert_eq!(welcome["received"]["sequence"], 1, "the tab is not asked for again");
        assert_eq!(hub.api().session("chrome").await["tabs"], json!([tab]), "{end:?}");
    }
}

#[tokio::test]
async fn a_browser_gets_exactly_what_it_missed() {
    for end in ENDS {
        let mut hub = hub(&[]).await;
        let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
        let epoch = app.welcome["epoch"].clone();
        send_kept(&hub, 1..=3).await;
        assert!(app.until_delivered(3).await);
        app.vanish();
        hub.api().until_connected("viewer", false).await;
        send_kept(&hub, 4..=6).await;
        again(&mut hub, end).await;
        send_kept(&hub, 7..=7).await;
        app.follow(hub.port());
        let welcome = app.connect().await;
        assert_eq!((&welcome["recovered"], &welcome["epoch"]), (&json!(true), &epoch), "{end:?}");
        assert_eq!(numbers(&welcome["replay"]), [4, 5, 6, 7]);
        send_kept(&hub, 8..=8).await;
        assert!(app.until_delivered(8).await);
        let data: Vec<_> = app.seen.delivered.iter().map(|event| event["data"].clone()).collect();
        assert_eq!(json!(data), json!([1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(app.seen.duplicates, 0);
    }
}

#[tokio::test]
async fn what_was_acked_before_is_not_sent_again_after() {
    for end in ENDS {
        let mut hub = hub(&[]).await;
        let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
        send_kept(&hub, 1..=5).await;
        assert!(app.until_delivered(5).await);
        let start = app.seen.position.clone().unwrap();
        app.ack().await;
        app.settle().await;
        again(&mut hub, end).await;
        app.follow(hub.port());
        let welcome = app.connect().await;
        assert_eq!((&welcome["recovered"], numbers(&welcome["replay"])), (&json!(true), vec![]));
        assert_eq!(welcome["currentSequence"], start.sequence);
    }
}

#[tokio::test]
async fn only_the_newest_token_proves_who_comes_back() {
    for end in ENDS {
        let mut hub = hub(&[]).await;
        let mut app = FakeBrowser::app(hub.port(), "viewer")
            .dialled(|dial| dial.origin("http://localhost:3000"));
        app.connect().await;
        let used = app.token.clone();
        app.vanish();
        app.connect().await;
        let session = app.welcome["sessionId"].clone();
        // The newest token is on disk when a later write is.
        send_kept(&hub, 1..=1).await;
        again(&mut hub, end).await;
        let thief = |token: Option<String>| {
            let mut thief = FakeBrowser::app(hub.port(), "viewer")
                .dialled(|dial| dial.origin("http://localhost:4000"));
            thief.token = token;
            thief
        };
        for token in [None, used, Some("made-up".to_owned())] {
            match thief(token.clone()).try_connect().await {
                Err(ending) => assert_eq!(ending.code, 4503, "{end:?}: {ending:?}"),
                Ok(welcome) => panic!("{end:?}: {token:?} was enough: {welcome}"),
            }
        }
        app.follow(hub.port());
        assert_eq!(app.connect().await["sessionId"], session);
        // The same page again: its token takes the socket over without a question.
        let mut same = FakeBrowser::app(hub.port(), "viewer")
            .dialled(|dial| dial.origin("http://localhost:3000"));
        same.token = app.token.clone();
        same.connect().await;
        app.take_socket().must_close(4509).await;
    }
}

#[tokio::test]
async fn acked_messages_of_a_browser_are_there_and_the_rest_is_sent_again() {
    for end in ENDS {
        let mut hub = hub(&[]).await;
        let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
        for number in 1..=5 {
            app.publish_event("tock", json!(number)).await;
        }
        app.until_acked().await;
        if end == End::Killed {
            hub.kill();
        } else {
            hub.terminate().await;
        }
        app.vanish();
        for number in 6..=8 {
            app.publish_event("tock", json!(number)).await;
        }
        hub.restart().await;
        assert_eq!(delivered(&hub).await, [1, 2, 3, 4, 5], "{end:?}");
        app.follow(hub.port());
        let welcome = app.connect().await;
        let received = Position::new(&app.log.epoch, 5).to_json();
        assert_eq!(welcome["received"], received, "not asked for again");
        app.send_again().await;
        app.until_acked().await;
        assert_eq!(delivered(&hub).await, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[tokio::test]
async fn the_last_state_is_there_with_its_age_until_the_page_tells_a_new_one() {
    for end in ENDS {
        let mut hub = hub(&["--state-timeout", "30s"]).await;
        let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
        app.publish_state("p1", 3, json!({"color": "red"})).await;
        app.until_acked().await;
        let age = eventually("the state has an age", async || {
            let age = hub.api().state("viewer", "").await.json()["ageMs"].as_u64().unwrap();
            (age > 50).then_some(age)
        })
        .await;
        again(&mut hub, end).await;
        let body = hub.api().state("viewer", "").await.must_be(200).json();
        assert_eq!((&body["value"], &body["version"]), (&json!({"color": "red"}), &json!(3)));
        assert_eq!((&body["stateEpoch"], &body["connected"]), (&json!("p1"), &json!(false)));
        assert!(body["ageMs"].as_u64().unwrap() >= age, "it is older now: {body}, {age}");
        let stale = hub.api().state("viewer", "forceRefresh=true").await.must_be(200).json();
        assert_eq!((&stale["source"], &stale["value"]["color"]), (&json!("stale"), &json!("red")));
        assert!(stale["stale"].as_str().unwrap().contains("not connected"), "{stale}");
        app.follow(hub.port());
        app.connect().await;
        let api = hub.api();
        let (fresh, ()) = tokio::join!(api.state("viewer", "forceRefresh=true"), async {
            // Once because it is back, once because it is asked.
            for _ in 0..2 {
                let request = app.until("requestState").await;
                app.say(json!({"type": "stateResponse", "requestId": request["requestId"],
                    "state": {"color": "blue"}, "stateEpoch": "p1", "version": 4}))
                    .await;
            }
        });
        let fresh = fresh.must_be(200).json();
        assert_eq!(fresh["value"]["color"], "blue", "{fresh}");
        assert_eq!(fresh["source"], "live", "{fresh}");
        // Versions go on over the restart: an older one does not win.
        app.publish_state("p1", 2, json!({"color": "old"})).await;
        app.settle().await;
        assert_eq!(api.state("viewer", "").await.json()["value"]["color"], "blue");
    }
}

#[tokio::test]
async fn the_audit_keeps_one_line_per_call() {
    for end in ENDS {
        let mut hub = hub(&[]).await;
        let mut app = FakeBrowser::with_tools(hub.port(), "viewer", &["paint"]).await;
        let api = hub.api();
        for number in 0..2 {
            let (answer, ()) = tokio::join!(api.call_tool("viewer", "paint", json!({})), async {
                let call = app.call().await;
                app.answer(&call, json!(number)).await;
            });
            answer.must_be(200);
        }
        let hasty = json!({"session": "viewer", "tool": "paint", "args": {}, "timeoutMs": 200});
        let answer = api.call(hasty).await;
        assert_ne!(answer.status, 200, "{}", answer.text());
        // A line follows its call; it is on disk when a later write is.
        let before = eventually("three lines", async || {
            let lines = api.get("/api/audit").await.must_be(200).json();
            (lines["lines"].as_array().unwrap().len() == 3).then_some(lines)
        })
        .await;
        send_kept(&hub, 1..=1).await;
        again(&mut hub, end).await;
        let after = hub.api().get("/api/audit").await.must_be(200).json();
        assert_eq!(before, after, "{end:?}");
        let outcomes: Vec<_> =
            after["lines"].as_array().unwrap().iter().map(|line| line["outcome"].clone()).collect();
        assert_eq!(outcomes, ["done", "done", "timed_out"]);
        let printed = hub.commands(PROGRAM).run(&["audit", "tail", "--json"]).await.must_exit(0);
        assert_eq!(printed.stdout.matches("\"paint\"").count(), 3, "{printed:?}");
    }
}

/// Fails the test unless a welcome says why the log cannot continue, and that a full sync works.
async fn check_refused(hub: &HubProcess, app: &mut FakeBrowser, reason: &str) {
    let welcome = app.connect().await;
    let found = (&welcome["recovered"], &welcome["reason"], &welcome["more"], &welcome["replay"]);
    assert_eq!(found, (&json!(false), &json!(reason), &json!(false), &json!([])), "{welcome}");
    let request = app.until("requestState").await;
    app.say(json!({"type": "stateResponse", "requestId": request["requestId"],
        "state": {"reason": reason}, "stateEpoch": reason, "version": 1}))
        .await;
    app.settle().await;
    let body = hub.api().state("viewer", "").await.must_be(200).json();
    assert_eq!(body["value"]["reason"], reason, "the full sync is taken");
    let before = app.seen.delivered.len();
    send_kept(hub, 99..=99).await;
    assert!(app.until_delivered(before + 1).await, "and it goes on from there");
}

#[tokio::test]
async fn a_position_that_cannot_be_continued_is_refused_after_a_restart_too() {
    for end in ENDS {
        let mut hub = hub(&["--replay-messages", "10"]).await;
        let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
        let start = app.seen.position.clone().unwrap();
        app.publish_event("tock", json!(1)).await;
        app.until_acked().await;
        app.vanish();
        hub.api().until_connected("viewer", false).await;
        send_kept(&hub, 1..=20).await;
        again(&mut hub, end).await;
        app.follow(hub.port());
        for (position, reason) in [
            (start.clone(), "gap"),
            (Position::new("another-life", 15), "epoch_changed"),
            (Position::new(&start.epoch, 1_000), "future_sequence"),
        ] {
            app.vanish();
            app.seen.position = Some(position);
            check_refused(&hub, &mut app, reason).await;
        }
        app.vanish();
        app.seen.position = Some(Position::new(&start.epoch, 19));
        let welcome = app.connect().await;
        assert_eq!(
            (&welcome["recovered"], numbers(&welcome["replay"])),
            (&json!(true), vec![20, 21, 22, 23])
        );
    }
}

#[tokio::test]
async fn a_peer_that_never_told_anything_is_asked_for_its_state_too() {
    for end in ENDS {
        let mut hub = hub(&[]).await;
        let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
        send_kept(&hub, 1..=1).await;
        again(&mut hub, end).await;
        app.follow(hub.port());
        app.seen.position = Some(Position::new("another-life", 15));
        check_refused(&hub, &mut app, "epoch_changed").await;
    }
}

#[tokio::test]
async fn messages_grow_old_over_a_restart() {
    for end in ENDS {
        let mut hub = hub(&["--replay-age", "400ms"]).await;
        let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
        let start = app.seen.position.clone();
        app.publish_event("tock", json!(1)).await;
        app.until_acked().await;
        app.vanish();
        hub.api().until_connected("viewer", false).await;
        send_kept(&hub, 1..=2).await;
        again(&mut hub, end).await;
        app.follow(hub.port());
        eventually("the messages are too old", async || {
            app.seen.position = start.clone();
            let welcome = app.connect().await;
            app.vanish();
            (welcome["recovered"] == false).then_some(())
        })
        .await;
        app.seen.position = start.clone();
        check_refused(&hub, &mut app, "expired").await;
    }
}

#[tokio::test]
async fn a_wall_clock_that_jumps_disconnects_nobody() {
    let options = HubOptions::new(PROGRAM).flags(&["--ping-after", "20s", "--call-timeout", "30s"]);
    let clock = FakeClock::of_wall(options.place());
    let mut hub = options.variables(&clock.variables()).start().await;
    let mut app = FakeBrowser::with_tools(hub.port(), "viewer", &["paint"]).await;
    app.publish_state("p1", 1, json!(1)).await;
    app.until_acked().await;
    let api = hub.api();
    let mut told = Vec::new();
    for jump in ["+2h", "-2h", "+400d", "-400d", "+0"] {
        clock.set(jump);
        let (answer, ()) = tokio::join!(api.call_tool("viewer", "paint", json!({})), async {
            let call = app.call().await;
            assert!(call["deadlineMs"].as_u64().unwrap() <= 30_000, "{call}");
            app.answer(&call, json!(jump)).await;
        });
        assert_eq!(answer.must_be(200).json()["result"], jump);
        send_kept(&hub, 1..=1).await;
        assert!(app.until_delivered(told.len() + 1).await);
        told.push(jump);
        let session = api.session("viewer").await;
        assert_eq!((&session["connected"], &session["connections"]), (&json!(true), &json!(1)));
        let body = api.state("viewer", "").await.must_be(200).json();
        assert!(body["ageMs"].as_u64().unwrap() < 60_000, "ages are not of that clock: {body}");
    }
    let lines = api.get("/api/audit").await.json()["lines"].clone();
    let times: Vec<_> = lines.as_array().unwrap().iter().map(|line| line["atMs"].clone()).collect();
    assert!(times[2].as_u64() > times[0].as_u64().map(|at| at + 1_000_000_000), "{times:?}");
    // A restart in the past finds what a hub in the future wrote.
    hub.kill();
    clock.set("-2d");
    hub.restart().await;
    app.follow(hub.port());
    let welcome = app.connect().await;
    assert_eq!((&welcome["recovered"], &welcome["name"]), (&json!(true), &json!("viewer")));
}
