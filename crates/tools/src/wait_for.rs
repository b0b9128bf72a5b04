//! Tool `wait_for`: returns when something happens, because most clients ignore pushes.
//!
//! Waits for a part of a state to change or to have a value, for an event after a cursor, or for
//! a session to be connected. Running out of time is an answer, not an error.

use std::{sync::Arc, time::Duration};

use hub::{Route, Session, feed::Watched};
use model::{Code, Fault, Sequence, json::shorten, page_text, record::LogEntry};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::{
    Toolbox,
    answer::LONGEST,
    definition::{self, Annotations, Client, CoreTool, Definition, Output, Work, decode},
};

/// Waiting time when none is given, and the longest that can be given.
const USUAL_MS: u64 = 30_000;
const LONGEST_MS: u64 = 300_000;
/// Events that one answer has, the newest ones.
const EVENTS: usize = 50;
/// Characters of one event's data.
const DATA: usize = 2000;

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool = CoreTool::own("wait_for", "wait", define, run);

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Until {
    State,
    Event,
    Connected,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Args {
    until: Until,
    session: Option<String>,
    path: Option<String>,
    /// `null` is a value to wait for.
    #[serde(default, deserialize_with = "present")]
    equals: Option<Value>,
    event: Option<String>,
    tab: Option<u64>,
    contains: Option<String>,
    since: Option<u64>,
    timeout_ms: Option<u64>,
}

/// Keeps a `null` that was given apart from an argument that was not.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Deserialize::deserialize(from).map(Some)
}

fn define() -> Definition {
    Definition {
        name: TOOL.name.to_owned(),
        title: String::new(),
        description:
            "Returns when an app's state changes, an event comes (console, network, dialog, \
            download, navigation, an app's own) or a session connects."
                .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "until": {"enum": ["state", "event", "connected"], "description": "what to wait for"},
                "session": {"type": "string"},
                "tab": {"type": "integer"},
                "path": {"type": "string", "description": "state: JSON pointer"},
                "equals": {"description": "state: value"},
                "event": {"type": "string", "description": "name"},
                "contains": {"type": "string", "description": "event: text in it"},
                "since": {"type": "integer", "minimum": 0,
                    "description": "version or cursor of the last answer"},
                "timeoutMs": {
                    "type": "integer", "minimum": 0, "maximum": LONGEST_MS,
                    "description": "0: just looks",
                },
            },
            "required": ["until"],
            "additionalProperties": false,
        }),
        output_schema: Some(json!({
            "type": "object",
            "properties": {
                "happened": {"type": "boolean"},
                "session": {"type": "string"},
                "value": {},
                "version": {"type": "integer"},
                "events": {"type": "array", "items": {"type": "object"}},
                "next": {"type": "integer"},
                "leftOut": {"type": "integer"},
            },
            "required": ["happened"],
        })),
        annotations: Annotations { read_only: true, ..Annotations::default() },
    }
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let args: Args = decode(args)?;
        let limit = Duration::from_millis(args.timeout_ms.unwrap_or(USUAL_MS));
        let waited = match args.until {
            Until::Connected => tokio::time::timeout(limit, connected(toolbox, args.session)).await,
            Until::State => {
                let session = choose(toolbox, client, args.session)?;
                let condition = StateCondition::new(&session, args.path, args.equals, args.since);
                tokio::time::timeout(limit, state(toolbox, &session, condition)).await
            }
            Until::Event => {
                let session = choose(toolbox, client, args.session)?;
                let now = session.feed_position().sequence;
                // Whoever only looks wants to see what there is.
                let begin = if limit.is_zero() { Sequence(0) } else { now };
                let mut since = args.since.map_or(begin, Sequence);
                let contains = args.contains.map(|text| text.to_lowercase());
                let wanted = Wanted { name: args.event, tab: args.tab, contains };
                let waiting = event(toolbox, &session, &wanted, &mut since);
                let waited = tokio::time::timeout(limit, waiting).await;
                return waited.unwrap_or_else(|_| Ok(no_event(&session, since, limit)));
            }
        };
        waited.unwrap_or_else(|_| {
            let text = nothing(limit);
            Ok(Output { text, structured: json!({"happened": false}), ..Output::default() })
        })
    })
}

fn nothing(limit: Duration) -> String {
    match limit.is_zero() {
        true => "nothing there that fits".to_owned(),
        false => format!("nothing happened within {} ms; call again to go on", limit.as_millis()),
    }
}

/// The answer of waiting in vain; what it has seen need not be looked at again, and what came
/// since must be.
fn no_event(session: &Session, Sequence(next): Sequence, limit: Duration) -> Output {
    let text = format!("{} (next cursor: {next})", nothing(limit));
    let structured = json!({"happened": false, "session": &*session.name, "next": next});
    Output { text, structured, ..Output::default() }
}

fn choose(
    toolbox: &Toolbox,
    client: &Client,
    session: Option<String>,
) -> Result<Arc<Session>, Fault> {
    let route = Route { session, binding: client.binding.clone() };
    toolbox.hub.route(&route, "something to wait for", |_| true)
}

/// Waits until somebody is connected: the named one, or anybody.
async fn connected(toolbox: &Toolbox, wanted: Option<String>) -> Result<Output, Fault> {
    let mut offers = toolbox.hub.offers();
    loop {
        let found = match &wanted {
            Some(name) => toolbox.hub.find(name).ok().filter(|session| session.is_connected()),
            None => toolbox.hub.sessions().into_iter().find(|session| session.is_connected()),
        };
        if let Some(session) = found {
            let structured = json!({"happened": true, "session": &*session.name});
            let text = format!("{} is connected", session.name);
            return Ok(Output { text, structured, ..Output::default() });
        }
        if offers.changed().await.is_err() {
            return Err(Fault::new(Code::ShuttingDown, "the hub is shutting down"));
        }
    }
}

/// What a state must be for the waiting to end.
struct StateCondition {
    path: String,
    equals: Option<Value>,
    /// What it was at the beginning; any other value ends the waiting.
    before: Option<Value>,
    /// It had moved on from the version that the client knows before the waiting began.
    moved_on: bool,
}

impl StateCondition {
    fn new(
        session: &Session,
        path: Option<String>,
        equals: Option<Value>,
        since: Option<u64>,
    ) -> Self {
        let path = path.unwrap_or_default();
        let (before, version) = look(session, &path).unzip();
        let moved_on = since.is_some_and(|since| version.is_some_and(|version| version > since));
        Self { path, equals, before, moved_on }
    }

    fn met(&self, session: &Session) -> Option<(Value, u64)> {
        let (value, version) = look(session, &self.path)?;
        let met = match &self.equals {
            Some(wanted) => value == *wanted,
            None => self.moved_on || self.before.as_ref() != Some(&value),
        };
        met.then_some((value, version))
    }
}

/// The value at a path now; an absent one is `null`.
fn look(session: &Session, path: &str) -> Option<(Value, u64)> {
    let snapshot = session.snapshot()?;
    let tree = snapshot.state.to_value().ok()?;
    Some((tree.pointer(path).cloned().unwrap_or_default(), snapshot.version))
}

async fn state(
    toolbox: &Toolbox,
    session: &Arc<Session>,
    condition: StateCondition,
) -> Result<Output, Fault> {
    let mut watcher = toolbox.hub.watch();
    loop {
        if let Some((value, version)) = condition.met(session) {
            let shown = value.to_string();
            let shown = page_text::json(&shown);
            let text = format!("{} is {shown} (version {version})", name_of(&condition.path));
            let structured = json!({
                "happened": true, "session": &*session.name, "value": value, "version": version,
            });
            return Ok(told(session, text, structured));
        }
        next(&mut watcher, session).await?;
    }
}

/// Which events end the waiting.
struct Wanted {
    name: Option<String>,
    tab: Option<u64>,
    /// In small letters.
    contains: Option<String>,
}

impl Wanted {
    fn is_met(&self, entry: &LogEntry) -> bool {
        entry.kind == "event"
            && self.name.as_ref().is_none_or(|name| *name == entry.name)
            && self.contains.as_ref().is_none_or(|text| entry.body.to_lowercase().contains(text))
            && self.tab.is_none_or(|tab| tab_of(&entry.body) == Some(tab))
    }
}

fn tab_of(body: &str) -> Option<u64> {
    serde_json::from_str::<Value>(body).ok()?["tabId"].as_u64()
}

/// Waits for events after a place in the feed, which moves on with what was looked at: nothing is
/// looked at twice.
async fn event(
    toolbox: &Toolbox,
    session: &Arc<Session>,
    wanted: &Wanted,
    since: &mut Sequence,
) -> Result<Output, Fault> {
    let mut watcher = toolbox.hub.watch();
    loop {
        let (current, entries) = session.feed_after(*since, usize::MAX);
        let newest = entries.last().map(|last| Sequence(last.sequence));
        // One from the future starts over; a log that cannot be read now is read again.
        *since = newest.unwrap_or_else(|| (*since).min(current.sequence));
        let fitting: Vec<_> = entries.iter().filter(|entry| wanted.is_met(entry)).collect();
        if !fitting.is_empty() {
            return Ok(show_events(session, &fitting, since.0));
        }
        next(&mut watcher, session).await?;
    }
}

/// Shows the newest events that fit into one answer; `next` is where to go on.
fn show_events(session: &Session, fitting: &[&LogEntry], next: u64) -> Output {
    let (mut events, mut lines, mut length) = (Vec::new(), Vec::new(), 0);
    for entry in fitting.iter().rev().take(EVENTS) {
        let event = show_event(entry);
        let line = page_text::json(&event.to_string()).into_owned();
        length += line.len();
        if length > LONGEST && !events.is_empty() {
            break;
        }
        events.push(event);
        lines.push(line);
    }
    events.reverse();
    lines.reverse();
    let older = fitting.len() - events.len();
    if older > 0 {
        lines.insert(
            0,
            format!("({older} older ones are left out; narrow it with event, tab or contains)"),
        );
    }
    lines.push(format!("(next cursor: {next})"));
    let mut structured = json!({
        "happened": true, "session": &*session.name, "events": events, "next": next,
    });
    if older > 0 {
        structured["leftOut"] = json!(older);
    }
    told(session, lines.join("\n"), structured)
}

/// One event; data that is too long is cut, and then it is a text.
fn show_event(entry: &LogEntry) -> Value {
    let data: Value = match entry.body.chars().nth(DATA) {
        None => serde_json::from_str(&entry.body).unwrap_or_default(),
        Some(_) => json!(shorten(&entry.body, DATA)),
    };
    json!({"sequence": entry.sequence, "name": entry.name, "data": data})
}

/// Waits until something happened in a session; what was missed may have been there too.
async fn next(watcher: &mut hub::feed::Watcher, session: &Session) -> Result<(), Fault> {
    loop {
        match watcher.next().await {
            Some(Watched::Item(item)) if item.session != session.id => {}
            Some(_) => return Ok(()),
            None => return Err(Fault::new(Code::ShuttingDown, "the hub is shutting down")),
        }
    }
}

fn name_of(path: &str) -> &str {
    if path.is_empty() { "the state" } else { path }
}

fn told(session: &Session, text: String, structured: Value) -> Output {
    let source = Some(definition::Source::of(session));
    Output { text, structured, source, ..Output::default() }
}
