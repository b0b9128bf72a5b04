//! The machine driven without a socket: what a client may do that a recording does not show.

use model::Change;

use super::*;

const CONNECTED: &str = r#"{"type":"connected","browser":{"name":"Chrome","version":"1"},
    "tabs":[{"id":1,"title":"A","url":"https://a.example/","tools":[]}]}"#;

fn connected() -> Webmcp {
    let mut machine = Webmcp::default();
    machine.open();
    machine.receive(Frame::Text(CONNECTED));
    machine
}

fn ask(number: u64, work: Work) -> ToBrowser {
    ToBrowser::Call(Box::new(Call {
        id: CallId { run: 1, number },
        tab: Some(TabId(1)),
        client: model::ClientId::parse("tests").unwrap(),
        client_name: "claude".into(),
        work,
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

#[test]
fn every_call_for_a_tab_ends_with_it_and_only_once() {
    let mut machine = connected();
    for number in [1, 2] {
        machine.send(ask(number, Work::CloseTab));
    }
    machine.send(ask(3, Work::FocusTab));
    let closed = r#"{"type":"tabClosed","tabId":1}"#;
    let outputs = machine.receive(Frame::Text(closed));
    assert_eq!(ends(&outputs), [(1, true), (2, true), (3, false)]);
    assert_eq!(machine.receive(Frame::Text(closed)), [], "the second telling");
    assert_eq!(ends(&machine.send(ask(4, Work::CloseTab))), [(4, false)], "it is gone now");
}

#[test]
fn a_call_given_up_is_not_ended_by_a_later_event() {
    let mut machine = connected();
    machine.send(ask(1, Work::CloseTab));
    machine.send(ToBrowser::Cancel(CallId { run: 1, number: 1 }));
    let outputs = machine.receive(Frame::Text(r#"{"type":"tabClosed","tabId":1}"#));
    assert_eq!(ends(&outputs), []);
}

#[test]
fn news_about_a_tab_do_not_take_its_tools_away() {
    let mut machine = connected();
    let told = r#"{"type":"toolsChanged","tabId":1,"tools":[{"name":"search"}]}"#;
    assert_eq!(machine.receive(Frame::Text(told)).len(), 1);
    let updated =
        r#"{"type":"tabUpdated","tab":{"id":1,"title":"B","url":"https://a.example/","tools":[]}}"#;
    let outputs = machine.receive(Frame::Text(updated));
    assert!(
        matches!(&outputs[..], [Output::Deliver(FromBrowser::Changed(numbered))]
            if matches!(numbered.change, Change::TabUpdated(_))),
        "{outputs:?}"
    );
}

#[test]
fn a_pages_payloads_are_carried_to_the_letter() {
    let mut machine = connected();
    let args = r#"{"a" : 1.0,"b":[1e3, "\u00e4"]}"#;
    let work = Work::Tool {
        target: Target::Page,
        name: "search".into(),
        args: Json::parse(args).unwrap(),
    };
    let outputs = machine.send(ask(1, work));
    let [Output::Write(text)] = &outputs[..] else { panic!("{outputs:?}") };
    assert!(text.contains(args), "{text}");
}
