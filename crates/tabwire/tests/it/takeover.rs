//! Who gets a session: who proves it, or who comes from the same place after the other is gone.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Cutter, FakeApp, FakeBrowser, HubProcess, strict};
use tokio::task::JoinHandle;

use crate::scene::hub;

/// How long one is asked that does not answer.
const PROBE: &[&str] = &["--takeover-probe", "300ms"];
/// How long one may be asked that answers, or is gone: what happens then happens at once …
const LONG_PROBE: &[&str] = &["--takeover-probe", "25s"];
/// … and takes less than this on a machine that does nothing else.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The same peer on another device: it knows the instance id and nothing else.
fn second(hub: &HubProcess, instance: &str) -> FakeBrowser {
    FakeBrowser::app(hub.port(), instance)
}

/// A socket that is asked and does not answer, while another one wants its place: for as long as
/// the hub asks. Whatever ends meanwhile has not waited for that.
struct Asked {
    _silent: FakeBrowser,
    next: JoinHandle<()>,
}

impl Asked {
    async fn begin(hub: &HubProcess) -> Self {
        let mut silent = FakeBrowser::connected(hub.port(), "silent").await;
        let mut next = second(hub, "silent");
        let next = tokio::spawn(async move { drop(next.connect().await) });
        silent.socket().until("ping").await;
        Self { _silent: silent, next }
    }

    /// Fails the test unless the silent one is still being asked.
    async fn must_go_on(&self, hub: &HubProcess, what: &str) {
        let connections = hub.api().session("silent").await["connections"].clone();
        assert_eq!(connections, 1, "{what}: who was asked before has been given up already");
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.next.abort();
    }
}

#[tokio::test]
async fn a_second_socket_is_refused_while_the_first_one_answers() {
    let hub = hub(LONG_PROBE).await;
    // An app with a task of its own answers pings.
    let first = FakeApp::echo(hub.port(), "viewer", &["paint"]).await;
    let ending = second(&hub, "viewer").try_connect().await.unwrap_err();
    assert_eq!((ending.code, ending.clean), (4409, true), "{ending:?}");
    let bye = ending.bye().unwrap();
    assert_eq!((&bye["code"], &bye["retry"]), (&json!("instance_in_use"), &json!(true)));
    let answer = hub.api().call_tool("viewer", "paint", json!({"n": 1})).await.must_be(200);
    assert_eq!(answer.json()["result"]["n"], 1);
    let session = hub.api().session("viewer").await;
    assert_eq!((&session["id"], &session["connections"]), (&json!(first.session), &json!(1)));
}

#[tokio::test]
async fn a_second_socket_gets_the_session_of_one_that_does_not_answer() {
    let patient = hub(LONG_PROBE).await;
    let asked = Asked::begin(&patient).await;
    let hub = hub(PROBE).await;
    // Driven by hand: its machine hangs, its socket is open.
    let mut first = FakeBrowser::connected(hub.port(), "viewer").await;
    let started = Instant::now();
    let mut next = second(&hub, "viewer");
    let welcome = next.connect().await;
    assert!(started.elapsed() >= Duration::from_millis(250), "the first had its chance");
    asked.must_go_on(&patient, "as long as it is set, and no longer").await;
    strict(AT_ONCE, started.elapsed(), "a takeover after 0.3 s");
    assert_eq!(welcome["sessionId"], first.welcome["sessionId"]);
    first.take_socket().must_close(4509).await;
    next.settle().await;
}

#[tokio::test]
async fn a_half_open_socket_gives_way() {
    // It answers first and then does not: long enough for the one, and short enough for the other.
    let hub = hub(&["--takeover-probe", "3s"]).await;
    let cutter = Cutter::start(hub.port()).await;
    let peer = FakeBrowser::app(hub.port(), "viewer").dialled(|dial| dial.via(cutter.port()));
    let first = FakeApp::start(peer, &["paint"], |_| testkit::Answer::Never).await;
    let ending = second(&hub, "viewer").try_connect().await.unwrap_err();
    assert_eq!(ending.code, 4409, "it answers through the proxy");
    cutter.freeze(true);
    let welcome = second(&hub, "viewer").connect().await;
    assert_eq!(welcome["sessionId"], json!(first.session));
}

#[tokio::test]
async fn a_dead_socket_gives_way_at_once() {
    let hub = hub(LONG_PROBE).await;
    let mut first = FakeBrowser::connected(hub.port(), "viewer").await;
    first.vanish();
    hub.api().until_connected("viewer", false).await;
    let asked = Asked::begin(&hub).await;
    let started = Instant::now();
    let welcome = second(&hub, "viewer").connect().await;
    asked.must_go_on(&hub, "nobody was asked").await;
    strict(AT_ONCE, started.elapsed(), "a takeover from a dead socket");
    assert_eq!(welcome["sessionId"], first.welcome["sessionId"]);
}

#[tokio::test]
async fn a_socket_that_dies_while_it_is_asked_gives_way_at_once() {
    let hub = hub(LONG_PROBE).await;
    let mut first = FakeBrowser::connected(hub.port(), "viewer").await;
    let asked = Asked::begin(&hub).await;
    let started = Instant::now();
    let mut next = second(&hub, "viewer");
    let (welcome, ()) = tokio::join!(next.connect(), async {
        first.socket().until("ping").await;
        first.vanish();
    });
    asked.must_go_on(&hub, "at once, not after the time for an answer").await;
    strict(AT_ONCE, started.elapsed(), "a takeover from a socket that dies");
    assert_eq!(welcome["sessionId"], first.welcome["sessionId"]);
}

#[tokio::test]
async fn a_resume_token_proves_the_peer_and_the_old_socket_is_closed() {
    let hub = hub(LONG_PROBE).await;
    let mut first = FakeBrowser::connected(hub.port(), "viewer").await;
    let mut next = second(&hub, "viewer");
    next.token = first.token.clone();
    let started = Instant::now();
    let welcome = next.connect().await;
    strict(AT_ONCE, started.elapsed(), "a takeover with a token");
    assert_eq!(welcome["sessionId"], first.welcome["sessionId"]);
    assert_ne!(welcome["resumeToken"], first.welcome["resumeToken"], "each is valid once");
    let ending = first.take_socket().must_close(4509).await;
    let asked = ending.said.iter().any(|message| message["type"] == "ping");
    assert!(!asked, "nobody was asked: {ending:?}");
    let bye = ending.bye().unwrap();
    assert_eq!((&bye["code"], &bye["retry"]), (&json!("superseded"), &json!(false)));
    let session = hub.api().session("viewer").await;
    assert_eq!((&session["connected"], &session["connections"]), (&json!(true), &json!(2)));
}

#[tokio::test]
async fn calls_of_the_old_socket_end_when_it_is_superseded() {
    let hub = hub(&["--call-timeout", "20s"]).await;
    let mut first = FakeBrowser::with_tools(hub.port(), "viewer", &["paint"]).await;
    let mut next = second(&hub, "viewer");
    next.token = first.token.clone();
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.call_tool("viewer", "paint", json!({})), async {
        let call = first.call().await;
        next.connect().await;
        // What the old socket still says is not heard.
        let late = json!({"type": "toolResult", "callId": call["callId"], "result": "old"});
        first.try_say(&late).await;
    });
    assert_eq!(answer.fault(), "outcome_unknown");
    next.offer_tools(&["paint"]).await;
}

#[tokio::test]
async fn a_used_token_is_none() {
    let hub = hub(LONG_PROBE).await;
    let mut first = FakeBrowser::connected(hub.port(), "viewer").await;
    let used = first.token.clone();
    first.vanish();
    first.connect().await;
    let mut thief = second(&hub, "viewer");
    thief.token = used;
    let (refused, ()) = tokio::join!(thief.try_connect(), async {
        first.socket().until("ping").await;
        first.say(json!({"type": "pong"})).await;
    });
    assert_eq!(refused.unwrap_err().code, 4409);
    thief.token = Some("made-up".to_owned());
    let (refused, ()) = tokio::join!(thief.try_connect(), async {
        first.socket().until("ping").await;
        first.say(json!({"type": "pong"})).await;
    });
    assert_eq!(refused.unwrap_err().code, 4409);
}

#[tokio::test]
async fn another_origin_never_gets_the_session() {
    let hub = hub(PROBE).await;
    let from = |origin: &'static str| {
        FakeBrowser::app(hub.port(), "viewer").dialled(|dial| dial.origin(origin))
    };
    let mut first = from("http://localhost:3000");
    let session = first.connect().await["sessionId"].clone();
    for connected in [true, false] {
        if !connected {
            first.vanish();
            hub.api().until_connected("viewer", false).await;
        }
        for mut other in [from("http://localhost:4000"), second(&hub, "viewer")] {
            let ending = other.try_connect().await.unwrap_err();
            assert_eq!((ending.code, ending.clean), (4503, true), "{ending:?}");
            assert_eq!(ending.bye().unwrap()["retry"], false);
        }
    }
    assert_eq!(from("http://localhost:3000").connect().await["sessionId"], session);
}

#[tokio::test]
async fn another_kind_of_peer_never_gets_the_session() {
    let hub = hub(PROBE).await;
    FakeBrowser::connected(hub.port(), "viewer").await.vanish();
    let ending = FakeBrowser::browser(hub.port(), "viewer").try_connect().await.unwrap_err();
    assert_eq!(ending.code, 4503);
}

#[tokio::test]
async fn names_are_told_apart_and_stay() {
    let hub = hub(&[]).await;
    let named = |instance: &str| FakeBrowser::app(hub.port(), instance).named(Some("Viewer"));
    let mut peers = Vec::new();
    for (instance, expected) in [("a", "viewer"), ("b", "viewer-2"), ("c", "viewer-3")] {
        let mut peer = named(instance);
        assert_eq!(peer.connect().await["name"], expected);
        peers.push((peer, expected));
    }
    for (peer, _) in &mut peers {
        peer.vanish();
    }
    // In another order, and with another wish: the name is the session's.
    for (peer, expected) in peers.iter_mut().rev() {
        assert_eq!(peer.connect().await["name"], *expected);
    }
    let renamed = FakeBrowser::app(hub.port(), "a").named(Some("Other"));
    drop(peers);
    hub.api().until_connected("viewer", false).await;
    let mut renamed = renamed;
    assert_eq!(renamed.connect().await["name"], "viewer");
    let mut nameless = FakeBrowser::app(hub.port(), "d").named(None);
    assert_eq!(nameless.connect().await["name"], "app");
}

#[tokio::test]
async fn a_superseded_socket_is_counted_once() {
    let hub = hub(&[]).await;
    let mut first = FakeBrowser::connected(hub.port(), "viewer").await;
    let mut next = second(&hub, "viewer");
    next.token = first.token.clone();
    next.connect().await;
    first.take_socket().must_close(4509).await;
    let closed = hub.api().metrics().await.get("tabwire_closes_total{reason=\"superseded\"}");
    assert_eq!(closed, 1.0);
}

#[tokio::test]
async fn the_hub_ends_the_connection_itself_after_the_close_handshake() {
    let hub = hub(&[]).await;
    let mut first = FakeBrowser::connected(hub.port(), "viewer").await;
    let mut ended_by_hub = 0;
    for _ in 0..5 {
        let mut next = second(&hub, "viewer");
        next.token = first.token.clone();
        next.connect().await;
        // Less than the time after which the hub would end it in any case.
        let ending = first.take_socket().ended_within(Duration::from_millis(1500)).await;
        assert_eq!((ending.code, ending.clean), (4509, true), "{ending:?}");
        ended_by_hub += u32::from(ending.by_hub);
        first = next;
    }
    // Browsers wait for the server to end it before they tell the page. A machine that does much
    // else is late now and then, but not always.
    assert!(ended_by_hub > 1, "{ended_by_hub} of 5");
}

#[tokio::test]
async fn a_session_whose_browser_stays_away_is_forgotten() {
    let hub = hub(&["--session-retention", "200ms"]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    let session = app.welcome["sessionId"].clone();
    app.vanish();
    testkit::eventually("the session is forgotten", async || {
        hub.api().sessions().await.is_empty().then_some(())
    })
    .await;
    let welcome = app.connect().await;
    assert_ne!(welcome["sessionId"], session);
    assert_eq!(
        (&welcome["recovered"], &welcome["reason"]),
        (&json!(false), &json!("epoch_changed"))
    );
}

#[tokio::test]
async fn one_session_more_than_allowed_is_turned_away() {
    let hub = hub(&["--sessions-max", "2"]).await;
    let mut first = FakeBrowser::connected(hub.port(), "a").await;
    let mut second = FakeBrowser::connected(hub.port(), "b").await;
    let ending = FakeBrowser::app(hub.port(), "c").try_connect().await.unwrap_err();
    assert_eq!((ending.code, ending.clean), (1013, true), "{ending:?}");
    second.settle().await;
    first.vanish();
    hub.api().until_connected("a", false).await;
    FakeBrowser::app(hub.port(), "c").connect().await;
    let sessions = hub.api().sessions().await;
    let names: Vec<_> = sessions.iter().map(|session| &session["name"]).collect();
    assert_eq!(names, ["b", "c"], "whoever is away makes room");
    second.settle().await;
}
