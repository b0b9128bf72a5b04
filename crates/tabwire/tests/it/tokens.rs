//! Tokens: who must show one, how they change while the hub runs, and that nobody sees them.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{
    Ask, Dial, FakeApp, FakeBrowser, Http, HubOptions, HubProcess, Place, Signal, eventually,
};

use crate::scene::{PROGRAM, hub};

const SECRET: &str = "open-sesame-9b1f4c7d";
const OTHER: &str = "another-secret-51e0aa";
const GUARDED: &[&str] = &["/metrics", "/info", "/api/sessions", "/api/tail", "/mcp"];

/// Starts a hub that has a token file, with flags of its own.
async fn guarded(flags: &[&str]) -> HubProcess {
    let options = HubOptions::new(PROGRAM);
    let file = options.place().write("tokens", &format!("alice = {SECRET}\n"));
    let named = ["--token-file", file.to_str().unwrap()];
    options.flags(&named).flags(flags).start().await
}

async fn status(hub: &HubProcess, path: &str, token: &str) -> u16 {
    Ask::get(path).bearer(token).send(hub.port()).await.status
}

#[tokio::test]
async fn without_the_right_token_nothing_is_answered_on_loopback_either() {
    let hub = guarded(&[]).await;
    for path in GUARDED {
        let without = Ask::get(path).send(hub.port()).await;
        assert_eq!((without.status, without.fault().as_str()), (401, "unauthorized"), "{path}");
        assert!(without.header("www-authenticate").unwrap().starts_with("Bearer"));
        for header in [
            format!("Bearer {OTHER}"),
            format!("Bearer {SECRET}x"),
            format!("Bearer {}", &SECRET[1..]),
            format!("Basic {SECRET}"),
            SECRET.to_owned(),
            "Bearer ".to_owned(),
            "Bearer alice".to_owned(),
        ] {
            let answer = Ask::get(path).header("Authorization", &header).send(hub.port()).await;
            assert_eq!(answer.status, 401, "{path} {header}");
        }
    }
    for path in ["/api/call", "/api/events"] {
        Ask::post(path, &json!({})).send(hub.port()).await.must_be(401);
    }
    let twice = Ask::get("/health").bearer(SECRET).bearer(SECRET);
    twice.send(hub.port()).await.must_be(400);
}

#[tokio::test]
async fn with_the_right_token_everything_works() {
    let hub = guarded(&[]).await;
    for path in ["/health", "/metrics", "/info", "/api/sessions"] {
        assert_eq!(status(&hub, path, SECRET).await, 200, "{path}");
    }
    assert_eq!(status(&hub, "/nowhere", SECRET).await, 404);
    let _app = FakeApp::echo(hub.port(), "north", &["paint"]).await;
    let api = hub.api().with_token(SECRET);
    api.call_tool("north", "paint", json!({})).await.must_be(200);
    let feed = api.feed("north").await;
    let call = feed.iter().find(|item| item["kind"] == "call").unwrap();
    assert_eq!(call["body"]["client"], "alice", "the token proves who asks");
}

#[tokio::test]
async fn the_token_does_not_replace_the_other_gates() {
    let hub = guarded(&[]).await;
    let ask = || Ask::get("/api/sessions").bearer(SECRET);
    ask().host("evil.example").send(hub.port()).await.must_be(403);
    ask().header("Origin", "https://evil.example").send(hub.port()).await.must_be(403);
}

#[tokio::test]
async fn a_wrong_token_is_refused_also_where_none_is_needed() {
    let hub = hub(&[]).await;
    assert_eq!(status(&hub, "/health", OTHER).await, 401);
    Ask::upgrade("/session/x").bearer(OTHER).send(hub.port()).await.must_be(401);
}

#[tokio::test]
async fn a_new_token_counts_from_the_signal_on() {
    let hub = guarded(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "north").await;
    hub.place().write("tokens", &format!("bob = {OTHER}\n"));
    assert_eq!(status(&hub, "/health", SECRET).await, 200, "not before");
    hub.signal(Signal::Hangup);
    eventually("the new token counts", async || {
        (status(&hub, "/health", OTHER).await == 200).then_some(())
    })
    .await;
    assert_eq!(status(&hub, "/health", SECRET).await, 401, "the old one does not");
    app.settle().await;
}

#[tokio::test]
async fn a_token_file_that_is_broken_keeps_the_old_tokens() {
    let hub = guarded(&[]).await;
    hub.place().write("tokens", "short");
    hub.signal(Signal::Hangup);
    eventually("the hub says so", async || {
        hub.stderr().contains("the old ones stay").then_some(())
    })
    .await;
    assert_eq!(status(&hub, "/health", SECRET).await, 200);
}

#[tokio::test]
async fn the_token_file_of_the_data_folder_is_found() {
    let options = HubOptions::new(PROGRAM);
    let data = options.place().folder("own");
    options.place().write("own/tokens", SECRET);
    let hub = options.flags(&["--data", data.to_str().unwrap()]).start().await;
    assert_eq!(status(&hub, "/info", SECRET).await, 200);
    assert_eq!(status(&hub, "/info", &hub.token()).await, 200, "and the hub's own");
    Ask::get("/info").send(hub.port()).await.must_be(401);
    let commands = hub.commands(PROGRAM).variable("TABWIRE_DATA", data.to_str().unwrap());
    commands.run(&["sessions"]).await.must_exit(0);
    hub.commands(PROGRAM).run(&["sessions"]).await.must_exit(3);
}

#[tokio::test]
async fn the_hub_makes_its_own_token_once_and_keeps_it_private() {
    use std::os::unix::fs::PermissionsExt;
    let mut hub = hub(&[]).await;
    let token = hub.token();
    assert_eq!(status(&hub, "/api/sessions", &token).await, 200);
    let file = hub.place().path().join("data/tabwire/token");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{token}\n"));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    hub.terminate().await;
    hub.restart().await;
    assert_eq!(hub.token(), token);
    let printed = hub.commands(PROGRAM).run(&["token", "--json"]).await.must_exit(0).json();
    let url = format!("http://127.0.0.1:{}/mcp", hub.port());
    assert_eq!((&printed["token"], &printed["url"]), (&json!(token), &json!(url)));
    let said = hub.commands(PROGRAM).run(&["token"]).await.must_exit(0).stdout;
    let line = format!("tabwire {url} --header \"Authorization: Bearer {token}\"");
    assert!(said.contains(&line) && said.contains("mcpServers"), "{said}");
}

#[tokio::test]
async fn health_is_open_and_says_why_to_those_who_may_know() {
    let hub = hub(&[]).await;
    let open = Ask::get("/health").send(hub.port()).await.must_be(200).json();
    assert_eq!(open, json!({"status": "ok"}));
    let known = Ask::own_get("/health").send(hub.port()).await.must_be(200).json();
    assert_eq!(known, json!({"status": "ok", "reasons": []}));
}

#[tokio::test]
async fn an_open_hub_asks_nobody_here_and_everybody_who_was_forwarded() {
    let hub = hub(&["--open", "--allow-host", "hub.example:8765"]).await;
    Ask::get("/api/sessions").send(hub.port()).await.must_be(200);
    let dial = Dial::session(hub.port(), "chrome").without_token();
    FakeBrowser::browser(hub.port(), "chrome").dialled(|_| dial).connect().await;
    for header in ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"] {
        let ask = Ask::get("/api/sessions").header(header, "192.0.2.7");
        ask.send(hub.port()).await.must_be(401);
    }
    Ask::get("/api/sessions").host("hub.example:8765").send(hub.port()).await.must_be(401);
    eventually("it warns", async || {
        hub.stderr().contains("every browser extension on this machine").then_some(())
    })
    .await;
    let beyond = HubOptions::new(PROGRAM).flags(&["--open", "--bind", "0.0.0.0"]);
    let (status, said) = beyond.try_start().await.err().expect("a refusal");
    assert_eq!(status.code(), Some(4), "{said}");
    assert!(said.contains("loopback only"), "{said}");
}

#[tokio::test]
async fn asking_for_tokens_is_what_happens_anyway() {
    let hub = hub(&["--require-token"]).await;
    Ask::get("/api/sessions").send(hub.port()).await.must_be(401);
    eventually("it says so", async || hub.stderr().contains("does nothing any more").then_some(()))
        .await;
}

#[tokio::test]
async fn who_shows_nothing_is_no_browser_and_no_app() {
    let hub = hub(&[]).await;
    let stranger = |dial: Dial| dial.without_token();
    for peer in [FakeBrowser::browser(hub.port(), "x"), FakeBrowser::app(hub.port(), "x")] {
        let ending = peer.dialled(stranger).try_connect().await.unwrap_err();
        assert_eq!((ending.code, ending.clean), (4503, true), "{ending:?}");
        assert!(ending.bye().unwrap()["message"].as_str().unwrap().contains("tabwire token"));
    }
    let foreign = Dial::session(hub.port(), "x").offer_only(&[]).without_token();
    let refused = foreign.try_connect().await.err().flatten().expect("a refusal");
    assert_eq!(refused.status, 401, "the dialects of other projects too");
    assert!(hub.api().sessions().await.is_empty());
    FakeBrowser::browser(hub.port(), "x").connect().await;
}

#[tokio::test]
async fn a_token_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let options = HubOptions::new(PROGRAM);
    let file = options.place().write("tokens", SECRET);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let flags = ["--token-file", file.to_str().unwrap()];
    let (status, said) = options.flags(&flags).try_start().await.err().expect("a refusal");
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(said.contains("chmod 600") && !said.contains(SECRET), "{said}");
}

#[tokio::test]
async fn a_hub_on_all_addresses_wants_the_token_from_everybody() {
    let options = HubOptions::new(PROGRAM);
    let file = options.place().write("tokens", SECRET);
    let flags = ["--bind", "0.0.0.0", "--token-file", file.to_str().unwrap()];
    let hub = options.flags(&flags).start().await;
    Ask::get("/info").send(hub.port()).await.must_be(401);
    assert_eq!(status(&hub, "/info", SECRET).await, 200);
    Ask::get("/info")
        .bearer(SECRET)
        .host(&format!("0.0.0.0:{}", hub.port()))
        .send(hub.port())
        .await
        .must_be(403);
}

#[tokio::test]
async fn secrets_are_never_shown() {
    let hub = guarded(&["--log-level", "trace"]).await;
    let mut shown = String::new();
    for path in GUARDED.iter().filter(|path| **path != "/api/tail") {
        for token in [SECRET, OTHER] {
            let answer = Ask::get(path).bearer(token).send(hub.port()).await;
            shown += &format!("{:?}{}", answer.headers, answer.text());
        }
    }
    let in_address = Ask::get(&format!("/health?token={OTHER}")).send(hub.port()).await;
    shown += &in_address.text();
    let mut app = FakeBrowser::with_tools(hub.port(), "north", &["paint"]).await;
    let first = app.token.clone().unwrap();
    app.vanish();
    app.connect().await;
    let second = app.token.clone().unwrap();
    let mut refused = Dial::root(hub.port()).connect().await;
    let mut hello = app.hello();
    hello["resumeToken"] = json!([first]);
    refused.send(&hello).await;
    shown += &format!("{:?}", refused.must_close(4400).await);
    app.settle().await;
    let api = hub.api().with_token(SECRET);
    for path in ["/api/sessions", "/api/sessions/north", "/api/sessions/north/feed"] {
        shown += &api.get(path).await.text();
    }
    hub.signal(Signal::Hangup);
    eventually("it reads its settings", async || {
        hub.stderr().contains("settings reloaded").then_some(())
    })
    .await;
    let place = Place::create();
    let file = hub.place().path().join("tokens");
    let flags = ["serve", "--print-config", "--token-file", file.to_str().unwrap()];
    let printed = testkit::Commands::new(PROGRAM, &place).run(&flags).await.must_exit(0);
    shown += &format!("{}{}{}{}", hub.stdout(), hub.stderr(), printed.stdout, printed.stderr);
    assert!(shown.contains("TRACE") || shown.contains("DEBUG"), "the log is as loud as can be");
    for secret in [SECRET, OTHER, &first, &second] {
        assert!(!shown.contains(secret), "{secret} is in:\n{shown}");
    }
}

#[tokio::test]
async fn a_wrong_token_waits_for_its_answer_and_a_right_one_never() {
    const DELAY: Duration = Duration::from_secs(1);
    let hub = guarded(&[]).await;
    for wrong in [
        Ask::get("/info").bearer(OTHER),
        Ask::upgrade("/session/x").bearer(OTHER),
        Ask::upgrade("/session/x").header("Sec-WebSocket-Protocol", "bearer.guess"),
    ] {
        let started = Instant::now();
        let mut guessing = Http::connect(hub.port()).await;
        guessing.send(&wrong.bytes(hub.port())).await.unwrap();
        // Asked after it, and answered before it.
        let right = tokio::select! {
            biased;
            early = guessing.read_response() => panic!("the guess is answered first: {early:?}"),
            status = status(&hub, "/info", SECRET) => status,
        };
        assert_eq!(right, 200);
        let answer = guessing.read_response().await.unwrap().unwrap();
        assert_eq!(answer.status, 401);
        assert!(started.elapsed() >= DELAY, "{:?}", started.elapsed());
    }
}
