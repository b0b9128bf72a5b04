//! Sessions and answers as the admin API shows them; the comments stand in its description.

use hub::{AuditLine, SessionInfo, Source, StateAnswer, feed::FeedItem};
use model::{
    Position, Tab, ToolSpec,
    record::{AuditRecord, LogEntry},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, value::RawValue};

/// A session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// The hub's id.
    id: String,
    /// The readable name.
    name: String,
    /// The peer's own name for itself.
    instance_id: String,
    #[schemars(extend("enum" = ["browser", "app"]))]
    kind: &'static str,
    /// The wire protocol.
    dialect: String,
    origin: Option<String>,
    /// Nobody has proven that the origin is the one that was meant.
    unproven: bool,
    /// The paired browser that connects this app on its behalf and attests its origin.
    carried_by: Option<String>,
    version: Option<String>,
    capabilities: Vec<String>,
    /// Whether its browser is there.
    connected: bool,
    /// How long it has been so.
    since_ms: u64,
    /// Connections so far.
    connections: u64,
    /// Calls without an end yet.
    calls_in_flight: usize,
    state_version: Option<u64>,
    tabs: Vec<TabView>,
    tools: Vec<ToolView>,
    sent: PositionView,
    received: Option<PositionView>,
}

/// A tab of a browser.
#[derive(Serialize, JsonSchema)]
pub struct TabView {
    /// The browser's number.
    id: u64,
    /// Its title.
    title: String,
    /// Its address.
    url: String,
    /// Whether it is in front.
    active: bool,
}

/// A tool of an app.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    /// Its name.
    name: String,
    /// What it does.
    description: String,
    /// JSON Schema of its arguments.
    input_schema: Value,
    /// The app's word that it changes nothing.
    read_only: bool,
}

/// A place in a log.
#[derive(Serialize, JsonSchema)]
pub struct PositionView {
    /// Which log.
    epoch: String,
    /// How far.
    sequence: u64,
}

/// A state with what must be known to trust it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateView {
    /// Whose.
    session: String,
    /// The state or the part that was asked for.
    value: Box<RawValue>,
    #[schemars(extend("enum" = ["cache", "live", "stale"]))]
    source: &'static str,
    /// Why the page could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<String>,
    /// How long ago the page told it.
    age_ms: u64,
    /// Its version.
    version: u64,
    state_epoch: Option<String>,
    /// Whether the page is there.
    connected: bool,
}

/// Entries of a feed, with the cursor for the next question.
#[derive(Serialize, JsonSchema)]
pub struct FeedView {
    /// Which log; another one means that the cursor is void.
    epoch: String,
    /// The newest number.
    newest: u64,
    items: Vec<FeedEntryView>,
    /// The cursor for the next question.
    next: u64,
    /// Entries after the cursor that are no longer kept.
    missed: u64,
}

/// An entry of a feed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedEntryView {
    /// Its number.
    sequence: u64,
    /// Milliseconds since 1970.
    at_ms: u64,
    /// The message type, `call` or `session`.
    kind: String,
    /// The event's name or the tool's.
    name: String,
    #[schemars(extend("enum" = ["info", "warning", "error"]))]
    level: &'static str,
    /// The payload.
    body: Value,
}

/// An entry of the live feed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedItemView {
    /// The session's name.
    session: String,
    /// The session's id.
    session_id: String,
    #[serde(flatten)]
    entry: FeedEntryView,
}

/// A line of the audit.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLineView {
    number: u64,
    at_ms: u64,
    client: String,
    principal: Option<String>,
    session: Option<String>,
    tool: String,
    outcome: String,
    ms: u64,
    call: Option<String>,
    traceparent: Option<String>,
}

/// Shows a session.
pub fn session(info: SessionInfo) -> SessionView {
    SessionView {
        id: info.id.as_str().to_owned(),
        name: info.name,
        instance_id: info.instance.as_str().to_owned(),
        kind: info.kind.as_str(),
        dialect: info.dialect,
        origin: info.origin,
        unproven: info.unproven,
        carried_by: info.carried_by.map(|carrier| carrier.as_str().to_owned()),
        version: info.version,
        capabilities: info.capabilities,
        connected: info.connected,
        since_ms: info.for_time.as_millis() as u64,
        connections: info.connections,
        calls_in_flight: info.calls_in_flight,
        state_version: info.state_version,
        tabs: info.tabs.into_iter().map(tab).collect(),
        tools: info.tools.into_iter().map(tool).collect(),
        sent: position(info.sent),
        received: info.received.map(position),
    }
}

/// Shows a state.
pub fn state(name: &str, answer: &StateAnswer) -> StateView {
    let (source, stale) = match &answer.source {
        Source::Cache => ("cache", None),
        Source::Live => ("live", None),
        Source::Stale(reason) => ("stale", Some(reason.clone())),
    };
    StateView {
        session: name.to_owned(),
        value: answer.value.raw().to_owned(),
        source,
        stale,
        age_ms: answer.age.as_millis() as u64,
        version: answer.version,
        state_epoch: answer.epoch.as_ref().map(|epoch| epoch.as_str().to_owned()),
        connected: answer.connected,
    }
}

/// Shows entries of a feed after a cursor.
pub fn feed(since: u64, current: &Position, entries: Vec<LogEntry>) -> FeedView {
    let first = entries.first().map(|first| first.sequence);
    FeedView {
        epoch: current.epoch.as_str().to_owned(),
        newest: current.sequence.0,
        next: entries.last().map_or(since, |last| last.sequence),
        // Entries between the cursor and the first one are no longer kept.
        missed: first.map_or(0, |first| first.saturating_sub(since.saturating_add(1))),
        items: entries.into_iter().map(entry).collect(),
    }
}

/// Shows an entry of the live feed.
pub fn feed_item(item: FeedItem) -> FeedItemView {
    let (session, session_id) = (item.name.to_string(), item.session.as_str().to_owned());
    FeedItemView { session, session_id, entry: entry(item.entry) }
}

/// Shows a line of the audit.
pub fn audit(line: AuditLine) -> AuditLineView {
    let AuditRecord { at_ms, client, principal, session, tool, outcome, ms, call, trace } =
        line.record;
    let (number, traceparent) = (line.number, trace);
    AuditLineView {
        number,
        at_ms,
        client,
        principal,
        session,
        tool,
        outcome,
        ms,
        call,
        traceparent,
    }
}

fn tab(Tab { id, title, url, active }: Tab) -> TabView {
    TabView { id: id.0, title, url, active }
}

fn tool(ToolSpec { name, description, input_schema, read_only, .. }: ToolSpec) -> ToolView {
    ToolView { name, description, input_schema: opaque(input_schema.as_str()), read_only }
}

fn entry(LogEntry { sequence, at_ms, kind, name, level, body }: LogEntry) -> FeedEntryView {
    let level = ["info", "warning", "error"][usize::from(level.min(2))];
    FeedEntryView { sequence, at_ms, kind, name, level, body: opaque(&body) }
}

fn position(position: Position) -> PositionView {
    PositionView { epoch: position.epoch.as_str().to_owned(), sequence: position.sequence.0 }
}

/// A payload as a tree; what a peer nested too deeply is shown as its text.
fn opaque(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
