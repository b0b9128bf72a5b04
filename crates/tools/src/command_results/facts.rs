//! What is to be seen of an action's effects: messages of our extension, and their words.
//!
//! Names, texts and values are the page's: they stand in quotes, are cut, and never break a line.
//! Whatever has not the shape of a fact is left out. Counts of changes are the report's matter.

use model::{
    json::cut,
    page_text::{quoted, quoted_exact},
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::action_report::ActionReport;

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

/// Something to see that is different now.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "camelCase")]
pub enum Fact {
    /// It is there now.
    Appeared(Thing),
    /// It is another way now.
    Changed(Thing),
    /// It is not there any more.
    Gone(GoneThing),
    /// So many more of the others.
    More(MoreThings),
}

/// An element, or a text (`role` is `text` then), as it is now.
#[derive(Deserialize, JsonSchema)]
pub struct Thing {
    pub role: String,
    pub name: String,
    /// By which it can be acted on.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// What is in it; never of a password.
    pub value: Option<String>,
    /// Words such as `checked`.
    pub states: Option<Vec<String>>,
    /// Why it is not valid.
    pub message: Option<String>,
}

/// An element or text that went.
#[derive(Deserialize, JsonSchema)]
pub struct GoneThing {
    pub role: String,
    pub name: String,
}

/// What there is more in the same place of the list.
#[derive(Deserialize, JsonSchema)]
pub struct MoreThings {
    pub count: u64,
}

/// Reads those facts of a list that are some.
pub(super) fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Fact>, D::Error> {
    let told = Vec::<Value>::deserialize(deserializer)?;
    Ok(told.iter().filter_map(|fact| Fact::deserialize(fact).ok()).collect())
}

/// Says the facts of a report.
pub(super) fn said(report: &ActionReport) -> Said {
    let mut said = Said::default();
    let mut bytes = 0;
    for fact in report.facts.iter().take(MOST) {
        let Some(text) = fact.words(report) else { continue };
        bytes += text.len();
        if bytes > BYTES {
            break;
        }
        match fact {
            Fact::Changed(thing) if thing.is_element(report) => {
                said.element = Some(text).filter(|text| !text.is_empty());
            }
            Fact::Gone(_) => said.gone.push(text),
            _ => said.now.push(text),
        }
    }
    said
}

impl Fact {
    /// Says it; `None` where what it says is not what it should be.
    fn words(&self, report: &ActionReport) -> Option<String> {
        match self {
            Self::Changed(thing) if thing.is_element(report) => Some(thing.news(report)),
            Self::Appeared(thing) | Self::Changed(thing) => thing.words(),
            Self::Gone(GoneThing { role, name }) => {
                Some(format!("{} {}", known_role(role)?, short(name)))
            }
            Self::More(MoreThings { count }) => Some(format!("+{count} more")),
        }
    }
}

impl Thing {
    /// Says what it is, how to reach it, and how it is.
    fn words(&self) -> Option<String> {
        let mut text = format!("{} {}", known_role(&self.role)?, short(&self.name));
        if let Some(reference) = self.reference.as_ref().filter(|it| is_reference(it)) {
            text += &format!(" [ref={reference}]");
        }
        if let Some(value) = &self.value {
            text += &format!(" = {}", exactly(value));
        }
        let states = self.states();
        if !states.is_empty() {
            text += &format!(" {states}");
        }
        Some(text)
    }

    /// Says what is new about the element that was acted on; it has been named already.
    fn news(&self, report: &ActionReport) -> String {
        let mut parts = Vec::new();
        if report.element.as_ref().is_none_or(|element| element.name != self.name) {
            parts.push(short(&self.name));
        }
        parts.extend(self.value.as_ref().map(|value| format!("= {}", exactly(value))));
        // The action that checks tells this itself.
        if report.checked.is_none() {
            parts.extend(Some(self.states()).filter(|states| !states.is_empty()));
        }
        parts.join(" ")
    }

    fn states(&self) -> String {
        let told = self.states.as_deref().unwrap_or_default();
        let known = told.iter().map(String::as_str).filter(|state| STATES.contains(state));
        let mut text = known.take(STATES.len()).collect::<Vec<_>>().join(", ");
        if let Some(message) = &self.message {
            text += &format!(": {}", exactly(message));
        }
        text
    }

    fn is_element(&self, report: &ActionReport) -> bool {
        let element = report.element.as_ref().map(|element| &element.reference);
        self.reference.is_some() && self.reference.as_ref() == element
    }
}

fn known_role(role: &str) -> Option<&str> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    Some(role).filter(|role| role.len() <= 30 && role.bytes().all(plain))
}

fn short(name: &str) -> String {
    quoted(&cut(name, TEXT))
}

fn exactly(text: &str) -> String {
    quoted_exact(&cut(text, TEXT))
}

fn is_reference(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_digit() || byte == b'd' || byte == b'e';
    !text.is_empty() && text.len() <= 24 && text.bytes().all(known)
}
