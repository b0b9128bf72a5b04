//! The machine driven without a socket.

use model::{Code, Json, TabId, Target, Work};

use super::*;

const HELLO: &str = r#"{"type":"hello","instanceId":"app-1","kind":"app","epoch":"e1"}"#;

fn start() -> Start {
    Start { instance: None, version: "0.0.0", liveness: LIVENESS }
}

fn introduced() -> Native {
    let mut machine = Native::new(&start());
    assert!(matches!(
        machine.receive(Frame::Text(HELLO))[..],
        [Output::Deliver(FromBrowser::Hello(_))]
    ));
    machine
}

/// The close reason that a frame earns its sender, once introduced.
#[track_caller]
fn check_refused(frame: &str, reason: &str) {
    let outputs = introduced().receive(Frame::Text(frame));
    match &outputs[..] {
        [Output::Write(bye), Output::Close(closing)] => {
            assert_eq!(closing.reason.as_str(), reason, "{frame}: {}", closing.message);
            assert!(bye.contains(r#""type":"bye""#) && bye.contains(reason), "{bye}");
        }
        other => panic!("{frame}: {other:?}"),
    }
}

#[test]
fn hello_comes_first_and_once() {
    let early = Native::new(&start())
        .receive(Frame::Text(r#"{"type":"ack","position":{"epoch":"e","sequence":1}}"#));
    assert!(matches!(&early[..], [_, Output::Close(closing)] if closing.reason.code() == 4500));
    check_refused(HELLO, "protocol_error");
}

#[test]
fn pings_are_answered_without_the_hub_and_count_as_life() {
    let outputs = introduced().receive(Frame::Text(r#"{"type":"ping"}"#));
    assert_eq!(
        outputs,
        [Output::Write(r#"{"type":"pong"}"#.into()), Output::Deliver(FromBrowser::Alive)]
    );
}

#[test]
fn broken_frames_cost_the_connection_and_say_why() {
    for frame in ["", "not json", "[]", "{}", r#"{"type":7}"#, r#"{"type":"event"}"#] {
        check_refused(frame, "malformed");
    }
    check_refused(r#"{"type":"telepathy"}"#, "protocol_error");
    check_refused(r#"{"type":"welcome"}"#, "protocol_error");
    check_refused(r#"{"type":"event","sequence":0,"name":"x"}"#, "malformed");
    let deep = format!(
        r#"{{"type":"event","sequence":1,"name":"x","data":{}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    check_refused(&deep, "malformed");
    assert!(matches!(
        &introduced().receive(Frame::Binary(b"x"))[..],
        [_, Output::Close(closing)] if closing.reason.as_str() == "malformed"
    ));
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    check_refused(r#"{"type":"ping","type":"bye"}"#, "malformed");
    check_refused(r#"{"type":"event","sequence":1,"sequence":2,"name":"x"}"#, "malformed");
}

#[test]
fn unknown_fields_are_ignored() {
    let frame = r#"{"type":"event","sequence":1,"name":"x","since":"2.1","data":{"a":1}}"#;
    let outputs = introduced().receive(Frame::Text(frame));
    assert!(matches!(outputs[..], [Output::Deliver(FromBrowser::Changed(_))]), "{outputs:?}");
}

#[test]
fn a_malformed_answer_ends_its_call_at_once() {
    for frame in [
        r#"{"type":"stateResponse","requestId":"cab-1"}"#,
        r#"{"type":"stateResponse","requestId":"cab-1","state":{},"version":"two"}"#,
        r#"{"type":"toolResult","callId":"cab-1"}"#,
        r#"{"type":"toolResult","callId":"cab-1","error":"text"}"#,
        r#"{"type":"toolsDiscovered","callId":"cab-1","tools":7}"#,
    ] {
        match &introduced().receive(Frame::Text(frame))[..] {
            [Output::Deliver(FromBrowser::Ended { call, outcome: Err(fault) })] => {
                assert_eq!(call.to_string(), "cab-1");
                assert_eq!(fault.code, Code::MalformedReply, "{frame}");
            }
            other => panic!("{frame}: {other:?}"),
        }
    }
}

#[test]
fn words_of_an_app_in_our_errors_cannot_pass_for_ours() {
    for frame in [
        r#"{"type":"stateError","requestId":"cab-1","error":"gone\n[ref=e2]"}"#,
        r#"{"type":"stateResponse","requestId":"cab-1","state":{},"version":"gone\n[ref=e2]"}"#,
    ] {
        match &introduced().receive(Frame::Text(frame))[..] {
            [Output::Deliver(FromBrowser::Ended { outcome: Err(fault), .. })] => {
                assert!(fault.message.contains(r"n\[ref=e2\]"), "{fault}");
                assert!(!fault.message.contains('\n'), "{fault}");
            }
            other => panic!("{frame}: {other:?}"),
        }
    }
}

#[test]
fn an_answer_with_an_id_of_nobody_is_stray() {
    let outputs =
        introduced().receive(Frame::Text(r#"{"type":"toolResult","callId":"7","result":1}"#));
    assert_eq!(outputs, [Output::Deliver(FromBrowser::Stray)]);
}

#[test]
fn null_is_a_result() {
    let frame = r#"{"type":"toolResult","callId":"cab-1","result":null}"#;
    let outputs = introduced().receive(Frame::Text(frame));
    assert!(
        matches!(&outputs[..], [Output::Deliver(FromBrowser::Ended { outcome: Ok(_), .. })]),
        "{outputs:?}"
    );
}

#[test]
fn payloads_are_carried_to_the_letter() {
    let args = r#"{"a" : 1.0,"b":[1e3, "\u00e4"]}"#;
    let call = model::Call {
        id: "cab-1".parse().unwrap(),
        tab: Some(TabId(4)),
        client: model::ClientId::parse("tests").unwrap(),
        client_name: "claude".into(),
        work: Work::Tool {
            target: Target::App,
            name: "paint".into(),
            args: Json::parse(args).unwrap(),
        },
        deadline: Duration::from_millis(1500),
    };
    let outputs = introduced().send(ToBrowser::Call(Box::new(call)));
    let [Output::Write(text)] = &outputs[..] else { panic!("{outputs:?}") };
    assert!(text.contains(args), "{text}");
    assert!(text.contains(r#""deadlineMs":1500"#) && text.contains(r#""tabId":4"#), "{text}");
}

const DEFLATING_HELLO: &str =
    r#"{"type":"hello","instanceId":"app-1","kind":"app","epoch":"e1","capabilities":["deflate"]}"#;

fn deflating() -> Native {
    let mut machine = Native::new(&start());
    machine.receive(Frame::Text(DEFLATING_HELLO));
    machine
}

/// A page of console events, each about 200 bytes on the wire.
fn page(count: u64) -> model::ReplayPage {
    let event = |number: u64| model::NumberedChange {
        sequence: Some(model::Sequence(number)),
        change: model::Change::Event {
            name: "console".into(),
            level: model::Level::Warning,
            data: Json::of(&serde_json::json!({
                "text": format!("request {number} took {} ms, retrying", number * 7919 % 1000),
                "url": format!("https://shop.example/static/js/chunk-{}.js", number % 13),
                "line": number * 31 % 997,
            })),
        },
    };
    model::ReplayPage {
        upto: model::Position {
            epoch: model::Epoch::parse("hub").unwrap(),
            sequence: model::Sequence(count),
        },
        messages: (1..=count).map(event).collect(),
        more: false,
        partial: false,
        refused: None,
    }
}

fn welcome(replay: model::ReplayPage) -> ToBrowser {
    ToBrowser::Welcome(Box::new(model::Welcome {
        session: model::SessionId::parse("s_k3j9x2abq7mn").unwrap(),
        name: "viewer".into(),
        server_version: "0.0.0".into(),
        current: replay.upto.clone(),
        received: None,
        replay,
        resume_token: "token".into(),
    }))
}

#[track_caller]
fn text_of(outputs: &[Output]) -> &str {
    match outputs {
        [Output::Write(text)] => text,
        other => panic!("one text message: {other:?}"),
    }
}

/// The close reason that a binary frame earns a peer that may send such.
#[track_caller]
fn check_binary_refused(frame: &[u8], reason: &str) {
    match &deflating().receive(Frame::Binary(frame))[..] {
        [Output::Write(_), Output::Close(closing)] => {
            assert_eq!(closing.reason.as_str(), reason, "{}", closing.message);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn large_pages_are_compressed_for_those_who_can_inflate() {
    let plain = introduced().send(ToBrowser::ReplayPage(page(100)));
    let plain = text_of(&plain);
    assert!(plain.len() > compress::SMALL, "{}", plain.len());
    let compressed = deflating().send(ToBrowser::ReplayPage(page(100)));
    let [Output::WriteBytes(bytes)] = &compressed[..] else { panic!("{compressed:?}") };
    assert_eq!(compress::inflate(bytes).unwrap(), plain.as_bytes());
    assert!(bytes.len() < plain.len() / 4, "{} of {}", bytes.len(), plain.len());
}

#[test]
fn small_pages_and_those_that_nobody_would_inflate_stay_text() {
    let small = deflating().send(ToBrowser::ReplayPage(page(10)));
    assert!(text_of(&small).len() <= compress::SMALL);
    let mut huge = page(1);
    let data = Json::of(&"x".repeat(compress::LARGEST).into());
    let model::Change::Event { data: inner, .. } = &mut huge.messages[0].change else { panic!() };
    *inner = data;
    assert!(text_of(&deflating().send(ToBrowser::ReplayPage(huge))).len() > compress::LARGEST);
}

#[test]
fn a_welcome_leaves_a_large_replay_to_pages() {
    let read = |outputs: &[Output]| -> serde_json::Value {
        serde_json::from_str(text_of(outputs)).unwrap()
    };
    let check = |machine: &mut Native, count: u64, replayed: usize, more: bool| {
        let welcome = read(&machine.send(welcome(page(count))));
        assert_eq!(welcome["replay"].as_array().unwrap().len(), replayed, "{count}");
        assert_eq!((&welcome["more"], &welcome["recovered"]), (&more.into(), &true.into()));
        assert_eq!(welcome["currentSequence"], count);
    };
    check(&mut introduced(), 100, 100, false);
    check(&mut deflating(), 10, 10, false);
    check(&mut deflating(), 100, 0, true);
}

#[test]
fn a_compressed_page_means_what_its_text_does() {
    let text = r#"{"type":"replayPage","epoch":"e1","upto":1,"recovered":true,"messages":[{"type":"event","sequence":1,"name":"x"}],"more":false}"#;
    let plain = deflating().receive(Frame::Text(text));
    assert!(matches!(plain[..], [Output::Deliver(FromBrowser::ReplayPage(_))]), "{plain:?}");
    let bytes = compress::deflate(text.as_bytes());
    assert_eq!(deflating().receive(Frame::Binary(&bytes)), plain);
}

#[test]
fn other_binary_frames_cost_the_connection() {
    let deflated = |text: &str| compress::deflate(text.as_bytes());
    check_binary_refused(b"not deflate", "malformed");
    check_binary_refused(&compress::deflate(b"\xff\xfe"), "malformed");
    check_binary_refused(&deflated("not json"), "malformed");
    check_binary_refused(&deflated(r#"{"type":"replayPage"}"#), "malformed");
    check_binary_refused(&deflated(r#"{"type":"ping"}"#), "protocol_error");
    check_binary_refused(&deflated(r#"{"type":"telepathy"}"#), "protocol_error");
    check_binary_refused(&deflated(DEFLATING_HELLO), "protocol_error");
    check_binary_refused(&deflated(&" ".repeat(compress::LARGEST + 1)), "too_large");
    let page = deflated(
        r#"{"type":"replayPage","epoch":"e","upto":0,"recovered":true,"messages":[],"more":false}"#,
    );
    for mut machine in [introduced(), Native::new(&start())] {
        let outputs = machine.receive(Frame::Binary(&page));
        let [_, Output::Close(closing)] = &outputs[..] else { panic!("{outputs:?}") };
        assert_eq!(closing.reason.as_str(), "malformed", "it did not offer this");
    }
}

#[test]
fn who_carries_a_page_greets_with_its_origin() {
    let greet = |rest: &str| {
        let nonce = "A".repeat(43);
        let head = r#"{"type":"hello","instanceId":"page","kind":"app""#;
        Native::new(&start()).receive(Frame::Text(&format!(r#"{head},"nonce":"{nonce}"{rest}}}"#)))
    };
    match &greet(r#","carrier":"chrome-1","origin":"https://app.example""#)[..] {
        [Output::Deliver(FromBrowser::Greeting(greeting))] => {
            let carried = greeting.carried.as_ref().unwrap();
            assert_eq!(carried.carrier.as_str(), "chrome-1");
            assert_eq!(carried.origin, "https://app.example");
        }
        other => panic!("{other:?}"),
    }
    let alone = greet(r#","origin":"https://app.example""#);
    assert!(
        matches!(&alone[..], [Output::Deliver(FromBrowser::Greeting(greeting))] if greeting.carried.is_none()),
        "an origin says nothing where nobody carries: {alone:?}"
    );
    let plain = r#"{"type":"hello","instanceId":"page","kind":"app","epoch":"e","carrier":"chrome-1","origin":"https://app.example"}"#;
    let outputs = Native::new(&start()).receive(Frame::Text(plain));
    assert!(matches!(&outputs[..], [_, Output::Close(closing)] if closing.reason.code() == 4503));
}
