//! Renders what our extension's commands answer, `web/extension/src/generated/command-results.ts`: a type
//! for each of `tools::command_results`, and which command answers which. It writes no file.

use std::fmt::Write;

use schemars::SchemaGenerator;
use serde_json::Value;

use crate::{
    extension_commands,
    typescript::{self, Field, Shape},
};

const HEADER: &str = "\
/**
 * What commands answer, generated from `crates/tools/src/command_results`.
 *
 * Do not edit: `cargo xtask gen` writes this file.
 */
";

/// Returns the text of `command-results.ts`.
pub fn render() -> String {
    let mut generator = SchemaGenerator::default();
    let mut results = String::new();
    for (command, rows) in extension_commands::by_name() {
        let Some(answers) = &rows[0].1.answers else { continue };
        let schema = (answers.schema)(&mut generator).to_value();
        let _ = writeln!(results, "  {command}: {};", typescript::referred(&schema));
    }
    let mut text = String::from(HEADER);
    for (name, schema) in generator.definitions() {
        text += &definition(name, schema);
    }
    text + &format!(
        "\n/** What each command answers; those that are not here answer what only models read. */\n\
         export interface Results {{\n{results}}}\n"
    )
}

fn definition(name: &str, schema: &Value) -> String {
    let about = typescript::doc("", typescript::text(&schema["description"]));
    if let Some(variants) = schema["oneOf"].as_array() {
        let variants: String = variants.iter().map(variant).collect();
        return about + &format!("export type {name} ={variants};\n");
    }
    let mut text = about + &format!("export interface {name} {{\n");
    for Field { name, optional, schema } in typescript::fields(schema) {
        // A field whose name says all has no comment.
        let about = schema["description"].as_str().map(|about| typescript::doc("  ", about));
        let about = about.unwrap_or_default();
        let shape = shape(schema);
        let (mark, end) = if optional { ("?", " | undefined") } else { ("", "") };
        let about = about.trim_start_matches('\n');
        let _ = writeln!(text, "{about}  readonly {name}{mark}: {shape}{end};");
    }
    text + "}\n"
}

/// One of several messages, told apart by the constant in one field.
fn variant(schema: &Value) -> String {
    let properties = schema["properties"].as_object().expect("a variant has its tag");
    let (tag, constant) = properties.iter().next().expect("a variant has its tag");
    let word = typescript::text(&constant["const"]);
    format!("\n  | ({{ readonly {tag}: '{word}' }} & {})", typescript::referred(schema))
}

/// Types whose lists and maps nobody changes.
fn shape(schema: &Value) -> String {
    if schema["properties"].is_null() && !schema["additionalProperties"].is_null() {
        let value = &schema["additionalProperties"];
        let value = if value.is_object() { shape(value) } else { "unknown".to_owned() };
        return format!("Readonly<Record<string, {value}>>");
    }
    match Shape::of(schema) {
        Shape::List(_) => format!("readonly {}", Shape::of(schema).in_types()),
        other => other.in_types(),
    }
}
