//! mcp-browser: frames that are none, errors that must not be answered with errors, strangers,
//! bystanders, and a port that another program has.

use std::{net::TcpListener, time::Duration};

use serde_json::{Value, json};
use testkit::{
    Dial, FakeApp, HubOptions,
    frame::{frame, opcode},
    seeds::{
        mcp_browser::{McpBrowser, McpBrowserOptions, ORIGIN},
        wire::Order,
    },
};

use crate::{
    scene::{PROGRAM, hub},
    seed_browsers::{client, done, failed, hub_for_extensions, names, session, until_said},
    seed_enhanced_odd::UNREADABLE,
    seed_mcp_browser::hub_and_browser,
};

#[tokio::test]
async fn a_frame_that_cannot_be_read_is_answered_and_costs_nothing() {
    let (hub, browser) = hub_and_browser(&[]).await;
    let bystander = FakeApp::echo(hub.port(), "bystander", &["greet"]).await;
    for (number, frame) in UNREADABLE.iter().enumerate() {
        browser.line.text(frame);
        browser.line.until_heard_times("error", number + 1).await;
    }
    browser.line.order(Order::Bytes(frame(opcode::BINARY, true, b"\x00\x01")));
    browser.line.until_heard_times("error", UNREADABLE.len() + 1).await;
    for frame in [
        "{}",
        r#"{"type":"telepathy"}"#,
        r#"{"type":"dom_command_response"}"#,
        r#"{"type":"dom_command_response","requestId":7,"success":"yes"}"#,
        r#"{"type":"tab_info_response","tabId":"x","url":5}"#,
        r#"{"type":"evaluate_js_response","requestId":"nobody","success":true,"result":{}}"#,
        r#"{"type":"gap_recovery"}"#,
        r#"{"type":"connection_init","lastSequence":{}}"#,
    ] {
        browser.line.text(frame);
    }
    let claude = client(&hub, "claude");
    done(&claude, "browser_navigate", json!({"url": "https://still.example/"})).await;
    browser.line.must_be_open();
    assert_eq!(hub.api().session("mcp-browser").await["connections"], 1);
    assert_eq!(hub.api().session("bystander").await["connections"], 1);
    assert!(bystander.received("error").is_empty());
}

#[tokio::test]
async fn an_error_is_never_answered_with_an_error() {
    let hub = hub_for_extensions(&[]).await;
    let options = McpBrowserOptions::new(hub.compat("mcp_browser")).without_tab();
    let browser = options.connect().await;
    session(&hub, "mcp-browser").await;
    // Without a tab it answers everything with an error, errors too.
    browser.line.text("not json");
    browser.line.until_heard("error").await;
    let error =
        json!({"type": "error", "error": "no_registered_tab", "message": "?", "command": "x"});
    for _ in 0..20 {
        browser.line.say(error.clone());
    }
    browser.line.say(json!({"type": "heartbeat", "timestamp": 1}));
    browser.line.until_heard("pong").await;
    assert_eq!(browser.line.heard_of("error").len(), 1, "{:?}", browser.line.heard());
    let said_before = browser.line.said_of("error").len();
    browser.line.say(json!({"type": "heartbeat", "timestamp": 2}));
    browser.line.until_heard_times("pong", 2).await;
    assert_eq!(browser.line.said_of("error").len(), said_before, "the two do not talk in circles");
}

#[tokio::test]
async fn commands_and_answers_reach_nobody_else() {
    // The probe's time for a hello must not be over, however slow this is.
    let (hub, browser) = hub_and_browser(&["--hello-timeout", "60s"]).await;
    let mut bystanders = Vec::new();
    for number in 2..5 {
        bystanders.push(McpBrowser::connect(hub.compat("mcp_browser")).await);
        session(&hub, &format!("mcp-browser-{number}")).await;
    }
    let mut probe = McpBrowserOptions::new(hub.compat("mcp_browser")).dial().connect().await;
    probe.until("connection_ack").await;
    let claude = client(&hub, "claude");
    for round in 0..20 {
        let args = json!({
            "session": "mcp-browser", "action": "query", "selector": format!("#secret-{round}"),
        });
        done(&claude, "browser_content", args).await;
    }
    assert_eq!(browser.line.heard_of("dom_command").len(), 20);
    for bystander in &bystanders {
        let stray: Vec<Value> = bystander
            .line
            .heard()
            .into_iter()
            .filter(|one| one["type"] != "connection_ack" && one["type"] != "get_tab_info")
            .collect();
        assert!(stray.is_empty(), "{stray:?}");
    }
    assert_eq!(probe.recv_for(Duration::from_millis(50)).await, None);
}

#[tokio::test]
async fn whoever_opens_the_socket_cannot_command_others() {
    let (hub, browser) = hub_and_browser(&[]).await;
    let mut intruder = McpBrowserOptions::new(hub.compat("mcp_browser")).dial().connect().await;
    intruder.until("connection_ack").await;
    for command in [
        json!({"type": "evaluate_js", "code": "document.cookie", "requestId": "1"}),
        json!({"type": "navigate", "url": "https://evil.example/"}),
        json!({"type": "dom_command", "requestId": "2", "command": {"type": "click", "params": {}}}),
        json!({"type": "get_tab_info"}),
    ] {
        intruder.send(&command).await;
    }
    intruder.send(&json!({"type": "server_info"})).await;
    intruder.until("server_info_response").await;
    // Messages keep their order: a relayed one would have come before this.
    let args = json!({"session": "mcp-browser", "url": "https://mine.example/"});
    done(&client(&hub, "claude"), "browser_navigate", args).await;
    assert_eq!(browser.line.heard_of("navigate").len(), 1);
    assert!(browser.line.heard_of("evaluate_js").is_empty());
    assert!(browser.line.heard_of("dom_command").is_empty());
}

#[tokio::test]
async fn strangers_are_refused_before_the_upgrade() {
    let (hub, browser) = hub_and_browser(&[]).await;
    let port = hub.compat("mcp_browser");
    for origin in [
        "https://evil.example",
        "http://localhost:5173",
        &format!("http://localhost:{port}"),
        "null",
        "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ] {
        let dial = McpBrowserOptions::new(port).origin(Some(origin)).dial();
        let answer = dial.try_connect().await.err().flatten();
        assert_eq!(answer.expect("a refusal").status, 403, "{origin}");
    }
    for host in ["evil.example", "evil.example:8851", &format!("127.0.0.1:{}", hub.port())] {
        let ask = testkit::Ask::bare_upgrade("/").host(host).header("Origin", ORIGIN);
        assert_eq!(ask.send(port).await.status, 403, "{host}");
    }
    assert_eq!(names(&hub).await, ["mcp-browser"]);
    browser.line.must_be_open();
}

#[tokio::test]
async fn any_extension_may_be_let_in_and_is_marked() {
    let any = "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let flags = ["--compat", "mcp_browser=0", "--allow-origin", "chrome-extension://*"];
    let hub = hub(&flags).await;
    until_said(&hub, &["WARN", "chrome-extension://*"]).await;
    let port = hub.compat("mcp_browser");
    let browser = McpBrowserOptions::new(port).origin(Some(any)).connect().await;
    assert_eq!(session(&hub, "mcp-browser").await["unproven"], true);
    done(&client(&hub, "claude"), "browser_navigate", json!({"url": "https://a.example/"})).await;
    for (door, path) in [(port, "/api/sessions"), (port, "/mcp"), (hub.port(), "/api/sessions")] {
        let answer = testkit::Ask::own_get(path).header("Origin", any).send(door).await;
        assert!([403, 404].contains(&answer.status), "{door} {path}: {}", answer.status);
    }
    let native = Dial::session(hub.port(), "x").origin(any).try_connect().await;
    assert_eq!(native.err().flatten().expect("a refusal").status, 403);
    browser.line.must_be_open();
}

#[tokio::test]
async fn a_program_that_has_the_port_is_left_alone_and_reported() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let port = other.local_addr().unwrap().port();
    let hub = HubOptions::new(PROGRAM)
        .flags(&["--compat", &format!("mcp_browser={port},hello3d=0")])
        .start()
        .await;
    let dialects = hub.api().get("/api/dialects").await.must_be(200).json();
    let entry = dialects["dialects"].as_array().unwrap().iter();
    let entry = entry.clone().find(|one| one["name"] == "mcp_browser").unwrap();
    assert_eq!(entry["port"], json!(port));
    let problem = entry["problem"].as_str().unwrap_or_else(|| panic!("no problem: {entry}"));
    assert!(problem.contains("in use") || problem.contains(&port.to_string()), "{problem}");
    until_said(&hub, &["mcp_browser", &port.to_string()]).await;
    let listed = hub.commands(PROGRAM).run(&["dialects"]).await.must_exit(0).stdout;
    assert!(listed.contains("mcp_browser"), "{listed}");
    // The others go on, and so does the other program, to which nobody has connected.
    assert!(hub.compat("hello3d") > 0);
    assert!(matches!(other.accept(), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock));
}

#[tokio::test]
async fn an_answer_counts_only_from_the_extension_that_was_asked() {
    let (hub, browser) = hub_and_browser(&["--call-timeout", "60s"]).await;
    let liar = McpBrowser::connect(hub.compat("mcp_browser")).await;
    session(&hub, "mcp-browser-2").await;
    browser.hold("#price");
    let args = json!({"session": "mcp-browser", "action": "query", "selector": "#price"});
    let claude = client(&hub, "claude");
    let (found, ()) = tokio::join!(done(&claude, "browser_content", args), async {
        let command = browser.line.until_heard("dom_command").await;
        liar.line.say(json!({
            "type": "dom_command_response", "requestId": command["requestId"],
            "response": {"success": true, "elementInfo": {"text": "a lie"}},
        }));
        liar.line.say(json!({"type": "heartbeat", "timestamp": 1}));
        liar.line.until_heard("pong").await;
        browser.release();
    });
    assert!(found.to_string().contains("mcp-browser #price"), "{found}");
}

#[tokio::test]
async fn a_server_that_stops_says_so_and_ends_its_calls() {
    let (mut hub, browser) = hub_and_browser(&["--drain-timeout", "200ms"]).await;
    browser.hold("#price");
    let claude = client(&hub, "claude");
    let args = json!({"action": "query", "selector": "#price"});
    let (said, ()) = tokio::join!(failed(&claude, "browser_content", args), async {
        browser.line.until_heard("dom_command").await;
        hub.signal(testkit::Signal::Terminate);
    });
    assert!(!said.is_empty());
    browser.line.ended().await;
    assert_eq!(hub.exited().await.code(), Some(0));
}
