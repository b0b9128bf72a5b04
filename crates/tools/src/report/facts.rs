//! What is to be seen of an action's effects, in words: from the facts of our extension's report.
//!
//! Names, texts and values are the page's: they stand in quotes, are cut, and never break a line.
//! Whatever has not the shape of a fact is left out. Counts of changes are the report's matter.

use model::{
    json::cut,
    page_text::{quoted, quoted_exact},
};
use serde_json::Value;

/// Facts that are said at most; the extension tells fewer.
const MOST: usize = 16;
/// Bytes that all of them have at most.
const BYTES: usize = 600;
/// Characters of a name, text or value.
const TEXT: usize = 80;
/// States that a fact may tell.
const STATES: [&str; 14] = [
    "checked",
    "collapsed",
    "current",
    "disabled",
    "enabled",
    "expanded",
    "invalid",
    "mixed",
    "not current",
    "not pressed",
    "not selected",
    "pressed",
    "selected",
    "unchecked",
];

/// What facts come to, in words.
#[derive(Default)]
pub(super) struct Said {
    /// What is new about the element that was acted on.
    pub(super) element: Option<String>,
    /// What else there is now.
    pub(super) now: Vec<String>,
    /// What is not there any more.
    pub(super) gone: Vec<String>,
}

impl Said {
    /// Whether there is nothing to say.
    pub(super) fn is_empty(&self) -> bool {
        self.element.is_none() && self.now.is_empty() && self.gone.is_empty()
    }
}

/// Says the facts of a report.
pub(super) fn said(report: &Value) -> Said {
    let mut said = Said::default();
    let facts = report["facts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut bytes = 0;
    for fact in facts.iter().take(MOST) {
        let Some(words) = words(report, fact) else { continue };
        bytes += words.text.len();
        if bytes > BYTES {
            break;
        }
        match words.place {
            Place::Element => said.element = Some(words.text).filter(|text| !text.is_empty()),
            Place::Now => said.now.push(words.text),
            Place::Gone => said.gone.push(words.text),
        }
    }
    said
}

enum Place {
    Element,
    Now,
    Gone,
}

struct Words {
    place: Place,
    text: String,
}

fn words(report: &Value, fact: &Value) -> Option<Words> {
    let is = |place, text| Some(Words { place, text });
    match fact.get("what")?.as_str()? {
        "appeared" => is(Place::Now, thing(fact)?),
        "changed" if is_of_element(report, fact) => is(Place::Element, news(report, fact)),
        "changed" => is(Place::Now, thing(fact)?),
        "gone" => is(Place::Gone, format!("{} {}", role(fact)?, name(fact)?)),
        "more" => is(Place::Now, format!("+{} more", fact.get("count")?.as_u64()?)),
        _ => None,
    }
}

/// Says an element or a text: what it is, how to reach it, and how it is.
fn thing(fact: &Value) -> Option<String> {
    let mut text = format!("{} {}", role(fact)?, name(fact)?);
    if let Some(reference) = fact["ref"].as_str().filter(|reference| is_reference(reference)) {
        text += &format!(" [ref={reference}]");
    }
    if let Some(value) = exactly(fact, "value") {
        text += &format!(" = {value}");
    }
    let states = states(fact);
    if !states.is_empty() {
        text += &format!(" {states}");
    }
    Some(text)
}

/// Says what is new about the element that was acted on; it has been named already.
fn news(report: &Value, fact: &Value) -> String {
    let mut parts = Vec::new();
    if fact["name"] != report["element"]["name"] {
        parts.extend(name(fact));
    }
    parts.extend(exactly(fact, "value").map(|value| format!("= {value}")));
    // The action that checks tells this itself.
    if report.get("checked").is_none() {
        parts.extend(Some(states(fact)).filter(|states| !states.is_empty()));
    }
    parts.join(" ")
}

fn states(fact: &Value) -> String {
    let told = fact["states"].as_array().map(Vec::as_slice).unwrap_or_default();
    let known = told.iter().filter_map(Value::as_str).filter(|state| STATES.contains(state));
    let mut text = known.take(STATES.len()).collect::<Vec<_>>().join(", ");
    if let Some(message) = exactly(fact, "message") {
        text += &format!(": {message}");
    }
    text
}

fn is_of_element(report: &Value, fact: &Value) -> bool {
    fact["ref"].is_string() && fact["ref"] == report["element"]["ref"]
}

fn role(fact: &Value) -> Option<&str> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    fact["role"].as_str().filter(|role| role.len() <= 30 && role.bytes().all(plain))
}

fn name(fact: &Value) -> Option<String> {
    Some(quoted(&cut(fact["name"].as_str()?, TEXT)))
}

fn exactly(fact: &Value, field: &str) -> Option<String> {
    Some(quoted_exact(&cut(fact[field].as_str()?, TEXT)))
}

fn is_reference(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_digit() || byte == b'd' || byte == b'e';
    !text.is_empty() && text.len() <= 24 && text.bytes().all(known)
}
