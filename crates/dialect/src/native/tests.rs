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
