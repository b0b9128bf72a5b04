//! Stopping the hub: calls under way get their answer, everybody is told, and it ends with 0.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Ask, Dial, FakeBrowser, Http, Signal, eventually};

use crate::scene::hub;

#[tokio::test]
async fn a_call_under_way_still_gets_its_answer() {
    let mut hub = hub(&["--drain-timeout", "40s"]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let idle = FakeBrowser::connected(hub.port(), "idle").await;
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.call_tool("north", "paint", json!({"n": 1})), async {
        let call = app.call().await;
        hub.signal(Signal::Terminate);
        eventually("the hub drains", async || hub.stderr().contains("draining").then_some(()))
            .await;
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
    let mut hub = hub(&["--drain-timeout", "50s", "--header-timeout", "50s"]).await;
    let mut peer = FakeBrowser::connected(hub.port(), "north").await;
    let idle = Http::connect(hub.port()).await;
    let stranger = Dial::root(hub.port()).connect().await;
    let started = Instant::now();
    hub.signal(Signal::Terminate);
    peer.take_socket().must_close(1012).await;
    stranger.must_close(1012).await;
    assert_eq!(hub.exited().await.code(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
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
    assert_eq!(answer.fault(), "outcome_unknown", "an honest end, not a broken connection");
    app.take_socket().must_close(1012).await;
    assert_eq!(hub.exited().await.code(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
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
        open.ask(&Ask::get("/health")).await.must_be(200);
        let mut socket = Http::connect(hub.port()).await;
        socket.ask(&Ask::get("/health")).await.must_be(200);
        hub.signal(Signal::Terminate);
        let health = eventually("the hub drains", async || {
            let health = open.ask(&Ask::get("/health")).await;
            (health.status == 503).then_some(health)
        })
        .await;
        assert_eq!(health.json()["status"], "draining");
        let refused = socket.ask(&Ask::upgrade("/session/new")).await.must_be(503);
        assert_eq!(refused.fault(), "shutting_down");
        let body = json!({"session": "north", "tool": "look", "timeoutMs": 500});
        let refused = open.ask(&Ask::post("/api/call", &body)).await;
        assert_eq!((refused.status, refused.fault().as_str()), (503, "shutting_down"));
        app.answer(&call, json!(1)).await;
    });
    answer.must_be(200);
    assert_eq!(hub.exited().await.code(), Some(0));
}

#[tokio::test]
async fn a_second_signal_stops_at_once() {
    let mut hub = hub(&["--drain-timeout", "60s"]).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let mut client = Http::connect(hub.port()).await;
    let ask = Ask::post("/api/call", &json!({"tool": "paint"}));
    client.send(&ask.bytes(hub.port())).await.unwrap();
    app.call().await;
    hub.signal(Signal::Terminate);
    eventually("the hub drains", async || hub.stderr().contains("draining").then_some(())).await;
    let started = Instant::now();
    assert_eq!(hub.terminate().await.code(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_hub_that_stood_still_does_not_blame_its_peers() {
    // Longer than this machine may be busy elsewhere; less by 2 s than the hub stands still.
    let flags = ["--ping-after", "400ms", "--dead-after", "3s"];
    let hub = hub(&flags).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    hub.signal(Signal::Stop);
    tokio::time::sleep(Duration::from_millis(5_600)).await;
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
