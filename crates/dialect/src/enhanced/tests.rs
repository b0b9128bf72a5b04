//! The machine driven without a socket: the faults of its own server that must not be repeated.

use model::{ClientId, Code, TabId, Target, Work};

use super::*;

fn machine() -> Enhanced {
    let instance = Some(InstanceId::parse("abc").unwrap());
    Enhanced::new(&Start { instance, version: "0.0.0", liveness: LIVENESS })
}

fn ask(number: u64, client: &str, name: &str) -> ToBrowser {
    let args = Json::of(&json!({}));
    ToBrowser::Call(Box::new(Call {
        id: CallId { run: 1, number },
        tab: Some(TabId(7)),
        client: ClientId::parse(client).unwrap(),
        client_name: "claude".into(),
        work: Work::Tool { target: Target::Command, name: name.into(), args },
        deadline: Duration::from_secs(30),
    }))
}

fn wrote(outputs: &[Output]) -> Value {
    let [Output::Write(text)] = outputs else { panic!("{outputs:?}") };
    serde_json::from_str(text).unwrap()
}

#[track_caller]
fn check_failed(answer: &str, code: Code) {
    let mut machine = machine();
    machine.send(ask(1, "ai-1", "browser_go_back"));
    match &machine.receive(Frame::Text(answer))[..] {
        [Output::Deliver(FromBrowser::Ended { outcome: Err(fault), .. })] => {
            assert_eq!(fault.code, code, "{answer}");
        }
        other => panic!("{answer}: {other:?}"),
    }
}

#[test]
fn an_error_of_the_extension_never_becomes_a_success() {
    check_failed(r#"{"wireId":"c1-1","type":"response","error":"no"}"#, Code::ToolFailed);
    check_failed(r#"{"wireId":"c1-1","type":"response","error":{"message":"no"}}"#, {
        Code::ToolFailed
    });
    check_failed(r#"{"wireId":"c1-1","type":"response","data":{"success":false}}"#, {
        Code::ToolFailed
    });
    check_failed(r#"{"wireId":"c1-1","type":"response"}"#, Code::MalformedReply);
    check_failed(r#"{"wireId":"c1-1","type":"response","data":null}"#, Code::MalformedReply);
    let deep = format!(
        r#"{{"wireId":"c1-1","type":"response","data":{}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    check_failed(&deep, Code::MalformedReply);
}

#[test]
fn a_tab_is_named_by_a_number_and_a_client_keeps_its_own_tabs() {
    let mut machine = machine();
    let first = wrote(&machine.send(ask(1, "ai-1", "browser_go_back")));
    let second = wrote(&machine.send(ask(2, "ai-2", "browser_go_back")));
    assert_eq!(first["tabId"], json!(7), "a text would be taken for no tab at all");
    assert_eq!((&first["sessionId"], &second["sessionId"]), (&json!("ai-1"), &json!("ai-2")));
}

#[test]
fn calls_under_way_at_once_each_get_their_own_answer() {
    let mut machine = machine();
    for number in 1..=3 {
        machine.send(ask(number, "ai-1", "browser_snapshot"));
    }
    for number in [2, 3, 1] {
        let frame = json!({
            "wireId": format!("c1-{number}"), "type": "response", "data": {"snapshot": number},
        });
        let outputs = machine.receive(Frame::Text(&frame.to_string()));
        let [Output::Deliver(FromBrowser::Ended { call, outcome: Ok(_) })] = &outputs[..] else {
            panic!("{outputs:?}")
        };
        assert_eq!(call.number, number);
    }
}

#[test]
fn a_call_given_up_between_two_steps_closes_nothing() {
    let mut machine = machine();
    let asked = wrote(&machine.send(ask(1, "ai-1", "browser_tab_close")));
    assert_eq!(asked["name"], "tabs.list");
    machine.send(ToBrowser::Cancel(CallId { run: 1, number: 1 }));
    let list = r#"{"wireId":"c1-1","type":"response","data":{"tabs":[{"id":7,"index":0}]}}"#;
    let outputs = machine.receive(Frame::Text(list));
    assert!(!outputs.iter().any(|output| matches!(output, Output::Write(_))), "{outputs:?}");
}
