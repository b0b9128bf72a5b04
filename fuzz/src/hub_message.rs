//! Messages of the hub, as recorded conversations in `crates/dialect/golden` write them: one field
//! that names the message, with what it says. What is missing gets a value.

use std::time::Duration;

use model::{
    Call, CallId, Change, CloseReason, Closing, Epoch, Json, Level, NumberedChange, Position,
    RefusedResume, ReplayPage, ReplayRequest, Sequence, SessionId, TabId, Target, ToBrowser,
    Welcome, Work,
};
use serde_json::{Value, json};

/// Reads a message; `None` means that it is none.
pub fn read(text: &str) -> Option<ToBrowser> {
    let told: Value = serde_json::from_str(text).ok()?;
    if told == "ping" {
        return Some(ToBrowser::Ping);
    }
    let (kind, body) = told.as_object()?.iter().next()?;
    Some(match kind.as_str() {
        "welcome" => ToBrowser::Welcome(Box::new(welcome(body))),
        "call" => ToBrowser::Call(Box::new(call(body)?)),
        "cancel" => ToBrowser::Cancel(call_id(body)?),
        "query" => ToBrowser::CallQuery(call_id(body)?),
        "event" => ToBrowser::Changed(event(body)),
        "mention" => {
            ToBrowser::Mention { name: string(&body["name"]), data: Json::of(&body["data"]) }
        }
        "replayPage" => ToBrowser::ReplayPage(page(body)),
        "replayRequest" => ToBrowser::ReplayRequest(ReplayRequest {
            from: position(&body["from"]),
            types: vec![string(&body["types"])],
            errors_first: body["errorsFirst"] == true,
        }),
        "ack" => ToBrowser::Ack(position(body)),
        "challenge" => {
            ToBrowser::Challenge { nonce: string(&body["nonce"]), proof: string(&body["proof"]) }
        }
        "bye" => {
            let reason = CloseReason::ALL.iter().find(|reason| reason.as_str() == body["reason"]);
            let reason = *reason.unwrap_or(&CloseReason::Malformed);
            ToBrowser::Bye(Closing::new(reason, string(&body["message"])))
        }
        _ => return None,
    })
}

fn welcome(body: &Value) -> Welcome {
    Welcome {
        session: SessionId::parse("s_fuzz").expect("a session id"),
        name: string(&body["name"]),
        server_version: "0.0.0".to_owned(),
        current: position(&body["currentSequence"]),
        received: body.get("received").map(position),
        replay: page(&body["replay"]),
        resume_token: "secret".to_owned(),
    }
}

fn page(body: &Value) -> ReplayPage {
    let messages = body["messages"].as_array().into_iter().flatten().map(event);
    ReplayPage {
        upto: position(&body["upto"]),
        messages: messages.collect(),
        more: body["more"] == true,
        partial: body["partial"] == true,
        refused: RefusedResume::ALL.into_iter().find(|reason| body["refused"] == reason.as_str()),
    }
}

fn position(sequence: &Value) -> Position {
    let epoch = Epoch::parse("e-fuzz").expect("an epoch");
    Position { epoch, sequence: Sequence(sequence.as_u64().unwrap_or_default()) }
}

fn event(body: &Value) -> NumberedChange {
    let change = Change::Event {
        name: string(&body["name"]),
        level: Level::Info,
        data: Json::of(&body["data"]),
    };
    NumberedChange { sequence: body["sequence"].as_u64().map(Sequence), change }
}

fn call(body: &Value) -> Option<Call> {
    let tool = |target, name: &Value| Work::Tool {
        target,
        name: string(name),
        args: Json::of(body.get("args").unwrap_or(&json!({}))),
    };
    let fields = body.as_object()?;
    let work = fields.iter().find_map(|(kind, told)| {
        Some(match kind.as_str() {
            "command" => tool(Target::Command, told),
            "app" => tool(Target::App, told),
            "page" => tool(Target::Page, told),
            "state" => Work::State { force_refresh: told["forceRefresh"] == true },
            "openTab" => Work::OpenTab { url: string(&told["url"]), focus: told["focus"] == true },
            "closeTab" => Work::CloseTab,
            "focusTab" => Work::FocusTab,
            "discoverTools" => Work::DiscoverTools,
            _ => return None,
        })
    })?;
    Some(Call {
        id: call_id(&body["id"])?,
        tab: body["tab"].as_u64().map(TabId),
        client: body["client"].as_str().unwrap_or("ai-1").parse().ok()?,
        client_name: "claude".to_owned(),
        work,
        deadline: Duration::from_secs(30),
    })
}

fn call_id(body: &Value) -> Option<CallId> {
    body.as_str()?.parse().ok()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
