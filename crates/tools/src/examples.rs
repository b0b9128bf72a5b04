//! Examples for the documents: a call of each action, and what the tool writes.
//!
//! They are data beside the tools, `examples/<tool>.toml`; a test makes every call against a
//! browser that answers as they say and compares the reply. Nothing here is used by a hub.

use serde::Deserialize;
use serde_json::Value;

use crate::{TOOLS, definition::CoreTool};

/// A call with its reply, for the reference and as a test.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Example {
    /// Calls that have to be made before, with `tool` in each.
    #[serde(default, deserialize_with = "json")]
    pub before: Value,
    /// The arguments of the call.
    #[serde(deserialize_with = "json")]
    pub call: Value,
    /// What the browser answers to the action's command; for `batch`, by command. A `data` of
    /// `@80000` stands for so many characters.
    #[serde(default, deserialize_with = "json")]
    pub browser: Value,
    /// The text of the reply.
    pub reply: String,
}

#[derive(Deserialize)]
struct File {
    example: Vec<Example>,
}

/// Returns a tool's examples, in the order of its actions; an error is for whoever wrote them.
pub fn of(tool: &str) -> Result<Vec<Example>, String> {
    let path = format!("{}/examples/{tool}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).map_err(|_| format!("{tool} has no examples"))?;
    let file: File = toml::from_str(&text).map_err(|error| format!("{tool}: {error}"))?;
    Ok(file.example)
}

/// Returns what an example calls: the value of the argument that picks what is done.
pub fn action(tool: &CoreTool, example: &Example) -> String {
    let word = example.call.get("action").or_else(|| example.call.get("until"));
    match (word.and_then(Value::as_str), tool.name) {
        (Some(word), _) => word.to_owned(),
        (None, "batch") => "run".to_owned(),
        (None, "browser_instance") => "list".to_owned(),
        (None, _) => {
            let first = tool.actions().iter().find(|action| action.command == tool.name);
            first.or(tool.actions().first()).map_or("", |action| action.name).to_owned()
        }
    }
}

/// Returns everything that should have an example: `(tool, action)`.
pub fn wanted() -> Vec<(&'static str, String)> {
    let mut wanted = Vec::new();
    for tool in TOOLS {
        let schema = tool.define().input_schema;
        let picks = ["action", "until"].map(|name| schema["properties"][name]["enum"].clone());
        let named = picks.iter().find_map(Value::as_array);
        match (tool.actions(), named) {
            ([], None) => wanted.push((tool.name, String::new())),
            ([], Some(words)) => {
                let words = words.iter().filter_map(Value::as_str);
                wanted.extend(words.map(|word| (tool.name, word.to_owned())));
            }
            (actions, _) => {
                wanted.extend(actions.iter().map(|action| (tool.name, action.name.to_owned())));
            }
        }
    }
    wanted
}

/// Reads a text that is JSON.
fn json<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    let text = String::deserialize(from)?;
    serde_json::from_str(&text).map_err(serde::de::Error::custom)
}
