//! Sessions, states, tabs and events as resources that can be read and watched; and the results
//! that were too large for an answer, which are read only.
//!
//! `tabwire://sessions`, and per session `tabwire://session/{session}/state`, `/tabs` and
//! `/events?since=N`, where `{session}` is a name or an id; `tabwire://result/{id}`, which is not
//! listed.

use base64::{Engine, engine::general_purpose::STANDARD};
use hub::{Hub, Session, Source, StateAnswer, StateQuery};
use model::{Fault, Kind, Position, Sequence, page_text, record::LogEntry};
use rmcp::model::{
    CacheScope, ErrorData, ReadResourceResponse, ReadResourceResult, Resource, ResourceTemplate,
};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tools::{
    Toolbox, browser_instance,
    shelf::{self, ShelvedResult},
};

use super::results::from_json;
use crate::{Call, backend::Answer};

/// The list of sessions.
pub const SESSIONS: &str = "tabwire://sessions";
/// Events that one answer holds.
const EVENTS: usize = 200;
/// How many times its bytes a large result may take once all of it is to be seen.
const WRITTEN_OUT_GROWTH: usize = 4;

/// Returns the address of a part of a session.
pub fn uri(session: &str, part: &str) -> String {
    format!("tabwire://session/{session}/{part}")
}

/// Lists what can be read now, by address.
pub fn list(hub: &Hub) -> Answer<Vec<Resource>> {
    let mut all = vec![resource(SESSIONS, "sessions", "Browsers and apps, connected or away")];
    for session in hub.sessions() {
        let name = &*session.name;
        let mut add = |part: &str, about: &str| {
            let title = format!("{name} {part}");
            all.push(resource(&uri(name, part), &title, about));
        };
        add("events", "What happened, newest last; `?since=N` reads on from a cursor");
        if session.snapshot().is_some() {
            add("state", "The app's state, pushed by the app on every change");
        }
        if session.kind == Kind::Browser {
            add("tabs", "The browser's tabs");
        }
    }
    all.into_iter().map(from_json).collect()
}

/// Lists the forms that addresses have.
pub fn templates() -> Answer<Vec<ResourceTemplate>> {
    let template = |part: &str, title: &str| {
        from_json(json!({
            "uriTemplate": uri("{session}", part),
            "name": title,
            "mimeType": "application/json",
        }))
    };
    let results = json!({
        "uriTemplate": format!("{}{{id}}", shelf::PREFIX), "name": "large result",
        "description": "what a tool's answer links to, for 15 minutes",
    });
    ["events{?since}", "state", "tabs"]
        .into_iter()
        .zip(["session events", "session state", "session tabs"])
        .map(|(part, title)| template(part, title))
        .chain([from_json(results)])
        .collect()
}

/// Reads a resource, for whoever calls.
pub async fn read(toolbox: &Toolbox, call: &Call, address: &str) -> Answer<ReadResourceResponse> {
    let hub = &toolbox.hub;
    if let Some(id) = address.strip_prefix(shelf::PREFIX) {
        let kept = toolbox.shelf.read(&call.caller().principal, id);
        let kept = kept.map_err(|fault| not_there(address, &fault))?;
        let text = written_out(&kept);
        call.make_room(text.map_or(kept.content.len() * 4 / 3, page_text::encoded_at_most)).await?;
        return contents(large(address, &kept, text));
    }
    let body = match address.strip_prefix("tabwire://session/") {
        _ if address == SESSIONS => sessions(hub),
        Some(rest) => part_of_session(hub, call, address, rest).await?,
        None => return Err(unknown(address)),
    };
    let text = page_text::json(&body.to_string()).into_owned();
    contents(json!({"uri": address, "mimeType": "application/json", "text": text}))
}

fn contents(written: Value) -> Answer<ReadResourceResponse> {
    let result = ReadResourceResult::new(vec![from_json(written)?]);
    Ok(result.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into())
}

/// A large result that is told as text. One that would grow too much by it is told as bytes.
fn written_out(kept: &ShelvedResult) -> Option<&str> {
    let text = std::str::from_utf8(&kept.content).ok().filter(|_| is_text(&kept.mime_type))?;
    (page_text::encoded_at_most(text) <= WRITTEN_OUT_GROWTH * text.len()).then_some(text)
}

/// A large result: as text, in which all is to be seen, or as bytes.
fn large(address: &str, kept: &ShelvedResult, text: Option<&str>) -> Value {
    match text {
        Some(text) => {
            let text = match serde_json::from_str::<IgnoredAny>(text) {
                Ok(_) => page_text::json(text),
                Err(_) => page_text::content(text),
            };
            json!({"uri": address, "mimeType": kept.mime_type, "text": text})
        }
        None => {
            let blob = STANDARD.encode(&kept.content);
            json!({"uri": address, "mimeType": kept.mime_type, "blob": blob})
        }
    }
}

fn is_text(mime_type: &str) -> bool {
    let words = ["json", "xml", "javascript", "x-www-form-urlencoded"];
    mime_type.starts_with("text/") || words.iter().any(|word| mime_type.ends_with(word))
}

async fn part_of_session(hub: &Hub, call: &Call, address: &str, rest: &str) -> Answer<Value> {
    let (name, part) = rest.split_once('/').ok_or_else(|| unknown(address))?;
    let (part, query) = part.split_once('?').unwrap_or((part, ""));
    let session = hub.find(name).map_err(|fault| not_there(address, &fault))?;
    match part {
        "state" => {
            let answer = hub.state(&session, &StateQuery::default()).await;
            let answer = answer.map_err(|fault| not_there(address, &fault))?;
            call.make_room(page_text::encoded_at_most(answer.value.as_str())).await?;
            Ok(state(&answer))
        }
        "tabs" => Ok(tabs(&session)),
        "events" => {
            let since = since(query)?;
            let (current, entries) = session.feed_after(Sequence(since), EVENTS);
            let bytes = entries.iter().map(|entry| page_text::encoded_at_most(&entry.body)).sum();
            call.make_room(bytes).await?;
            Ok(events(current, &entries, since))
        }
        _ => Err(unknown(address)),
    }
}

fn since(query: &str) -> Answer<u64> {
    match query.split('&').find_map(|pair| pair.strip_prefix("since=")) {
        None => Ok(0),
        Some(text) => text.parse().map_err(|_| {
            ErrorData::invalid_params("`since` is a number from an earlier answer", None)
        }),
    }
}

fn sessions(hub: &Hub) -> Value {
    let list: Vec<_> =
        hub.sessions().iter().map(|session| browser_instance::show(&session.info())).collect();
    json!({ "sessions": list })
}

fn state(answer: &StateAnswer) -> Value {
    let source = match answer.source {
        Source::Cache => "cache",
        Source::Live => "live",
        Source::Stale(_) => "stale",
    };
    json!({
        "value": answer.value.to_value().unwrap_or_default(),
        "source": source,
        "ageMs": answer.age.as_millis() as u64,
        "version": answer.version,
        "connected": answer.connected,
    })
}

fn tabs(session: &Session) -> Value {
    let list: Vec<_> = session
        .info()
        .tabs
        .iter()
        .map(|tab| {
            let tools = session.page_tools(tab.id);
            let tools: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
            json!({
                "tab": tab.id.0, "title": tab.title, "url": tab.url, "active": tab.active,
                "tools": tools,
            })
        })
        .collect();
    json!({ "tabs": list })
}

fn events(current: Position, entries: &[LogEntry], since: u64) -> Value {
    let next = entries.last().map_or(since, |last| last.sequence);
    let list: Vec<_> = entries
        .iter()
        .map(|entry| {
            let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
            json!({
                "sequence": entry.sequence, "kind": entry.kind, "name": entry.name, "data": body,
            })
        })
        .collect();
    json!({
        "events": list,
        "next": next,
        "more": next < current.sequence.0,
        "epoch": current.epoch.as_str(),
    })
}

fn resource(uri: &str, name: &str, description: &str) -> Value {
    json!({
        "uri": uri, "name": name, "description": description, "mimeType": "application/json",
    })
}

fn unknown(address: &str) -> ErrorData {
    let shown = model::json::shorten(address, 200);
    ErrorData::resource_not_found(
        format!("there is no resource {shown}; resources/list shows what there is"),
        Some(json!({ "uri": shown })),
    )
}

fn not_there(address: &str, fault: &Fault) -> ErrorData {
    let shown = model::json::shorten(address, 200);
    ErrorData::resource_not_found(fault.to_string(), Some(json!({ "uri": shown })))
}
