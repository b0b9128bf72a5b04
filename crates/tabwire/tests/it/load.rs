//! Ten thousand calls over a hundred sessions: each has one end, and it is its own.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use testkit::{Answer, Ask, FakeApp, FakeBrowser, Http, Rng};

use crate::scene::hub;

const SESSIONS: usize = 100;
const CALLS: usize = 10_000;
/// Connections of clients, each of which makes one call after the other.
const CLIENTS: usize = 300;

/// Answers in another order than asked: after a short time of its own each.
fn script(mut rng: Rng) -> impl FnMut(&Value) -> Answer + Send + 'static {
    move |call| {
        let args = call["args"].clone();
        match args["fate"].as_str() {
            Some("dropped") => Answer::Never,
            Some("doubled") => Answer::Twice(args),
            _ => Answer::After(Duration::from_millis(rng.between(0, 40)), args),
        }
    }
}

/// Plans all calls: one of a hundred is never answered, one of a hundred is answered twice.
fn plan(rng: &mut Rng) -> Vec<Value> {
    let fate = |number: usize| match number % 100 {
        0 => "dropped",
        1 => "doubled",
        _ => "answered",
    };
    let call = |number: usize| {
        let session = format!("app-{}", number / 100);
        let args = json!({"number": number, "owner": session, "fate": fate(number)});
        let mut call = json!({"session": session, "tool": "echo", "args": args});
        // Nobody else is to run out of time, however slow the machine is.
        if fate(number) == "dropped" {
            call["timeoutMs"] = json!(5_000);
        }
        call
    };
    let mut calls: Vec<_> = (0..CALLS).map(call).collect();
    rng.shuffle(&mut calls);
    calls
}

/// Makes calls until none is left.
async fn make_calls(port: u16, calls: Arc<Mutex<Vec<Value>>>) {
    let mut http = Http::connect(port).await;
    loop {
        let Some(call) = calls.lock().unwrap().pop() else { return };
        let answer = http.ask(&Ask::own_post("/api/call", &call)).await;
        match call["args"]["fate"].as_str() {
            Some("dropped") => {
                assert_eq!((answer.status, answer.fault().as_str()), (504, "timed_out"));
            }
            _ => {
                let answer = answer.must_be(200).json();
                assert_eq!(answer["result"], call["args"], "its own answer");
                assert_eq!(answer["session"], call["session"]);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_end_once_each_with_their_own_answer() {
    let mut rng = Rng::seeded(20_260_201);
    let hub = hub(&["--call-timeout", "80s", "--calls-per-session", "1000"]).await;
    let mut apps = Vec::new();
    for number in 0..SESSIONS {
        let peer = FakeBrowser::app(hub.port(), &format!("app-{number}"));
        apps.push(FakeApp::start(peer, &["echo?"], script(rng.fork())).await);
    }
    let calls = Arc::new(Mutex::new(plan(&mut rng)));
    let clients: Vec<_> =
        (0..CLIENTS).map(|_| tokio::spawn(make_calls(hub.port(), calls.clone()))).collect();
    for client in clients {
        client.await.unwrap();
    }
    let api = hub.api();
    let metrics = api.metrics().await;
    let ended = |outcome: &str| {
        metrics.get(&format!("tabwire_calls_total{{tool=\"echo\",outcome=\"{outcome}\"}}"))
    };
    assert_eq!((ended("done"), ended("timed_out")), (9900.0, 100.0));
    assert_eq!(metrics.sum("tabwire_calls_total"), CALLS as f64, "no other end");
    assert_eq!(metrics.get("tabwire_calls_in_flight"), 0.0);
    api.until_metric("tabwire_stray_answers_total{reason=\"duplicate\"}", 100.0).await;
    let sessions = api.sessions().await;
    assert_eq!(sessions.len(), SESSIONS);
    for session in sessions {
        assert_eq!(session["callsInFlight"], 0, "{}", session["name"]);
        assert_eq!(session["connections"], 1, "{}", session["name"]);
    }
    for app in &apps {
        assert_eq!(app.received("callTool").len(), CALLS / SESSIONS, "each was sent once");
    }
}
