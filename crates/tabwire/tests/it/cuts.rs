//! A network that breaks all the time: nothing is lost, nothing comes twice, in either direction.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Cutter, FakeBrowser, Rng};

use crate::scene::hub;

const EVENTS: u64 = 1000;
const CUTS: u64 = 500;
/// A socket that a cut left behind is given up soon.
const FLAGS: &[&str] = &["--takeover-probe", "100ms", "--replay-messages", "5000"];

async fn through(cutter: &Cutter, hub_port: u16) -> FakeBrowser {
    let mut app = FakeBrowser::app(hub_port, "viewer").dialled(|dial| dial.via(cutter.port()));
    app.connect().await;
    app
}

fn sequences(messages: &[Value]) -> Vec<u64> {
    messages.iter().map(|message| message["sequence"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_thousand_events_reach_the_browser_over_five_hundred_cuts() {
    let mut rng = Rng::seeded(20_260_101);
    let hub = hub(FLAGS).await;
    let cutter = Cutter::start(hub.port()).await;
    let mut app = through(&cutter, hub.port()).await;
    let (api, mut sent) = (hub.api(), 0);
    for _ in 0..CUTS {
        let batch = rng.between(0, 5).min(EVENTS - sent);
        for _ in 0..batch {
            sent = api.event("viewer", "tick", json!({"n": sent + 1})).await;
        }
        if rng.percent(50) {
            let some = app.seen.delivered.len() as u64 + rng.between(0, 3);
            app.until_delivered(some.min(sent) as usize).await;
            if rng.percent(30) {
                app.try_say(&json!({"type": "ack",
                    "position": app.seen.position.as_ref().unwrap().to_json()}))
                    .await;
            }
        }
        cutter.cut();
        app.vanish();
        // In the middle of the handshake, of the welcome, of a replayed event, or not at all.
        cutter.cut_after(rng.percent(80).then(|| rng.between(200, 4000)));
        if app.connect_if_possible().await {
            app.ask_for_more().await;
        }
    }
    while sent < EVENTS {
        sent = api.event("viewer", "tick", json!({"n": sent + 1})).await;
    }
    cutter.cut();
    cutter.cut_after(None);
    app.vanish();
    app.connect().await;
    app.ask_for_more().await;
    assert!(app.until_delivered(EVENTS as usize).await);
    assert_eq!(sequences(&app.seen.delivered), (1..=EVENTS).collect::<Vec<_>>());
    for event in &app.seen.delivered {
        assert_eq!(event["data"]["n"], event["sequence"], "each with its own payload");
    }
}

#[tokio::test]
async fn a_thousand_events_reach_the_hub_over_five_hundred_cuts() {
    let mut rng = Rng::seeded(20_260_102);
    let hub = hub(FLAGS).await;
    let cutter = Cutter::start(hub.port()).await;
    let mut app = through(&cutter, hub.port()).await;
    for _ in 0..CUTS {
        let batch = rng.between(0, 5).min(EVENTS - app.log.newest());
        for _ in 0..batch {
            let number = app.log.newest() + 1;
            app.publish_event("tick", json!({"n": number})).await;
        }
        cutter.cut();
        app.vanish();
        cutter.cut_after(rng.percent(80).then(|| rng.between(900, 3000)));
        if app.connect_if_possible().await {
            app.send_again().await;
        }
    }
    while app.log.newest() < EVENTS {
        let number = app.log.newest() + 1;
        app.publish_event("tick", json!({"n": number})).await;
    }
    cutter.cut();
    cutter.cut_after(None);
    app.vanish();
    app.connect().await;
    app.send_again().await;
    app.until_acked().await;
    let feed = hub.api().feed("viewer").await;
    let events = feed.iter().filter(|item| item["kind"] == "event");
    let numbers: Vec<_> = events.map(|item| item["body"]["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=EVENTS).collect::<Vec<_>>());
}

#[tokio::test]
async fn everything_works_byte_by_byte_and_with_delays() {
    let hub = hub(&[]).await;
    let cutter = Cutter::start(hub.port()).await;
    cutter.split(true);
    cutter.delay(Duration::from_millis(1));
    let mut app = through(&cutter, hub.port()).await;
    app.offer_tools(&["paint"]).await;
    let api = hub.api();
    let (answer, ()) =
        tokio::join!(api.call_tool("viewer", "paint", json!({"color": "rød"})), async {
            let call = app.call().await;
            let args = call["args"].clone();
            app.answer(&call, args).await;
        });
    assert_eq!(answer.must_be(200).json()["result"], json!({"color": "rød"}));
    api.event("viewer", "tick", json!(1)).await;
    assert!(app.until_delivered(1).await);
}

#[tokio::test]
async fn a_call_over_a_cut_ends_exactly_once() {
    let mut rng = Rng::seeded(20_260_103);
    let hub = hub(&["--call-timeout", "60s", "--takeover-probe", "100ms"]).await;
    let cutter = Cutter::start(hub.port()).await;
    let mut app = through(&cutter, hub.port()).await;
    app.offer_tools(&["paint"]).await;
    let api = hub.api();
    let mut ends = std::collections::BTreeMap::new();
    for round in 0..40 {
        let (answer, ()) =
            tokio::join!(api.call_tool("viewer", "paint", json!({"round": round})), async {
                let call = app.call().await;
                assert_eq!(call["args"]["round"], round, "no call is sent again");
                if rng.percent(70) {
                    app.answer(&call, json!(round)).await;
                }
                if rng.percent(50) {
                    app.settle().await;
                }
                cutter.cut();
                app.vanish();
            });
        match (answer.status, answer.fault().as_str()) {
            (200, "") => assert_eq!(answer.json()["result"], round),
            (502, "outcome_unknown") => {}
            other => panic!("{other:?}: {}", answer.text()),
        }
        *ends.entry(answer.status).or_insert(0) += 1;
        app.connect().await;
    }
    assert!(ends.len() == 2, "both ends were seen: {ends:?}");
    api.until_metric("tabwire_calls_in_flight", 0.0).await;
}
