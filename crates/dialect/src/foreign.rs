//! What the dialects of other projects share: reading frames leniently, and saying what cannot be.
//!
//! Their clients were not made for us, so an odd frame gets an error in their own words and the
//! connection goes on. Whatever they declare is cut to what the hub takes.

use std::collections::{BTreeSet, HashSet};

use model::{
    CallId, Change, Code, Fault, FromBrowser, InstanceId, Json, NumberedChange, Reply, StateBody,
    StateUpdate, Tab, TabId, ToolSpec,
    json::{cut, shorten},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};

use crate::{Frame, Output, depth};

/// Tools of one page that are taken note of.
const TOOLS: usize = 256;
/// Bytes of a tool's name, description and schema.
const NAME: usize = 128;
const DESCRIPTION: usize = 4096;
const SCHEMA: usize = 65536;
/// Characters of a tab's title, and of its address.
const TITLE: usize = 1000;
const URL: usize = 8192;
/// Characters of an error's words.
const WORDS: usize = 2000;

/// Returns a frame's `type` with its text, or what is wrong with it.
pub fn head<'a>(frame: Frame<'a>) -> Result<(String, &'a str), String> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(rename = "type")]
        kind: Option<String>,
    }
    let Frame::Text(text) = frame else { return Err("binary messages are not spoken here".into()) };
    if depth::too_deep(text) {
        return Err(format!("nested deeper than {} levels", depth::DEEPEST));
    }
    let head: Head = read(text)?;
    // One of them has frames without a type: answers by id alone.
    Ok((head.kind.unwrap_or_default(), text))
}

/// Reads a frame as one type of message.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("this message cannot be read: {error}"))
}

/// Writes a message.
pub fn write(message: &Value) -> Output {
    Output::Write(message.to_string())
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

/// Delivers the end of a call.
pub fn ended(call: CallId, outcome: Result<Reply, Fault>) -> Output {
    Output::Deliver(FromBrowser::Ended { call, outcome })
}

/// Delivers the end of the call that an id from the wire means; any other id is nobody's.
pub fn ended_by(id: &str, outcome: Result<Reply, Fault>) -> Output {
    match id.parse() {
        Ok(call) => ended(call, outcome),
        Err(_) => Output::Deliver(FromBrowser::Stray),
    }
}

/// Delivers a result.
pub fn done(call: CallId, result: &Value) -> Output {
    ended(call, Ok(Reply::Result(Json::of(result))))
}

/// Makes the fault of a call that the client has failed, with its code where it gave one.
pub fn failure(code: Option<&str>, message: &str) -> Fault {
    let code = match code {
        None | Some("") => Code::ToolFailed,
        Some(code) => Code::Foreign(shorten(code, 64)),
    };
    let message = if message.is_empty() { "it failed and did not say why" } else { message };
    Fault::new(code, shorten(message, WORDS))
}

/// Makes the fault of an answer that is none.
pub fn malformed_reply(why: &str) -> Fault {
    Fault::new(Code::MalformedReply, format!("the answer is malformed: {}", shorten(why, 500)))
}

/// Ends a call that this client has no command for.
pub fn unsupported(call: CallId, client: &str, what: &str, can: &[&str]) -> Output {
    let fault = Fault::new(Code::Unsupported, format!("{client} cannot do {what}"))
        .hint(format!("it can: {}", can.join(", ")));
    ended(call, Err(fault))
}

/// Delivers something that happened.
pub fn changed(change: Change) -> Output {
    Output::Deliver(FromBrowser::Changed(NumberedChange { sequence: None, change }))
}

/// A whole state, of a page that counts no versions.
pub fn state(state: Box<RawValue>) -> StateUpdate {
    StateUpdate { body: StateBody::Whole(state.into()), epoch: None, version: None }
}

/// A result with a picture, in the one shape that all dialects give it.
pub fn picture(mime_type: &str, data: &str) -> Value {
    json!({"image": {"mimeType": mime_type, "data": data}})
}

/// Takes a `data:` address of a picture apart.
pub fn data_url(text: &str) -> Option<(&str, &str)> {
    let (head, data) = text.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

/// A tab as these clients tell it.
#[derive(Debug, Deserialize)]
pub struct WireTab {
    pub id: u64,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub url: Option<String>,
    #[serde(default)]
    pub active: Option<bool>,
    #[serde(default)]
    pub tools: Option<Vec<WireTool>>,
}

impl WireTab {
    /// Returns the tab, cut to what is kept.
    pub fn tab(&self) -> Tab {
        Tab {
            id: TabId(self.id),
            title: cut(self.title.as_deref().unwrap_or_default(), TITLE),
            url: cut(self.url.as_deref().unwrap_or_default(), URL),
            active: self.active.unwrap_or_default(),
        }
    }
}

/// A tool as these clients tell it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WireTool {
    pub name: String,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub input_schema: Option<Box<RawValue>>,
}

/// Returns the tools that fit, each once: one page's odd tool must not cost the others.
pub fn tools(told: Vec<WireTool>) -> Vec<ToolSpec> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let mut names = HashSet::new();
    told.into_iter()
        .filter(|tool| !tool.name.is_empty() && tool.name.len() <= NAME)
        .filter(|tool| tool.name.bytes().all(plain) && names.insert(tool.name.clone()))
        .take(TOOLS)
        .map(|tool| {
            let schema = tool.input_schema.map(Json::from);
            let fits = |schema: &Json| schema.size() <= SCHEMA && schema.as_str().starts_with('{');
            ToolSpec {
                description: cut(tool.description.as_deref().unwrap_or_default(), DESCRIPTION / 4),
                input_schema: schema
                    .filter(fits)
                    .unwrap_or_else(|| Json::of(&json!({"type": "object"}))),
                read_only: false,
                name: tool.name,
            }
        })
        .collect()
}

/// The tabs that a client has told of, so that what it tells twice is passed on once.
#[derive(Debug, Default)]
pub struct KnownTabs(BTreeSet<u64>);

impl KnownTabs {
    /// Takes note of a tab; `true` means that it is new.
    pub fn add(&mut self, id: u64) -> bool {
        self.0.insert(id)
    }

    /// Forgets a tab; `true` means that it was known.
    pub fn remove(&mut self, id: u64) -> bool {
        self.0.remove(&id)
    }

    /// Returns whether it is known.
    pub fn has(&self, id: u64) -> bool {
        self.0.contains(&id)
    }
}
