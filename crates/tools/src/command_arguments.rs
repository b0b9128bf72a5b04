//! The arguments of commands, each declared once: how a model writes it, and how our extension
//! takes it.
//!
//! An [`Argument`] belongs to a tool: its type, its words for a model. A [`Parameter`] is what one
//! command says of it: limits, other values, what is meant when it is left out. The schema that
//! models read is made of the first, our extension's checks in
//! `web/extension/src/commands/generated` of both.

use serde_json::{Map, Value, json};

use crate::schema;

/// An argument of a tool.
pub struct Argument {
    /// The key in the object of arguments.
    pub name: &'static str,
    /// What it can be.
    pub values: Values,
    /// What it is, for a model.
    pub about: &'static str,
    /// Whether it is accepted without being listed.
    pub is_unlisted: bool,
    /// Who writes and who reads it.
    pub way: Way,
    /// The reader of our extension, where none fits by type: one of `argument-readers.ts`.
    pub reader: Option<&'static str>,
}

/// What values an argument takes.
#[derive(Debug, Clone, Copy)]
pub enum Values {
    /// A text.
    Text,
    /// True or false.
    Flag,
    /// A number.
    Number,
    /// A whole number.
    Whole,
    /// One of some words: those that are listed, and those that are accepted as well.
    Word(&'static str, &'static str),
    /// A list of texts.
    Texts,
    /// An object whose values are texts.
    TextMap,
    /// A list of objects with texts of these names.
    Records(&'static str),
}

/// The way of an argument from a model to our extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the model to the extension.
    Whole,
    /// The hub reads it, or another project's browser: our extension never sees it.
    ToHub,
    /// The hub writes it; a model cannot.
    FromHub,
}

/// Declares an argument that is a text.
pub const fn text(name: &'static str, about: &'static str) -> Argument {
    let (is_unlisted, way, reader) = (false, Way::Whole, None);
    Argument { name, values: Values::Text, about, is_unlisted, way, reader }
}

/// Declares an argument that is true or false.
pub const fn flag(name: &'static str, about: &'static str) -> Argument {
    Argument { values: Values::Flag, ..text(name, about) }
}

/// Declares an argument that is a number.
pub const fn number(name: &'static str, about: &'static str) -> Argument {
    Argument { values: Values::Number, ..text(name, about) }
}

/// Declares an argument that is a whole number.
pub const fn whole(name: &'static str, about: &'static str) -> Argument {
    Argument { values: Values::Whole, ..text(name, about) }
}

/// Declares an argument that is one of some words, between spaces.
pub const fn word(name: &'static str, words: &'static str, about: &'static str) -> Argument {
    Argument { values: Values::Word(words, ""), ..text(name, about) }
}

/// Declares an argument that is a list of texts.
pub const fn texts(name: &'static str, about: &'static str) -> Argument {
    Argument { values: Values::Texts, ..text(name, about) }
}

/// Declares an argument that is an object of texts.
pub const fn text_map(name: &'static str, about: &'static str) -> Argument {
    Argument { values: Values::TextMap, ..text(name, about) }
}

/// Declares an argument that is a list of objects, whose fields are texts.
pub const fn records(name: &'static str, fields: &'static str, about: &'static str) -> Argument {
    Argument { values: Values::Records(fields), ..text(name, about) }
}

impl Argument {
    /// Accepts it without listing it.
    pub const fn unlisted(self) -> Self {
        Self { is_unlisted: true, ..self }
    }

    /// Accepts more words without listing them.
    pub const fn also(self, more: &'static str) -> Self {
        match self.values {
            Values::Word(words, _) => Self { values: Values::Word(words, more), ..self },
            _ => panic!("only words can have more words"),
        }
    }

    /// Keeps it from our extension.
    pub const fn to_hub(self) -> Self {
        Self { way: Way::ToHub, ..self }
    }

    /// Keeps it from models.
    pub const fn from_hub(self) -> Self {
        Self { way: Way::FromHub, ..self }
    }

    /// Names the reader of our extension.
    pub const fn read_by(self, reader: &'static str) -> Self {
        Self { reader: Some(reader), ..self }
    }

    /// Returns the words that it can be.
    pub fn words(&self) -> Vec<&'static str> {
        match self.values {
            Values::Word(listed, also) => {
                listed.split_whitespace().chain(also.split_whitespace()).collect()
            }
            _ => Vec::new(),
        }
    }

    fn schema(&self) -> Value {
        let text = || json!({"type": "string"});
        let list = |words: &str| json!(words.split_whitespace().collect::<Vec<_>>());
        let mut schema = match self.values {
            Values::Text => text(),
            Values::Flag => json!({"type": "boolean"}),
            Values::Number => json!({"type": "number"}),
            Values::Whole => json!({"type": "integer"}),
            Values::Word(listed, "") => json!({"enum": list(listed)}),
            Values::Word(listed, also) => json!({"enum": list(listed), "also": list(also)}),
            Values::Texts => json!({"type": "array", "items": text()}),
            Values::TextMap => json!({"type": "object", "additionalProperties": text()}),
            Values::Records(fields) => {
                let fields = fields.split_whitespace().map(|name| (name.to_owned(), text()));
                let fields = Value::Object(fields.collect());
                json!({"type": "array", "items": {"type": "object", "properties": fields}})
            }
        };
        schema["description"] = json!(self.about);
        schema
    }
}

/// Makes the properties of a schema.
pub fn properties(arguments: &[Argument]) -> Map<String, Value> {
    let known = arguments.iter().filter(|argument| argument.way != Way::FromHub);
    let property = |argument: &Argument| match argument.is_unlisted {
        true => schema::unlisted(argument.schema()),
        false => argument.schema(),
    };
    known.map(|argument| (argument.name.to_owned(), property(argument))).collect()
}

/// What one command says of an argument, written as one word: its name; `>name` where the command
/// calls it otherwise; `:1..9` or `:a/b` for the only values, where `a*` is a short form that the
/// hub spells out; `=80` for what is meant when it is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name for a model.
    pub name: &'static str,
    /// Its name in the command.
    pub sent_name: &'static str,
    /// What is meant when it is left out, as JSON.
    pub usual: Option<&'static str>,
    values: &'static str,
}

impl Parameter {
    /// Reads a word.
    pub fn parse(word: &'static str) -> Self {
        let (word, usual) =
            word.split_once('=').map_or((word, None), |(it, usual)| (it, Some(usual)));
        let (word, values) = word.split_once(':').unwrap_or((word, ""));
        let (name, sent_name) = word.split_once('>').unwrap_or((word, word));
        Self { name, sent_name, usual, values }
    }

    /// Returns the only words that it can be; none where the argument's own count.
    pub fn words(&self) -> Vec<&'static str> {
        self.split_words().map(|word| word.trim_end_matches('*')).collect()
    }

    /// Returns the words that our extension takes; none where the argument's own count.
    pub fn sent_words(&self) -> Vec<&'static str> {
        self.split_words().filter(|word| !word.ends_with('*')).collect()
    }

    fn split_words(&self) -> impl Iterator<Item = &'static str> {
        let is_range = self.values.contains("..");
        self.values.split('/').filter(move |word| !is_range && !word.is_empty())
    }

    /// Returns the least and the most that it can be, as they are written.
    pub fn range(&self) -> Option<(&'static str, &'static str)> {
        self.values.split_once("..")
    }
}

/// Reads the groups of arguments that must be there: of each, one of its ways, with all its parts.
pub fn groups(needs: &'static str) -> Vec<Vec<Vec<Parameter>>> {
    let parts = |way: &'static str| way.split('+').map(Parameter::parse).collect();
    needs.split_whitespace().map(|group| group.split('|').map(parts).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_name_values_and_what_is_usual() {
        let key = Parameter::parse("name>key");
        assert_eq!((key.name, key.sent_name, key.usual), ("name", "key", None));
        let quality = Parameter::parse("quality:1..100=80");
        assert_eq!((quality.name, quality.sent_name), ("quality", "quality"));
        assert_eq!((quality.range(), quality.usual), (Some(("1", "100")), Some("80")));
        assert_eq!(quality.words(), [""; 0]);
        assert_eq!(Parameter::parse("since:0..").range(), Some(("0", "")));
        let kind = Parameter::parse("type:local*/localStorage=\"localStorage\"");
        assert_eq!(kind.words(), ["local", "localStorage"]);
        assert_eq!(kind.sent_words(), ["localStorage"]);
        assert_eq!((kind.range(), kind.usual), (None, Some("\"localStorage\"")));
    }

    #[test]
    fn groups_have_ways_and_ways_have_parts() {
        let names = |needs| -> Vec<Vec<Vec<&str>>> {
            let name = |way: Vec<Parameter>| way.iter().map(|it| it.name).collect();
            groups(needs).into_iter().map(|ways| ways.into_iter().map(name).collect()).collect()
        };
        assert_eq!(
            names("ref|x+y key:a/b"),
            [vec![vec!["ref"], vec!["x", "y"]], vec![vec!["key"]]]
        );
        assert!(names("").is_empty());
    }
}
