//! Dialect `enhanced`: the extension of browsermcp-enhanced, one browser per socket.
//!
//! - [`commands`]: what it can do, and our commands in its words.
//!
//! The client is named by its address, so its session begins before it has said a word. It opens a
//! tab for each `sessionId` by itself; ours is the client on whose behalf a call is made. A client
//! that says `hello` without its id is older and gets the older envelope.

pub mod commands;

use std::time::Duration;

use model::{Call, CallId, Fault, FromBrowser, InstanceId, Json, Kind, Level, ToBrowser};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    Dialect, DialectInfo, Frame, Liveness, Output, PingBy, Start,
    foreign::{
        self,
        pending::Pending,
        tabs::{KnownTabs, TABS, WireTab},
    },
};
use commands::{Command, Step};

/// Its name in configuration, logs and metrics.
pub const NAME: &str = "enhanced";

/// Its entry in the register.
pub const INFO: DialectInfo = DialectInfo {
    name: NAME,
    serves: "the extension of browsermcp-enhanced",
    subprotocol: None,
    kind: Some(Kind::Browser),
    compat_port: None,
    liveness: LIVENESS,
    start: |start| Box::new(Enhanced::new(start)),
};

/// The project's own rule: a ping every 30 s, given up after 90 s.
const LIVENESS: Liveness = Liveness {
    ask_after: Duration::from_secs(30),
    dead_after: Duration::from_secs(60),
    ping_by: PingBy::Protocol,
};

const STALE: &str = "take a new snapshot: a ref is valid until its page loads again";

/// One connection's machine.
pub struct Enhanced {
    instance: InstanceId,
    /// The client reads only `id`, `type` and `payload`.
    legacy: bool,
    pending: Pending<Asked>,
    tabs: KnownTabs,
}

/// A call on its way, with what its next frame needs.
struct Asked {
    step: Step,
    client: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HelloFrame {
    #[serde(default)]
    instance_id: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    wire_id: Value,
    #[serde(default)]
    id: Value,
    #[serde(default)]
    data: Option<Box<RawValue>>,
    /// What the older client calls `data`.
    #[serde(default)]
    payload: Option<Box<RawValue>>,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    name: String,
    #[serde(default)]
    payload: Option<Box<RawValue>>,
}

impl Dialect for Enhanced {
    fn open(&mut self) -> Vec<Output> {
        let mut hello = foreign::browser(self.instance.clone(), NAME, commands::NAMES);
        hello.traits.tab_per_client = true;
        vec![Output::Deliver(FromBrowser::Hello(hello.into()))]
    }

    fn receive(&mut self, frame: Frame<'_>) -> Vec<Output> {
        let taken = foreign::taken(frame, |kind, text| self.take(kind, text));
        taken.unwrap_or_else(|why| vec![foreign::write(&json!({"type": "error", "error": why}))])
    }

    fn send(&mut self, message: ToBrowser) -> Vec<Output> {
        match message {
            ToBrowser::Welcome(_) => vec![self.name_it("connected")],
            ToBrowser::Call(call) => {
                vec![self.call(&call).unwrap_or_else(|fault| foreign::failed(call.id, fault))]
            }
            other => foreign::send_other(other, &mut self.pending),
        }
    }
}

impl Enhanced {
    /// Starts the machine.
    pub fn new(start: &Start) -> Self {
        Self {
            instance: start.instance.clone().unwrap_or_else(|| foreign::place(NAME)),
            legacy: false,
            pending: Pending::default(),
            tabs: KnownTabs::default(),
        }
    }

    fn take(&mut self, kind: &str, text: &str) -> Result<Vec<Output>, String> {
        Ok(match kind {
            "hello" => {
                let hello: HelloFrame = foreign::read(text)?;
                self.legacy = hello.instance_id.is_none_or(|id| id.is_null());
                vec![self.name_it("helloAck")]
            }
            "ping" => vec![foreign::write(&json!({"type": "pong"})), foreign::alive()],
            "pong" => vec![foreign::alive()],
            "event" => {
                let Event { name, payload } = foreign::read(text)?;
                let data = payload.map_or_else(Json::null, Json::from);
                vec![foreign::event(&name, Level::Info, data)]
            }
            kind => {
                let answer: Answer = foreign::read(text)?;
                if kind != "response" && answer.wire_id.is_null() && answer.id.is_null() {
                    return Err(format!("Unhandled message type: {kind}"));
                }
                self.answered(answer)
            }
        })
    }

    fn name_it(&self, kind: &str) -> Output {
        foreign::write(&json!({"type": kind, "instanceId": self.instance.as_str()}))
    }

    fn answered(&mut self, answer: Answer) -> Vec<Output> {
        let by_wire = foreign::call_of(&answer.wire_id);
        let Some(call) = by_wire.or_else(|| foreign::call_of(&answer.id)) else {
            return vec![foreign::stray()];
        };
        let asked = self.pending.take(call);
        if !matches!(&answer.error, Value::Null) {
            let words = foreign::words(&answer.error);
            return vec![foreign::failed(call, foreign::failure(None, &words))];
        }
        let Some(raw) = answer.data.or(answer.payload) else {
            let fault = Fault::malformed("the answer", "neither data nor an error");
            return vec![foreign::failed(call, fault)];
        };
        let Ok(data) = serde_json::from_str::<Map<String, Value>>(raw.get()) else {
            return vec![foreign::carried(call, Some(raw))];
        };
        if let Some(fault) = foreign::unsuccessful(&data) {
            // What fails without a word is a reference that the page does not know.
            let wordless = !data.contains_key("error") && !data.contains_key("message");
            let fault = match asked {
                Some(Asked { step: Step::Plain, .. }) if wordless => fault.hint(STALE),
                _ => fault,
            };
            return vec![foreign::failed(call, fault)];
        }
        match asked {
            Some(asked) => self.go_on(call, asked, raw, data),
            None => vec![foreign::carried(call, Some(raw))],
        }
    }

    /// Ends a call with what was answered, or takes its next step.
    fn go_on(
        &mut self,
        call: CallId,
        asked: Asked,
        raw: Box<RawValue>,
        mut data: Map<String, Value>,
    ) -> Vec<Output> {
        #[derive(Deserialize)]
        struct Tabs {
            tabs: Box<RawValue>,
        }
        let tab = data.get("tabId").and_then(Value::as_u64).map(model::TabId);
        let mut changes = Vec::new();
        let result = match asked.step {
            Step::Picture => picture(data),
            Step::Tabs | Step::CloseAfterList(_) => {
                let Ok(list) = serde_json::from_str::<Tabs>(raw.get()) else {
                    let fault = Fault::malformed("the answer", "a list of tabs without tabs");
                    return vec![foreign::failed(call, fault)];
                };
                changes = self.tabs.told_all(&foreign::each::<WireTab>(Some(&list.tabs), TABS));
                if let Step::CloseAfterList(wanted) = asked.step {
                    let mut outputs: Vec<_> = changes.into_iter().map(foreign::changed).collect();
                    outputs.push(match commands::close(wanted, &list.tabs) {
                        Ok(command) => self.ask(call, &asked.client, command),
                        Err(fault) => foreign::failed(call, fault),
                    });
                    return outputs;
                }
                Value::Object(data)
            }
            Step::Opened(url) => {
                if let Some(id) = tab {
                    let told = WireTab::of(id, url.as_deref(), None);
                    changes.extend(self.tabs.told(&told).into_iter().chain(self.tabs.focused(id)));
                    data.insert("tab".to_owned(), json!(id.0));
                }
                Value::Object(data)
            }
            Step::Closed(id) => {
                changes.extend(self.tabs.closed(id));
                json!({"success": true, "closedTabId": id.0})
            }
            Step::Focused(id) => {
                changes.extend(self.tabs.focused(id));
                Value::Object(data)
            }
            Step::Plain => {
                let mut outputs: Vec<_> = self.used(tab).into_iter().collect();
                outputs.push(foreign::carried(call, Some(raw)));
                return outputs;
            }
        };
        let mut outputs: Vec<_> = changes.into_iter().map(foreign::changed).collect();
        outputs.push(foreign::done(call, &result));
        outputs
    }

    /// Takes note of the tab that a command used: it may be one that the client has just opened.
    fn used(&mut self, tab: Option<model::TabId>) -> Option<Output> {
        let unknown = tab.filter(|id| self.tabs.get(*id).is_none())?;
        self.tabs.told(&WireTab::of(unknown, None, None)).map(foreign::changed)
    }

    fn call(&mut self, call: &Call) -> Result<Output, Fault> {
        let command = commands::translate(call)?;
        Ok(self.ask(call.id, call.client.as_str(), command))
    }

    /// Writes a command in the envelope that the client reads.
    fn ask(&mut self, call: CallId, client: &str, command: Command) -> Output {
        let Command { name, payload, tab, step } = command;
        self.pending.add(call, Asked { step, client: client.to_owned() });
        let mut message = match self.legacy {
            true => json!({"id": call.to_string(), "type": name, "payload": payload}),
            false => json!({
                "wireId": call.to_string(),
                "originId": call.to_string(),
                "sessionId": client,
                "type": "command",
                "name": name,
                "payload": payload,
            }),
        };
        // Only a number counts; anything else would be taken for no tab at all.
        if let Some(tab) = tab {
            message["tabId"] = json!(tab.0);
        }
        foreign::write(&message)
    }
}

/// The client pictures what is in front, whichever tab was asked for.
fn picture(mut data: Map<String, Value>) -> Value {
    let Some(Value::String(url)) = data.remove("data") else { return Value::Object(data) };
    data.insert("note".to_owned(), json!("it shows the tab that is in front"));
    foreign::with_bytes(data, "image", "image/png", &url)
}

#[cfg(test)]
mod tests;
