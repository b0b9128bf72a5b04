//! Faults that come together: a hub that stops, dies or finds its disk full while clients, relays
//! and browsers are in the middle of something.

use serde_json::{Value, json};
use testkit::{
    Era, FakeBrowser, HubOptions, HubProcess, Machine, PATIENCE, Signal, eventually, mcp::Reply,
};

use crate::{
    durable_store::{FULL_DISK, is_kept, limit_files},
    mcp_scene::{LEGACY, http, stdio},
    scene::{PROGRAM, hub},
};

/// Nothing ends by itself within a test: neither a call, nor the wait for a browser that is away,
/// nor a drain.
const ENDLESS: &[&str] =
    &["--call-timeout", "9m", "--resume-grace", "9m", "--drain-timeout", "400ms"];

/// An app that keeps results, so that its calls wait when its socket is gone.
async fn keeper(port: u16, tools: &[&str]) -> FakeBrowser {
    let mut app = FakeBrowser::app(port, "viewer").able("results");
    app.connect().await;
    app.offer_tools(tools).await;
    app.until_acked().await;
    app
}

async fn until_in_flight(hub: &HubProcess, count: usize) {
    hub.api().until_metric("tabwire_calls_in_flight", count as f64).await;
}

/// A call of `batch` that paints and looks.
fn batch() -> Value {
    let paint = |number: u64| json!({"tool": "paint", "n": number});
    json!({"name": "batch", "arguments": {"steps": [paint(1), paint(2), paint(3)]}})
}

/// Fails the test unless the first step of a batch was done, and nobody knows of the second.
#[track_caller]
fn check_second_step_unknown(reply: Reply) {
    let result = reply.result();
    assert_eq!(result["isError"], true, "{result}");
    let said = &result["structuredContent"];
    assert_eq!(said["done"], 1, "{result}");
    assert_eq!(said["failed"]["step"], 2, "{result}");
    assert_eq!(said["failed"]["error"]["code"], "outcome_unknown", "{result}");
}

#[tokio::test]
async fn a_hub_that_stops_tells_a_batch_whose_browser_is_away_how_far_it_was() {
    for is_away in [true, false] {
        let mut hub = hub(ENDLESS).await;
        let mut app = keeper(hub.port(), &["paint"]).await;
        let mut relayed = stdio(&hub, Era::Modern).await;
        let id = relayed.ask("tools/call", batch()).await;
        let first = app.call().await;
        app.answer(&first, json!("painted")).await;
        assert_eq!(app.call().await["args"]["n"], 2);
        if is_away {
            // Its call waits for it from here on, and it does not come back.
            app.vanish();
            hub.api().until_connected("viewer", false).await;
        }
        hub.signal(Signal::Terminate);
        check_second_step_unknown(relayed.answer(id).await);
        assert_eq!(hub.exited().await.code(), Some(0), "away: {is_away}");
        let ended = relayed.finish().await;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        let answered = ended.messages.iter().any(|message| message.get("method").is_none());
        assert!(!answered, "one answer is enough: {ended:?}");
    }
}

#[tokio::test]
async fn a_hub_that_stops_answers_every_request_whatever_it_waits_for() {
    let mut hub = hub(ENDLESS).await;
    let mut app = keeper(hub.port(), &["paint"]).await;
    let (api, modern, legacy) =
        (hub.api(), http(&hub, Era::Modern).await, http(&hub, LEGACY).await);
    let mut relayed = stdio(&hub, LEGACY).await;
    let paint = json!({"name": "paint", "arguments": {"n": 1}});
    let id = relayed.ask("tools/call", paint.clone()).await;
    app.call().await;
    let wait = json!({"for": "connected", "session": "nobody", "timeoutMs": 500_000});
    let waits = async || {
        tokio::join!(
            api.call_tool("viewer", "paint", json!({"n": 2})),
            modern.request("tools/call", paint.clone()),
            legacy.request("tools/call", paint.clone()),
            modern.call("sleep", json!({"durationMs": 60_000})),
            modern.call("wait_for", wait.clone()),
        )
    };
    let (answers, ()) = tokio::join!(waits(), async {
        // Sent, or in line behind the first.
        until_in_flight(&hub, 4).await;
        hub.signal(Signal::Terminate);
    });
    assert_eq!(answers.0.fault(), "not_delivered", "it waited in line");
    let told = |reply: Reply| reply.told();
    let line = [answers.1, answers.2].map(told);
    let waiting = [answers.3, answers.4].map(told);
    assert!(
        line.iter().all(|(failed, said)| *failed && said.contains("not_delivered")),
        "{line:?}"
    );
    assert!(waiting.iter().all(|(failed, _)| *failed), "{waiting:?}");
    let (failed, said) = relayed.answer(id).await.told();
    assert!(failed && said.contains("outcome_unknown"), "{said}");
    assert_eq!(hub.exited().await.code(), Some(0));
}

#[tokio::test]
async fn a_keyed_call_over_a_hubs_death_is_made_once_by_whoever_is_the_hub() {
    let machine = Machine::new(PROGRAM);
    let mut clients = Vec::new();
    for era in [Era::Modern, LEGACY] {
        clients.push(machine.relay().connect(era).await.patient(2 * PATIENCE));
    }
    let mut app = keeper(machine.port(), &["paint"]).await;
    let keyed = |key: &str| json!({"name": "paint", "arguments": {}, "_meta": {"tabwire/idempotencyKey": key}});
    for round in 1..=3 {
        let before = machine.running().await;
        let (done, open) = (format!("done-{round}"), format!("open-{round}"));
        let id = clients[0].ask("tools/call", keyed(&done)).await;
        let call = app.call().await;
        app.answer(&call, json!({ "round": round })).await;
        let answer = clients[0].answer(id).await.result();
        let waiting = clients[0].ask("tools/call", keyed(&open)).await;
        app.call().await;
        machine.kill_hub().await;
        let unknown = clients[0].answer(waiting).await.told();
        assert!(unknown.0 && unknown.1.contains("outcome_unknown"), "{unknown:?}");
        let after = machine.running().await;
        assert_ne!(after["pid"], before["pid"], "another hub has taken over");
        app.vanish();
        app.connect().await;
        // Either client, over its own relay: what was done is told, the rest is not done again.
        for client in &mut clients {
            let again = client.request("tools/call", keyed(&done)).await.result();
            assert_eq!(again["structuredContent"], answer["structuredContent"]);
            let unknown = client.request("tools/call", keyed(&open)).await.told();
            assert!(unknown.0 && unknown.1.contains("outcome_unknown"), "{unknown:?}");
        }
    }
    // Had any of them been sent, it would come before this one.
    let id = clients[1].ask("tools/call", keyed("last")).await;
    let call = app.until("callTool").await;
    app.answer(&call, json!("last")).await;
    assert_eq!(clients[1].answer(id).await.result()["structuredContent"]["result"], "last");
}

#[tokio::test]
async fn a_hub_that_stops_while_its_disk_is_full_has_acked_nothing_that_is_lost() {
    let mut hub = HubOptions::new(PROGRAM).flags(ENDLESS).under(&FULL_DISK).start().await;
    let mut app = keeper(hub.port(), &["paint"]).await;
    assert!(is_kept(&hub, json!("before")).await);
    assert!(app.until_delivered(1).await);
    limit_files(&hub, Some(0));
    assert!(!is_kept(&hub, json!("meanwhile")).await);
    let acked = app.log.acked;
    app.publish_event("tock", json!("not acked")).await;
    app.settle().await;
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.call_tool("viewer", "paint", json!({})), async {
        app.call().await;
        hub.signal(Signal::Terminate);
    });
    assert_eq!(answer.fault(), "outcome_unknown", "the disk keeps no answer back");
    hub.exited().await;
    assert_eq!(app.log.acked, acked, "nothing is acked that is not on disk");
    app.vanish();
    hub.restart().await;
    app.follow(hub.port());
    let welcome = app.connect().await;
    assert_eq!(welcome["recovered"], true, "no number was told that is gone: {welcome}");
    app.send_again().await;
    app.until_acked().await;
    let tocks = eventually("what was not acked came again", async || {
        let feed = hub.api().feed("viewer").await;
        let tocks = feed.iter().filter(|entry| entry["name"] == "tock").count();
        (tocks > 0).then_some(tocks)
    })
    .await;
    assert_eq!(tocks, 1);
}
