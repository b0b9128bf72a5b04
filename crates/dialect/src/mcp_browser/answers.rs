//! Answers of mcp-browser's extension in our shapes, and what the page wrote to its console.
//!
//! An answer carries its fields beside the id or under `response`; both forms are taken. Whatever
//! says `success: false` is a failure, with the words that came with it.

use std::hash::{DefaultHasher, Hash, Hasher};

use model::{CallId, Fault, Json, Level};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{Open, commands::Shape};
use crate::{
    Output,
    foreign::{self, pending::Pending},
};

/// The messages that answer a command by its id.
pub const KINDS: &[&str] = &[
    "ascii_layout_extracted",
    "content_extracted",
    "dom_command_response",
    "evaluate_js_response",
    "screenshot_captured",
    "semantic_dom_extracted",
];

/// Lines of one batch that are passed on; the client sends at most 100.
const LINES: usize = 500;
/// How the extension's own lines begin.
const NOISE: &str = "[MCP Browser]";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    request_id: Value,
    #[serde(default)]
    response: Option<Box<RawValue>>,
}

/// Ends the call that an answer is for.
pub fn take(kind: &str, text: &str, open: &mut Pending<Open>) -> Result<Output, String> {
    let Answer { request_id, response } = foreign::read(text)?;
    let Some(call) = foreign::call_of(&request_id) else { return Ok(foreign::stray()) };
    let shape = open.take(call).map_or(Shape::Plain, |open| open.shape);
    let nested = response.filter(|response| response.get() != "null");
    let mut fields: Map<String, Value> = match nested {
        Some(response) => match serde_json::from_str(response.get()) {
            Ok(fields) => fields,
            Err(_) => return Ok(malformed(call, "its response is not an object")),
        },
        None => foreign::read(text)?,
    };
    for name in ["type", "requestId", "response"] {
        fields.remove(name);
    }
    if let Some(fault) = foreign::unsuccessful(&fields) {
        return Ok(foreign::failed(call, fault));
    }
    if fields.is_empty() {
        return Ok(malformed(call, "it has neither a result nor an error"));
    }
    Ok(match kind {
        "screenshot_captured" => picture(call, fields),
        "evaluate_js_response" => evaluated(call, shape, &fields),
        "content_extracted" => content(call, shape, fields),
        _ => foreign::done(call, &Value::Object(fields)),
    })
}

fn malformed(call: CallId, why: &str) -> Output {
    foreign::failed(call, Fault::malformed("the answer", why))
}

/// The client pictures what is in front, which need not be the tab that it drives.
fn picture(call: CallId, mut fields: Map<String, Value>) -> Output {
    let Some(Value::String(data)) = fields.remove("data") else {
        return malformed(call, "a picture without data");
    };
    let told = fields.remove("mimeType");
    let mime_type = told.as_ref().and_then(Value::as_str).unwrap_or("image/png");
    let rest = Map::from_iter([("note".to_owned(), json!("it shows the tab that is in front"))]);
    foreign::done(call, &foreign::with_bytes(rest, "image", mime_type, &data))
}

/// A result is always a text here.
fn evaluated(call: CallId, shape: Shape, fields: &Map<String, Value>) -> Output {
    let result = fields.get("result").cloned().unwrap_or_default();
    let place = match shape {
        Shape::Place => result.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()),
        _ => None,
    };
    match place {
        Some(place) => foreign::done(call, &json!({ "position": place })),
        None => foreign::done(call, &json!({ "result": unpacked(shape, &result) })),
    }
}

/// Gives a page's text the place that it has everywhere, and leaves its second copy out.
fn content(call: CallId, shape: Shape, mut fields: Map<String, Value>) -> Output {
    if let Some(Value::Object(mut article)) = fields.remove("content") {
        article.remove("htmlContent");
        article.retain(|_, value| !value.is_null());
        fields.extend(article);
    }
    fields.insert("format".to_owned(), json!("text"));
    if let Shape::Content(Some(longest)) = shape {
        foreign::cut_content(&mut fields, longest);
    }
    foreign::done(call, &Value::Object(fields))
}

/// Returns the object that a script gave, where the text holds one.
fn unpacked(shape: Shape, result: &Value) -> Value {
    let object = match (shape, result) {
        (Shape::Value, Value::String(text)) if text.starts_with(['{', '[']) => {
            serde_json::from_str(text).ok()
        }
        _ => None,
    };
    object.unwrap_or_else(|| result.clone())
}

/// Lines of a page's console.
#[derive(Deserialize)]
pub struct Batch {
    messages: Box<RawValue>,
    #[serde(default)]
    url: Option<String>,
}

/// What a line says of itself.
#[derive(Default, Deserialize)]
struct Line {
    #[serde(default)]
    level: Option<String>,
    #[serde(default)]
    message: Value,
}

/// Delivers a batch of console lines, unless it is the last one told again.
pub fn batch(batch: Batch, last: &mut Option<u64>) -> Vec<Output> {
    let mut hasher = DefaultHasher::new();
    (batch.messages.get(), &batch.url).hash(&mut hasher);
    if last.replace(hasher.finish()) == Some(hasher.finish()) {
        return vec![foreign::alive()];
    }
    let lines: Vec<Box<RawValue>> = foreign::each(Some(&batch.messages), LINES);
    let events: Vec<_> = lines.into_iter().filter_map(line).collect();
    if events.is_empty() { vec![foreign::alive()] } else { events }
}

fn line(raw: Box<RawValue>) -> Option<Output> {
    let line: Line = serde_json::from_str(raw.get()).unwrap_or_default();
    let noise = line.message.as_str().is_some_and(|text| text.starts_with(NOISE));
    (!noise).then(|| foreign::event("console", level(line.level.as_deref()), Json::from(raw)))
}

fn level(told: Option<&str>) -> Level {
    match told {
        Some("error") => Level::Error,
        Some("warn" | "warning") => Level::Warning,
        _ => Level::Info,
    }
}

/// Delivers one of the messages that the project's document shows and its extension never sends.
pub fn event(kind: &str, text: &str) -> Result<Output, String> {
    #[derive(Deserialize)]
    struct Told {
        #[serde(default)]
        level: Option<String>,
        #[serde(default)]
        data: Option<Box<RawValue>>,
    }
    let Told { level: told, data } = foreign::read(text)?;
    let data = match data {
        Some(data) => data,
        None => RawValue::from_string(text.to_owned()).map_err(|error| error.to_string())?,
    };
    let line: Line = serde_json::from_str(data.get()).unwrap_or_default();
    let name = match kind {
        "console_log" => "console",
        "dom_response" => "domResponse",
        _ => "domUpdate",
    };
    Ok(foreign::event(name, level(told.or(line.level).as_deref()), Json::from(data)))
}
