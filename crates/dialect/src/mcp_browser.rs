//! Dialect `mcp_browser`: the extension of mcp-browser, which drives one tab that its user chose.
//!
//! - [`commands`]: what it can do, and our commands in its words;
//! - [`answers`]: its answers in our shapes, and what the page wrote to its console;
//! - [`tab_info`]: questions about the tab, which have no id, and what has no answer;
//! - [`recovery`]: numbered messages, and what was missed of them.
//!
//! The client looks for servers by waiting for an unasked `connection_ack`, then introduces itself
//! with `connection_init` and needs the ack once more. It drops numbered messages after a hole, so
//! commands carry no number. It answers an `error` with an `error`, so nothing of ours answers one.

pub mod answers;
pub mod commands;
pub mod recovery;
pub mod tab_info;

use std::time::Duration;

use model::{
    Call, CallId, CloseReason, Closing, Code, Fault, FromBrowser, Kind, Sequence, TabId, ToBrowser,
    json::cut,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Dialect, DialectInfo, Frame, Liveness, Output, PingBy, Start,
    foreign::{self, pending::Pending},
};
use commands::Plan;
use recovery::Recovery;
use tab_info::TabInfo;

/// Its name in configuration, logs and metrics.
pub const NAME: &str = "mcp_browser";

/// What people call its sessions.
const CALLED: &str = "mcp-browser";
/// What the client is told of us; without both it does not remember the port.
const PROJECT_ID: &str = "tabwire";
const PROJECT_NAME: &str = "Tabwire";
/// Capabilities of a client that are kept, and the characters of a text that it tells of itself.
const CAPABILITIES: usize = 32;
const TEXT: usize = 100;

/// Its entry in the register.
pub const INFO: DialectInfo = DialectInfo {
    name: NAME,
    serves: "the extension of mcp-browser",
    subprotocol: None,
    kind: Some(Kind::Browser),
    compat_port: Some(8851),
    liveness: LIVENESS,
    start: |start| Box::new(McpBrowser::new(start)),
};

/// The client sends a heartbeat every 15 s once it is ready.
const LIVENESS: Liveness = Liveness {
    ask_after: Duration::from_secs(20),
    dead_after: Duration::from_secs(25),
    ping_by: PingBy::Protocol,
};

/// One connection's machine.
pub struct McpBrowser {
    /// The hub's version.
    version: &'static str,
    introduced: bool,
    recovery: Recovery,
    tab_info: TabInfo,
    /// Commands that are answered by their id.
    open: Pending<Open>,
    /// The last console batch, to know it when it is told again.
    batch: Option<u64>,
}

/// A command on its way.
pub struct Open {
    /// Its type on the wire.
    wire: &'static str,
    /// What its answer is.
    shape: commands::Shape,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConnectionInit {
    #[serde(default)]
    last_sequence: Value,
    #[serde(default)]
    extension_version: Value,
    #[serde(default)]
    capabilities: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErrorFrame {
    #[serde(default)]
    error: Value,
    #[serde(default)]
    message: Value,
    #[serde(default)]
    command: Option<Value>,
    #[serde(default)]
    request_id: Value,
}

impl Dialect for McpBrowser {
    fn open(&mut self) -> Vec<Output> {
        vec![self.recovery.bare_ack()]
    }

    fn receive(&mut self, frame: Frame<'_>) -> Vec<Output> {
        let taken = foreign::taken(frame, |kind, text| self.take(kind, text));
        taken.unwrap_or_else(|why| {
            let error = json!({"type": "error", "error": "invalid_message", "message": why});
            vec![foreign::write(&error)]
        })
    }

    fn send(&mut self, message: ToBrowser) -> Vec<Output> {
        match message {
            ToBrowser::Welcome(welcome) => self.recovery.welcome(&welcome),
            ToBrowser::Call(call) => match self.call(&call) {
                Ok(outputs) => outputs,
                Err(fault) => vec![foreign::failed(call.id, fault)],
            },
            ToBrowser::Cancel(call) => {
                self.open.take(call);
                self.tab_info.give_up(call);
                Vec::new()
            }
            ToBrowser::Changed(numbered) => self.recovery.changed(&numbered),
            ToBrowser::ReplayPage(page) => self.recovery.page(page),
            ToBrowser::Ping => vec![Output::Ping],
            ToBrowser::Bye(closing) => leave(closing),
            ToBrowser::CallQuery(_)
            | ToBrowser::Mention { .. }
            | ToBrowser::ReplayRequest(_)
            | ToBrowser::Challenge { .. }
            | ToBrowser::Ack(_) => Vec::new(),
        }
    }

    fn wake(&mut self) -> Vec<Output> {
        self.tab_info.wake()
    }
}

impl McpBrowser {
    /// Starts the machine.
    pub fn new(start: &Start) -> Self {
        Self {
            version: start.version,
            introduced: false,
            recovery: Recovery::default(),
            tab_info: TabInfo::default(),
            open: Pending::default(),
            batch: None,
        }
    }

    fn take(&mut self, kind: &str, text: &str) -> Result<Vec<Output>, String> {
        Ok(match kind {
            "server_info" => vec![foreign::write(&json!({
                "type": "server_info_response",
                "project_id": PROJECT_ID,
                "project_name": PROJECT_NAME,
                "version": self.version,
            }))],
            "connection_init" => self.greet(foreign::read(text)?),
            "heartbeat" => {
                let told: Value = foreign::read(text)?;
                let mut pong = json!({"type": "pong"});
                if let Some(timestamp) = told.get("timestamp") {
                    pong["timestamp"] = timestamp.clone();
                }
                vec![foreign::write(&pong), foreign::alive()]
            }
            "gap_recovery" => self.recovery.gap(foreign::read(text)?),
            "tab_info_response" => self.tab_info.told(foreign::read(text)?),
            "error" => self.told_error(&foreign::read(text)?),
            "batch" => answers::batch(foreign::read(text)?, &mut self.batch),
            "console_log" | "dom_response" | "dom_update" => vec![answers::event(kind, text)?],
            kind if answers::KINDS.contains(&kind) => {
                vec![answers::take(kind, text, &mut self.open)?]
            }
            other => return Err(format!("there is no message type {other:?} here")),
        })
    }

    fn greet(&mut self, init: ConnectionInit) -> Vec<Output> {
        let version = init.extension_version.as_str().map(|version| cut(version, TEXT));
        self.recovery.client_version(version.clone());
        if self.introduced {
            return self.recovery.ack_again().into_iter().collect();
        }
        self.introduced = true;
        let mut hello = foreign::browser(foreign::place(CALLED), CALLED, commands::NAMES);
        hello.version = version;
        let told = init.capabilities.as_array().into_iter().flatten().filter_map(Value::as_str);
        hello.capabilities = told.take(CAPABILITIES).map(|text| cut(text, TEXT)).collect();
        hello.capabilities.push("console_events".to_owned());
        hello.traits.nameless = true;
        hello.traits.one_tab = true;
        hello.traits.last_sequence = Some(Sequence(init.last_sequence.as_u64().unwrap_or(0)));
        vec![Output::Deliver(FromBrowser::Hello(hello.into()))]
    }

    /// Fails the call that an error is about; it names at best the command.
    fn told_error(&mut self, told: &ErrorFrame) -> Vec<Output> {
        let code = told.error.as_str();
        let no_tab = code == Some("no_registered_tab");
        let calls = match (&told.command, foreign::call_of(&told.request_id)) {
            (_, Some(call)) => {
                self.open.take(call);
                vec![call]
            }
            (Some(command), None) => self.asked_by(command.as_str().unwrap_or_default()),
            (None, None) if no_tab => self.oldest(),
            (None, None) => Vec::new(),
        };
        if calls.is_empty() {
            return vec![foreign::alive()];
        }
        let words = foreign::words(&told.message);
        let words = if words.is_empty() { code.unwrap_or_default() } else { &words };
        let fault = foreign::failure(code, words);
        let fault = if no_tab { fault.hint(NO_TAB) } else { fault };
        calls.into_iter().map(|call| foreign::failed(call, fault.clone())).collect()
    }

    /// Takes out the oldest call that such a command was sent for.
    fn asked_by(&mut self, command: &str) -> Vec<CallId> {
        match self.open.take_oldest(|open| open.wire == command) {
            Some((call, _)) => vec![call],
            None => self.tab_info.fail(command),
        }
    }

    fn oldest(&mut self) -> Vec<CallId> {
        if let Some((call, _)) = self.open.take_oldest(|_| true) {
            return vec![call];
        }
        let moving = self.tab_info.fail("navigate");
        if moving.is_empty() { self.tab_info.fail("get_tab_info") } else { moving }
    }

    fn call(&mut self, call: &Call) -> Result<Vec<Output>, Fault> {
        self.check_tab(call.tab)?;
        Ok(match commands::plan(&call.work)? {
            Plan::Request { wire, mut fields, shape } => {
                fields.insert("type".to_owned(), json!(wire));
                fields.insert("requestId".to_owned(), json!(call.id.to_string()));
                self.open.add(call.id, Open { wire, shape });
                vec![foreign::write(&fields)]
            }
            Plan::Navigate(url) => self.tab_info.navigate(call.id, url),
            Plan::Scroll(direction) => self.tab_info.scroll(call.id, &direction),
            Plan::TabInfo => self.tab_info.list(call.id),
        })
    }

    /// The client has one tab, and a command for another would be done there.
    fn check_tab(&self, tab: Option<TabId>) -> Result<(), Fault> {
        match (tab, self.tab_info.controlled()) {
            (Some(wanted), Some(controlled)) if wanted != controlled => Err(Fault::new(
                Code::UnknownTab,
                format!("{CALLED} drives tab {controlled} and no other"),
            )
            .hint("press Connect for the wanted tab in the popup of the extension")),
            _ => Ok(()),
        }
    }
}

const NO_TAB: &str = "press Connect for a tab in the popup of the extension, then try again";

/// Closes; a client that is not wanted is told so, because its user is shown why.
fn leave(closing: Closing) -> Vec<Output> {
    let rejected = matches!(
        closing.reason,
        CloseReason::Refused
            | CloseReason::InstanceInUse
            | CloseReason::TooMany
            | CloseReason::UnknownInstance
            | CloseReason::LimitExceeded
            | CloseReason::ProtocolError
    );
    let words = rejected.then(|| {
        foreign::write(&json!({
            "type": "connection_rejected",
            "reason": closing.reason.as_str(),
            "message": closing.message,
        }))
    });
    words.into_iter().chain([Output::Close(closing)]).collect()
}

#[cfg(test)]
mod tests;
