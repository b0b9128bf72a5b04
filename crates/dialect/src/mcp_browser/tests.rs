//! The machine driven without a socket: what recordings do not show well.

use model::{
    Change, ClientId, Epoch, Json, Level, NumberedChange, Position, ReplayPage, SessionId, Target,
    Welcome, Work,
};

use super::*;

fn machine() -> McpBrowser {
    let mut machine =
        McpBrowser::new(&Start { instance: None, version: "0.0.0", liveness: LIVENESS });
    machine.open();
    machine.receive(Frame::Text(r#"{"type":"connection_init","lastSequence":0}"#));
    machine.send(welcome(0, 0, false));
    machine
}

fn position(sequence: u64) -> Position {
    Position { epoch: Epoch::parse("e").unwrap(), sequence: Sequence(sequence) }
}

fn event(sequence: u64) -> NumberedChange {
    let change =
        Change::Event { name: "news".into(), level: Level::Info, data: Json::of(&json!(sequence)) };
    NumberedChange { sequence: Some(Sequence(sequence)), change }
}

fn page(numbers: std::ops::RangeInclusive<u64>, more: bool) -> ReplayPage {
    ReplayPage {
        upto: position(*numbers.end()),
        messages: numbers.map(event).collect(),
        more,
        partial: false,
        refused: None,
    }
}

fn welcome(upto: u64, current: u64, more: bool) -> ToBrowser {
    ToBrowser::Welcome(Box::new(Welcome {
        session: SessionId::parse("s_test").unwrap(),
        name: "test".into(),
        server_version: "0.0.0".into(),
        current: position(current),
        received: None,
        replay: page(1..=upto, more),
        resume_token: "secret".into(),
    }))
}

fn ask(number: u64, name: &str, args: Value) -> ToBrowser {
    ToBrowser::Call(Box::new(Call {
        id: CallId { run: 1, number },
        tab: None,
        client: ClientId::parse("tests").unwrap(),
        client_name: "claude".into(),
        work: Work::Tool { target: Target::Command, name: name.into(), args: Json::of(&args) },
        deadline: Duration::from_secs(30),
    }))
}

fn ends(outputs: &[Output]) -> Vec<(u64, bool)> {
    let end = |output: &Output| match output {
        Output::Deliver(FromBrowser::Ended { call, outcome }) => {
            Some((call.number, outcome.is_ok()))
        }
        _ => None,
    };
    outputs.iter().filter_map(end).collect()
}

fn sequences(outputs: &[Output]) -> Vec<u64> {
    let sequence = |output: &Output| match output {
        Output::Write(text) => serde_json::from_str::<Value>(text).unwrap()["sequence"].as_u64(),
        _ => None,
    };
    outputs.iter().filter_map(sequence).collect()
}

fn tell(machine: &mut McpBrowser, url: &str, status: &str) -> Vec<Output> {
    let frame = json!({
        "type": "tab_info_response", "tabId": 4, "url": url, "title": "T", "status": status,
    });
    machine.receive(Frame::Text(&frame.to_string()))
}

#[test]
fn a_navigation_is_not_reported_before_the_page_is_there() {
    let mut machine = machine();
    let sent = machine.send(ask(1, "browser_navigate", json!({"url": "https://b.example"})));
    assert_eq!(ends(&sent), [], "sending is not arriving");
    machine.wake();
    let looked = tell(&mut machine, "https://a.example/", "complete");
    assert_eq!(ends(&looked), [], "the page before is complete too");
    assert!(looked.contains(&Output::WakeAfter(Duration::from_millis(200))));
    machine.wake();
    assert_eq!(ends(&tell(&mut machine, "https://a.example/", "loading")), []);
    machine.wake();
    let arrived = tell(&mut machine, "https://b.example/welcome", "complete");
    assert_eq!(ends(&arrived), [(1, true)]);
    assert!(!arrived.iter().any(|output| matches!(output, Output::WakeAfter(_))));
    assert_eq!(machine.wake(), []);
}

#[test]
fn a_navigation_to_where_one_is_ends_with_the_fourth_look_at_the_latest() {
    let mut machine = machine();
    machine.send(ask(1, "browser_navigate", json!({"url": "https://b.example/x"})));
    for look in 1..=4 {
        machine.wake();
        let looked = tell(&mut machine, "https://redirected.example/", "complete");
        assert_eq!(!ends(&looked).is_empty(), look == 4, "look {look}");
    }
}

#[test]
fn a_navigation_given_up_is_watched_no_longer() {
    let mut machine = machine();
    machine.send(ask(1, "browser_navigate", json!({"url": "https://b.example"})));
    machine.wake();
    machine.send(ToBrowser::Cancel(CallId { run: 1, number: 1 }));
    assert_eq!(ends(&tell(&mut machine, "https://b.example/", "complete")), []);
    assert_eq!(machine.wake(), []);
}

#[test]
fn commands_never_carry_a_number() {
    let commands = [
        ("browser_tab_list", json!({})),
        ("browser_navigate", json!({"url": "https://a.example"})),
        ("browser_wait_for", json!({"selector": "a"})),
        ("browser_screenshot", json!({})),
        ("browser_get_content", json!({})),
        ("browser_query_selector", json!({"selector": "a"})),
        ("browser_mouse_click", json!({"selector": "a"})),
        ("browser_type", json!({"selector": "a", "text": "b"})),
        ("browser_mouse_scroll", json!({"direction": "down"})),
        ("browser_select", json!({"selector": "a", "value": "b"})),
        ("browser_check", json!({"selector": "a"})),
        ("browser_submit", json!({})),
        ("browser_evaluate", json!({"expression": "1"})),
    ];
    assert_eq!(commands.len(), commands::NAMES.len());
    let mut machine = machine();
    for (number, (name, args)) in commands.into_iter().enumerate() {
        let sent = machine.send(ask(number as u64, name, args));
        assert_eq!(ends(&sent), [], "{name} is not ended by sending it");
        assert!(sequences(&sent).is_empty(), "{name}");
    }
}

#[test]
fn what_is_missed_comes_whole_and_in_order() {
    let mut machine =
        McpBrowser::new(&Start { instance: None, version: "0.0.0", liveness: LIVENESS });
    machine.receive(Frame::Text(r#"{"type":"connection_init","lastSequence":0}"#));
    let greeted = machine.send(welcome(2, 5, true));
    let [Output::Write(ack), Output::Deliver(FromBrowser::ReplayRequest(rest))] = &greeted[..]
    else {
        panic!("{greeted:?}")
    };
    assert!(ack.contains(r#""currentSequence":2"#), "{ack}");
    assert_eq!(rest.from, position(2));
    // Something new happens before the rest has come: sent now, the client would drop it.
    assert_eq!(machine.send(ToBrowser::Changed(event(6))), []);
    let first = machine.send(ToBrowser::ReplayPage(page(3..=4, true)));
    assert_eq!(sequences(&first), [3, 4]);
    let second = machine.send(ToBrowser::ReplayPage(page(5..=6, false)));
    assert_eq!(sequences(&second), [5, 6]);
    assert_eq!(machine.send(ToBrowser::Changed(event(6))), [], "a second time");
    assert_eq!(sequences(&machine.send(ToBrowser::Changed(event(7)))), [7]);
}

#[test]
fn no_event_can_look_like_a_command() {
    let mut machine = machine();
    for name in ["disconnect", "evaluate_js", "navigate", "connection_ack"] {
        let data = Json::of(&json!({"code": "1"}));
        let change = Change::Event { name: name.into(), level: Level::Info, data };
        let sent = machine.send(ToBrowser::Changed(NumberedChange { sequence: None, change }));
        let [Output::Write(text)] = &sent[..] else { panic!("{sent:?}") };
        assert!(text.starts_with(r#"{"type":"event","name":""#), "{text}");
    }
}

#[test]
fn nothing_answers_an_error() {
    let mut machine = machine();
    for frame in [
        r#"{"type":"error"}"#,
        r#"{"type":"error","error":"no_registered_tab","message":"m","command":"error"}"#,
        r#"{"type":"error","error":"no_registered_tab","message":"m","command":"news"}"#,
        r#"{"type":"error","error":7,"message":{},"command":{}}"#,
    ] {
        assert_eq!(machine.receive(Frame::Text(frame)), [foreign::alive()], "{frame}");
    }
}

#[test]
fn an_error_about_an_event_fails_no_call() {
    let mut machine = machine();
    machine.send(ask(1, "browser_mouse_click", json!({"selector": "a"})));
    let about = |command: &str| {
        json!({"type": "error", "error": "no_registered_tab", "message": "m", "command": command})
            .to_string()
    };
    assert_eq!(ends(&machine.receive(Frame::Text(&about("news")))), []);
    assert_eq!(ends(&machine.receive(Frame::Text(&about("dom_command")))), [(1, false)]);
}
