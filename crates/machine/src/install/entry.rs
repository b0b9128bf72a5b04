//! What a client's configuration says about us, in the format of that client.
//!
//! A text comes in, and the edited text goes out, or the reason why it is not edited. It reads and
//! writes no files.

use std::path::Path;

use serde_json::Value;

use super::{
    EditError,
    json_edit::{self, Layout, Written},
    toml_edit,
};

/// Our name in every configuration.
pub const NAME: &str = "tabwire";

/// How a client starts us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The program, with its whole path.
    pub command: String,
    /// The arguments that it is started with.
    pub args: Vec<String>,
}

/// The format of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON with an object of servers.
    Json {
        /// The name of the object that holds the servers.
        servers: &'static str,
        /// Whether an entry says that it is a program: `"type": "stdio"`.
        typed: bool,
    },
    /// TOML with a table for each server.
    Toml,
}

/// What stands under our name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// No entry has our name.
    Nothing,
    /// A program that is started.
    Program(Entry),
    /// Something else, such as an address.
    Other,
}

impl Entry {
    /// Returns whether it starts Tabwire, whichever copy of it.
    pub fn is_tabwire(&self) -> bool {
        let name = Path::new(&self.command).file_stem();
        name.is_some_and(|name| name == NAME) && self.args.first().is_some_and(|arg| arg == "stdio")
    }
}

impl Format {
    /// Returns what stands under our name.
    pub fn find(self, text: &str) -> Result<Found, EditError> {
        let found = match self {
            Self::Json { servers, .. } => json_edit::get(text, &[servers, NAME])?,
            Self::Toml => toml_edit::get(text, NAME)?
                .map(serde_json::to_value)
                .transpose()
                .map_err(|error| EditError::Broken(error.to_string()))?,
        };
        Ok(found.map_or(Found::Nothing, |value| read(&value)))
    }

    /// Returns the text with our entry; settings that it has beside ours stay.
    pub fn add(self, text: &str, entry: &Entry) -> Result<String, EditError> {
        let Self::Json { servers, typed } = self else {
            return toml_edit::set(text, NAME, entry);
        };
        match self.find(text)? {
            Found::Nothing | Found::Other => {
                json_edit::set(text, &[servers, NAME], &written(entry, typed))
            }
            Found::Program(_) => {
                let command = Written::Plain(Value::from(entry.command.as_str()));
                let text = json_edit::set(text, &[servers, NAME, "command"], &command)?;
                let args = Written::Plain(Value::from(entry.args.clone()));
                json_edit::set(&text, &[servers, NAME, "args"], &args)
            }
        }
    }

    /// Returns the text without our entry.
    pub fn remove(self, text: &str) -> Result<String, EditError> {
        match self {
            Self::Json { servers, .. } => json_edit::remove(text, &[servers, NAME]),
            Self::Toml => toml_edit::remove(text, NAME),
        }
    }

    /// Returns what somebody can paste.
    pub fn snippet(self, entry: &Entry) -> String {
        match self {
            Self::Toml => toml_edit::snippet(NAME, entry, "\n"),
            Self::Json { servers, typed } => {
                let server = Written::Object(vec![(NAME.to_owned(), written(entry, typed))]);
                let all = Written::Object(vec![(servers.to_owned(), server)]);
                format!("{}\n", all.text(&Layout::default(), ""))
            }
        }
    }
}

fn written(entry: &Entry, typed: bool) -> Written {
    let mut members = Vec::new();
    let mut put = |name: &str, value: Value| members.push((name.to_owned(), Written::Plain(value)));
    if typed {
        put("type", Value::from("stdio"));
    }
    put("command", Value::from(entry.command.as_str()));
    put("args", Value::from(entry.args.clone()));
    Written::Object(members)
}

fn read(value: &Value) -> Found {
    let Some(command) = value["command"].as_str() else { return Found::Other };
    let args = match &value["args"] {
        Value::Null => Some(Vec::new()),
        Value::Array(args) => {
            args.iter().map(|arg| arg.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    match args {
        Some(args) => Found::Program(Entry { command: command.to_owned(), args }),
        None => Found::Other,
    }
}
