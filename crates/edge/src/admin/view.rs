//! Sessions and answers as the admin API shows them.

use hub::{AuditLine, SessionInfo, Source, StateAnswer, feed::FeedItem};
use model::{Json, Position, record::LogEntry};
use serde_json::{Value, json, value::RawValue};

/// Shows a session.
pub fn session(info: &SessionInfo) -> Value {
    let tools: Vec<_> = info
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "inputSchema": opaque(tool.input_schema.as_str()),
                "readOnly": tool.read_only,
            })
        })
        .collect();
    let tabs: Vec<_> = info
        .tabs
        .iter()
        .map(
            |tab| json!({"id": tab.id.0, "title": tab.title, "url": tab.url, "active": tab.active}),
        )
        .collect();
    json!({
        "id": info.id.as_str(),
        "name": info.name,
        "instanceId": info.instance.as_str(),
        "kind": info.kind.as_str(),
        "dialect": info.dialect,
        "origin": info.origin,
        "unproven": info.unproven,
        "carriedBy": info.carried_by.as_ref().map(|carrier| carrier.as_str()),
        "version": info.version,
        "capabilities": info.capabilities,
        "connected": info.connected,
        "sinceMs": info.for_time.as_millis() as u64,
        "connections": info.connections,
        "callsInFlight": info.calls_in_flight,
        "stateVersion": info.state_version,
        "tabs": tabs,
        "tools": tools,
        "sent": position(&info.sent),
        "received": info.received.as_ref().map(position),
    })
}

/// Shows a state with what must be known to trust it. The state itself is not parsed.
pub fn state(name: &str, answer: &StateAnswer) -> impl serde::Serialize {
    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct View<'a> {
        session: &'a str,
        value: &'a RawValue,
        source: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        stale: Option<&'a str>,
        age_ms: u64,
        version: u64,
        state_epoch: Option<&'a str>,
        connected: bool,
    }
    let (source, stale) = match &answer.source {
        Source::Cache => ("cache", None),
        Source::Live => ("live", None),
        Source::Stale(reason) => ("stale", Some(reason.clone())),
    };
    let view = View {
        session: name,
        value: answer.value.raw(),
        source,
        stale: stale.as_deref(),
        age_ms: answer.age.as_millis() as u64,
        version: answer.version,
        state_epoch: answer.epoch.as_ref().map(|epoch| epoch.as_str()),
        connected: answer.connected,
    };
    // Written here, because the parts are borrowed.
    serde_json::value::to_raw_value(&view).expect("views have string keys only")
}

/// Shows a call's result. The result itself is not parsed.
pub fn result(name: &str, result: &Json) -> impl serde::Serialize {
    #[derive(serde::Serialize)]
    struct View<'a> {
        session: &'a str,
        result: &'a RawValue,
    }
    let view = View { session: name, result: result.raw() };
    serde_json::value::to_raw_value(&view).expect("views have string keys only")
}

/// Shows entries of a feed, with the cursor for the next question.
pub fn feed(since: u64, current: &Position, entries: &[LogEntry]) -> Value {
    let first = entries.first().map(|first| first.sequence);
    json!({
        "epoch": current.epoch.as_str(),
        "newest": current.sequence.0,
        "items": entries.iter().map(entry).collect::<Vec<_>>(),
        "next": entries.last().map_or(since, |last| last.sequence),
        // Entries between the cursor and the first one are no longer kept.
        "missed": first.map_or(0, |first| first.saturating_sub(since.saturating_add(1))),
    })
}

/// Shows an entry of the live feed.
pub fn feed_item(item: &FeedItem) -> Value {
    let mut shown = entry(&item.entry);
    shown["session"] = json!(&*item.name);
    shown["sessionId"] = json!(item.session.as_str());
    shown
}

fn entry(entry: &LogEntry) -> Value {
    let level = ["info", "warning", "error"][usize::from(entry.level.min(2))];
    json!({
        "sequence": entry.sequence,
        "atMs": entry.at_ms,
        "kind": entry.kind,
        "name": entry.name,
        "level": level,
        "body": opaque(&entry.body),
    })
}

fn position(position: &Position) -> Value {
    json!({"epoch": position.epoch.as_str(), "sequence": position.sequence.0})
}

/// A payload as a tree; what a peer nested too deeply is shown as its text.
fn opaque(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// A line of the audit.
pub fn audit(line: &AuditLine) -> Value {
    let record = &line.record;
    json!({
        "number": line.number,
        "atMs": record.at_ms,
        "client": record.client,
        "principal": record.principal,
        "session": record.session,
        "tool": record.tool,
        "outcome": record.outcome,
        "ms": record.ms,
        "call": record.call,
        "traceparent": record.trace,
    })
}
