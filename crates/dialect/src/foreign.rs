//! What the dialects of other projects share: reading frames leniently, and saying what cannot be.
//!
//! - [`args`]: a command's arguments on their way into the words of another client;
//! - [`pending`]: what a machine must remember of a call until its answer;
//! - [`tabs`]: tabs and pages' tools, cut to what the hub takes.
//!
//! Their clients were not made for us, so an odd frame gets an error in their own words and the
//! connection goes on.

pub mod args;
pub mod pending;
pub mod tabs;

use model::{
    CallId, Change, Code, Fault, FromBrowser, Hello, InstanceId, Json, Kind, Level, NumberedChange,
    PeerTraits, Reply, StateBody, StateUpdate, TabId, ToBrowser, Work,
    json::{cut, shorten},
    shape,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json, value::RawValue};

use self::pending::Pending;
use crate::{Frame, Output};

/// Characters of an event's name.
const EVENT: usize = 100;

/// Returns a frame's `type` with its text, or what is wrong with it.
pub fn head<'a>(frame: Frame<'a>) -> Result<(String, &'a str), String> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(rename = "type")]
        kind: Option<String>,
    }
    let Frame::Text(text) = frame else { return Err("binary messages are not spoken here".into()) };
    if shape::too_deep(text) {
        return Err(format!("nested deeper than {} levels", shape::DEEPEST));
    }
    let head: Head = read(text)?;
    // One of them has frames without a type: answers by id alone.
    Ok((head.kind.unwrap_or_default(), text))
}

/// Reads a frame the way a machine does, or returns what is wrong with it.
///
/// An answer that nobody can open later ends its call at once instead of letting it wait.
pub fn taken(
    frame: Frame<'_>,
    take: impl FnOnce(&str, &str) -> Result<Vec<Output>, String>,
) -> Result<Vec<Output>, String> {
    match head(frame) {
        Ok((kind, text)) => take(&kind, text),
        Err(why) => match buried_call(frame) {
            Some(call) => Ok(vec![failed(call, Fault::malformed("the answer", why))]),
            None => Err(why),
        },
    }
}

/// Returns the call that a too deeply nested frame answers.
fn buried_call(frame: Frame<'_>) -> Option<CallId> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Ids<'a> {
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        wire_id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        call_id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        request_id: Option<&'a RawValue>,
    }
    let Frame::Text(text) = frame else { return None };
    let ids: Ids<'_> = serde_json::from_str(text).ok()?;
    let ids = [ids.id, ids.wire_id, ids.call_id, ids.request_id].into_iter().flatten();
    ids.filter_map(|id| serde_json::from_str::<&str>(id.get()).ok()?.parse().ok()).next()
}

/// Reads a frame as one type of message.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("this message cannot be read: {error}"))
}

/// Reads a list of which each item counts for itself: an odd one must not cost the others.
pub fn each<T: DeserializeOwned>(list: Option<&RawValue>, most: usize) -> Vec<T> {
    let items: Vec<&RawValue> =
        list.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default();
    items.into_iter().filter_map(|item| serde_json::from_str(item.get()).ok()).take(most).collect()
}

/// Writes a message.
pub fn write(message: &impl Serialize) -> Output {
    let text = serde_json::to_string(message).expect("wire messages have string keys only");
    Output::Write(text)
}

/// Writes a message of a type with the fields of an object; the type is never one of the fields.
pub fn write_flat(kind: &str, fields: &Json) -> Output {
    let mut message = match fields.to_value() {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    message.insert("type".to_owned(), json!(kind));
    Output::Write(Value::Object(message).to_string())
}

/// Sends what clients without a replay are told in the same way, and leaves out what they have no
/// words for. A client cannot stop what it does; the answer to a cancelled call will be nobody's.
pub fn send_other<T>(message: ToBrowser, pending: &mut Pending<T>) -> Vec<Output> {
    match message {
        ToBrowser::Ping => vec![Output::Ping],
        ToBrowser::Bye(closing) => vec![Output::Close(closing)],
        ToBrowser::Cancel(call) => {
            pending.take(call);
            Vec::new()
        }
        ToBrowser::Welcome(_)
        | ToBrowser::Call(_)
        | ToBrowser::CallQuery(_)
        | ToBrowser::Mention { .. }
        | ToBrowser::Changed(_)
        | ToBrowser::ReplayRequest(_)
        | ToBrowser::ReplayPage(_)
        | ToBrowser::Challenge { .. }
        | ToBrowser::Ack(_) => Vec::new(),
    }
}

/// Makes an instance id of whatever a client calls itself.
pub fn instance(text: &str) -> Result<InstanceId, String> {
    if let Ok(instance) = InstanceId::parse(text) {
        return Ok(instance);
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
    let escaped: String = text
        .bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!(":{byte:02x}"),
        })
        .collect();
    InstanceId::parse(&escaped).map_err(|error| error.to_string())
}

/// The introduction of a browser that was not made for us.
pub fn browser(instance: InstanceId, name: &str, commands: &[&str]) -> Hello {
    let commands = commands.iter().map(|&name| name.to_owned()).collect();
    Hello {
        instance,
        kind: Kind::Browser,
        name: Some(name.to_owned()),
        version: None,
        capabilities: Vec::new(),
        epoch: None,
        position: None,
        resume_token: None,
        tabs: Vec::new(),
        traits: PeerTraits { commands, ..PeerTraits::default() },
    }
}

/// Makes the instance id of a client that has none of its own.
pub fn place(name: &'static str) -> InstanceId {
    InstanceId::parse(name).expect("a dialect's own word is an instance id")
}

/// Returns the call that an id on the wire means, where it is one of ours.
pub fn call_of(id: &Value) -> Option<CallId> {
    id.as_str()?.parse().ok()
}

/// Delivers that an answer is nobody's.
pub fn stray() -> Output {
    Output::Deliver(FromBrowser::Stray)
}

/// Delivers a sign of life.
pub fn alive() -> Output {
    Output::Deliver(FromBrowser::Alive)
}

/// Delivers the end of a call.
pub fn ended(call: CallId, outcome: Result<Reply, Fault>) -> Output {
    Output::Deliver(FromBrowser::Ended { call, outcome })
}

/// Delivers the end of the call that an id from the wire means; any other id is nobody's.
pub fn ended_by(id: &str, outcome: Result<Reply, Fault>) -> Output {
    match id.parse() {
        Ok(call) => ended(call, outcome),
        Err(_) => stray(),
    }
}

/// Delivers the end of a call that has failed.
pub fn failed(call: CallId, fault: Fault) -> Output {
    ended(call, Err(fault))
}

/// Delivers a result as it came; one that was left out is `null`.
pub fn carried(call: CallId, result: Option<Box<RawValue>>) -> Output {
    ended(call, Ok(Reply::Result(result.map_or_else(Json::null, Json::from))))
}

/// Delivers a result.
pub fn done(call: CallId, result: &Value) -> Output {
    ended(call, Ok(Reply::Result(Json::of(result))))
}

/// Makes the fault of a call that the client has failed, with its code where it gave one.
pub fn failure(code: Option<&str>, message: &str) -> Fault {
    let message = if message.is_empty() { "it failed and did not say why" } else { message };
    Fault::told(code.unwrap_or_default(), message)
}

/// Returns the words of an error in whatever form it came.
pub fn words(error: &Value) -> String {
    let within = ["message", "error"].into_iter().find_map(|name| error.get(name)?.as_str());
    match error.as_str().or(within) {
        Some(text) => text.to_owned(),
        None if error.is_null() => String::new(),
        None => error.to_string(),
    }
}

/// Makes the fault of a result that says of itself that it is none; none where it does not.
pub fn unsuccessful(result: &Map<String, Value>) -> Option<Fault> {
    if result.get("success") != Some(&Value::Bool(false)) {
        return None;
    }
    let told = ["error", "message"].into_iter().find_map(|name| result.get(name));
    let words = told.map(words).filter(|words| !words.is_empty());
    Some(failure(None, words.as_deref().unwrap_or("it did not succeed and did not say why")))
}

/// Makes the fault of something that this client has no command for.
pub fn cannot(client: &str, what: &str, can: &[&str]) -> Fault {
    Fault::new(Code::Unsupported, format!("{client} cannot do {}", shorten(what, 100)))
        .hint(format!("it can: {}", can.join(", ")))
}

/// Ends a call that this client has no command for.
pub fn unsupported(call: CallId, client: &str, what: &str, can: &[&str]) -> Output {
    failed(call, cannot(client, what, can))
}

/// Names a piece of work, for the fault of one that cannot be done.
pub fn name_of(work: &Work) -> &str {
    match work {
        Work::Tool { name, .. } => name,
        Work::State { .. } => "state queries",
        Work::OpenTab { .. } => "openTab",
        Work::CloseTab => "closeTab",
        Work::FocusTab => "focusTab",
        Work::DiscoverTools => "discoverTools",
    }
}

/// Returns a call's tab, for work that is nothing without one.
pub fn tab_of(tab: Option<TabId>) -> Result<TabId, Fault> {
    let missing = || Fault::new(Code::UnknownTab, "this needs a tab and none was named");
    tab.ok_or_else(|| missing().hint("name one as `tab`; browser_tab list shows them"))
}

/// Delivers something that happened.
pub fn changed(change: Change) -> Output {
    Output::Deliver(FromBrowser::Changed(NumberedChange { sequence: None, change }))
}

/// Delivers an event.
pub fn event(name: &str, level: Level, data: Json) -> Output {
    let name = if name.is_empty() { "event" } else { name };
    changed(Change::Event { name: cut(name, EVENT), level, data })
}

/// A whole state, of a page that counts no versions.
pub fn state(state: Box<RawValue>) -> StateUpdate {
    StateUpdate { body: StateBody::Whole(state.into()), epoch: None, version: None }
}

/// Gives a result's bytes their one shape, beside whatever else the client told.
pub fn with_bytes(
    mut result: Map<String, Value>,
    name: &str,
    mime_type: &str,
    data: &str,
) -> Value {
    let (mime_type, data) = data_url(data).unwrap_or((mime_type, data));
    result.insert(name.to_owned(), json!({"mimeType": mime_type, "data": data}));
    Value::Object(result)
}

/// Cuts a result's `content` to the wanted length, and says so.
pub fn cut_content(result: &mut Map<String, Value>, longest: usize) {
    if let Some(Value::String(content)) = result.get_mut("content")
        && content.chars().nth(longest).is_some()
    {
        *content = cut(content, longest);
        result.insert("truncated".to_owned(), json!(true));
    }
}

/// Takes a `data:` address of a picture apart.
pub fn data_url(text: &str) -> Option<(&str, &str)> {
    let (head, data) = text.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}
