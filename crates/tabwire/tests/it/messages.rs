//! Messages that are not what they should be, and messages out of turn.

use serde_json::{Value, json};
use testkit::{Dial, FakeBrowser, frame};

use crate::scene::Scene;

/// Sends texts after a welcome; each must end the connection with this code and a `bye`.
async fn check_guest(texts: &[&str], code: u16, word: &str) {
    let scene = Scene::new(&[]).await;
    for text in texts {
        let mut guest = scene.guest().await;
        guest.send_text(text).await;
        let ending = guest.ended().await;
        assert_eq!((ending.code, ending.clean), (code, true), "{text:.100}: {ending:?}");
        let bye = ending.bye().expect("a bye");
        assert_eq!((&bye["code"], &bye["retry"]), (&json!(word), &json!(code < 4500)), "{text}");
        assert!(ending.reason.starts_with(word), "{ending:?}");
    }
    scene.bystander_answers().await;
}

/// Sends a first message; it must end the connection with this code.
async fn check_first(scene: &Scene, message: &Value, code: u16) {
    let mut socket = scene.stranger().await;
    socket.send(message).await;
    let ending = socket.ended().await;
    assert_eq!((ending.code, ending.clean), (code, true), "{message}: {ending:?}");
    assert!(
        ending.said.iter().all(|said| said["type"] == "bye"),
        "nothing is revealed: {ending:?}"
    );
}

#[tokio::test]
async fn what_is_not_json_is_malformed() {
    let texts =
        ["", "not json", "{", "[]", "null", "7", "\"ping\"", "{\"type\":\"ping\"} {}", "\u{0}"];
    check_guest(&texts, 4400, "malformed").await;
}

#[tokio::test]
async fn a_message_that_is_not_what_its_type_says_is_malformed() {
    let texts = [
        "{}",
        r#"{"type":7}"#,
        r#"{"type":null}"#,
        r#"{"Type":"ping"}"#,
        r#"{"type":"event"}"#,
        r#"{"type":"event","sequence":"1","name":"x"}"#,
        r#"{"type":"event","sequence":-1,"name":"x"}"#,
        r#"{"type":"event","sequence":1.5,"name":"x"}"#,
        r#"{"type":"event","sequence":1,"name":"x","level":"loud"}"#,
        r#"{"type":"event","sequence":0,"name":"x"}"#,
        r#"{"type":"toolResult","result":1}"#,
        r#"{"type":"toolResult","callId":7,"result":1}"#,
        r#"{"type":"stateUpdate","sequence":1,"stateEpoch":"p","version":1}"#,
        r#"{"type":"stateUpdate","sequence":1,"stateEpoch":"p","version":1,"state":1,"patch":[]}"#,
        r#"{"type":"stateUpdate","sequence":1,"stateEpoch":"a b","version":1,"state":1}"#,
        r#"{"type":"tabCreated","sequence":1,"tab":{"title":"no id"}}"#,
        r#"{"type":"ack","position":{"epoch":"e"}}"#,
        r#"{"type":"replayRequest"}"#,
    ];
    check_guest(&texts, 4400, "malformed").await;
}

#[tokio::test]
async fn a_known_key_that_stands_twice_is_malformed() {
    let texts = [
        r#"{"type":"ping","type":"ping"}"#,
        r#"{"type":"ping","type":"pong"}"#,
        r#"{"type":"event","sequence":1,"sequence":2,"name":"x"}"#,
        r#"{"type":"event","sequence":1,"name":"x","name":"y"}"#,
        r#"{"type":"toolResult","callId":"c1-1","callId":"c1-2","result":1}"#,
        r#"{"type":"ack","position":{"epoch":"e","sequence":1,"sequence":2}}"#,
        "{\"type\":\"ping\",\"t\\u0079pe\":\"ping\"}",
    ];
    check_guest(&texts, 4400, "malformed").await;
    let scene = Scene::new(&[]).await;
    let hello = FakeBrowser::app(scene.port(), "twice").hello().to_string();
    for key in
        ["\"instanceId\":\"other\"", "\"type\":\"hello\"", "\"epoch\":\"e\"", "\"kind\":\"app\""]
    {
        let mut socket = scene.stranger().await;
        socket.send_text(&hello.replacen('{', &format!("{{{key},"), 1)).await;
        socket.must_close(4400).await;
    }
}

#[tokio::test]
async fn deep_nesting_is_malformed() {
    let deep = |levels: usize| {
        let data = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"type":"event","sequence":1,"name":"x","data":{data}}}"#)
    };
    check_guest(&[&deep(128), &deep(100_000), &"[".repeat(1_000_000)], 4400, "malformed").await;
    let scene = Scene::new(&[]).await;
    let mut guest = scene.guest().await;
    guest.send_text(&deep(127)).await;
    guest.until("ack").await;
    let mut stranger = scene.stranger().await;
    stranger.send_text(&"{\"a\":".repeat(1000)).await;
    stranger.must_close(4400).await;
}

#[tokio::test]
async fn an_unknown_type_is_a_protocol_error() {
    let texts = [
        r#"{"type":"telepathy"}"#,
        r#"{"type":""}"#,
        r#"{"type":"Ping"}"#,
        r#"{"type":"welcome","sessionId":"s_1"}"#,
        r#"{"type":"callTool","callId":"c1-1"}"#,
        r#"{"type":"cancel","callId":"c1-1"}"#,
        r#"{"type":"requestState","requestId":"c1-1"}"#,
    ];
    check_guest(&texts, 4500, "protocol_error").await;
    check_guest(&[&format!(r#"{{"type":"{}"}}"#, "x".repeat(100_000))], 4500, "protocol_error")
        .await;
}

#[tokio::test]
async fn a_binary_message_is_malformed() {
    let scene = Scene::new(&[]).await;
    for mut socket in [scene.stranger().await, scene.guest().await] {
        let bytes = frame::frame(frame::opcode::BINARY, true, br#"{"type":"ping"}"#);
        socket.send_bytes(&bytes).await;
        socket.must_close(4400).await;
    }
    scene.bystander_answers().await;
}

#[tokio::test]
async fn the_first_message_is_hello_and_only_the_first() {
    let scene = Scene::new(&[]).await;
    for message in [
        json!({"type": "event", "sequence": 1, "name": "x"}),
        json!({"type": "toolsChanged", "sequence": 1, "tools": []}),
        json!({"type": "toolResult", "callId": "c1-1", "result": 1}),
        json!({"type": "replayRequest", "from": {"epoch": "e", "sequence": 0}}),
        json!({"type": "bye", "code": "normal", "retry": false}),
    ] {
        check_first(&scene, &message, 4500).await;
    }
    let mut peer = FakeBrowser::connected(scene.port(), "guest").await;
    let again = peer.hello();
    peer.say(again).await;
    peer.take_socket().must_close(4500).await;
    scene.bystander_answers().await;
}

#[tokio::test]
async fn an_introduction_that_lacks_something_is_malformed() {
    let scene = Scene::new(&[]).await;
    let whole = FakeBrowser::app(scene.port(), "guest").hello();
    for missing in ["instanceId", "kind", "epoch"] {
        let mut hello = whole.clone();
        hello.as_object_mut().unwrap().remove(missing);
        check_first(&scene, &hello, 4400).await;
    }
    for (key, wrong) in [
        ("instanceId", json!("a b")),
        ("instanceId", json!(7)),
        ("kind", json!("toaster")),
        ("epoch", json!("")),
        ("epoch", json!("e".repeat(65))),
        ("name", json!(["a"])),
        ("capabilities", json!("all")),
        ("position", json!({"epoch": "e"})),
        ("position", json!({"epoch": "a b", "sequence": 1})),
        ("resumeToken", json!(1)),
    ] {
        let mut hello = whole.clone();
        hello[key] = wrong;
        check_first(&scene, &hello, 4400).await;
    }
    assert_eq!(scene.api().sessions().await.len(), 1, "nobody but the bystander");
    scene.bystander_answers().await;
}

#[tokio::test]
async fn unknown_fields_are_ignored() {
    let scene = Scene::new(&[]).await;
    let mut hello = FakeBrowser::app(scene.port(), "modern").hello();
    hello["favouriteColor"] = json!({"deep": [1, {"deeper": null}]});
    let mut socket = Dial::session(scene.port(), "modern").connect().await;
    socket.send(&hello).await;
    socket.until("welcome").await;
    socket
        .send(&json!({"type": "event", "sequence": 1, "name": "x", "since": "2.1", "a": [[[]]]}))
        .await;
    socket.until("ack").await;
}

#[tokio::test]
async fn signs_of_life_are_answered_before_hello_and_reveal_nothing() {
    let scene = Scene::new(&[]).await;
    let mut stranger = scene.stranger().await;
    for _ in 0..3 {
        stranger.send(&json!({"type": "ping"})).await;
        stranger.until("pong").await;
    }
    stranger.send(&FakeBrowser::app(scene.port(), "polite").hello()).await;
    stranger.until("welcome").await;
}

#[tokio::test]
async fn answers_that_make_no_sense_are_counted_and_dropped() {
    let scene = Scene::new(&[]).await;
    let mut peer = FakeBrowser::connected(scene.port(), "guest").await;
    for message in [
        json!({"type": "toolResult", "callId": "", "result": 1}),
        json!({"type": "toolResult", "callId": "c0-0", "error": {"code": "X", "message": "x"}}),
        json!({"type": "toolProgress", "callId": "c0-0", "progress": 1e308}),
        json!({"type": "callStatus", "callId": "c0-0", "state": "running"}),
        json!({"type": "stateResponse", "requestId": "c0-0", "state": null}),
        json!({"type": "stateError", "requestId": "x", "error": "x"}),
        json!({"type": "toolsDiscovered", "callId": "c0-0", "tools": []}),
    ] {
        peer.say(message).await;
    }
    peer.settle().await;
    let strays = scene.api().metrics().await.sum("tabwire_stray_answers_total");
    assert_eq!(strays, 7.0);
    scene.bystander_answers().await;
}
