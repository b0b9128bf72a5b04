//! Dialect `hello3d`: the 3D page of the hello3dmcp project, one page per socket.
//!
//! The page says `registerSession` first and never pings. It answers state queries by id; a
//! command has no id and no answer, so the next `stateUpdate` is its end. One that stays without
//! is followed by a state query as a barrier: what the page pushes before answering that belongs
//! to the past and confirms nothing. Which commands there are is the manifest's business.

use std::{collections::VecDeque, time::Duration};

use model::{
    Call, CallId, Change, CloseReason, Code, Fault, FromBrowser, Hello, InstanceId, Kind, Reply,
    Target, ToBrowser, Work, json::shorten, page_text,
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{Dialect, DialectInfo, Frame, Liveness, Output, PingBy, foreign};

/// Its name in configuration, logs and metrics.
pub const NAME: &str = "hello3d";

/// Its entry in the register.
pub const INFO: DialectInfo = DialectInfo {
    name: NAME,
    serves: "the 3D page of hello3dmcp",
    subprotocol: None,
    kind: Some(Kind::App),
    compat_port: Some(3001),
    liveness: LIVENESS,
    start: |_| Box::<Hello3d>::default(),
};

/// The page never speaks by itself, and browsers answer WebSocket pings for their pages.
const LIVENESS: Liveness = Liveness {
    ask_after: Duration::from_secs(20),
    dead_after: Duration::from_secs(10),
    ping_by: PingBy::Protocol,
};

/// Commands without an end that may wait for their update; one more makes room.
const EXPECTED: usize = 1024;

/// One connection's machine.
#[derive(Default)]
pub struct Hello3d {
    session: Option<String>,
    expected: VecDeque<Expected>,
    barriers: u64,
}

/// What the page owes, in the order in which it was asked.
enum Expected {
    /// An update that ends this call.
    Update(CallId),
    /// An update that nobody waits for any more, if it comes at all.
    Late,
    /// The answer to a query of ours: everything before it is over.
    Barrier(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegisterSession {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StateResponse {
    request_id: String,
    #[serde(default)]
    state: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StateError {
    request_id: String,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct StateUpdate {
    state: Box<RawValue>,
}

impl Dialect for Hello3d {
    fn open(&mut self) -> Vec<Output> {
        Vec::new()
    }

    fn receive(&mut self, frame: Frame<'_>) -> Vec<Output> {
        let taken = foreign::taken(frame, |kind, text| self.take(kind, text));
        taken.unwrap_or_else(|why| vec![error(&why)])
    }

    fn send(&mut self, message: ToBrowser) -> Vec<Output> {
        match message {
            ToBrowser::Welcome(_) => self.registered(),
            ToBrowser::Call(call) => self.call(&call),
            ToBrowser::Cancel(call) => self.give_up(call),
            ToBrowser::Mention { name, data } if name == "toolCall" => {
                vec![foreign::write_flat("toolCall", &data)]
            }
            ToBrowser::Ping => vec![Output::Ping],
            ToBrowser::Bye(closing) => {
                let told = closing.reason != CloseReason::Restarting;
                let words = told.then(|| error(&closing.message));
                words.into_iter().chain([Output::Close(closing)]).collect()
            }
            // The page would take anything else for a command that it does not know.
            ToBrowser::Mention { .. }
            | ToBrowser::Changed(_)
            | ToBrowser::CallQuery(_)
            | ToBrowser::ReplayRequest(_)
            | ToBrowser::ReplayPage(_)
            | ToBrowser::Challenge { .. }
            | ToBrowser::Ack(_) => Vec::new(),
        }
    }
}

impl Hello3d {
    fn take(&mut self, kind: &str, text: &str) -> Result<Vec<Output>, String> {
        if kind != "registerSession" && self.session.is_none() {
            return Err(
                "Session not registered. Send registerSession with a sessionId first.".into()
            );
        }
        Ok(match kind {
            "registerSession" => {
                self.register(foreign::read::<RegisterSession>(text)?.session_id)?
            }
            "stateResponse" => {
                let StateResponse { request_id, state } = foreign::read(text)?;
                self.told_state(&request_id, state)
            }
            "stateError" => {
                let StateError { request_id, error } = foreign::read(text)?;
                let words = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
                let words = shorten(&words, 500);
                let message =
                    format!("the page could not tell its state: {}", page_text::exact(&words));
                let fault = Fault::new(Code::StateUnavailable, message);
                match self.pass_barrier(&request_id) {
                    true => Vec::new(),
                    false => vec![foreign::ended_by(&request_id, Err(fault))],
                }
            }
            "stateUpdate" => self.updated(foreign::read::<StateUpdate>(text)?.state),
            "ping" => vec![Output::Deliver(FromBrowser::Alive)],
            other => return Err(format!("There is no message type {other:?} here.")),
        })
    }

    fn register(&mut self, session: String) -> Result<Vec<Output>, String> {
        match &self.session {
            None => {
                let hello = hello(foreign::instance(&session)?);
                self.session = Some(session);
                Ok(vec![Output::Deliver(FromBrowser::Hello(hello.into()))])
            }
            Some(known) if *known == session => Ok(self.registered()),
            Some(_) => Err("This socket has another session already. Open another one.".into()),
        }
    }

    fn registered(&self) -> Vec<Output> {
        let session = self.session.as_deref().unwrap_or_default();
        vec![foreign::write(&json!({"type": "sessionRegistered", "sessionId": session}))]
    }

    fn told_state(&mut self, request: &str, state: Option<Box<RawValue>>) -> Vec<Output> {
        let barrier = self.pass_barrier(request);
        match (barrier, state) {
            (true, Some(state)) => vec![foreign::changed(Change::State(foreign::state(state)))],
            (true, None) => Vec::new(),
            (false, Some(state)) => {
                vec![foreign::ended_by(request, Ok(Reply::State(foreign::state(state))))]
            }
            (false, None) => {
                let fault = Fault::malformed("the answer", "a stateResponse without state");
                vec![foreign::ended_by(request, Err(fault))]
            }
        }
    }

    fn updated(&mut self, state: Box<RawValue>) -> Vec<Output> {
        let mut outputs = vec![foreign::changed(Change::State(foreign::state(state)))];
        match self.expected.front() {
            Some(Expected::Update(call)) => {
                outputs.push(foreign::done(*call, &json!({"confirmed": true})));
                self.expected.pop_front();
            }
            Some(Expected::Late) => {
                self.expected.pop_front();
            }
            // An update between a command given up and the barrier, or one that nobody asked for.
            Some(Expected::Barrier(_)) | None => {}
        }
        outputs
    }

    /// Returns whether this answers a barrier; then everything before it is over.
    fn pass_barrier(&mut self, request: &str) -> bool {
        let is_it =
            |expected: &Expected| matches!(expected, Expected::Barrier(id) if id == request);
        match self.expected.iter().position(is_it) {
            Some(index) => {
                self.expected.drain(..=index);
                true
            }
            None => false,
        }
    }

    fn call(&mut self, call: &Call) -> Vec<Output> {
        match &call.work {
            Work::State { force_refresh } => vec![foreign::write(&json!({
                "type": "requestState",
                "requestId": call.id.to_string(),
                "forceRefresh": force_refresh,
            }))],
            Work::Tool { target: Target::App, name, args } if answers(name) => {
                if self.expected.len() >= EXPECTED {
                    self.expected.pop_front();
                }
                self.expected.push_back(Expected::Update(call.id));
                vec![foreign::write_flat(name, args)]
            }
            work => {
                let what = match work {
                    Work::Tool { name, .. } => name.as_str(),
                    _ => "tabs",
                };
                let can = ["its state", "the commands of its manifest"];
                vec![foreign::unsupported(call.id, "the page", what, &can)]
            }
        }
    }

    /// Nobody waits for a command any more: whatever it still pushes must confirm no other.
    fn give_up(&mut self, call: CallId) -> Vec<Output> {
        let is_it =
            |expected: &&mut Expected| matches!(expected, Expected::Update(id) if *id == call);
        let Some(expected) = self.expected.iter_mut().find(is_it) else { return Vec::new() };
        *expected = Expected::Late;
        self.barriers += 1;
        let id = format!("barrier-{}", self.barriers);
        let ask = json!({"type": "requestState", "requestId": id, "forceRefresh": true});
        self.expected.push_back(Expected::Barrier(id));
        let over = Fault::new(Code::Cancelled, "nobody waits for it any more");
        vec![foreign::write(&ask), foreign::ended(call, Err(over))]
    }
}

/// The page pushes nothing after these.
fn answers(command: &str) -> bool {
    !command.starts_with("get") && command != "toolCall" && command != "requestState"
}

fn hello(instance: InstanceId) -> Hello {
    Hello { kind: Kind::App, ..foreign::browser(instance, NAME, &[]) }
}

fn error(message: &str) -> Output {
    foreign::write(&json!({"type": "error", "message": message}))
}

#[cfg(test)]
mod tests {
    use model::Json;

    use super::*;

    fn registered() -> Hello3d {
        let mut machine = Hello3d::default();
        machine.receive(Frame::Text(r#"{"type":"registerSession","sessionId":"s"}"#));
        machine
    }

    fn command(number: u64) -> (CallId, ToBrowser) {
        let id = CallId { run: 1, number };
        let work = Work::Tool {
            target: Target::App,
            name: "changeColor".into(),
            args: Json::of(&json!({"color": "#cc0000"})),
        };
        let client = model::ClientId::parse("tests").unwrap();
        let call = Call {
            id,
            tab: None,
            client,
            client_name: String::new(),
            work,
            deadline: Duration::from_secs(2),
        };
        (id, ToBrowser::Call(Box::new(call)))
    }

    fn ends(outputs: &[Output]) -> Vec<CallId> {
        let end = |output: &Output| match output {
            Output::Deliver(FromBrowser::Ended { call, .. }) => Some(*call),
            _ => None,
        };
        outputs.iter().filter_map(end).collect()
    }

    const UPDATE: &str = r##"{"type":"stateUpdate","state":{"c":"#cc0000"},"timestamp":1}"##;

    #[test]
    fn updates_end_commands_in_their_order() {
        let mut machine = registered();
        let (first, second) = (command(1), command(2));
        machine.send(first.1);
        machine.send(second.1);
        assert_eq!(ends(&machine.receive(Frame::Text(UPDATE))), [first.0]);
        assert_eq!(ends(&machine.receive(Frame::Text(UPDATE))), [second.0]);
        assert_eq!(ends(&machine.receive(Frame::Text(UPDATE))), [], "a push that nobody caused");
    }

    #[test]
    fn words_of_a_page_in_our_errors_cannot_pass_for_ours() {
        let frame = r#"{"type":"stateError","requestId":"cab-1","error":"gone\n[ref=e2]"}"#;
        match &registered().receive(Frame::Text(frame))[..] {
            [Output::Deliver(FromBrowser::Ended { outcome: Err(fault), .. })] => {
                assert_eq!(fault.message, r"the page could not tell its state: gone\n\[ref=e2\]");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_late_update_of_a_command_given_up_confirms_no_other() {
        for late in [true, false] {
            let mut machine = registered();
            let (first, second) = (command(1), command(2));
            machine.send(first.1);
            assert_eq!(ends(&machine.send(ToBrowser::Cancel(first.0))), [first.0]);
            machine.send(second.1);
            if late {
                assert_eq!(ends(&machine.receive(Frame::Text(UPDATE))), []);
            }
            let barrier = r#"{"type":"stateResponse","requestId":"barrier-1","state":{}}"#;
            assert_eq!(ends(&machine.receive(Frame::Text(barrier))), []);
            assert_eq!(ends(&machine.receive(Frame::Text(UPDATE))), [second.0], "late: {late}");
        }
    }
}
