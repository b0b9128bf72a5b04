//! What commands answer: one type for each shape, with the words that a model reads.
//!
//! A row of a tool's table names its type; our extension's side is generated from it. Another
//! project's browser may answer the same command in another shape: that has no words here, and is
//! shown as it is. Whatever a page or browser wrote is quoted or made visible.
//!
//! - [`action_report`]: what an action did, with [`facts`] of what is to be seen;
//! - [`network`]: requests and mocks; [`site_data`]: cookies and storage; [`page_errors`];
//!   [`measurements`]; [`emulation`]; [`download_list`].

#![expect(dead_code, reason = "some fields are read by programs and by the extension alone")]

pub(crate) mod action_report;
pub(crate) mod download_list;
pub(crate) mod emulation;
pub(crate) mod facts;
pub(crate) mod measurements;
pub(crate) mod network;
pub(crate) mod page_errors;
pub(crate) mod site_data;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

/// What a command answers.
pub trait CommandResult: DeserializeOwned + JsonSchema {
    /// Says it to a model; `None` where its structure says more.
    fn words(&self) -> Option<String>;
}

/// The type of a command's result.
#[derive(Clone, Copy)]
pub struct ResultType {
    /// Says a result of this type in words; `None` for one that has another shape.
    pub words: fn(&Value) -> Option<String>,
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

impl ResultType {
    /// Takes a type as a command's.
    pub const fn of<R: CommandResult>() -> Self {
        Self {
            words: |value| R::deserialize(value).ok()?.words(),
            schema: SchemaGenerator::subschema_for::<R>,
        }
    }
}

/// A file; its bytes never stand in a text.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileBytes {
    pub mime_type: String,
    /// Base64.
    pub data: String,
    pub name: Option<String>,
}

/// `1 key`, `2 keys`.
fn counted(number: u64, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

/// Says a remark of the browser's.
fn noted(note: &str) -> String {
    format!("note: {}", model::page_text::exact(note))
}

/// Says a result in words, for tests.
#[cfg(test)]
fn said<R: CommandResult>(value: Value) -> Option<String> {
    (ResultType::of::<R>().words)(&value)
}
