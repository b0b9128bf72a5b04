//! Paired browsers: who proves itself gets in and stays, and nobody else does.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Ask, Dial, EXTENSION, FakeExtension, HubProcess};

use crate::{
    pairing_commands::{ask_host, code, enroll, pairing_file},
    scene::{PROGRAM, hub},
};

async fn refusals(hub: &HubProcess) -> f64 {
    hub.api().metrics().await.get("tabwire_refusals_total{gate=\"pairing\"}")
}

#[tokio::test]
async fn a_paired_extension_gets_in_and_stays_paired_over_a_restart() {
    let mut hub = hub(&[]).await;
    let key = enroll(&hub, "chrome-1").await;
    let mut extension = FakeExtension::new(hub.port(), "chrome-1", &key);
    let (socket, first) = extension.connect().await;
    let session = hub.api().session("chrome-1").await;
    assert_eq!((&session["origin"], &session["kind"]), (&json!(EXTENSION), &json!("browser")));
    assert_ne!(session["unproven"], true, "{session}");
    drop(socket);
    hub.terminate().await;
    hub.restart().await;
    let mut extension = FakeExtension::new(hub.port(), "chrome-1", &key);
    let (_socket, second) = extension.connect().await;
    assert_eq!(first["sessionId"], second["sessionId"]);
    assert_eq!(enroll(&hub, "chrome-1").await, key, "the host gives the same key again");
}

#[tokio::test]
async fn a_browser_without_a_name_gets_the_one_it_was_paired_by() {
    let hub = hub(&[]).await;
    let hello = r#"{"type":"hello","instanceId":"chrome-1","browser":"Chrome"}"#;
    let answer = ask_host(&hub, &["--name", "work"], &[hello]).await.remove(0);
    assert_eq!(answer["name"], "work");
    let key = answer["key"].as_str().unwrap();
    let (_socket, welcome) =
        FakeExtension::new(hub.port(), "chrome-1", key).nameless().connect().await;
    assert_eq!(welcome["name"], "work");
}

#[tokio::test]
async fn a_plain_hello_of_our_extension_is_refused() {
    let hub = hub(&[]).await;
    enroll(&hub, "chrome-1").await;
    for instance in ["chrome-1", "nobody"] {
        for kind in ["browser", "app"] {
            let mut socket = Dial::session(hub.port(), instance).origin(EXTENSION).connect().await;
            socket
                .send(&json!({
                    "type": "hello", "instanceId": instance, "kind": kind, "epoch": "e",
                }))
                .await;
            let ending = socket.must_close(4401).await;
            let bye = ending.bye().unwrap();
            assert!(bye["message"].as_str().unwrap().contains("tabwire pair"), "{bye}");
        }
    }
    assert_eq!(refusals(&hub).await, 4.0);
    assert_eq!(hub.api().sessions().await.len(), 0);
}

#[tokio::test]
async fn naming_our_extension_does_not_spare_it_the_proof() {
    let hub = hub(&["--allow-origin", EXTENSION]).await;
    let mut socket = Dial::session(hub.port(), "x").origin(EXTENSION).connect().await;
    socket
        .send(&json!({"type": "hello", "instanceId": "x", "kind": "browser", "epoch": "e"}))
        .await;
    socket.must_close(4401).await;
}

#[tokio::test]
async fn another_extension_is_turned_away_before_the_upgrade() {
    let hub = hub(&[]).await;
    let key = enroll(&hub, "chrome-1").await;
    assert_eq!(key.len(), 43);
    let flipped = EXTENSION.replace("cmdfi", "cmdfj");
    for origin in [flipped.as_str(), "moz-extension://flijodnkmdflbekoipgfjippcnecmdfi"] {
        let dial = Dial::session(hub.port(), "chrome-1").origin(origin);
        let Err(Some(response)) = dial.try_connect().await else { panic!("{origin}") };
        assert_eq!(response.status, 403);
    }
    // Ours, without the subprotocol: that door is for the dialects of other projects.
    let dial = Dial::session(hub.port(), "chrome-1").origin(EXTENSION).offer_only(&[]);
    assert_eq!(dial.try_connect().await.err().flatten().unwrap().status, 403);
    for path in ["/api/sessions", "/mcp", "/health", "/metrics"] {
        let answer = Ask::get(path).header("Origin", EXTENSION).send(hub.port()).await;
        assert_eq!(answer.status, 403, "{path}");
    }
}

#[tokio::test]
async fn a_wrong_key_an_unknown_name_and_a_reflected_proof_are_refused() {
    let hub = hub(&["--log-level", "trace"]).await;
    let key = enroll(&hub, "chrome-1").await;
    let other = enroll(&hub, "chrome-2").await;
    let mut wrong = FakeExtension::new(hub.port(), "chrome-1", &other);
    assert_eq!(wrong.try_connect().await.err().unwrap().code, 4403);
    let mut unknown = FakeExtension::new(hub.port(), "nobody", &key);
    assert_eq!(unknown.try_connect().await.err().unwrap().code, 4401);
    let right = FakeExtension::new(hub.port(), "chrome-1", &key);
    let challenged = right.greet().await.unwrap();
    assert_eq!(challenged.hubs_proof, challenged.expected);
    let reflected = challenged.hubs_proof.clone();
    assert_eq!(right.prove(challenged, &reflected).await.err().unwrap().code, 4403);
    let (one, two) = (right.greet().await.unwrap(), right.greet().await.unwrap());
    let older = one.proof.clone();
    assert_eq!(right.prove(two, &older).await.err().unwrap().code, 4403, "replayed");
    assert_eq!(refusals(&hub).await, 4.0);
    assert_eq!(hub.api().sessions().await.len(), 0);
    let log = testkit::eventually("the refusal is logged", async || {
        let log = hub.stderr();
        log.contains("peer refused").then_some(log)
    })
    .await;
    assert!(!log.contains(&key) && !log.contains(&other), "no key is logged");
}

/// A program without a key listens on a port of its own and passes on what both sides say.
#[tokio::test]
async fn a_proof_that_somebody_passes_on_is_worth_nothing() {
    let hub = hub(&[]).await;
    let key = enroll(&hub, "chrome-1").await;
    let (elsewhere, own) = ("loopback:1", format!("loopback:{}", hub.port()));
    let relayed = FakeExtension::new(hub.port(), "chrome-1", &key).relayed(elsewhere, elsewhere);
    let ending = relayed.greet().await.err().unwrap();
    assert_eq!(ending.code, 4401, "{ending:?}");
    let said = ending.bye().unwrap()["message"].as_str().unwrap().to_owned();
    assert!(said.contains("--allow-host 127.0.0.1:1"), "{said}");
    let mut lying = FakeExtension::new(hub.port(), "chrome-1", &key).relayed(elsewhere, &own);
    let challenged = lying.greet().await.unwrap();
    assert_ne!(challenged.hubs_proof, challenged.expected, "the extension leaves here");
    assert_eq!(lying.try_connect().await.err().unwrap().code, 4403, "and the hub would too");
    FakeExtension::new(hub.port(), "chrome-1", &key).connect().await;
}

#[tokio::test]
async fn the_order_is_greeting_challenge_proof_within_the_time_for_hello() {
    let hasty = hub(&["--hello-timeout", "2s"]).await;
    let key = enroll(&hasty, "chrome-1").await;
    let slow = FakeExtension::new(hasty.port(), "chrome-1", &key).greet().await.unwrap();
    slow.socket.must_close(4407).await;
    let hub = hub(&[]).await;
    let key = enroll(&hub, "chrome-1").await;
    let extension = FakeExtension::new(hub.port(), "chrome-1", &key);
    let mut early = extension.greet().await.unwrap();
    early.socket.send(&json!({"type": "event", "sequence": 1, "name": "x"})).await;
    early.socket.must_close(4500).await;
    let mut unasked = Dial::session(hub.port(), "chrome-1").origin(EXTENSION).connect().await;
    unasked.send(&json!({"type": "prove", "proof": "x", "epoch": "e"})).await;
    unasked.must_close(4500).await;
    let elsewhere = extension.clone().dialled(|dial| dial.path("/session/chrome-2").to(hub.port()));
    assert_eq!(elsewhere.greet().await.err().unwrap().code, 4500, "another name in the address");
}

#[tokio::test]
async fn a_page_cannot_pair_and_a_program_may() {
    let hub = hub(&[]).await;
    let code = code(&hub).await;
    let page = |_| Dial::session(hub.port(), "page").origin("http://localhost:5173");
    let mut pairing = FakeExtension::with_code(hub.port(), "page", &code).dialled(page);
    let ending = pairing.try_connect().await.err().unwrap();
    assert_eq!(ending.code, 4503, "{ending:?}");
    assert!(ending.reason.contains("cannot be paired"), "{ending:?}");
    let listed = hub.commands(PROGRAM).run(&["pair", "--list", "--json"]).await.must_exit(0);
    assert_eq!(listed.json(), json!([]), "and the code is not used up");
    let program = |_| Dial::session(hub.port(), "tool");
    let mut program = FakeExtension::with_code(hub.port(), "tool", &code).dialled(program);
    let (_socket, welcome) = program.connect().await;
    assert_eq!(welcome["name"], "tool");
    assert_eq!(hub.api().session("tool").await["origin"], Value::Null);
}

#[tokio::test]
async fn a_code_pairs_one_browser_once() {
    let hub = hub(&["--log-level", "trace"]).await;
    let commands = hub.commands(PROGRAM);
    let running = commands.spawn(&["pair", "--json"]);
    let shown = testkit::eventually("the code is shown", async || {
        let line = running.stdout().lines().next().map(str::to_owned)?;
        serde_json::from_str::<Value>(&line).ok()
    })
    .await;
    let code = shown["code"].as_str().unwrap();
    assert_eq!((code.len(), &shown["expiresInMs"]), (19, &json!(120_000)));
    let mut first = FakeExtension::with_code(hub.port(), "chrome-1", code);
    let (socket, _) = first.connect().await;
    let done = running.finished().await.must_exit(0);
    let paired: Value = serde_json::from_str(done.stdout.lines().nth(1).unwrap()).unwrap();
    assert_eq!(paired["paired"]["instance"], "chrome-1");
    assert_eq!(paired["paired"]["by"], "code");
    let mut second = FakeExtension::with_code(hub.port(), "chrome-2", code);
    assert_eq!(second.try_connect().await.err().unwrap().code, 4401);
    drop(socket);
    // The key that both have derived, and that never travelled, counts from now on.
    let (_socket, _) = first.connect().await;
    let log = hub.stderr();
    assert!(!log.contains(code) && !log.contains(&first.key()), "no secret is logged");
}

#[tokio::test]
async fn guessing_ends_after_five_attempts_for_who_guesses() {
    let hub = hub(&[]).await;
    let commands = hub.commands(PROGRAM);
    let running = commands.spawn(&["pair"]);
    let code = testkit::eventually("the code is shown", async || {
        running.stdout().lines().next().map(str::to_owned)
    })
    .await;
    let guess = "0000-0000-0000-0000";
    for _ in 0..5 {
        let mut guesser = FakeExtension::with_code(hub.port(), "chrome-1", guess);
        assert_eq!(guesser.try_connect().await.err().unwrap().code, 4403);
    }
    let mut late = FakeExtension::with_code(hub.port(), "chrome-1", &code);
    assert_eq!(late.try_connect().await.err().unwrap().code, 4401, "even the right one");
    FakeExtension::with_code(hub.port(), "chrome-2", &code).connect().await;
    let done = running.finished().await.must_exit(0);
    assert!(done.stdout.contains("paired with"), "{}", done.stdout);
}

#[tokio::test]
async fn a_code_that_is_too_old_is_refused() {
    let hub = hub(&[]).await;
    let code = code(&hub).await;
    let mut kept: Value =
        serde_json::from_str(&std::fs::read_to_string(pairing_file(&hub)).unwrap()).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    kept["code"]["expiresAt"] = json!(now.as_millis() as u64);
    std::fs::write(pairing_file(&hub), kept.to_string()).unwrap();
    let mut late = FakeExtension::with_code(hub.port(), "chrome-1", &code);
    assert_eq!(late.try_connect().await.err().unwrap().code, 4401);
}

#[tokio::test]
async fn unpairing_cuts_the_live_session_and_the_old_key_is_over() {
    let hub = hub(&[]).await;
    let (key, other) = (enroll(&hub, "chrome-1").await, enroll(&hub, "chrome-2").await);
    let mut extension = FakeExtension::new(hub.port(), "chrome-1", &key);
    let (socket, _) = extension.connect().await;
    let (mut stays, _) = FakeExtension::new(hub.port(), "chrome-2", &other).connect().await;
    let commands = hub.commands(PROGRAM);
    let done = commands.run(&["unpair", "chrome-1", "--json"]).await.must_exit(0).json();
    let gone = json!([{"instance": "chrome-1", "name": null}]);
    assert_eq!(done, json!({"unpaired": gone, "cut": 1}));
    socket.must_close(4401).await;
    assert_eq!(extension.try_connect().await.err().unwrap().code, 4401, "the old key");
    // Undisturbed.
    stays.send(&json!({"type": "ping"})).await;
    stays.until("pong").await;
    // Paired anew it has another key, and the old one is simply wrong.
    commands.run(&["pair", "--no-wait"]).await.must_exit(0);
    assert_ne!(enroll(&hub, "chrome-1").await, key);
    assert_eq!(extension.try_connect().await.err().unwrap().code, 4403);
    commands.run(&["unpair", "--all"]).await.must_exit(0);
    stays.must_close(4401).await;
}

#[tokio::test]
async fn whoever_is_let_in_while_it_is_unpaired_does_not_stay() {
    let hub = hub(&[]).await;
    let commands = hub.commands(PROGRAM);
    for round in 0..12 {
        commands.run(&["pair", "--no-wait"]).await.must_exit(0);
        let key = enroll(&hub, "chrome-1").await;
        let mut extension = FakeExtension::new(hub.port(), "chrome-1", &key);
        let api = hub.api();
        let unpair = async {
            tokio::time::sleep(Duration::from_micros(400 * round)).await;
            api.post("/api/unpair", &json!({"all": true})).await.must_be(200);
        };
        let (connected, ()) = tokio::join!(extension.try_connect(), unpair);
        match connected {
            Ok((socket, _)) => drop(socket.must_close(4401).await),
            Err(ending) => assert_eq!(ending.code, 4401, "{ending:?}"),
        }
    }
    hub.api().until_metric("tabwire_sockets", 0.0).await;
}

#[tokio::test]
async fn a_pairing_file_that_others_can_read_lets_nobody_in() {
    use std::os::unix::fs::PermissionsExt;
    let hub = hub(&[]).await;
    let key = enroll(&hub, "chrome-1").await;
    std::fs::set_permissions(pairing_file(&hub), std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut extension = FakeExtension::new(hub.port(), "chrome-1", &key);
    let ending = extension.try_connect().await.err().unwrap();
    assert_eq!(ending.code, 4499);
    assert!(!ending.bye().unwrap().to_string().contains("pairing.json"), "{ending:?}");
    testkit::eventually("the operator is told", async || {
        hub.stderr().contains("chmod 600").then_some(())
    })
    .await;
}
