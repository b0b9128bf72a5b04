//! TOML with places: reading a manifest so that every complaint names file and line.
//!
//! A [`Section`] is one table. It hands out values of the wanted type, in the file's order where
//! order matters, and refuses keys that nobody knows. What the values mean is not known here.

use std::{fmt, ops::Range};

use serde_json::{Number, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// How alike two names must be for one to be offered for the other.
const ALIKE: f64 = 0.75;

/// A manifest that cannot be used: where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestError {
    /// As it was named to us.
    pub file: String,
    /// Counted from 1; none where the whole file is meant.
    pub line: Option<usize>,
    /// What is wrong. Lower case, no final stop.
    pub message: String,
}

impl ManifestError {
    /// Makes a complaint about a whole file.
    pub(super) fn whole(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, message: message.into() }
    }
}

impl fmt::Display for ManifestError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.file, self.message),
            None => write!(out, "{}: {}", self.file, self.message),
        }
    }
}

impl std::error::Error for ManifestError {}

/// The text of a manifest.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// Reads the text as TOML.
    pub fn parse(self) -> Result<Spanned<DeTable<'a>>, ManifestError> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.error(at, format!("not valid TOML: {}", error.message().replace('\n', ", ")))
        })
    }

    /// Makes a complaint about a place.
    pub fn error(self, at: usize, message: impl Into<String>) -> ManifestError {
        let before = self.text.as_bytes().iter().take(at);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        ManifestError { line: Some(line), ..ManifestError::whole(self.file, message) }
    }
}

/// A value with its place.
#[derive(Clone)]
pub(super) struct Entry<T> {
    pub value: T,
    pub at: usize,
}

/// One table of a manifest.
#[derive(Clone)]
pub(super) struct Section<'a> {
    source: Source<'a>,
    table: &'a DeTable<'a>,
    at: usize,
    /// What stands for `{word}` in its texts.
    fill: Vec<(String, String)>,
}

/// A key of a section with its value, not yet read.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub key: &'a str,
    pub at: usize,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Section<'a> {
    pub fn new(source: Source<'a>, root: &'a Spanned<DeTable<'a>>) -> Self {
        Self { source, table: root.get_ref(), at: 0, fill: Vec::new() }
    }

    /// The same section, with words put into its texts.
    pub fn filled(&self, fill: Vec<(String, String)>) -> Self {
        Self { fill, ..self.clone() }
    }

    /// Makes a complaint about this section.
    pub fn error(&self, message: impl Into<String>) -> ManifestError {
        self.source.error(self.at, message)
    }

    /// Makes a complaint about a place in this section.
    pub fn error_at(&self, at: usize, message: impl Into<String>) -> ManifestError {
        self.source.error(at, message)
    }

    /// Refuses keys other than these.
    pub fn allow(&self, what: &str, known: &[&str]) -> Result<(), ManifestError> {
        match self.items().into_iter().find(|item| !known.contains(&item.key)) {
            None => Ok(()),
            Some(item) => {
                let nearest = did_you_mean(item.key, known.iter().copied());
                let message = format!("{what} has no key `{}`", item.key);
                let list = known.join(", ");
                Err(self.error_at(item.at, format!("{message}; it has {list}{nearest}")))
            }
        }
    }

    /// Returns all keys, in the order of the file.
    pub fn items(&self) -> Vec<Item<'a>> {
        let mut items: Vec<_> = self
            .table
            .iter()
            .map(|(key, value)| Item { key: key.get_ref(), at: key.span().start, value })
            .collect();
        items.sort_by_key(|item| item.at);
        items
    }

    pub fn item(&self, key: &str) -> Option<Item<'a>> {
        let (key, value) = self.table.get_key_value(key)?;
        Some(Item { key: key.get_ref(), at: key.span().start, value })
    }

    pub fn text(&self, key: &str) -> Result<Option<Entry<String>>, ManifestError> {
        self.item(key).map(|item| self.text_of(item)).transpose()
    }

    pub fn need_text(&self, what: &str, key: &str) -> Result<Entry<String>, ManifestError> {
        self.text(key)?.ok_or_else(|| self.error(format!("{what} needs `{key}`")))
    }

    pub fn number(&self, key: &str) -> Result<Option<Entry<Number>>, ManifestError> {
        self.item(key).map(|item| self.number_of(item)).transpose()
    }

    pub fn flag(&self, key: &str) -> Result<bool, ManifestError> {
        match self.item(key).map(|item| (item, item.value.get_ref().as_bool())) {
            None => Ok(false),
            Some((_, Some(flag))) => Ok(flag),
            Some((item, None)) => Err(self.wrong(item, "true or false")),
        }
    }

    pub fn texts(&self, key: &str) -> Result<Option<Vec<Entry<String>>>, ManifestError> {
        self.item(key).map(|item| self.texts_of(item)).transpose()
    }

    pub fn section(&self, key: &str) -> Result<Option<Self>, ManifestError> {
        self.item(key).map(|item| self.section_of(item)).transpose()
    }

    /// Returns the tables of an array, `[[key]]`.
    pub fn sections(&self, key: &str) -> Result<Vec<Self>, ManifestError> {
        let Some(item) = self.item(key) else { return Ok(Vec::new()) };
        let wrong = || self.wrong(item, &format!("written as [[{key}]]"));
        let array = item.value.get_ref().as_array().ok_or_else(wrong)?;
        let section = |value: &'a Spanned<DeValue<'a>>| {
            let table = value.get_ref().as_table().ok_or_else(wrong)?;
            Ok(self.inner(table, value.span()))
        };
        array.iter().map(section).collect()
    }

    pub fn text_of(&self, item: Item<'a>) -> Result<Entry<String>, ManifestError> {
        let text = item.value.get_ref().as_str().ok_or_else(|| self.wrong(item, "a text"))?;
        Ok(Entry { value: self.fill_in(text), at: item.value.span().start })
    }

    pub fn number_of(&self, item: Item<'a>) -> Result<Entry<Number>, ManifestError> {
        let number = number(item.value.get_ref()).ok_or_else(|| self.wrong(item, "a number"))?;
        Ok(Entry { value: number, at: item.value.span().start })
    }

    pub fn texts_of(&self, item: Item<'a>) -> Result<Vec<Entry<String>>, ManifestError> {
        let wrong = || self.wrong(item, "a list of texts");
        let array = item.value.get_ref().as_array().ok_or_else(wrong)?;
        let entry = |value: &Spanned<DeValue<'a>>| {
            let text = value.get_ref().as_str().ok_or_else(wrong)?;
            Ok(Entry { value: self.fill_in(text), at: value.span().start })
        };
        array.iter().map(entry).collect()
    }

    pub fn section_of(&self, item: Item<'a>) -> Result<Self, ManifestError> {
        let table = item.value.get_ref().as_table().ok_or_else(|| self.wrong(item, "a table"))?;
        Ok(self.inner(table, item.at..item.at))
    }

    /// Returns a plain value as JSON.
    pub fn plain(&self, key: &str) -> Result<Option<Entry<Value>>, ManifestError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        let value = match item.value.get_ref() {
            DeValue::String(text) => Value::String(self.fill_in(text)),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            other => Value::Number(
                number(other).ok_or_else(|| self.wrong(item, "a text, number or boolean"))?,
            ),
        };
        Ok(Some(Entry { value, at: item.value.span().start }))
    }

    fn inner(&self, table: &'a DeTable<'a>, span: Range<usize>) -> Self {
        Self { table, at: span.start, ..self.clone() }
    }

    fn wrong(&self, item: Item<'a>, wanted: &str) -> ManifestError {
        let found = item.value.get_ref().type_str();
        self.error_at(item.at, format!("`{}` must be {wanted}; this is a TOML {found}", item.key))
    }

    fn fill_in(&self, text: &str) -> String {
        let put = |text: String, (word, value): &(String, String)| {
            text.replace(&format!("{{{word}}}"), value)
        };
        self.fill.iter().fold(text.to_owned(), put)
    }
}

impl Item<'_> {
    pub fn is_text(&self) -> bool {
        self.value.get_ref().is_str()
    }
}

/// Reads a TOML number; infinities are none to JSON.
fn number(value: &DeValue<'_>) -> Option<Number> {
    match value {
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(Number::from)
        }
        DeValue::Float(float) => float.as_str().parse().ok().and_then(Number::from_f64),
        _ => None,
    }
}

/// Offers the known name that is most like a wrong one, if any is.
pub(super) fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let alike = |known: &str| strsim::jaro_winkler(known, name);
    let nearest =
        known.map(|known| (alike(known), known)).max_by(|one, two| one.0.total_cmp(&two.0));
    match nearest {
        Some((alike, known)) if alike > ALIKE => format!("; did you mean `{known}`?"),
        _ => String::new(),
    }
}
