//! The types of arguments: what is valid, what goes over the wire, how it is shown.
//!
//! A type checks one value and translates it: words and names of the manifest become numbers and
//! colours. An error says all that is valid. Which words there are is the manifest's business.

use std::{collections::BTreeMap, sync::Arc};

use model::json::shorten;
use serde_json::{Number, Value, json};

use super::{
    source::{ManifestError, Section, did_you_mean},
    template::show,
    words::{Words, is_hex},
};

/// Characters of a text unless the manifest says otherwise.
const LONGEST_TEXT: usize = 10_000;
/// Kinds that need no table of their own: their names are types already.
const PLAIN: [&str; 4] = ["boolean", "integer", "number", "text"];
/// What `kind` of a type can say.
const KINDS: [&str; 6] = ["boolean", "choice", "colour", "integer", "number", "text"];

/// All types that a manifest's arguments can have.
pub(super) type Types = BTreeMap<String, Arc<Type>>;

/// The type of an argument.
pub(super) struct Type {
    kind: Kind,
    /// For the schema; may be empty.
    description: String,
}

enum Kind {
    Number { range: Range, unit: String, words: Words<Number> },
    Integer { range: Range, unit: String },
    Colour { names: Words<String> },
    Choice { choices: Words<String> },
    Text { longest: usize },
    Boolean,
}

/// A value that was accepted.
pub(super) struct Taken {
    /// What goes over the wire.
    pub wire: Value,
    /// What a reply says.
    pub shown: String,
}

/// Reads `[types]`; the plain kinds are there without being written.
pub(super) fn read(root: &Section<'_>) -> Result<Types, ManifestError> {
    let mut types = Types::new();
    for name in PLAIN {
        let plain = Type { kind: Kind::plain(name), description: String::new() };
        types.insert(name.to_owned(), Arc::new(plain));
    }
    if let Some(section) = root.section("types")? {
        for item in section.items() {
            let read = Type::read(&section.section_of(item)?, &format!("type `{}`", item.key))?;
            types.insert(item.key.to_owned(), Arc::new(read));
        }
    }
    Ok(types)
}

impl Type {
    fn read(section: &Section<'_>, what: &str) -> Result<Self, ManifestError> {
        let kind = section.need_text(what, "kind")?;
        let keys: &[&str] = match kind.value.as_str() {
            "number" => &["kind", "description", "min", "max", "exclusiveMin", "unit", "words"],
            "integer" => &["kind", "description", "min", "max", "exclusiveMin", "unit"],
            "colour" => &["kind", "description", "names"],
            "choice" => &["kind", "description", "choices"],
            "text" => &["kind", "description", "maxLength"],
            "boolean" => &["kind", "description"],
            other => {
                let nearest = did_you_mean(other, KINDS.into_iter());
                let list = KINDS.join(", ");
                let message = format!("there is no kind `{other}`; there are {list}{nearest}");
                return Err(section.error_at(kind.at, message));
            }
        };
        section.allow(what, keys)?;
        let description = section.text("description")?.map(|text| text.value).unwrap_or_default();
        Ok(Self { kind: Kind::read(section, what, &kind.value)?, description })
    }

    /// Checks and translates a value; the error says what is valid, without the argument's name.
    pub fn take(&self, given: &Value) -> Result<Taken, String> {
        self.kind.take(given).ok_or_else(|| {
            let nearest = given.as_str().map(|text| self.kind.nearest(text)).unwrap_or_default();
            let shown = shorten(&given.to_string(), 60);
            format!("must be {}, not {shown}{nearest}", self.kind.valid())
        })
    }

    /// Says what is valid, to follow "must be".
    pub fn valid(&self) -> String {
        self.kind.valid()
    }

    /// Returns the JSON Schema that is listed: short, because the check is ours.
    pub fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            Kind::Number { words, .. } if words.is_empty() => json!({"type": "number"}),
            Kind::Number { .. } => json!({"type": ["number", "string"]}),
            Kind::Integer { .. } => json!({"type": "integer"}),
            Kind::Colour { .. } | Kind::Text { .. } => json!({"type": "string"}),
            Kind::Choice { choices } => json!({"enum": choices.list()}),
            Kind::Boolean => json!({"type": "boolean"}),
        };
        if !self.description.is_empty() {
            schema["description"] = json!(self.description);
        }
        schema
    }
}

impl Kind {
    fn plain(name: &str) -> Self {
        match name {
            "integer" => Self::Integer { range: Range::default(), unit: String::new() },
            "text" => Self::Text { longest: LONGEST_TEXT },
            "boolean" => Self::Boolean,
            _ => {
                Self::Number { range: Range::default(), unit: String::new(), words: Words::none() }
            }
        }
    }

    fn read(section: &Section<'_>, what: &str, kind: &str) -> Result<Self, ManifestError> {
        let range = Range::read(section)?;
        let unit = section.text("unit")?.map(|text| text.value).unwrap_or_default();
        Ok(match kind {
            "number" => Self::Number { words: Words::numbers(section, &range)?, range, unit },
            "integer" => Self::Integer { range, unit },
            "colour" => Self::Colour { names: Words::colours(section)? },
            "choice" => Self::Choice { choices: Words::choices(section, what)? },
            "text" => Self::Text { longest: read_longest(section)? },
            plain => Self::plain(plain),
        })
    }

    fn take(&self, given: &Value) -> Option<Taken> {
        let as_is = |unit: &str| Taken { wire: given.clone(), shown: show(given) + unit };
        match (self, given) {
            (Self::Number { range, unit, .. }, Value::Number(number)) => {
                range.holds(number).then(|| as_is(unit))
            }
            (Self::Number { unit, words, .. }, Value::String(word)) => {
                words.find(word).map(|number| {
                    let wire = Value::Number(number.clone());
                    Taken { shown: format!("{} ({}{unit})", typed(word), show(&wire)), wire }
                })
            }
            (Self::Integer { range, unit }, Value::Number(number)) => {
                (range.holds(number) && !number.is_f64()).then(|| as_is(unit))
            }
            (Self::Colour { names }, Value::String(text)) => match is_hex(text.trim()) {
                true => {
                    let hex = text.trim().to_ascii_lowercase();
                    Some(Taken { shown: hex.clone(), wire: Value::String(hex) })
                }
                false => names.find(text).map(|hex| Taken {
                    wire: json!(hex),
                    shown: format!("{} ({hex})", typed(text)),
                }),
            },
            (Self::Choice { choices }, Value::String(text)) => choices
                .find(text)
                .map(|choice| Taken { wire: json!(choice), shown: choice.clone() }),
            (Self::Text { longest }, Value::String(text)) => {
                (text.chars().count() <= *longest).then(|| as_is(""))
            }
            (Self::Boolean, Value::Bool(_)) => Some(as_is("")),
            _ => None,
        }
    }

    /// Says what is valid.
    fn valid(&self) -> String {
        match self {
            Self::Number { range, words, .. } if words.is_empty() => format!("a number{range}"),
            Self::Number { range, words, .. } => {
                format!("a number{range} or one of {}", words.list().join(", "))
            }
            Self::Integer { range, .. } => format!("a whole number{range}"),
            Self::Colour { names } if names.is_empty() => "a colour as #rrggbb".to_owned(),
            Self::Colour { names } => format!("#rrggbb or one of {}", names.list().join(", ")),
            Self::Choice { choices } => format!("one of {}", choices.list().join(", ")),
            Self::Text { longest } => format!("a text of at most {longest} characters"),
            Self::Boolean => "true or false".to_owned(),
        }
    }

    fn nearest(&self, text: &str) -> String {
        let text = shorten(text, 60).to_lowercase();
        match self {
            Self::Number { words, .. } => did_you_mean(&text, words.list().into_iter()),
            Self::Colour { names: words } | Self::Choice { choices: words } => {
                did_you_mean(&text, words.list().into_iter())
            }
            Self::Integer { .. } | Self::Text { .. } | Self::Boolean => String::new(),
        }
    }
}

/// Which numbers are valid.
#[derive(Default)]
pub(super) struct Range {
    min: Option<f64>,
    above: Option<f64>,
    max: Option<f64>,
}

impl Range {
    fn read(section: &Section<'_>) -> Result<Self, ManifestError> {
        let bound = |key: &str| -> Result<Option<f64>, ManifestError> {
            Ok(section.number(key)?.and_then(|number| number.value.as_f64()))
        };
        let range = Self { min: bound("min")?, above: bound("exclusiveMin")?, max: bound("max")? };
        match (range.min, range.above, range.max) {
            (Some(_), Some(_), _) => Err(section.error("give `min` or `exclusiveMin`, not both")),
            (Some(low), _, Some(high)) if low > high => {
                Err(section.error(format!("no number is from {low} to {high}")))
            }
            (_, Some(low), Some(high)) if low >= high => {
                Err(section.error(format!("no number is above {low} and up to {high}")))
            }
            _ => Ok(range),
        }
    }

    pub fn holds(&self, number: &Number) -> bool {
        number.as_f64().is_some_and(|number| {
            self.min.is_none_or(|min| number >= min)
                && self.above.is_none_or(|above| number > above)
                && self.max.is_none_or(|max| number <= max)
        })
    }
}

/// The range in words, to follow "a number".
impl std::fmt::Display for Range {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.min, self.above, self.max) {
            (Some(min), _, Some(max)) => write!(out, " from {min} to {max}"),
            (Some(min), _, None) => write!(out, " from {min}"),
            (None, Some(above), Some(max)) => write!(out, " above {above} and up to {max}"),
            (None, Some(above), None) => write!(out, " above {above}"),
            (None, None, Some(max)) => write!(out, " up to {max}"),
            (None, None, None) => Ok(()),
        }
    }
}

fn read_longest(section: &Section<'_>) -> Result<usize, ManifestError> {
    let Some(longest) = section.number("maxLength")? else { return Ok(LONGEST_TEXT) };
    let wrong = || section.error_at(longest.at, "`maxLength` must be a whole number from 0");
    longest.value.as_u64().and_then(|most| most.try_into().ok()).ok_or_else(wrong)
}

/// A word as it was typed, on one line.
fn typed(word: &str) -> String {
    shorten(&word.split_whitespace().collect::<Vec<_>>().join(" "), 40)
}
