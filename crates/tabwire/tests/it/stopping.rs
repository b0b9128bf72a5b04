//! Stopping the hub: calls under way get their answer, everybody is told, and it ends with 0.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{
    Ask, Dial, FakeBrowser, Http, HubProcess, Signal, eventually, machine::is_alive, strict,
};

use crate::scene::hub;

/// Times that nobody waits for without need; less than the tests wait for an end.
const UNHURRIED: &[&str] = &["--drain-timeout", "50s", "--header-timeout", "50s"];
/// What happens at once takes less than this on a machine that does nothing else.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Another hub that was told to stop and has a call under way: it drains until its time is over.
/// Whatever ends meanwhile has not waited for that.
struct Draining {
    hub: HubProcess,
    _app: FakeBrowser,
    _client: Http,
}

impl Draining {
    async fn begin() -> Self {
        let hub = hub(&[UNHURRIED, &["--call-timeout", "80s"]].concat()).await;
        let (app, client) = painting(&hub).await;
        hub.signal(Signal::Terminate);
        until_draining(&hub).await;
        Self { hub, _app: app, _client: client }
    }

    /// Fails the test unless it still drains.
    #[track_caller]
    fn must_go_on(&self, what: &str) {
        let pid = self.hub.pid();
        assert!(is_alive(pid), "{what}: the hub that drains was told before and has ended already");
    }
}

/// Brings a call under way that nobody answers.
async fn painting(hub: &HubProcess) -> (FakeBrowser, Http) {
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let mut client = Http::connect(hub.port()).await;
    let ask = Ask::own_post("/api/call", &json!({"tool": "paint"}));
    client.send(&ask.bytes(hub.port())).await.unwrap();
    app.call().await;
    (app, client)
}

async fn until_draining(hub: &HubProcess) {
    eventually("the hub drains", async || hub.stderr().contains("draining").then_some(())).await;
}

#[tokio::test]
async fn a_call_under_way_still_gets_its_answer() {
    let mut hub = hub(&["--drain-timeout", "40s"]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let idle = FakeBrowser::connected(hub.port(), "idle").await;
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.call_tool("north", "paint", json!({"n": 1})), async {
        let call = app.call().await;
        hub.signal(Signal::Terminate);
        until_draining(&hub).await;
        app.answer(&call, json!("just in time")).await;
    });
    assert_eq!(answer.must_be(200).json()["result"], "just in time");
    for mut peer in [app, idle] {
        let ending = peer.take_socket().must_close(1012).await;
        let bye = ending.bye().unwrap();
        assert_eq!((&bye["code"], &bye["retry"]), (&json!("restarting"), &json!(true)));
    }
    assert_eq!(hub.exited().await.code(), Some(0));
}

#[tokio::test]
async fn a_hub_without_work_stops_at_once() {
    // Neither the time to drain nor that of an idle connection is waited for.
    let draining = Draining::begin().await;
    let mut hub = hub(UNHURRIED).await;
    let mut peer = FakeBrowser::connected(hub.port(), "north").await;
    let idle = Http::connect(hub.port()).await;
    let stranger = Dial::root(hub.port()).connect().await;
    let started = Instant::now();
    hub.signal(Signal::Terminate);
    peer.take_socket().must_close(1012).await;
    stranger.must_close(1012).await;
    assert_eq!(hub.exited().await.code(), Some(0));
    draining.must_go_on("at once, not after the time to drain");
    strict(AT_ONCE, started.elapsed(), "the end of a hub without work");
    drop(idle);
}

#[tokio::test]
async fn a_call_that_does_not_end_is_given_up_after_the_drain_time() {
    let mut hub = hub(&["--drain-timeout", "400ms", "--call-timeout", "80s"]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let api = hub.api();
    let started = Instant::now();
    let (answer, mut app) = tokio::join!(api.call_tool("north", "paint", json!({})), async {
        app.call().await;
        hub.signal(Signal::Terminate);
        app
    });
    // Had the hub waited for the call's own time, it would have timed out.
    assert_eq!(answer.fault(), "outcome_unknown", "an honest end, not a broken connection");
    assert!(started.elapsed() >= Duration::from_millis(400), "the call had its chance");
    app.take_socket().must_close(1012).await;
    assert_eq!(hub.exited().await.code(), Some(0));
    strict(AT_ONCE, started.elapsed(), "the end of a hub that drains for 0.4 s");
}

#[tokio::test]
async fn a_hub_that_drains_takes_nothing_new() {
    let mut hub = hub(&["--drain-timeout", "40s"]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint", "look?"]).await;
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.call_tool("north", "paint", json!({})), async {
        let call = app.call().await;
        // On a connection that is open already, so that it is the hub that decides.
        let mut open = Http::connect(hub.port()).await;
        open.ask(&Ask::own_get("/health")).await.must_be(200);
        let mut socket = Http::connect(hub.port()).await;
        socket.ask(&Ask::own_get("/health")).await.must_be(200);
        hub.signal(Signal::Terminate);
        let health = eventually("the hub drains", async || {
            let health = open.ask(&Ask::own_get("/health")).await;
            (health.status == 503).then_some(health)
        })
        .await;
        assert_eq!(health.json()["status"], "down");
        let refused = socket.ask(&Ask::upgrade("/session/new")).await.must_be(503);
        assert_eq!(refused.fault(), "shutting_down");
        let body = json!({"session": "north", "tool": "look", "timeoutMs": 500});
        let refused = open.ask(&Ask::own_post("/api/call", &body)).await;
        assert_eq!((refused.status, refused.fault().as_str()), (503, "shutting_down"));
        app.answer(&call, json!(1)).await;
    });
    answer.must_be(200);
    assert_eq!(hub.exited().await.code(), Some(0));
}

#[tokio::test]
async fn a_second_signal_stops_at_once() {
    let draining = Draining::begin().await;
    let mut hub = hub(&[UNHURRIED, &["--call-timeout", "80s"]].concat()).await;
    let _painting = painting(&hub).await;
    hub.signal(Signal::Terminate);
    until_draining(&hub).await;
    let started = Instant::now();
    assert_eq!(hub.terminate().await.code(), Some(0));
    draining.must_go_on("at once, not after the time to drain");
    strict(AT_ONCE, started.elapsed(), "the end of a hub after a second signal");
}

#[tokio::test]
async fn a_hub_that_stood_still_does_not_blame_its_peers() {
    // The times of one, and of another that takes 2 s longer: a timer that is so late tells a hub
    // that it stood still.
    let awake = hub(&["--ping-after", "400ms", "--dead-after", "4700ms"]).await;
    let hub = hub(&["--ping-after", "400ms", "--dead-after", "2500ms"]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    hub.signal(Signal::Stop);
    // It stands still for as long as the other takes to give up a peer that is silent.
    let silent = FakeBrowser::connected(awake.port(), "silent").await.take_socket();
    silent.must_close(4408).await;
    hub.signal(Signal::Continue);
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.call_tool("north", "paint", json!({})), async {
        let call = app.call().await;
        app.answer(&call, json!("still here")).await;
    });
    assert_eq!(answer.must_be(200).json()["result"], "still here");
}

#[tokio::test]
async fn nothing_is_left_behind() {
    let mut hub = hub(&[]).await;
    let _app = FakeBrowser::connected(hub.port(), "north").await;
    assert_eq!(hub.terminate().await.code(), Some(0));
    let folder = hub.place().path().to_owned();
    drop(hub);
    assert!(!folder.exists());
}
