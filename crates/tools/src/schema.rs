//! Schemas of our own tools: what is accepted, and the part of it that a client reads.
//!
//! Every client pays for each byte of the list on each step. So what is rarely needed is accepted
//! and described in docs/tools.md, but not listed. Two marks in a property say so: `unlisted` for
//! the property, `also` for values beyond those of its `enum`.

use model::{Json, page_text};
use serde_json::{Map, Value, json};

const UNLISTED: &str = "unlisted";
const ALSO: &str = "also";
/// Keywords of JSON Schema whose members have names of the schema's author.
const NAMED_SCHEMAS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Returns what a client reads.
pub fn listed(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(properties) = properties(&mut schema) {
        properties.retain(|_, property| property.get(UNLISTED).is_none());
        for property in properties.values_mut() {
            remove(property, &[UNLISTED, ALSO, "minimum", "maximum"]);
        }
    }
    // What is unknown or out of bounds is refused all the same, with words that help.
    remove(&mut schema, &["additionalProperties"]);
    schema
}

/// Returns what is accepted.
pub fn accepted(schema: &Value) -> Value {
    let mut schema = schema.clone();
    for property in properties(&mut schema).into_iter().flat_map(|all| all.values_mut()) {
        let also = also(property).to_vec();
        if let Some(values) = property.get_mut("enum").and_then(Value::as_array_mut) {
            values.extend(also);
        }
        unmark(property);
    }
    schema
}

/// Returns what a client reads of a schema that an app or page has declared: with arguments of
/// ours, each a name and a type, and with no words that could pass for ours.
pub(crate) fn declared(schema: &Json, ours: &[(&str, &str)]) -> Value {
    let mut schema = match schema.to_value().map(readable) {
        Ok(Value::Object(schema)) => schema,
        _ => Map::new(),
    };
    schema.insert("type".to_owned(), json!("object"));
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        let ours = ours.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind})));
        properties.extend(ours);
    }
    Value::Object(schema)
}

/// Makes descriptions one line without marks of ours, and everything else visible. A name or value
/// that is written in another way now is refused by the schema itself, which stays as it is; a value
/// that it only suggests is left out.
fn readable(schema: Value) -> Value {
    match schema {
        Value::Object(fields) => Value::Object(fields.into_iter().filter_map(keyword).collect()),
        Value::Array(items) => Value::Array(items.into_iter().map(readable).collect()),
        other => visible(other),
    }
}

fn keyword((name, value): (String, Value)) -> Option<(String, Value)> {
    let value = match (name.as_str(), value) {
        ("description" | "title" | "$comment", Value::String(text)) => {
            json!(page_text::line(&text))
        }
        (name, Value::Object(members)) if NAMED_SCHEMAS.contains(&name) => {
            let member = |(name, schema): (String, Value)| (visible_text(&name), readable(schema));
            Value::Object(members.into_iter().map(member).collect())
        }
        ("default" | "examples", value) => Some(value).filter(|it| visible(it.clone()) == *it)?,
        ("const" | "enum", value) => visible(value),
        (_, value) => readable(value),
    };
    Some((visible_text(&name), value))
}

/// Writes out what cannot be seen in the texts and names of a value.
fn visible(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| (visible_text(&name), visible(value));
            Value::Object(fields.into_iter().map(field).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(visible).collect()),
        Value::String(text) => json!(visible_text(&text)),
        other => other,
    }
}

fn visible_text(text: &str) -> String {
    page_text::content(text).into_owned()
}

/// Returns whether a property is accepted without being listed.
pub fn is_unlisted(property: &Value) -> bool {
    property.get(UNLISTED).is_some()
}

/// Returns the values of a property that are accepted without being listed.
pub fn also(property: &Value) -> &[Value] {
    property.get(ALSO).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Marks a property as accepted without being listed.
pub(crate) fn unlisted(mut property: Value) -> Value {
    property[UNLISTED] = json!(true);
    property
}

fn properties(schema: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    schema.get_mut("properties")?.as_object_mut()
}

fn unmark(property: &mut Value) {
    remove(property, &[UNLISTED, ALSO]);
}

fn remove(schema: &mut Value, names: &[&str]) {
    if let Some(fields) = schema.as_object_mut() {
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "a": {"enum": ["x"], "also": ["y"], "description": "which"},
                "b": {"type": "string", "unlisted": true},
            },
            "additionalProperties": false,
        })
    }

    #[test]
    fn values_in_a_declared_schema_stay_what_they_are() {
        let schema = json!({
            "title": "Draft [1]",
            "properties": {
                "title": {"type": "string", "title": "A [2]", "default": "A [draft]  x"},
                "default": {"description": "two\nlines", "default": {"title": "A [draft]"}},
                "unseen": {"default": "a\u{200b}b", "enum": ["a\u{200b}b"], "examples": ["c"]},
            },
        });
        let expected = json!({
            "title": r"Draft \[1\]",
            "type": "object",
            "properties": {
                "title": {"type": "string", "title": r"A \[2\]", "default": "A [draft]  x"},
                "default": {"description": "two lines", "default": {"title": "A [draft]"}},
                "unseen": {"enum": [r"a\u{200b}b"], "examples": ["c"]},
            },
        });
        assert_eq!(declared(&Json::of(&schema), &[]), expected);
    }

    #[test]
    fn what_is_not_listed_is_accepted_all_the_same() {
        assert_eq!(
            listed(&schema()),
            json!({
                "type": "object",
                "properties": {"a": {"enum": ["x"], "description": "which"}},
            })
        );
        assert_eq!(
            accepted(&schema()),
            json!({
                "type": "object",
                "properties": {
                    "a": {"enum": ["x", "y"], "description": "which"},
                    "b": {"type": "string"},
                },
                "additionalProperties": false,
            })
        );
    }
}
