//! A peer that stops reading costs the hub little, is cut, and nobody else notices.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Api, FakeApp, FakeBrowser, HubProcess, eventually, kernel::unread_bytes, strict};

use crate::scene::hub;

/// What one event carries.
const PIECE: usize = 100 * 1024;
const OTHERS: usize = 20;
const SLOW: &str = "tabwire_closes_total{reason=\"slow_consumer\"}";
/// Who does not read says nothing either; that is not what it is cut for.
const NO_PINGS: [&str; 2] = ["--ping-after", "10m"];
/// What waits for a peer in the hub, usually: as much as the outbox holds, and half of that being
/// written.
const OUTBOX: usize = 3 << 19;
/// What such a peer may cost: the log for replay (1 MB, in memory and on its way to the disk), the
/// outbox, and the room that allocators and the page cache of the store leave.
const GROWTH: usize = 8 << 20;
/// How many times longer the others may take to answer than before, and what is too short to be
/// compared: a turn of the machine's scheduler or of its disk is as long.
const SLOWER: u32 = 5;
const BLINK: Duration = Duration::from_millis(20);

/// Others that answer.
struct Crowd {
    apps: Vec<FakeApp>,
    api: Api,
}

impl Crowd {
    async fn start(hub: &HubProcess) -> Self {
        let mut apps = Vec::new();
        for number in 0..OTHERS {
            let name = format!("other-{number}");
            apps.push(FakeApp::echo(hub.port(), &name, &["greet"]).await);
        }
        Self { apps, api: hub.api() }
    }

    /// Asks one of them; returns how long it took.
    async fn ask(&self, number: usize) -> Duration {
        let name = &self.apps[number % OTHERS].name;
        let started = Instant::now();
        let answer = self.api.call_tool(name, "greet", json!({"n": number})).await;
        assert_eq!(answer.must_be(200).json()["result"]["n"], number);
        started.elapsed()
    }

    /// Asks all of them; fails the test unless each answers on its first connection.
    async fn must_answer(&self) {
        for number in 0..OTHERS {
            self.ask(number).await;
            let session = self.api.session(&self.apps[number].name).await;
            assert_eq!((&session["connected"], &session["connections"]), (&json!(true), &json!(1)));
        }
    }
}

fn piece() -> Value {
    json!("x".repeat(PIECE))
}

/// Returns the middle one of some times, and the longest.
fn middle_and_longest(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() - 1])
}

#[tokio::test]
async fn a_reader_that_stops_is_cut_and_costs_little() {
    // Few messages: what the others leave in their logs must not count. A write that hangs has the
    // time in which more is produced than the hub may hold.
    let flags = ["--replay-messages", "100", "--replay-bytes", "1000000", "--write-timeout", "3s"];
    let hub = hub(&[&flags[..], &NO_PINGS].concat()).await;
    let crowd = Crowd::start(&hub).await;
    let api = hub.api();
    let piece = piece();
    // What fits into the kernel and the outbox, and twice what the hub may grow by.
    let room = unread_bytes() * 5 / 4 + OUTBOX;
    let count = (room + 2 * GROWTH) / PIECE;
    // What the process needs for its work is there before it counts; and how long the others take
    // to answer while somebody gets the same and reads it.
    let _reader = FakeApp::echo(hub.port(), "reader", &["nod"]).await;
    let mut before = Vec::new();
    for number in 0..3 * OTHERS {
        api.event("reader", "piece", piece.clone()).await;
        before.push(crowd.ask(number).await);
    }
    let mut slow = FakeBrowser::connected(hub.port(), "slow").await;
    let memory = hub.memory_kib();
    let started = Instant::now();
    let (mut most, mut meanwhile) = (0, Vec::new());
    for number in 0..count {
        api.event("slow", "piece", piece.clone()).await;
        most = most.max(hub.memory_kib().saturating_sub(memory));
        meanwhile.push(crowd.ask(number).await);
    }
    api.until_connected("slow", false).await;
    strict(Duration::from_secs(15), started.elapsed(), "the cut of a reader that stops");
    assert_eq!(api.metrics().await.get(SLOW), 1.0);
    println!("at most {most} KiB more");
    assert!(most < GROWTH as u64 / 1024, "{most} KiB more");
    let ((usual, _), (middle, longest)) =
        (middle_and_longest(before), middle_and_longest(meanwhile));
    println!("the others answered in {middle:?}, {usual:?} before");
    assert!(middle < SLOWER * usual.max(BLINK), "they noticed: {middle:?}, {usual:?} before");
    strict(Duration::from_secs(2), longest, "the slowest answer of the others");
    crowd.must_answer().await;
    // What was on its way when it was cut can still be read, and is no more than fits there.
    let left = slow.take_socket().ended().await.said.len() * PIECE;
    assert!(left <= room, "{left} bytes were written for who reads nothing, room for {room}");
    // It may come back, and goes on where the log still reaches.
    let welcome = slow.connect().await;
    assert_eq!((&welcome["recovered"], &welcome["reason"]), (&json!(false), &json!("gap")));
    api.event("slow", "tick", json!("after")).await;
    assert!(slow.until_delivered(1).await);
    assert_eq!(slow.seen.delivered[0]["data"], "after");
}

/// Starts a hub where a write to a browser may take so long, and a peer that gets more than the
/// kernel holds, at once, and reads nothing of it.
async fn stuck(write_timeout: &str) -> (HubProcess, FakeBrowser) {
    let large = unread_bytes() + (4 << 20);
    let most = (large + (1 << 20)).to_string();
    let flags = ["--write-timeout", write_timeout, "--body-bytes", &most, "--replay-bytes", &most];
    let hub = hub(&[&flags[..], &NO_PINGS].concat()).await;
    let slow = FakeBrowser::connected(hub.port(), "slow").await;
    hub.api().event("slow", "large", json!("x".repeat(large))).await;
    (hub, slow)
}

#[tokio::test]
async fn a_write_that_does_not_end_is_given_up_after_its_time() {
    // Begun first: it is cut first, if both have the same time.
    let (patient, _slow) = stuck("60s").await;
    let crowd = Crowd::start(&patient).await;
    let started = Instant::now();
    let (hub, mut slow) = stuck("500ms").await;
    let api = hub.api();
    api.until_connected("slow", false).await;
    strict(Duration::from_secs(3), started.elapsed(), "the cut after a write of 0.5 s");
    assert_eq!(api.metrics().await.get(SLOW), 1.0);
    // Everybody else is served while a write hangs.
    crowd.must_answer().await;
    let other = patient.api().session("slow").await;
    assert_eq!(other["connected"], true, "with more time it is not given up yet");
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
    let piece = piece();
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
