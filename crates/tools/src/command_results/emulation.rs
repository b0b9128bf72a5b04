//! What a tab is made to see.

use model::page_text;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::CommandResult;

/// All that is in force in a tab.
#[derive(Deserialize, JsonSchema)]
pub struct Emulated {
    /// By name, such as `locale`.
    pub emulated: Map<String, Value>,
}

impl CommandResult for Emulated {
    fn words(&self) -> Option<String> {
        let lines: Vec<_> = self.emulated.iter().map(|(name, value)| line(name, value)).collect();
        Some(match lines.is_empty() {
            true => "the tab sees what the browser has; nothing is emulated".to_owned(),
            false => format!("in force in this tab, until reset:\n{}", lines.join("\n")),
        })
    }
}

/// One line: a name and what it is set to, without the marks of JSON.
fn line(name: &str, value: &Value) -> String {
    let plain = |value: &Value| match value {
        Value::String(text) => page_text::exact(text).into_owned(),
        other => page_text::json(&other.to_string()).into_owned(),
    };
    let text = match value {
        Value::Object(fields) => {
            let parts = fields
                .iter()
                .map(|(name, value)| format!("{} {}", page_text::line(name), plain(value)));
            parts.collect::<Vec<_>>().join(", ")
        }
        value => plain(value),
    };
    format!("{}: {text}", page_text::line(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::command_results::said;

    use super::*;

    #[test]
    fn what_is_in_force_is_said_in_lines() {
        let said = |emulated: Value| said::<Emulated>(json!({ "emulated": emulated }));
        let both = json!({"viewport": {"height": 844, "width": 390}, "locale": "de-DE"});
        let expected =
            "in force in this tab, until reset:\nlocale: de-DE\nviewport: height 844, width 390";
        assert_eq!(said(both).as_deref(), Some(expected));
        assert!(said(json!({})).unwrap().contains("nothing is emulated"));
        assert_eq!(said(json!("as another browser says")), None);
    }
}
