//! From the model's messages to `tabwire.v1` frames.

use std::time::Duration;

use model::{
    Call, Change, Closing, Json, NumberedChange, Position, RefusedResume, ReplayPage, ToBrowser,
    Work,
};
use serde_json::value::{RawValue, to_raw_value};

use super::wire;

/// Writes one message for the wire, if it has words for it; a welcome tells after how much silence
/// the hub asks.
pub fn encode(message: ToBrowser, heartbeat: Duration) -> Option<wire::ToBrowser> {
    use wire::ToBrowser as Wire;
    Some(match message {
        ToBrowser::Challenge { nonce, proof } => Wire::Challenge(wire::Challenge { nonce, proof }),
        ToBrowser::Welcome(body) => Wire::Welcome(welcome(*body, heartbeat)),
        ToBrowser::Call(call) => encode_call(*call),
        ToBrowser::Cancel(call) => Wire::Cancel(wire::Cancel { call_id: call.to_string() }),
        ToBrowser::CallQuery(call) => {
            Wire::CallQuery(wire::CallQuery { call_id: call.to_string() })
        }
        ToBrowser::Changed(change) => Wire::Event(event(&change)),
        ToBrowser::ReplayRequest(body) => Wire::ReplayRequest(wire::ReplayRequest {
            from: position(&body.from),
            types: body.types,
            errors_first: body.errors_first,
        }),
        ToBrowser::ReplayPage(page) => Wire::ReplayPage(replay_page(&page)),
        ToBrowser::Ack(at) => Wire::Ack(wire::Ack { position: position(&at) }),
        ToBrowser::Ping => Wire::Ping(wire::Ping {}),
        ToBrowser::Bye(closing) => bye(&closing),
        // Our own peers are told by numbered events.
        ToBrowser::Mention { .. } => return None,
    })
}

/// Writes the announcement of a close.
pub fn bye(closing: &Closing) -> wire::ToBrowser {
    wire::ToBrowser::Bye(wire::Bye {
        code: closing.reason.as_str().to_owned(),
        retry: closing.reason.reconnect(),
        message: Some(closing.message.clone()),
    })
}

fn welcome(body: model::Welcome, heartbeat: Duration) -> wire::Welcome {
    let nothing_received = || Position::start(body.current.epoch.clone());
    wire::Welcome {
        session_id: body.session.to_string(),
        name: body.name,
        server_version: body.server_version,
        heartbeat_ms: heartbeat.as_millis() as u64,
        epoch: body.current.epoch.to_string(),
        current_sequence: body.current.sequence.0,
        received: position(&body.received.unwrap_or_else(nothing_received)),
        recovered: body.replay.refused.is_none(),
        reason: body.replay.refused.map(reason),
        replay: body.replay.messages.iter().map(numbered).collect(),
        more: body.replay.more,
        resume_token: body.resume_token,
    }
}

fn encode_call(call: Call) -> wire::ToBrowser {
    use wire::ToBrowser as Wire;
    let (call_id, tab) = (call.id.to_string(), call.tab.map(|tab| tab.0));
    let deadline_ms = call.deadline.as_millis() as u64;
    // Tab commands always carry a tab: the hub refuses them without one. 0 is no tab anywhere.
    let tab_id = tab.unwrap_or(0);
    match call.work {
        Work::Tool { target, name, args } => Wire::CallTool(wire::CallTool {
            call_id,
            target: target.into(),
            tab_id: tab,
            tool_name: name,
            args: raw(&args),
            deadline_ms,
            // A page has no business with who asks.
            client: (target == model::Target::Command).then(|| wire::CallingClient {
                id: call.client.to_string(),
                name: call.client_name,
            }),
        }),
        Work::State { force_refresh } => {
            Wire::RequestState(wire::RequestState { request_id: call_id, force_refresh })
        }
        Work::OpenTab { url, focus } => {
            Wire::OpenTab(wire::OpenTab { call_id, url, focus, deadline_ms })
        }
        Work::CloseTab => Wire::CloseTab(wire::CloseTab { call_id, tab_id, deadline_ms }),
        Work::FocusTab => Wire::FocusTab(wire::FocusTab { call_id, tab_id, deadline_ms }),
        Work::DiscoverTools => {
            Wire::DiscoverTools(wire::DiscoverTools { call_id, tab_id: tab, deadline_ms })
        }
    }
}

fn replay_page(page: &ReplayPage) -> wire::ReplayPage {
    wire::ReplayPage {
        epoch: page.upto.epoch.to_string(),
        upto: page.upto.sequence.0,
        recovered: page.refused.is_none(),
        reason: page.refused.map(reason),
        messages: page.messages.iter().map(numbered).collect(),
        more: page.more,
        partial: page.partial,
    }
}

fn numbered(change: &NumberedChange) -> Box<RawValue> {
    to_raw_value(&wire::ToBrowser::Event(event(change))).expect("events have string keys only")
}

/// The hub numbers events only: states, tabs and tools are the browser's to tell.
fn event(change: &NumberedChange) -> wire::Event {
    let sequence = change.sequence.map_or(0, |sequence| sequence.0);
    let (name, level, data) = match &change.change {
        Change::Event { name, level, data } => (name.clone(), *level, data.clone()),
        other => (other.kind().to_owned(), model::Level::Info, Json::null()),
    };
    let level = match level {
        model::Level::Info => wire::Level::Info,
        model::Level::Warning => wire::Level::Warning,
        model::Level::Error => wire::Level::Error,
    };
    wire::Event { sequence, name, level, data: Some(raw(&data)) }
}

fn raw(json: &Json) -> Box<RawValue> {
    json.raw().to_owned()
}

fn position(at: &Position) -> wire::Position {
    wire::Position { epoch: at.epoch.to_string(), sequence: at.sequence.0 }
}

fn reason(refused: RefusedResume) -> wire::RefusedResume {
    match refused {
        RefusedResume::Gap => wire::RefusedResume::Gap,
        RefusedResume::Expired => wire::RefusedResume::Expired,
        RefusedResume::EpochChanged => wire::RefusedResume::EpochChanged,
        RefusedResume::FutureSequence => wire::RefusedResume::FutureSequence,
    }
}
