//! What the log never shows, however loud it is: typed text, arguments, answers, states, tokens,
//! codes, keys and proofs. The logs of all of them are searched, relays included.

use std::fs;

use serde_json::{Value, json};
use testkit::{
    Ask, Dial, Era, FakeBrowser, FakeExtension, HubProcess, Machine, McpHttp, McpStdio,
    StdioOptions, eventually,
};

use crate::{
    mcp_scene::{LEGACY, every_way},
    pairing_commands::code,
    scene::{PROGRAM, hub},
};

/// Part of everything that must not be seen.
const SECRET: &str = "hunter2-correct-horse";

/// What was written where a secret must not be.
#[derive(Default)]
struct Written(String);

impl Written {
    #[track_caller]
    fn check_without(&self, secrets: &[&str]) {
        assert!(self.0.contains("TRACE") || self.0.contains("DEBUG"), "it is as loud as can be");
        for secret in secrets {
            let line = self.0.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{secret} is in the log: {}", line.unwrap_or_default());
        }
    }
}

/// A browser and an app that answer with secrets, or fail with them, to whoever asks.
async fn peer(peer: FakeBrowser, tools: &[&str]) -> testkit::FakeApp {
    testkit::FakeApp::start(peer, tools, |call| match call["args"]["how"].as_str() {
        Some("badly") => testkit::Answer::Error("NO_PAINT", "hunter2-correct-horse is wrong"),
        _ => testkit::Answer::Result(json!({"said": SECRET, "was": call["args"]})),
    })
    .await
}

/// Calls that carry secrets, of which some fail and some are malformed.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("browser_interact", json!({"action": "type", "ref": "e7", "tab": 1, "text": SECRET})),
        ("browser_interact", json!({"action": SECRET, "text": SECRET})),
        ("browser_interact", json!({"action": "type", "tab": SECRET})),
        ("paint", json!({"token": SECRET})),
        ("paint", json!({"how": "badly", "password": SECRET})),
        ("app_state", json!({"path": format!("/{SECRET}")})),
        ("no_such_tool", json!({"text": SECRET})),
    ]
}

/// Frames that no message is made of, or a wrong one, each with a secret at some place.
fn bad_frames() -> Vec<String> {
    let frames = [
        json!({"type": SECRET}),
        json!({"type": "toolResult", "callId": [SECRET]}),
        json!({"type": "stateUpdate", "state": {}, "stateEpoch": "e", "version": SECRET}),
        json!({"type": "event", "name": {"a": SECRET}, "sequence": 1}),
        json!({"type": "bye", "code": "normal", "retry": false, "message": SECRET}),
        json!({"type": "ack", "position": SECRET}),
    ];
    let broken = format!(r#"{{"type":"event","name":"{SECRET}""#);
    frames.iter().map(Value::to_string).chain([broken]).collect()
}

/// Sends frames that are refused, before the hello and after it.
async fn send_bad_frames(port: u16) {
    for frame in bad_frames() {
        for is_welcome in [false, true] {
            let mut socket = match is_welcome {
                true => FakeBrowser::connected(port, "clumsy").await.take_socket(),
                false => Dial::root(port).connect().await,
            };
            socket.send_text(&frame).await;
            // Some are taken in silence; whoever closes then does it after having read them.
            socket.close().await;
        }
    }
}

/// Shows tokens, proofs and codes that are wrong.
async fn be_refused(port: u16) {
    for path in ["/mcp", "/api/sessions", "/metrics"] {
        Ask::get(path).bearer(SECRET).send(port).await;
        Ask::get(&format!("{path}?token={SECRET}")).send(port).await;
    }
    let mut hello = FakeBrowser::app(port, "stranger").hello();
    for token in [json!(SECRET), json!([SECRET])] {
        hello["resumeToken"] = token;
        let mut socket = Dial::root(port).connect().await;
        socket.send(&hello).await;
        socket.recv().await;
    }
    let challenged = FakeExtension::new(port, "nobody", "AAAA").greet().await;
    assert!(challenged.is_err(), "it has no key");
}

/// Sends lines of which no request is made.
async fn send_bad_lines(client: &mut McpStdio) {
    client.send_line(&format!("{{\"{SECRET}\": ")).await;
    client.send_line(&json!({"jsonrpc": "2.0", "id": SECRET, "method": 7}).to_string()).await;
    client.send_line(&json!({"jsonrpc": "2.0", "result": SECRET, "id": 9}).to_string()).await;
    let params = json!({"requestId": SECRET, "reason": SECRET});
    client.notify("notifications/cancelled", params).await;
    client.notify("notifications/initialized", json!({"a": SECRET})).await;
    client.request("tools/list", json!({"cursor": SECRET})).await;
    client.request(SECRET, json!({"a": SECRET})).await;
}

/// Pairs by a code; returns what must stay between the two.
async fn pair(hub: &HubProcess) -> Vec<String> {
    let code = code(hub).await;
    let mut extension = FakeExtension::with_code(hub.port(), "paired", &code);
    let (_, welcome) = extension.connect().await;
    let challenged = extension.greet().await.unwrap_or_else(|end| panic!("{end:?}"));
    vec![
        code.replace('-', ""),
        code,
        extension.key(),
        challenged.proof,
        challenged.hubs_proof,
        welcome["resumeToken"].as_str().unwrap().to_owned(),
    ]
}

#[tokio::test]
async fn nothing_that_was_typed_called_or_proven_is_in_the_log() {
    let mut hub = hub(&["--log-level", "trace"]).await;
    let mut app = FakeBrowser::app(hub.port(), "viewer");
    app.connect().await;
    app.publish_state("e1", 1, json!({"password": SECRET})).await;
    app.publish_event("typed", json!(SECRET)).await;
    // A patch that does not fit, so that the page is asked for its state, and cannot tell it.
    let patch = json!([{"op": "remove", "path": format!("/{SECRET}")}]);
    app.publish(json!({"type": "stateUpdate", "stateEpoch": "e1", "version": 9, "patch": patch}))
        .await;
    let asked = app.until("requestState").await["requestId"].clone();
    app.say(json!({"type": "stateError", "requestId": asked, "error": SECRET})).await;
    app.until_acked().await;
    let resume_token = app.token.clone().unwrap();
    app.vanish();
    let app = peer(app, &["paint"]).await;
    let mut browser = FakeBrowser::browser(hub.port(), "chrome");
    browser.connect().await;
    let tab = json!({"id": 1, "title": SECRET, "url": format!("https://a.example/{SECRET}")});
    browser.publish(json!({"type": "tabCreated", "tab": tab})).await;
    browser.until_acked().await;
    browser.vanish();
    let browser = peer(browser, &[]).await;
    let mut clients = every_way(&hub).await;
    for (_, client) in &mut clients {
        for (tool, args) in calls() {
            client.call(tool, args).await;
        }
    }
    let typed = browser.received("callTool");
    let typed = typed.iter().filter(|call| call.to_string().contains(SECRET));
    assert_eq!(typed.count(), clients.len(), "the text is typed");
    assert!(app.received("callTool").len() >= 2 * clients.len());
    let mut relays = Vec::new();
    for era in [Era::Modern, LEGACY] {
        let mut relay = StdioOptions::of(PROGRAM, &hub).connect(era).await;
        send_bad_lines(&mut relay).await;
        relays.push(relay);
        let http = McpHttp::connected(hub.port(), era).await;
        http.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SECRET}))
            .await;
        Ask::post("/mcp", &json!({ "a": SECRET })).bearer(&hub.token()).send(hub.port()).await;
    }
    hub.api().call(json!({"tool": "paint", "args": {"a": SECRET}, "session": "viewer"})).await;
    hub.api().call(json!({"tool": SECRET, "args": SECRET})).await;
    send_bad_frames(hub.port()).await;
    be_refused(hub.port()).await;
    let mut secrets = pair(&hub).await;
    secrets.extend([SECRET.to_owned(), hub.token(), resume_token]);
    hub.terminate().await;
    let mut written = Written(hub.stderr() + &hub.stdout());
    for relay in relays {
        written.0 += &relay.finish().await.stderr;
    }
    written.check_without(&secrets.iter().map(String::as_str).collect::<Vec<_>>());
}

#[tokio::test]
async fn nothing_that_was_called_is_in_the_log_of_a_hub_in_the_background() {
    let machine = Machine::new(PROGRAM);
    let mut client = machine.relay().variable("TABWIRE_LOG_LEVEL", "trace").connect(LEGACY).await;
    let app = peer(FakeBrowser::app(machine.port(), "viewer"), &["paint"]).await;
    for (tool, args) in calls() {
        client.call(tool, args).await;
    }
    send_bad_lines(&mut client).await;
    assert!(!app.received("callTool").is_empty());
    let file = machine.data().join("hub.log");
    let logged = eventually("the log is there", async || {
        fs::read_to_string(&file).ok().filter(|text| text.contains("call begun"))
    });
    let written = Written(logged.await + &client.stderr());
    written.check_without(&[SECRET]);
}
