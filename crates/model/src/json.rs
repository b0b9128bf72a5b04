//! Payloads that are carried and not looked into.
//!
//! Kept as the text they arrived in, checked once for being JSON, shared by reference.
//! Two payloads are equal when their texts are.

use std::{fmt, sync::Arc};

use serde_json::value::{RawValue, to_raw_value};

/// One JSON value as text.
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

impl Json {
    /// Returns the JSON `null`.
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned().into())
    }

    /// Checks a text and takes it over.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self::from)
    }

    /// Writes a value as text.
    pub fn of(value: &serde_json::Value) -> Self {
        to_raw_value(value).map(Self::from).expect("a JSON value has string keys only")
    }

    /// Reads the text into a tree, for the few places that must look inside.
    pub fn to_value(&self) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Returns the raw form, for embedding in a larger text without parsing.
    pub fn raw(&self) -> &RawValue {
        &self.0
    }

    /// Returns the size of the text in bytes.
    pub fn size(&self) -> usize {
        self.as_str().len()
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.into())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Json({})", shorten(self.as_str(), 120))
    }
}

/// Cuts a text to so many characters; what is left is its beginning.
pub fn cut(text: &str, longest: usize) -> String {
    text.chars().take(longest).collect()
}

/// Cuts a text for a log line or an error, on a character boundary, and says that it did.
pub fn shorten(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
    }
}
