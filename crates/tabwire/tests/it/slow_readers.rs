//! A peer that stops reading costs the hub little, is cut, and nobody else notices.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{FakeApp, FakeBrowser, HubProcess, PATIENCE, eventually, torture, within};
use tokio::task::JoinHandle;

use crate::scene::hub;

/// What one event carries.
const PIECE: usize = 100 * 1024;
const OTHERS: usize = 20;
const SLOW: &str = "tabwire_closes_total{reason=\"slow_consumer\"}";
/// Who does not read says nothing either; that is not what it is cut for.
const NO_PINGS: [&str; 2] = ["--ping-after", "10m"];

/// Returns a limit of time: the strict one in the long form, which has the machine for itself.
fn at_most(strict: Duration, busy: Duration) -> Duration {
    if torture::is_long() { strict } else { busy }
}

/// How long who does not read may stay.
fn cut_within() -> Duration {
    at_most(Duration::from_secs(15), 4 * PATIENCE)
}

/// How much is produced for who does not read.
fn pieces() -> usize {
    let bytes = if torture::is_long() { 50 << 20 } else { 12 << 20 };
    bytes / PIECE
}

/// Others that answer, and somebody who asks them again and again until told to stop; what comes
/// back is how often, and the longest wait.
struct Crowd {
    _apps: Vec<FakeApp>,
    asking: JoinHandle<(u64, Duration)>,
    stop: tokio::sync::watch::Sender<bool>,
}

impl Crowd {
    async fn start(hub: &HubProcess) -> Self {
        let mut apps = Vec::new();
        for number in 0..OTHERS {
            let name = format!("other-{number}");
            apps.push(FakeApp::echo(hub.port(), &name, &["greet"]).await);
        }
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let (api, names) = (hub.api(), apps.iter().map(|app| app.name.clone()).collect::<Vec<_>>());
        let asking = tokio::spawn(async move {
            let (mut asked, mut longest) = (0, Duration::ZERO);
            while !*stopped.borrow() || asked < OTHERS as u64 {
                let name = &names[asked as usize % names.len()];
                let started = Instant::now();
                let answer = api.call_tool(name, "greet", json!({"n": asked})).await;
                assert_eq!(answer.must_be(200).json()["result"]["n"], asked);
                longest = longest.max(started.elapsed());
                asked += 1;
            }
            (asked, longest)
        });
        Self { _apps: apps, asking, stop }
    }

    /// Fails the test unless everybody was asked and answered soon.
    async fn must_have_answered(self, hub: &HubProcess) {
        self.stop.send_replace(true);
        let (asked, longest) = self.asking.await.unwrap();
        assert!(asked >= OTHERS as u64, "all were asked: {asked}");
        let limit = at_most(Duration::from_secs(2), Duration::from_secs(20));
        assert!(longest < limit, "nobody noticed: {longest:?}");
        for number in 0..OTHERS {
            let session = hub.api().session(&format!("other-{number}")).await;
            assert_eq!((&session["connected"], &session["connections"]), (&json!(true), &json!(1)));
        }
    }
}

#[tokio::test]
async fn a_reader_that_stops_is_cut_and_costs_little() {
    // Few messages: what the others leave in their logs must not count, however long this takes.
    let flags = ["--replay-messages", "100", "--replay-bytes", "1000000", "--write-timeout", "1s"];
    let hub = hub(&[&flags[..], &NO_PINGS].concat()).await;
    let crowd = Crowd::start(&hub).await;
    let mut slow = FakeBrowser::connected(hub.port(), "slow").await;
    let piece = json!("x".repeat(PIECE));
    // What the process needs for its work is there before it counts.
    for _ in 0..20 {
        hub.api().event("other-0", "warm", piece.clone()).await;
    }
    let before = hub.memory_kib();
    let started = Instant::now();
    let (mut most, mut cut) = (0, None);
    for number in 0..pieces() {
        hub.api().event("slow", "piece", piece.clone()).await;
        most = most.max(hub.memory_kib().saturating_sub(before));
        if cut.is_none() && number % 10 == 0 {
            let connected = hub.api().session("slow").await["connected"] == true;
            cut = (!connected).then(|| started.elapsed());
        }
    }
    hub.api().until_connected("slow", false).await;
    assert_eq!(hub.api().metrics().await.get(SLOW), 1.0);
    let cut = cut.unwrap_or_else(|| started.elapsed());
    println!("cut after {cut:?}, at most {most} KiB more");
    assert!(cut < cut_within(), "{cut:?}");
    // The log for replay (1 MB, in memory and on its way to the disk), the outbox (1 MiB) and the
    // room that allocators and the page cache of the store leave.
    assert!(most < 8 * 1024, "{most} KiB more");
    crowd.must_have_answered(&hub).await;
    // It may come back, and goes on where the log still reaches.
    slow.vanish();
    let welcome = slow.connect().await;
    assert_eq!((&welcome["recovered"], &welcome["reason"]), (&json!(false), &json!("gap")));
    hub.api().event("slow", "tick", json!("after")).await;
    assert!(slow.until_delivered(1).await);
    assert_eq!(slow.seen.delivered[0]["data"], "after");
}

#[tokio::test]
async fn a_write_that_does_not_end_is_given_up_after_its_time() {
    // Large enough that only the time counts.
    let flags = ["--write-timeout", "500ms", "--outbox-bytes", "100000000"];
    let hub = hub(&[&flags[..], &NO_PINGS].concat()).await;
    let crowd = Crowd::start(&hub).await;
    let mut slow = FakeBrowser::connected(hub.port(), "slow").await;
    let api = hub.api();
    let piece = json!("x".repeat(PIECE));
    let cut = async {
        while api.session("slow").await["connected"] == true {
            api.event("slow", "piece", piece.clone()).await;
        }
    };
    // Until the kernel's buffers are full and the time is over.
    within(cut_within(), "the cut", cut).await;
    assert_eq!(api.metrics().await.get(SLOW), 1.0);
    crowd.must_have_answered(&hub).await;
    // What it left in its buffers can still be read; then the connection is at its end, with a
    // code that says "come back", or without one because there was no room for it.
    let ending = slow.take_socket().ended().await;
    assert!([0, 4413].contains(&ending.code), "{} {}", ending.code, ending.reason);
    assert!(slow.connect().await["sessionId"].is_string());
}

#[tokio::test]
async fn a_full_outbox_closes_with_a_code_that_says_come_back() {
    let flags = ["--outbox-messages", "8", "--write-timeout", "2s"];
    let hub = hub(&[&flags[..], &NO_PINGS].concat()).await;
    let mut slow = FakeBrowser::connected(hub.port(), "slow").await;
    let api = hub.api();
    let piece = json!("x".repeat(PIECE));
    eventually("the outbox is full", async || {
        api.event("slow", "piece", piece.clone()).await;
        (api.session("slow").await["connected"] == false).then_some(())
    })
    .await;
    let ending = slow.take_socket().ended().await;
    assert_eq!(ending.code, 4413, "{}", ending.reason);
    let bye = ending.bye().map(|bye| bye["retry"].clone());
    assert!(bye.is_none_or(|retry| retry == true), "reconnecting makes sense");
}
