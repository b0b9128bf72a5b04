//! Checking arguments before anything is sent; an error names the argument and what is valid.
//!
//! Schemas of apps and pages are checked by us, because browsers do not. Nothing is fetched: a
//! `$ref` that leads outside makes the schema unusable, and that is said.

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use model::{Code, Fault, json::shorten};
use serde_json::{Value, json};

/// Problems that an error lists.
const LISTED: usize = 3;
/// Known names that an error lists.
const NAMES: usize = 20;

/// A schema that is ready to check.
pub struct Checker {
    schema: Value,
    validator: Validator,
}

impl Checker {
    /// Reads a schema; one that says nothing at all lets every object through.
    pub fn new(schema: Value) -> Result<Self, Fault> {
        let schema = if schema.is_null() { json!({"type": "object"}) } else { schema };
        let validator = jsonschema::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(&schema)
            .map_err(|error| {
                let message = format!("the tool's schema cannot be used: {error}");
                Fault::new(Code::InvalidArgument, shorten(&message, 400))
            })?;
        Ok(Self { schema, validator })
    }

    /// Returns whether the schema lists an argument.
    pub fn has(&self, name: &str) -> bool {
        self.schema["properties"].get(name).is_some()
    }

    /// Checks arguments.
    pub fn check(&self, args: &Value) -> Result<(), Fault> {
        let problems: Vec<_> = self
            .validator
            .iter_errors(args)
            .take(LISTED)
            .map(|error| self.problem(&error))
            .collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(Fault::new(Code::InvalidArgument, problems.join("; ")))
    }

    fn problem(&self, error: &ValidationError<'_>) -> String {
        let place = place(error);
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let about = self.description(name).map(|text| format!(" ({text})"));
                format!("`{name}` is missing{}", about.unwrap_or_default())
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => self.unknown(unexpected),
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                let list: Vec<_> = options.iter().map(Value::to_string).collect();
                let given = shorten(&error.instance().to_string(), 60);
                format!("{place} must be one of {}, not {given}", list.join(", "))
            }
            _ => format!("{place}: {}", shorten(&error.to_string(), 200)),
        }
    }

    fn unknown(&self, unexpected: &[String]) -> String {
        let known: Vec<&str> = self.schema["properties"]
            .as_object()
            .map(|properties| properties.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let name = unexpected.first().map(String::as_str).unwrap_or_default();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        let known: Vec<_> = known.iter().take(NAMES).map(|name| format!("`{name}`")).collect();
        let list = match known.is_empty() {
            true => "it takes none".to_owned(),
            false => format!("it takes {}", known.join(", ")),
        };
        format!("there is no argument `{}`; {list}{hint}", shorten(name, 60))
    }

    fn description(&self, name: &str) -> Option<&str> {
        self.schema["properties"][name]["description"].as_str()
    }
}

/// Returns the known name that was probably meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let rated = known.into_iter().map(|known| (strsim::jaro_winkler(known, name), known));
    let best = rated.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(rate, _)| *rate > 0.75).map(|(_, known)| known)
}

fn place(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().to_string();
    match path.strip_prefix('/') {
        Some(path) => format!("`{}`", path.replace('/', ".")),
        None => "the arguments".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(args: Value, parts: &[&str]) {
        let checker = Checker::new(json!({
            "type": "object",
            "properties": {
                "color": {"type": "string", "description": "#rrggbb"},
                "size": {"type": "integer", "minimum": 1, "maximum": 9},
                "mode": {"enum": ["fast", "slow"]},
            },
            "required": ["color"],
            "additionalProperties": false,
        }))
        .unwrap();
        let found = checker.check(&args).map_err(|fault| fault.message);
        match parts {
            [] => assert_eq!(found, Ok(()), "{args}"),
            parts => {
                let message = found.unwrap_err();
                for part in parts {
                    assert!(message.contains(part), "{part:?} not in {message:?}");
                }
            }
        }
    }

    #[test]
    fn errors_name_the_argument_and_what_is_valid() {
        check(json!({"color": "#fff", "size": 3, "mode": "fast"}), &[]);
        check(json!({}), &["`color` is missing (#rrggbb)"]);
        check(
            json!({"color": "x", "colour": "y"}),
            &["`colour`", "`color`, `mode`, `size`", "did you mean `color`?"],
        );
        check(json!({"color": 7}), &["`color`", "string"]);
        check(json!({"color": "x", "size": 99}), &["`size`", "9"]);
        check(json!({"color": "x", "mode": "warp"}), &["`mode`", "\"fast\", \"slow\"", "\"warp\""]);
        check(json!([]), &["the arguments"]);
    }

    #[test]
    fn a_schema_that_leads_outside_is_refused() {
        for schema in [
            json!({"$ref": "https://evil.example/schema.json"}),
            json!({"$ref": "file:///etc/passwd"}),
            json!({"type": "nonsense"}),
            json!({"pattern": "("}),
        ] {
            assert!(Checker::new(schema.clone()).is_err(), "{schema}");
        }
    }
}
