//! Numbered messages to the extension of mcp-browser, and what was missed of them.
//!
//! The client counts: it takes only the next number, drops what comes after a hole and asks for the
//! hole, and lets an ack set its count. Pages come from the hub in the order of asking. While the
//! client catches up, nothing newer is sent ahead, because it would be dropped.

use std::collections::VecDeque;

use model::{
    Change, Epoch, FromBrowser, NumberedChange, Position, RefusedResume, ReplayPage, ReplayRequest,
    Sequence, Welcome,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{PROJECT_ID, PROJECT_NAME};
use crate::{Output, foreign};

/// Questions for the past that may wait for their page.
const ASKED: usize = 16;

/// Message types that the client acts on: no event may look like one of them.
const TAKEN: &[&str] = &[
    "capture_screenshot",
    "click",
    "connect",
    "connection_ack",
    "connection_rejected",
    "disconnect",
    "dom_command",
    "error",
    "evaluate_js",
    "extract_ascii_layout",
    "extract_content",
    "extract_semantic_dom",
    "fill_field",
    "gap_recovery_response",
    "get_page_content",
    "get_tab_info",
    "navigate",
    "pong",
    "query_logs",
    "scroll",
    "server_info_response",
];

/// Where the client is in the hub's log.
#[derive(Default)]
pub struct Recovery {
    client_version: Option<String>,
    /// The hub's log, once there is a session.
    epoch: Option<Epoch>,
    /// The last number that was sent.
    sent: u64,
    /// Pages that the hub owes, in the order of asking.
    asked: VecDeque<Asked>,
}

enum Asked {
    /// What did not fit into the ack.
    CatchUp,
    /// A hole that the client has noticed, with what is known of it so far.
    Gap { from: u64, to: u64, messages: Vec<NumberedChange> },
}

/// The client's question for a hole; both ends belong to it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GapRecovery {
    #[serde(default)]
    from_sequence: Value,
    #[serde(default)]
    to_sequence: Value,
}

#[derive(Serialize)]
struct ConnectionAck<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "serverVersion", skip_serializing_if = "Option::is_none")]
    server_version: Option<&'a str>,
    project_id: &'static str,
    project_name: &'static str,
    #[serde(rename = "currentSequence", skip_serializing_if = "Option::is_none")]
    current_sequence: Option<u64>,
    replay: Vec<Numbered<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovered: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GapRecoveryResponse<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    success: bool,
    from_sequence: u64,
    to_sequence: u64,
    messages: Vec<Numbered<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

#[derive(Serialize)]
struct Numbered<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
}

impl Recovery {
    /// Takes note of the client's version: it wants to hear its own and alarms its user otherwise.
    pub fn client_version(&mut self, version: Option<String>) {
        self.client_version = version;
    }

    /// The ack that nobody has asked for. It leaves the client's count alone.
    pub fn bare_ack(&self) -> Output {
        foreign::write(&self.ack(None, &[], None))
    }

    /// The ack for a client that introduces itself again; none while the first is on its way.
    pub fn ack_again(&self) -> Option<Output> {
        self.epoch.as_ref()?;
        Some(foreign::write(&self.ack(Some(self.sent), &[], None)))
    }

    /// Answers the introduction, with what the client has missed.
    pub fn welcome(&mut self, welcome: &Welcome) -> Vec<Output> {
        let replay = &welcome.replay;
        let more = replay.more && replay.refused.is_none();
        let reached = if more { &replay.upto } else { &welcome.current };
        self.epoch = Some(reached.epoch.clone());
        self.sent = reached.sequence.0;
        let messages: &[_] = if replay.refused.is_some() { &[] } else { &replay.messages };
        let ack = self.ack(Some(self.sent), messages, replay.refused);
        let mut outputs = vec![foreign::write(&ack)];
        if more {
            outputs.extend(self.ask(Asked::CatchUp, self.sent));
        }
        outputs
    }

    /// Sends something that happened.
    pub fn changed(&mut self, numbered: &NumberedChange) -> Vec<Output> {
        let Some(sequence) = numbered.sequence else { return vec![write(numbered)] };
        let catching_up = self.asked.iter().any(|asked| matches!(asked, Asked::CatchUp));
        let ahead = sequence.0 > self.sent.saturating_add(1);
        if sequence.0 <= self.sent || (ahead && catching_up) {
            // Known already, or part of a page that is still to come.
            return Vec::new();
        }
        self.sent = sequence.0;
        vec![write(numbered)]
    }

    /// Asks the hub for a hole.
    pub fn gap(&mut self, told: GapRecovery) -> Vec<Output> {
        let number = |told: &Value| told.as_u64().unwrap_or_default();
        let (from, to) = (number(&told.from_sequence), number(&told.to_sequence));
        let refusal = match &self.epoch {
            None => Some("Not connected"),
            Some(_) if from == 0 || to < from => Some("Invalid sequence range"),
            Some(_) if self.asked.len() >= ASKED => Some("Too many requests"),
            Some(_) => None,
        };
        match refusal {
            Some(error) => vec![response(from, to, &[], Some(error))],
            None => self.ask(Asked::Gap { from, to, messages: Vec::new() }, from - 1),
        }
    }

    /// Passes on a page that was asked for.
    pub fn page(&mut self, page: ReplayPage) -> Vec<Output> {
        match self.asked.pop_front() {
            Some(Asked::CatchUp) => self.catch_up(page),
            Some(Asked::Gap { from, to, messages }) => self.fill(page, from, to, messages),
            None => Vec::new(),
        }
    }

    fn catch_up(&mut self, page: ReplayPage) -> Vec<Output> {
        if page.refused.is_some() {
            return vec![self.start_at(&page)];
        }
        let mut outputs = Vec::new();
        for message in &page.messages {
            outputs.extend(self.changed(message));
        }
        self.sent = self.sent.max(page.upto.sequence.0);
        if page.more {
            outputs.extend(self.ask(Asked::CatchUp, self.sent));
        }
        outputs
    }

    fn fill(
        &mut self,
        page: ReplayPage,
        from: u64,
        to: u64,
        mut messages: Vec<NumberedChange>,
    ) -> Vec<Output> {
        if let Some(reason) = page.refused {
            // The hole stays, so the client's count is set to where it can go on.
            return vec![response(from, to, &[], Some(reason.as_str())), self.start_at(&page)];
        }
        let wanted = |message: &NumberedChange| {
            message.sequence.is_some_and(|sequence| (from..=to).contains(&sequence.0))
        };
        messages.extend(page.messages.into_iter().filter(wanted));
        let upto = page.upto.sequence.0;
        if page.more && upto < to {
            return self.ask(Asked::Gap { from, to, messages }, upto);
        }
        let error = messages.is_empty().then_some("Nothing in that range");
        vec![response(from, to, &messages, error)]
    }

    /// Sets the client's count anew after something was lost for good.
    fn start_at(&mut self, page: &ReplayPage) -> Output {
        self.sent = self.sent.max(page.upto.sequence.0);
        foreign::write(&self.ack(Some(self.sent), &[], page.refused))
    }

    fn ask(&mut self, asked: Asked, after: u64) -> Vec<Output> {
        let Some(epoch) = self.epoch.clone() else { return Vec::new() };
        self.asked.push_back(asked);
        let request = ReplayRequest {
            from: Position { epoch, sequence: Sequence(after) },
            types: Vec::new(),
            errors_first: false,
        };
        vec![Output::Deliver(FromBrowser::ReplayRequest(request))]
    }

    fn ack<'a>(
        &'a self,
        current_sequence: Option<u64>,
        replay: &'a [NumberedChange],
        refused: Option<RefusedResume>,
    ) -> ConnectionAck<'a> {
        ConnectionAck {
            kind: "connection_ack",
            server_version: self.client_version.as_deref(),
            project_id: PROJECT_ID,
            project_name: PROJECT_NAME,
            current_sequence,
            replay: replay.iter().map(numbered).collect(),
            recovered: refused.map(|_| false),
            reason: refused.map(RefusedResume::as_str),
        }
    }
}

fn numbered(message: &NumberedChange) -> Numbered<'_> {
    let sequence = message.sequence.map(|sequence| sequence.0);
    match &message.change {
        Change::Event { name, data, .. } if TAKEN.contains(&name.as_str()) => {
            Numbered { kind: "event", name: Some(name), sequence, data: Some(data.raw()) }
        }
        Change::Event { name, data, .. } => {
            Numbered { kind: name, name: None, sequence, data: Some(data.raw()) }
        }
        // The client has no use for it, but its number must not be missing.
        change => Numbered { kind: change.kind(), name: None, sequence, data: None },
    }
}

fn write(message: &NumberedChange) -> Output {
    foreign::write(&numbered(message))
}

fn response(
    from_sequence: u64,
    to_sequence: u64,
    messages: &[NumberedChange],
    error: Option<&'static str>,
) -> Output {
    foreign::write(&GapRecoveryResponse {
        kind: "gap_recovery_response",
        success: error.is_none(),
        from_sequence,
        to_sequence,
        messages: messages.iter().map(numbered).collect(),
        error,
    })
}
