//! Peers that are slow or say nothing: they are asked, and given up in time.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Ask, FakeApp, FakeBrowser, Http, Incoming, PATIENCE, Unanswered, strict, within};

use crate::scene::{Scene, hub};

/// Writes bytes in pieces with pauses, until the hub ends the connection; returns what it said.
async fn drip(http: &mut Http, pieces: &[&str], pause: Duration) -> Option<u16> {
    within(PATIENCE, "the hub loses its patience", async {
        for piece in pieces.iter().cycle() {
            if http.send(piece.as_bytes()).await.is_err() {
                return None;
            }
            // Reading notices the end, which writing may not for a while.
            if let Ok(answer) = tokio::time::timeout(pause, http.read_response()).await {
                return answer.ok().flatten().map(|answer| answer.status);
            }
        }
        None
    })
    .await
}

#[tokio::test]
async fn headers_that_do_not_come_end_the_connection() {
    let patient = hub(&["--header-timeout", "60s"]).await;
    let mut waiting = Http::connect(patient.port()).await;
    // No shorter: the bystander's requests have as long to be sent.
    let scene = Scene::new(&["--header-timeout", "2s"]).await;
    let check = async |pieces: &[&str]| {
        let started = Instant::now();
        let mut http = Http::connect(scene.port()).await;
        let status = drip(&mut http, pieces, Duration::from_millis(40)).await;
        assert!(matches!(status, None | Some(400 | 408 | 431)), "{pieces:?}: {status:?}");
        strict(Duration::from_secs(3), started.elapsed(), "the end without headers");
    };
    let mut silent = Http::connect(scene.port()).await;
    let (end, ..) = tokio::join!(
        within(PATIENCE, "the end", silent.read_response()),
        check(&["GET /health HTTP/1.1\r\nHost:", ""]),
        check(&["X"]),
        check(&["GET / HTTP/1.1\r\n", "A: b\r\n"]),
    );
    assert!(matches!(end, Ok(None)), "{end:?}");
    let ended = tokio::time::timeout(Duration::from_millis(20), waiting.read_response()).await;
    assert!(ended.is_err(), "each hub has its own limit, and that of the other is longer");
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_huge_head_is_refused() {
    let scene = Scene::new(&[]).await;
    let long = "x".repeat(64 << 10);
    let many = "a: b\r\n".repeat(500);
    for head in [
        format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: x\r\nX: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"),
        format!("{long}\r\n\r\n"),
    ] {
        let mut http = Http::connect(scene.port()).await;
        let sent = http.send(head.as_bytes()).await;
        let answer = within(PATIENCE, "an answer or the end", http.read_response()).await;
        match (sent, answer) {
            (Ok(()), Ok(Some(answer))) => {
                assert!(matches!(answer.status, 400 | 414 | 431), "{}", answer.status);
            }
            (_, Ok(None) | Err(_)) | (Err(_), _) => {}
        }
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let scene = Scene::new(&["--body-timeout", "300ms"]).await;
    let mut http = Http::connect(scene.port()).await;
    let head = format!(
        "POST /api/call HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {}\r\nContent-Length: 1000\r\n\r\n{{",
        scene.port(),
        scene.hub.token()
    );
    http.send(head.as_bytes()).await.unwrap();
    let answer = within(PATIENCE, "an answer", http.read_response()).await.unwrap().unwrap();
    assert_eq!((answer.status, answer.fault().as_str()), (400, "invalid_argument"));
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_socket_that_never_says_hello_is_closed() {
    let scene = Scene::new(&["--hello-timeout", "2s"]).await;
    let silent = scene.stranger().await;
    let mut chatty = scene.stranger().await;
    let mut slow = scene.stranger().await;
    // Neither signs of life nor the beginning of a message buy time.
    slow.send_bytes(&testkit::frame::frame(1, false, b"{\"type\":")).await;
    let (silent, chatty, slow) = tokio::join!(
        silent.ended(),
        within(PATIENCE, "the end of who is chatty", async {
            loop {
                // An error means that the hub has ended it; why can still be read.
                let _ = chatty.try_send(&json!({"type": "ping"})).await;
                match chatty.recv_for(Duration::from_millis(50)).await {
                    Some(Incoming::Close(code, _)) => return code,
                    Some(Incoming::Lost(_)) => return 0,
                    Some(Incoming::Message(_)) | None => {}
                }
            }
        }),
        slow.ended(),
    );
    assert_eq!((silent.code, silent.clean), (4407, true), "{silent:?}");
    assert_eq!((slow.code, slow.clean), (4407, true), "{slow:?}");
    assert_eq!(chatty, 4407);
    assert_eq!(silent.bye().unwrap()["code"], "hello_timeout");
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_silent_peer_is_asked_and_then_given_up() {
    // The bystander has as long to answer as the guest has.
    let scene = Scene::new(&["--ping-after", "300ms", "--dead-after", "4s"]).await;
    let started = Instant::now();
    let mut guest = scene.guest().await;
    guest.until("ping").await;
    assert!(started.elapsed() >= Duration::from_millis(300), "{:?}", started.elapsed());
    let ending = guest.must_close(4408).await;
    assert!(started.elapsed() >= Duration::from_millis(4_300), "{:?}", started.elapsed());
    assert_eq!(ending.bye().unwrap()["retry"], true);
    scene.bystander_answers().await;
}

#[tokio::test]
async fn a_peer_that_has_answered_is_asked_again() {
    let scene = Scene::new(&["--ping-after", "200ms", "--dead-after", "10m"]).await;
    let mut guest = scene.guest().await;
    for _ in 0..3 {
        // Not only when its time to answer the one before would have been over.
        guest.until("ping").await;
        guest.send(&json!({"type": "pong"})).await;
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn the_welcome_tells_after_how_much_silence_the_hub_asks() {
    let scene = Scene::new(&[]).await;
    let usual = FakeBrowser::connected(scene.port(), "usual").await;
    assert_eq!(usual.welcome["heartbeatMs"], 20_000);
    let scene = Scene::new(&["--ping-after", "7s"]).await;
    let told = FakeBrowser::connected(scene.port(), "told").await;
    assert_eq!(told.welcome["heartbeatMs"], 7_000, "as it is set");
}

#[tokio::test]
async fn a_peer_that_answers_is_never_given_up() {
    let scene = Scene::new(&["--ping-after", "100ms", "--dead-after", "3s"]).await;
    let app = FakeApp::echo(scene.port(), "quiet", &["nod"]).await;
    let mut chatty = scene.guest().await;
    // It comes last and says nothing: when it is given up, the others would have been.
    let _silent = FakeBrowser::connected(scene.port(), "silent").await;
    while scene.api().session("silent").await["connected"] == true {
        // Anything counts, also what is no answer to the ping.
        chatty.send(&json!({"type": "toolResult", "callId": "c0-0", "result": 1})).await;
        while let Some(incoming) = chatty.recv_for(Duration::from_millis(50)).await {
            assert!(matches!(incoming, Incoming::Message(_)), "{incoming:?}");
        }
    }
    let answer = scene.api().call_tool("quiet", "nod", json!({})).await.must_be(200);
    assert_eq!(answer.json()["session"], app.name);
    assert_eq!(scene.api().session("quiet").await["connections"], 1);
    scene.bystander_answers().await;
}

#[tokio::test]
async fn calls_to_a_peer_that_is_given_up_end_then() {
    let flags = ["--ping-after", "200ms", "--dead-after", "4s", "--call-timeout", "80s"];
    let scene = Scene::new(&flags).await;
    let unanswered = Unanswered::call(scene.port()).await;
    let _asleep = FakeBrowser::with_tools(scene.port(), "asleep", &["paint"]).await;
    let started = Instant::now();
    let answer = scene.api().call_tool("asleep", "paint", json!({})).await;
    assert_eq!(answer.fault(), "outcome_unknown");
    unanswered.must_be_under_way("with the peer, not after the timeout").await;
    strict(Duration::from_secs(5), started.elapsed(), "the end of a call to a silent peer");
    scene.bystander_answers().await;
}

#[tokio::test]
async fn one_connection_more_than_allowed_is_turned_away() {
    let scene = Scene::new(&["--connections-max", "4"]).await;
    let mut held = Vec::new();
    let health = Ask::get("/health").bytes(scene.port());
    let refused = testkit::eventually("the hub is full", async || {
        let mut http = Http::connect(scene.port()).await;
        let _ = http.send(&health).await;
        let answer = http.read_response().await.ok().flatten();
        let status = answer.map(|answer| answer.status);
        if status == Some(200) {
            held.push(http);
            return None;
        }
        Some(status)
    })
    .await;
    assert_eq!(refused, Some(503));
    assert!(held.len() < 4, "{} besides the bystander", held.len());
    drop(held);
    testkit::eventually("there is room again", async || {
        let mut http = Http::connect(scene.port()).await;
        let _ = http.send(&health).await;
        let answer = http.read_response().await.ok().flatten();
        answer.filter(|answer| answer.status == 200).map(drop)
    })
    .await;
}
