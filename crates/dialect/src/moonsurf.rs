//! Dialect `moonsurf`: the extension of Moonsurf's browser-control, one browser per socket.
//!
//! - [`commands`]: what it can do, and our arguments in its words;
//! - [`results`]: its results in our shapes.
//!
//! The client says `hello` with the id that `POST /register` gave it, and whatever it says before
//! is dropped. Calls and answers meet by id. Its `ping` wants no answer. It tells nothing of its
//! tabs by itself, so what it answers about them is what is known.

pub mod commands;
pub mod results;

use std::time::Duration;

use model::{Call, CloseReason, Closing, Fault, FromBrowser, Json, Kind, Target, ToBrowser, Work};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    Dialect, DialectInfo, Frame, Liveness, Output, PingBy, Start,
    foreign::{self, pending::Pending, tabs::KnownTabs},
};
use results::Shape;

/// Its name in configuration, logs and metrics.
pub const NAME: &str = "moonsurf";

/// Its entry in the register.
pub const INFO: DialectInfo = DialectInfo {
    name: NAME,
    serves: "the extension of Moonsurf browser-control",
    subprotocol: None,
    kind: Some(Kind::Browser),
    compat_port: Some(3300),
    liveness: LIVENESS,
    start: |start| Box::new(Moonsurf::new(start)),
};

/// The project's own server pings every 20 s and gives up after 45 s.
const LIVENESS: Liveness = Liveness {
    ask_after: Duration::from_secs(20),
    dead_after: Duration::from_secs(25),
    ping_by: PingBy::Protocol,
};

/// One connection's machine.
pub struct Moonsurf {
    version: &'static str,
    /// As the client wrote it.
    instance: Option<String>,
    /// Calls whose result has another shape than ours.
    pending: Pending<Shape>,
    tabs: KnownTabs,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HelloFrame {
    instance_id: String,
}

#[derive(Deserialize)]
struct ToolResult {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    result: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ToolError {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    error: Value,
}

impl Dialect for Moonsurf {
    fn open(&mut self) -> Vec<Output> {
        Vec::new()
    }

    fn receive(&mut self, frame: Frame<'_>) -> Vec<Output> {
        let taken = foreign::taken(frame, |kind, text| self.take(kind, text));
        taken.unwrap_or_else(|why| match self.instance {
            Some(_) => vec![error(&why)],
            None => Vec::new(),
        })
    }

    fn send(&mut self, message: ToBrowser) -> Vec<Output> {
        match message {
            ToBrowser::Welcome(_) => self.welcome(),
            ToBrowser::Call(call) => {
                vec![self.call(&call).unwrap_or_else(|fault| foreign::failed(call.id, fault))]
            }
            other => foreign::send_other(other, &mut self.pending),
        }
    }
}

impl Moonsurf {
    /// Starts the machine.
    pub fn new(start: &Start) -> Self {
        Self {
            version: start.version,
            instance: None,
            pending: Pending::default(),
            tabs: KnownTabs::default(),
        }
    }

    fn take(&mut self, kind: &str, text: &str) -> Result<Vec<Output>, String> {
        if kind == "hello" {
            let hello = foreign::read::<HelloFrame>(text);
            let greeted = hello.and_then(|hello| self.greet(hello.instance_id));
            return match (greeted, &self.instance) {
                (Ok(outputs), _) => Ok(outputs),
                (Err(why), Some(_)) => Err(why),
                // Whoever does not say which instance it is, is none that was registered.
                (Err(why), None) => Ok(vec![unknown(why)]),
            };
        }
        if self.instance.is_none() {
            return Ok(Vec::new());
        }
        Ok(match kind {
            "tool_result" => {
                let ToolResult { id, result } = foreign::read(text)?;
                self.told_result(&id, result)
            }
            "tool_error" => {
                let ToolError { id, error } = foreign::read(text)?;
                vec![self.told_error(&id, &error)]
            }
            "ping" => vec![foreign::alive()],
            other => return Err(format!("there is no message type {other:?} here")),
        })
    }

    fn greet(&mut self, instance: String) -> Result<Vec<Output>, String> {
        match &self.instance {
            None => {
                let mut hello =
                    foreign::browser(foreign::instance(&instance)?, NAME, &commands::names());
                // Every socket needs a new registration, so the id says nothing about last time.
                hello.traits.nameless = true;
                self.instance = Some(instance);
                Ok(vec![Output::Deliver(FromBrowser::Hello(hello.into()))])
            }
            Some(known) if *known == instance => Ok(self.welcome()),
            Some(_) => Err("this socket belongs to another instance already".into()),
        }
    }

    fn welcome(&self) -> Vec<Output> {
        vec![foreign::write(&json!({
            "type": "welcome",
            "instanceId": self.instance,
            "serverVersion": self.version,
        }))]
    }

    fn told_result(&mut self, id: &Value, result: Option<Box<RawValue>>) -> Vec<Output> {
        let Some(call) = foreign::call_of(id) else { return vec![foreign::stray()] };
        let shape = self.pending.take(call);
        results::take(call, shape, result, &mut self.tabs)
    }

    fn told_error(&mut self, id: &Value, error: &Value) -> Output {
        let Some(call) = foreign::call_of(id) else { return foreign::stray() };
        self.pending.take(call);
        let code = match &error["code"] {
            Value::String(code) => Some(code.clone()),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        };
        foreign::failed(call, foreign::failure(code.as_deref(), &foreign::words(error)))
    }

    fn call(&mut self, call: &Call) -> Result<Output, Fault> {
        let (name, args) = match &call.work {
            Work::Tool { target: Target::Command, name, args } => (name.as_str(), args.clone()),
            Work::OpenTab { url, .. } => ("browser_tab_new", Json::of(&json!({ "url": url }))),
            Work::CloseTab => ("browser_tab_close", Json::of(&json!({}))),
            Work::FocusTab => ("browser_tab_activate", Json::of(&json!({}))),
            work => {
                let what = foreign::name_of(work);
                return Err(foreign::cannot(NAME, what, &["the commands of its extension"]));
            }
        };
        let (fields, shape) = commands::translate(name, &args, call.tab)?;
        if let Some(shape) = shape {
            self.pending.add(call.id, shape);
        }
        Ok(foreign::write(&json!({
            "type": "tool_call",
            "id": call.id.to_string(),
            "name": name,
            "args": fields,
        })))
    }
}

fn unknown(why: String) -> Output {
    Output::Close(Closing::new(CloseReason::UnknownInstance, why))
}

fn error(message: &str) -> Output {
    let error = json!({"code": "INVALID_MESSAGE", "message": message});
    foreign::write(&json!({"type": "error", "error": error}))
}

#[cfg(test)]
mod tests {
    use model::{CallId, Code};

    use super::*;

    fn answer(frame: &Value) -> Vec<Output> {
        let mut machine =
            Moonsurf::new(&Start { instance: None, version: "0.0.0", liveness: LIVENESS });
        machine.receive(Frame::Text(r#"{"type":"hello","instanceId":"inst_1"}"#));
        machine.receive(Frame::Text(&frame.to_string()))
    }

    #[test]
    fn the_code_of_an_error_is_kept() {
        let error = json!({"code": "ELEMENT_NOT_FOUND", "message": "no"});
        let outputs = answer(&json!({"type": "tool_error", "id": "c1-1", "error": error}));
        let fault = Fault::new(Code::Foreign("ELEMENT_NOT_FOUND".into()), "no");
        assert_eq!(outputs, [foreign::failed(CallId { run: 1, number: 1 }, fault)]);
    }

    #[test]
    fn a_page_content_is_not_taken_for_the_form_of_mcp() {
        let result = json!({"content": "plain text", "format": "text"});
        let outputs = answer(&json!({"type": "tool_result", "id": "c1-1", "result": result}));
        assert_eq!(outputs, [foreign::done(CallId { run: 1, number: 1 }, &result)]);
    }

    #[test]
    fn a_result_that_says_that_it_is_none_is_a_failure() {
        let result = json!({"success": false, "message": "Cannot go back"});
        let outputs = answer(&json!({"type": "tool_result", "id": "c1-1", "result": result}));
        let fault = Fault::new(Code::ToolFailed, "Cannot go back");
        assert_eq!(outputs, [foreign::failed(CallId { run: 1, number: 1 }, fault)]);
    }
}
