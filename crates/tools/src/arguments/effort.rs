//! What a check may cost: the schemas of apps and pages are anybody's, and a check cannot be ended
//! once it has begun.
//!
//! A few `$ref` in a kilobyte can stand for more places than anybody lives to look at, a short pattern
//! for megabytes, and a list of names that is looked at in many places for as many errors. Here such
//! schemas and checks are refused beforehand. Whether arguments fit is not looked at.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// Patterns of one schema.
pub(super) const PATTERNS: usize = 32;
/// Places with `unevaluatedProperties` or `unevaluatedItems`: each makes those around it three times
/// as dear (measured).
const UNEVALUATED: usize = 4;
/// Bytes that one pattern may become.
pub(super) const PATTERN_BYTES: usize = 256 << 10;
/// Bytes of text that a pattern looks through in the time that a place takes.
const PATTERN_STEP: usize = 10;
/// Places of a schema that one check may come to, however little there is to check. A name or value
/// in a list that is looked through counts as one.
const PLACES: usize = 10_000;
/// Places more for each value in the arguments.
const PLACES_PER_VALUE: usize = 100;

/// Schemas that apply to the same value.
const INNER: [&str; 4] = ["not", "if", "then", "else"];
/// Lists of schemas that apply to the same value.
const INNER_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Schemas by name that apply to the same value.
const INNER_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Schemas that apply to every member of an object.
const MEMBERS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "propertyNames"];
/// What looks again at all that stands beside it.
const DEAR: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];
/// Schemas that apply to every item of a list; some may be lists themselves.
const ITEMS: [&str; 5] =
    ["items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"];

/// Counts the patterns of a schema, and checks that each of its references can be followed here.
pub(super) fn check_schema(schema: &Value) -> Result<usize, String> {
    let mut patterns = 0;
    let mut unevaluated = 0;
    let mut refers = false;
    let mut renamed = false;
    let mut left = vec![schema];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => {
                patterns += usize::from(text(fields, "pattern").is_some());
                patterns +=
                    fields.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
                unevaluated += DEAR.iter().filter(|word| fields.contains_key(**word)).count();
                refers |= check_references(schema, fields)?;
                // What `#` means below such a name is not the whole schema.
                renamed |= !std::ptr::eq(value, schema) && names_itself(schema, fields);
                left.extend(fields.values());
            }
            _ => {}
        }
    }
    if refers && renamed {
        return Err("a part of it has an `$id` of its own, beside `$ref`".to_owned());
    }
    if unevaluated > UNEVALUATED {
        return Err(format!(
            "it has {unevaluated} `unevaluated…`; at most {UNEVALUATED} are checked"
        ));
    }
    match patterns > PATTERNS {
        true => Err(format!("it has {patterns} patterns; at most {PATTERNS} are checked")),
        false => Ok(patterns),
    }
}

/// Checks that looking at these arguments ends soon.
pub(super) fn check_work(schema: &Value, args: &Value) -> Result<(), String> {
    let most = PLACES + PLACES_PER_VALUE * count(args);
    let mut seen = 0;
    let mut left = vec![(schema, args)];
    while let Some((place, value)) = left.pop() {
        seen += 1;
        let Value::Object(fields) = place else { continue };
        seen += listed(fields) + matched(fields, value);
        add_inner(schema, fields, value, &mut left);
        match value {
            Value::Object(members) => add_members(fields, members, &mut left),
            Value::Array(items) => add_items(fields, items, &mut left),
            _ => {}
        }
        if seen + left.len() > most {
            return Err(format!(
                "checking these arguments would come to more than {most} places of it"
            ));
        }
    }
    Ok(())
}

/// How many names and values stand in the lists that are looked through in a place: each may become
/// an error.
fn listed(fields: &Map<String, Value>) -> usize {
    let lists = ["required", "enum"].iter().filter_map(|word| fields.get(*word)?.as_array());
    let maps = ["dependentRequired", "dependencies"].iter();
    let maps = maps.filter_map(|word| fields.get(*word)?.as_object()).flat_map(Map::values);
    lists.chain(maps.filter_map(Value::as_array)).map(Vec::len).sum()
}

/// What the patterns of a place cost: they look through a text, or through the names of members.
fn matched(fields: &Map<String, Value>, value: &Value) -> usize {
    let bytes = match value {
        Value::String(text) => usize::from(fields.contains_key("pattern")) * text.len(),
        Value::Object(members) => {
            let patterns = fields.get("patternProperties").and_then(Value::as_object);
            patterns.map_or(0, Map::len) * members.keys().map(String::len).sum::<usize>()
        }
        _ => 0,
    };
    bytes / PATTERN_STEP
}

type Places<'a> = Vec<(&'a Value, &'a Value)>;

fn add_inner<'a>(
    schema: &'a Value,
    fields: &'a Map<String, Value>,
    value: &'a Value,
    left: &mut Places<'a>,
) {
    let target = text(fields, "$ref").and_then(|reference| follow(schema, reference));
    let single = INNER.iter().filter_map(|word| fields.get(*word));
    let lists = INNER_LISTS.iter().filter_map(|word| fields.get(*word)?.as_array()).flatten();
    let maps = INNER_MAPS.iter().filter_map(|word| fields.get(*word)?.as_object());
    let all = target.into_iter().chain(single).chain(lists).chain(maps.flat_map(Map::values));
    left.extend(all.map(|place| (place, value)));
}

fn add_members<'a>(
    fields: &'a Map<String, Value>,
    members: &'a Map<String, Value>,
    left: &mut Places<'a>,
) {
    if let Some(Value::Object(known)) = fields.get("properties") {
        left.extend(
            members.iter().filter_map(|(name, value)| known.get(name).map(|place| (place, value))),
        );
    }
    let by_pattern = fields.get("patternProperties").and_then(Value::as_object);
    let patterns = by_pattern.into_iter().flat_map(Map::values);
    for place in patterns.chain(MEMBERS.iter().filter_map(|word| fields.get(*word))) {
        left.extend(members.values().map(|value| (place, value)));
    }
}

fn add_items<'a>(fields: &'a Map<String, Value>, items: &'a [Value], left: &mut Places<'a>) {
    for place in ITEMS.iter().filter_map(|word| fields.get(*word)) {
        match place {
            Value::Array(places) => left.extend(places.iter().zip(items)),
            place => left.extend(items.iter().map(|value| (place, value))),
        }
    }
}

/// Returns whether there is a reference; one that cannot be followed is an error.
fn check_references(schema: &Value, fields: &Map<String, Value>) -> Result<bool, String> {
    if let Some(word) =
        ["$dynamicRef", "$recursiveRef"].iter().find(|word| text(fields, word).is_some())
    {
        return Err(format!("it has `{word}`, which is not followed; use `$ref`"));
    }
    let Some(reference) = text(fields, "$ref") else { return Ok(false) };
    match follow(schema, reference) {
        Some(_) => Ok(true),
        None => Err(format!("its `$ref` {reference:?} leads to no place in it")),
    }
}

/// Returns whether a part of a schema has a name that references count from.
fn names_itself(schema: &Value, fields: &Map<String, Value>) -> bool {
    let is_old = schema["$schema"].as_str().is_some_and(|draft| draft.contains("draft-04"));
    text(fields, if is_old { "id" } else { "$id" }).is_some()
}

/// Finds where a reference leads: `#` or `#/…`, within the schema.
fn follow<'a>(schema: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
    schema.pointer(&pointer)
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

fn count(args: &Value) -> usize {
    let mut left = vec![args];
    let mut counted = 0;
    while let Some(value) = left.pop() {
        counted += 1;
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.values()),
            _ => {}
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Definitions that each name the next one twice.
    fn doubling(word: &str, levels: usize) -> Value {
        let next = |level: usize| json!({"$ref": format!("#/$defs/{}", level + 1)});
        let level = |level| (format!("{level}"), json!({word: [next(level), next(level)]}));
        let mut defs: Map<_, _> = (0..levels).map(level).collect();
        defs.insert(levels.to_string(), json!({"type": "object"}));
        json!({"$ref": "#/$defs/0", "$defs": defs})
    }

    #[test]
    fn references_that_multiply_are_not_followed_to_their_end() {
        let args = json!({"a": {"a": {"a": {"a": 1}}}});
        for word in INNER_LISTS {
            assert_eq!(check_work(&doubling(word, 4), &args), Ok(()), "{word}");
            assert!(check_work(&doubling(word, 60), &args).is_err(), "{word}");
        }
        for endless in [
            json!({"$ref": "#"}),
            json!({"not": {"$ref": "#"}}),
            json!({"dependentSchemas": {"a": {"$ref": "#"}}}),
        ] {
            assert!(check_work(&endless, &args).is_err(), "{endless}");
        }
    }

    /// Each name that is missing would be an error in every place, all of them in memory at once.
    #[test]
    fn long_lists_in_many_places_are_not_looked_through() {
        let names: Vec<_> = (0..1500).map(|name| name.to_string()).collect();
        let of = |leaf: Value, levels: usize| {
            let mut schema = doubling("allOf", levels);
            schema["$defs"][levels.to_string()] = leaf;
            schema
        };
        for leaf in [
            json!({"required": names}),
            json!({"enum": names}),
            json!({"dependentRequired": {"a": names}}),
        ] {
            assert_eq!(check_work(&of(leaf.clone(), 1), &json!({})), Ok(()));
            assert!(check_work(&of(leaf, 11), &json!({})).is_err());
        }
    }

    #[test]
    fn patterns_that_look_through_much_text_in_many_places_are_not_tried() {
        let args = json!("x".repeat(4000));
        let mut schema = doubling("allOf", 8);
        schema["$defs"]["8"] = json!({"pattern": "[a-y]*[a-m][a-z]{2000}[0-9A-Z]"});
        assert!(check_work(&schema, &args).is_err());
        assert_eq!(check_work(&schema, &json!("short")), Ok(()));
        let mut schema = doubling("allOf", 8);
        schema["$defs"]["8"] = json!({"patternProperties": {"a": true, "b": true}});
        assert!(check_work(&schema, &json!({"x".repeat(4000): 1})).is_err());
        assert_eq!(check_work(&schema, &json!({"short": 1})), Ok(()));
    }

    #[test]
    fn a_schema_of_trees_grows_with_the_arguments_only() {
        let schema = json!({
            "properties": {"next": {"$ref": "#"}, "all": {"items": {"$ref": "#"}}},
            "additionalProperties": {"type": "integer"},
        });
        let mut args = json!({"leaf": 1});
        for _ in 0..50 {
            args = json!({"next": args, "all": vec![json!({"leaf": 2}); 100]});
        }
        assert_eq!(check_work(&schema, &args), Ok(()));
    }

    #[test]
    fn references_lead_to_places_in_the_schema() {
        for good in ["#", "#/$defs/a%20b", "#/%24defs/a~1b"] {
            let schema = json!({"items": {"$ref": good}, "$defs": {"a b": true, "a/b": true}});
            assert_eq!(check_schema(&schema), Ok(0), "{good}");
        }
        for bad in ["a.json", "https://evil.example/a", "#a", "#/$defs/b", "#/%", "#/%zz", ""] {
            let schema = json!({"$ref": bad, "$defs": {"a": {"$anchor": "a"}}});
            assert!(check_schema(&schema).is_err(), "{bad}");
        }
        for other in [
            json!({"$dynamicRef": "#a"}),
            json!({"$recursiveRef": "#"}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$id": "other"}}}),
        ] {
            assert!(check_schema(&other).is_err(), "{other}");
        }
        let named = json!({"properties": {"$ref": {"type": "string"}, "id": {"$id": "alone"}}});
        assert_eq!(check_schema(&named), Ok(0));
    }

    #[test]
    fn what_looks_at_all_again_is_rare() {
        let nested = |levels| {
            let around = |inner, _| json!({"allOf": [inner], "unevaluatedProperties": false});
            (0..levels).fold(json!({"properties": {"a": true}}), around)
        };
        assert_eq!(check_schema(&nested(4)), Ok(0));
        assert!(check_schema(&nested(40)).unwrap_err().contains("at most 4"));
    }

    #[test]
    fn patterns_are_counted_wherever_they_stand() {
        let many = |count: usize| (0..count).map(|it| json!({"pattern": format!("a{it}")}));
        let named = json!({"a": {}, "b": {}});
        let with =
            |count| json!({"anyOf": Value::from_iter(many(count)), "patternProperties": named});
        assert_eq!(check_schema(&with(30)), Ok(32));
        assert!(check_schema(&with(31)).unwrap_err().contains("at most 32"));
    }
}
