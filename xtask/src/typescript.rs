//! Renders the protocol's TypeScript, `web/shared/src/generated/protocol.ts`.
//!
//! In come the JSON Schemas that `schemars` derives from `dialect::native::wire`. Out go one
//! type per definition, a union per direction, and per direction a compact table by which
//! `web/shared/src/check.ts` checks frames at the door. It knows only the shapes that the wire
//! has: anything else is a panic that names it, so that a new kind of field is noticed here
//! and not in a browser. It writes no file.

use std::{collections::BTreeMap, fmt::Write};

use dialect::native::wire;
use serde_json::Value;

/// Lines that would be longer are broken, as biome does it.
const WIDTH: usize = 100;

const HEADER: &str = "\
/**
 * The messages of `tabwire.v1`, generated from `crates/dialect/src/native/wire.rs`.
 *
 * Do not edit: `cargo xtask gen` writes this file. Types for both directions, and for each a
 * table that `check.ts` reads: `?` marks what may be absent, `[]` a list, `any` an opaque
 * payload. What the messages mean stands in `docs/protocol.md`.
 */
";

/// Returns the text of `protocol.ts`; the same types give the same text.
pub fn render() -> String {
    let directions = [
        Direction::new("fromBrowser", schemars::schema_for!(wire::FromBrowser)),
        Direction::new("toBrowser", schemars::schema_for!(wire::ToBrowser)),
    ];
    let definitions: BTreeMap<&str, &Value> =
        directions.iter().flat_map(Direction::definitions).collect();

    let mut text = String::from(HEADER);
    for (name, schema) in definitions {
        text += &definition(name, schema);
    }
    for direction in &directions {
        text += &direction.union();
    }
    for direction in &directions {
        text += &direction.table();
    }
    text
}

/// All messages that one side sends.
struct Direction {
    /// Such as `toBrowser`; the union's name begins with a capital.
    name: &'static str,
    schema: Value,
}

impl Direction {
    fn new(name: &'static str, schema: schemars::Schema) -> Self {
        Self { name, schema: schema.to_value() }
    }

    fn definitions(&self) -> impl Iterator<Item = (&str, &Value)> {
        let definitions = self.schema["$defs"].as_object().expect("a union of named messages");
        definitions.iter().map(|(name, schema)| (name.as_str(), schema))
    }

    /// Lists each message's `type` with the name of its body, in the order of the source.
    fn messages(&self) -> impl Iterator<Item = (&str, &str)> {
        list(&self.schema["oneOf"])
            .iter()
            .map(|variant| (text(&variant["properties"]["type"]["const"]), referred(variant)))
    }

    fn union(&self) -> String {
        let (head, tail) = self.name.split_at(1);
        let name = head.to_uppercase() + tail;
        let mut out = doc("", text(&self.schema["description"]));
        let _ = write!(out, "export type {name} =");
        for (tag, body) in self.messages() {
            let _ = write!(out, "\n  | ({{ type: '{tag}' }} & {body})");
        }
        out + ";\n"
    }

    fn table(&self) -> String {
        let messages = self.messages().map(|(tag, body)| format!("{tag}: '{body}'"));
        let types: BTreeMap<&str, &Value> = self.definitions().collect();
        let types = types.into_iter().map(|(name, schema)| table_entry(name, schema));
        let mut out = doc("", &format!("What `check.ts` must know of `{}`.", self.name));
        let _ = writeln!(out, "export const {}Schema = {{", self.name);
        out += &group("messages", messages);
        out += &group("types", types);
        out + "} as const;\n"
    }
}

/// What a field may hold.
pub(crate) enum Shape<'a> {
    Any,
    Text,
    Boolean,
    Unsigned,
    Number,
    Named(&'a str),
    List(Box<Shape<'a>>),
}

impl<'a> Shape<'a> {
    pub(crate) fn of(schema: &'a Value) -> Self {
        if !schema["$ref"].is_null() {
            return Self::Named(referred(schema));
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            return Self::of(not_null(choices, |choice| &choice["type"]));
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => not_null(kinds, |kind| kind),
            kind => kind,
        };
        match kind.as_str() {
            None if schema["oneOf"].is_null() && schema["enum"].is_null() => Self::Any,
            Some("string") => Self::Text,
            Some("boolean") => Self::Boolean,
            Some("integer") if schema["minimum"] == 0 => Self::Unsigned,
            Some("number") => Self::Number,
            Some("array") => Self::List(Box::new(Self::of(&schema["items"]))),
            _ => panic!("no TypeScript for {schema}"),
        }
    }

    pub(crate) fn in_types(&self) -> String {
        match self {
            Self::Any => "unknown".to_owned(),
            Self::Text => "string".to_owned(),
            Self::Boolean => "boolean".to_owned(),
            Self::Unsigned | Self::Number => "number".to_owned(),
            Self::Named(name) => (*name).to_owned(),
            Self::List(item) => item.in_types() + "[]",
        }
    }

    fn in_table(&self) -> String {
        match self {
            Self::Any => "any".to_owned(),
            Self::Unsigned => "unsigned".to_owned(),
            Self::List(item) => item.in_table() + "[]",
            other => other.in_types(),
        }
    }
}

/// One field of a message or of a part of one.
pub(crate) struct Field<'a> {
    pub name: &'a str,
    pub optional: bool,
    pub schema: &'a Value,
}

/// Lists the fields: required ones in the order of the source, then the others by name.
///
/// The schema's map keeps no order of its own that could be relied on.
pub(crate) fn fields(schema: &Value) -> Vec<Field<'_>> {
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let required: Vec<&str> =
        schema["required"].as_array().map_or(&[][..], Vec::as_slice).iter().map(text).collect();
    let mut fields: Vec<Field<'_>> = properties
        .iter()
        .map(|(name, schema)| Field { name, optional: !required.contains(&&**name), schema })
        .collect();
    let place = |field: &Field<'_>| required.iter().position(|name| *name == field.name);
    fields.sort_by_key(|field| (field.optional, place(field), field.name));
    fields
}

fn definition(name: &str, schema: &Value) -> String {
    if schema["oneOf"].is_array() {
        return words_type(name, schema);
    }
    let mut out = doc("", text(&schema["description"]));
    let fields = fields(schema);
    if fields.is_empty() {
        return out + &format!("export type {name} = object;\n");
    }
    let _ = writeln!(out, "export interface {name} {{");
    for Field { name, optional, schema } in fields {
        let mark = if optional { "?" } else { "" };
        let comment = doc("  ", text(&schema["description"]));
        let _ = writeln!(
            out,
            "{}  {name}{mark}: {};",
            comment.trim_start_matches('\n'),
            Shape::of(schema).in_types()
        );
    }
    out + "}\n"
}

/// Renders an enum of words; the words' own docs become a list in the type's.
fn words_type(name: &str, schema: &Value) -> String {
    let mut comment = text(&schema["description"]).to_owned() + "\n";
    for word in list(&schema["oneOf"]) {
        let _ = write!(comment, "\n- `{}`: {}", text(&word["const"]), text(&word["description"]));
    }
    let words: Vec<String> = words(schema).map(|word| format!("'{word}'")).collect();
    doc("", &comment) + &format!("export type {name} = {};\n", words.join(" | "))
}

fn words(schema: &Value) -> impl Iterator<Item = &str> {
    list(&schema["oneOf"]).iter().map(|word| text(&word["const"]))
}

fn table_entry(name: &str, schema: &Value) -> String {
    if schema["oneOf"].is_array() {
        let words = words(schema).map(|word| format!("'{word}'")).collect();
        return bracketed(name, "[", words, "]");
    }
    let fields = fields(schema).into_iter().map(|field| {
        let mark = if field.optional { "?" } else { "" };
        format!("{}: '{}{mark}'", field.name, Shape::of(field.schema).in_table())
    });
    bracketed(name, "{ ", fields.collect(), " }")
}

/// Renders `name: { a, b }` on one line where it fits, else with a line for each item.
fn bracketed(name: &str, open: &str, items: Vec<String>, close: &str) -> String {
    if items.is_empty() {
        return format!("{name}: {}{}", open.trim(), close.trim());
    }
    let line = format!("{name}: {open}{}{close}", items.join(", "));
    // Four columns of indentation before it and a comma after it.
    if line.len() + 5 <= WIDTH {
        return line;
    }
    format!("{name}: {}\n      {},\n    {}", open.trim(), items.join(",\n      "), close.trim())
}

fn group(name: &str, entries: impl Iterator<Item = String>) -> String {
    let entries: String = entries.map(|entry| format!("    {entry},\n")).collect();
    format!("  {name}: {{\n{entries}  }},\n")
}

/// Renders a comment, with an empty line before it.
pub(crate) fn doc(indent: &str, comment: &str) -> String {
    let lines: Vec<&str> = comment.lines().collect();
    if let [line] = lines[..] {
        return format!("\n{indent}/** {line} */\n");
    }
    let lines: String = lines
        .iter()
        .map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n")
        .collect();
    format!("\n{indent}/**\n{lines}{indent} */\n")
}

fn not_null(choices: &[Value], kind: fn(&Value) -> &Value) -> &Value {
    choices.iter().find(|choice| kind(choice) != "null").expect("a choice that is not null")
}

pub(crate) fn referred(schema: &Value) -> &str {
    text(&schema["$ref"]).rsplit('/').next().expect("the last part of a path")
}

fn list(schema: &Value) -> &[Value] {
    schema.as_array().map(Vec::as_slice).expect("a list of choices")
}

pub(crate) fn text(schema: &Value) -> &str {
    schema.as_str().expect("every type, field and word of the wire is documented")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: &str) {
        let text = render();
        assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
    }

    #[test]
    fn every_message_is_in_its_union_and_in_its_table() {
        for tag in wire::FromBrowser::TYPES.iter().chain(wire::ToBrowser::TYPES) {
            check(&format!("\n  | ({{ type: '{tag}' }} & "));
            check(&format!("\n    {tag}: '"));
        }
    }

    #[test]
    fn optional_opaque_and_listed_fields_are_told_apart() {
        check("  /** The arguments, as an object. */\n  args: unknown;\n");
        check("  /** Any JSON that the name calls for. */\n  data?: unknown;\n");
        check("  replay: Event[];\n");
        check("  messages: unknown[];\n");
        check(
            "    Event: { sequence: 'unsigned', name: 'string', data: 'any?', level: 'Level?' },",
        );
        check("    Level: ['info', 'warning', 'error'],");
    }

    #[test]
    fn rendering_twice_gives_the_same_text() {
        assert_eq!(render(), render());
    }
}
