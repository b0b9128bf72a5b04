//! The table of settings, read off the rooms' own `Config` types: name, kind, default, words.

use schemars::schema_for;
use serde_json::Value;

use super::Settings;

/// `TABWIRE_` variables that are for commands and not settings of the hub.
pub const NOT_SETTINGS: &[&str] = &["config", "token", "bin"];

/// A field of a room's `Config`, as a key, a flag and a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its key in the file.
    pub name: String,
    /// What values look like.
    pub kind: Kind,
    /// What it is for.
    pub doc: String,
    /// Its value when nobody says anything.
    pub default: Value,
}

/// What the values of a setting look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Number,
    /// A text; times are texts such as `30s`.
    Text,
    /// Several texts.
    List,
}

impl Kind {
    /// Returns what a reader calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Switch => "true or false",
            Self::Number => "a whole number",
            Self::Text => "a text",
            Self::List => "a list of texts",
        }
    }
}

impl Setting {
    /// Returns the flag's name.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Returns the variable's name.
    pub fn variable(&self) -> String {
        format!("TABWIRE_{}", self.name.to_uppercase())
    }

    /// Reads a value from flags or a variable.
    pub fn parse(&self, texts: &[String]) -> Result<Value, String> {
        let last = texts.last().map(String::as_str).unwrap_or_default();
        let wanted = || format!("takes {}, not {last:?}", self.kind.as_str());
        match self.kind {
            Kind::Switch => match last.to_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Ok(Value::Bool(true)),
                "false" | "0" | "no" | "off" => Ok(Value::Bool(false)),
                _ => Err(wanted()),
            },
            Kind::Number => last.parse::<u64>().map(Value::from).map_err(|_| wanted()),
            Kind::Text => Ok(Value::String(last.to_owned())),
            Kind::List => {
                let items = texts.iter().flat_map(|text| text.split(','));
                let items = items.map(str::trim).filter(|item| !item.is_empty());
                Ok(items.map(|item| Value::String(item.to_owned())).collect())
            }
        }
    }

    /// Checks a value from the file.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match self.kind {
            Kind::Switch => value.is_boolean(),
            Kind::Number => value.is_u64(),
            Kind::Text => value.is_string(),
            Kind::List => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        };
        if fits { Ok(()) } else { Err(format!("takes {}, not {value}", self.kind.as_str())) }
    }
}

/// Returns all settings, by name.
pub fn settings() -> Vec<Setting> {
    let schema = schema_for!(Settings);
    let defaults = serde_json::to_value(Settings::default()).unwrap_or_default();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut table: Vec<_> = properties
        .iter()
        .map(|(name, property)| Setting {
            name: name.clone(),
            kind: kind(property),
            doc: doc(property),
            default: defaults.get(name).cloned().unwrap_or_default(),
        })
        .collect();
    table.sort_by(|one, other| one.name.cmp(&other.name));
    table
}

fn kind(property: &Value) -> Kind {
    let named = |wanted: &str| match &property["type"] {
        Value::String(name) => name == wanted,
        Value::Array(names) => names.iter().any(|name| name == wanted),
        _ => false,
    };
    if named("boolean") {
        Kind::Switch
    } else if named("integer") {
        Kind::Number
    } else if named("array") {
        Kind::List
    } else {
        Kind::Text
    }
}

fn doc(property: &Value) -> String {
    let text = property["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
