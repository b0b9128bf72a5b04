//! browsermcp-enhanced: older generations of the extension, frames that are none, and strangers.

use serde_json::json;
use testkit::{
    Ask, Dial, FakeApp,
    frame::{frame, opcode},
    seeds::{
        enhanced::{Enhanced, EnhancedOptions, ORIGIN, uuid},
        wire::Order,
    },
};

use crate::{
    scene::hub,
    seed_browsers::{client, done, failed, hub_for_extensions, names, session, until_said},
};

/// Frames that cannot be read.
pub const UNREADABLE: &[&str] =
    &["not json", "{", "[1,2,3]", "\"text\"", "7", "null", "{\"type\":5}", "{\"type\":\"x\",}"];

/// Frames that can be read and make no sense.
const SENSELESS: &[&str] = &[
    "{}",
    r#"{"type":"telepathy"}"#,
    r#"{"type":"response"}"#,
    r#"{"type":"response","wireId":7,"data":[]}"#,
    r#"{"type":"response","wireId":"","data":{}}"#,
    r#"{"type":"response","wireId":{"a":1},"error":{"b":2}}"#,
    r#"{"type":"event"}"#,
    r#"{"type":"event","name":5,"payload":"x"}"#,
    r#"{"type":"hello","wants":["everything"]}"#,
    r#"{"id":99,"payload":null}"#,
];

#[tokio::test]
async fn the_generation_of_the_seed_works() {
    let hub = hub_for_extensions(&[]).await;
    let extension = EnhancedOptions::new(hub.port()).legacy().connect().await;
    let acknowledged = extension.line.until_heard("helloAck").await;
    assert_eq!(acknowledged["instanceId"], json!(extension.instance), "it wants to know");
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    for round in 0..3 {
        let url = format!("https://{round}.example/");
        let result = done(&claude, "browser_navigate", json!({"url": url})).await;
        assert_eq!(result["url"], json!(url));
    }
    let command = &extension.commands_of("browser_navigate")[0];
    assert!(!command["id"].is_null(), "{command}");
    assert_eq!(command["payload"]["url"], "https://0.example/");
    let tabs = done(&claude, "browser_tab", json!({"action": "list"})).await;
    assert!(tabs.to_string().contains("https://2.example/"), "{tabs}");
    let said = failed(&claude, "browser_execute", json!({"expression": "1"})).await;
    assert!(said.contains("Content Security Policy"), "{said}");
    failed(&claude, "browser_interact", json!({"action": "click", "ref": "ref2"})).await;
    extension.line.must_be_open();
}

#[tokio::test]
async fn a_frame_that_cannot_be_read_is_answered_and_costs_nothing() {
    let hub = hub_for_extensions(&[]).await;
    let bystander = FakeApp::echo(hub.port(), "bystander", &["greet"]).await;
    let other = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced-2").await;
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let deep = format!(r#"{{"type":"event","name":"debug","payload":{deep}}}"#);
    let mut errors = 0;
    for frame in UNREADABLE.iter().copied().chain([deep.as_str()]) {
        extension.line.text(frame);
        errors += 1;
        let said = extension.line.until_heard_times("error", errors).await;
        assert!(said[errors - 1].to_string().len() < 2000, "{}", said[errors - 1]);
    }
    extension.line.order(Order::Bytes(frame(opcode::BINARY, true, b"\x00\x01")));
    extension.line.until_heard_times("error", errors + 1).await;
    for frame in SENSELESS {
        extension.line.text(frame);
    }
    let claude = client(&hub, "claude");
    for name in ["enhanced", "enhanced-2"] {
        let args = json!({"session": name, "url": "https://still.example/"});
        done(&claude, "browser_navigate", args).await;
    }
    extension.line.must_be_open();
    other.line.must_be_open();
    assert_eq!(other.commands().len(), 1);
    assert!(other.line.heard_of("error").is_empty());
    let sessions = hub.api().sessions().await;
    assert!(sessions.iter().all(|one| one["connections"] == 1), "{sessions:?}");
    assert!(bystander.received("error").is_empty());
}

#[tokio::test]
async fn an_answer_that_is_none_is_an_error_for_its_caller() {
    let hub = hub_for_extensions(&[]).await;
    let extension = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let claude = client(&hub, "claude");
    extension.hold("odd.example");
    for (round, (part, fails)) in [
        (json!({}), true),
        (json!({"error": "the tab has crashed"}), true),
        (json!({"error": ""}), true),
        (json!({"data": null}), false),
        (json!({"data": {"success": false, "tabId": 1}}), true),
        (json!({"error": {"message": "odd"}}), true),
    ]
    .into_iter()
    .enumerate()
    {
        let args = json!({"url": format!("https://odd.example/{round}")});
        let (answer, ()) = tokio::join!(claude.call("browser_navigate", args), async {
            let command = extension.until_commands("browser_navigate", round + 1).await;
            let mut answer = part.clone();
            answer["type"] = json!("response");
            answer["wireId"] = command[round]["wireId"].clone();
            answer["sessionId"] = command[round]["sessionId"].clone();
            extension.line.say(answer);
        });
        let (failed, said) = answer.told();
        assert!(failed || !fails, "{part}: {said}");
        if part["error"] == "the tab has crashed" {
            assert!(said.contains("the tab has crashed"), "{said}");
        }
    }
    extension.line.must_be_open();
}

#[tokio::test]
async fn a_hello_with_another_id_than_the_address_does_not_take_that_name() {
    let hub = hub_for_extensions(&[]).await;
    let victim = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    let mut thief = EnhancedOptions::new(hub.port()).dial().connect().await;
    let hello = json!({"type": "hello", "wants": "instanceId", "instanceId": victim.instance});
    thief.send(&hello).await;
    // Whatever becomes of the thief, the name stays with its owner.
    let claude = client(&hub, "claude").header("X-MCP-Instance", &victim.instance);
    done(&claude, "browser_navigate", json!({"url": "https://mine.example/"})).await;
    assert_eq!(victim.commands().len(), 1);
    let owners = hub.api().sessions().await;
    let owners = owners.iter().filter(|one| one["instanceId"] == json!(victim.instance));
    assert_eq!(owners.count(), 1);
}

#[tokio::test]
async fn strangers_are_refused_before_the_upgrade() {
    let hub = hub_for_extensions(&[]).await;
    let real = Enhanced::connect(hub.port()).await;
    session(&hub, "enhanced").await;
    for origin in [
        "https://evil.example",
        "http://localhost:5173",
        "null",
        "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "moz-extension://6d0f4b7e-0000-4000-8000-000000000000",
        &format!("{ORIGIN}.evil.example"),
        &ORIGIN.replace("chrome-extension", "https"),
    ] {
        for instance in [real.instance.clone(), uuid()] {
            let options = EnhancedOptions::new(hub.port()).instance(&instance).origin(Some(origin));
            let answer = options.dial().try_connect().await.err().flatten();
            assert_eq!(answer.expect("a refusal").status, 403, "{origin}");
        }
    }
    assert_eq!(names(&hub).await, ["enhanced"]);
    real.line.must_be_open();
}

#[tokio::test]
async fn any_extension_may_be_let_in_and_is_marked_and_gets_no_further() {
    let hub = hub(&["--allow-origin", "chrome-extension://*"]).await;
    until_said(&hub, &["WARN", "chrome-extension://*"]).await;
    let any = "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let extension = EnhancedOptions::new(hub.port()).origin(Some(any)).connect().await;
    let session = session(&hub, "enhanced").await;
    assert_eq!(session["unproven"], true);
    done(&client(&hub, "claude"), "browser_navigate", json!({"url": "https://a.example/"})).await;
    assert_eq!(extension.commands().len(), 1);
    for ask in [
        Ask::get("/api/sessions"),
        Ask::get("/api/dialects"),
        Ask::get("/metrics"),
        Ask::post("/api/call", &json!({"tool": "sleep", "args": {"durationMs": 1}})),
        Ask::post("/mcp", &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
        Ask::post("/mcp/enhanced", &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
    ] {
        let answer = ask.clone().header("Origin", any).send(hub.port()).await;
        assert_eq!(answer.status, 403, "{ask:?}: {}", answer.text());
        assert!(answer.header("access-control-allow-origin").is_none());
    }
    for dial in [
        Dial::session(hub.port(), &uuid()).origin(any),
        Dial::root(hub.port()).path(&format!("/?instanceId={}", uuid())).origin(any),
        Dial::session(hub.port(), &extension.instance).origin(any),
    ] {
        let answer = dial.try_connect().await.err().flatten().expect("a refusal");
        assert_eq!(answer.status, 403, "native is not for strangers: {dial:?}");
    }
    for page in ["https://evil.example", "http://localhost:5173", "null"] {
        let options = EnhancedOptions::new(hub.port()).origin(Some(page));
        let answer = options.dial().try_connect().await.err().flatten();
        assert_eq!(answer.expect("a refusal").status, 403, "{page}");
    }
    assert_eq!(names(&hub).await, ["enhanced"]);
}

#[tokio::test]
async fn an_extension_is_marked_also_when_it_is_named_and_a_program_with_the_token_is_not() {
    let hub = hub(&["--allow-origin", &format!("chrome-extension://*,{ORIGIN}")]).await;
    let _named = Enhanced::connect(hub.port()).await;
    assert_eq!(session(&hub, "enhanced").await["unproven"], true, "an origin is no proof");
    let other = "chrome-extension://bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    let _any = EnhancedOptions::new(hub.port()).origin(Some(other)).connect().await;
    assert_eq!(session(&hub, "enhanced-2").await["unproven"], true);
    let _program = EnhancedOptions::new(hub.port()).origin(None).connect().await;
    assert_ne!(session(&hub, "enhanced-3").await["unproven"], true);
    let listed = done(&client(&hub, "claude"), "browser_instance", json!({})).await;
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(3), "{listed}");
}
