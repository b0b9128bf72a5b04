//! Schemas of our own tools: what is accepted, and the part of it that a client reads.
//!
//! Every client pays for each byte of the list on each step. So what is rarely needed is accepted
//! and described in docs/tools.md, but not listed. Two marks in a property say so: `unlisted` for
//! the property, `also` for values beyond those of its `enum`.

use serde_json::{Value, json};

const UNLISTED: &str = "unlisted";
const ALSO: &str = "also";

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

/// Returns whether a property is accepted without being listed.
pub fn is_unlisted(property: &Value) -> bool {
    property.get(UNLISTED).is_some()
}

/// Returns the values of a property that are accepted without being listed.
pub fn also(property: &Value) -> &[Value] {
    property.get(ALSO).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Makes properties that are accepted without being listed.
pub(crate) fn unlisted(mut properties: Value) -> Value {
    for property in properties.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
        property[UNLISTED] = json!(true);
    }
    properties
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
