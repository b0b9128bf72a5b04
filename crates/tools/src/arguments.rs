//! Checking arguments before anything is sent; an error names the argument and what is valid.
//!
//! Schemas of apps and pages are checked by us, because browsers do not. Nothing is fetched: a
//! `$ref` that leads outside makes the schema unusable, and that is said. What a check may cost is
//! a matter of [`effort`].

mod effort;

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use model::{Code, Fault, json::shorten, page_text};
use serde_json::{Value, json};

/// Problems that an error lists.
const LISTED: usize = 3;
/// Known names that an error lists.
const NAMES: usize = 20;
/// Characters of a list of values in an error, and of one name or description.
const VALUES: usize = 600;
const WORDS: usize = 200;
/// Patterns of a schema that is kept ready: they may be large.
const FEW: usize = 2;

/// A schema that is ready to check.
pub struct Checker {
    schema: Value,
    validator: Validator,
    patterns: usize,
}

impl Checker {
    /// Reads a schema; one that says nothing at all lets every object through.
    pub fn new(schema: Value) -> Result<Self, Fault> {
        let schema = if schema.is_null() { json!({"type": "object"}) } else { schema };
        let patterns = effort::check_schema(&schema).map_err(unusable)?;
        let options = jsonschema::PatternOptions::regex().size_limit(effort::PATTERN_BYTES);
        let validator = jsonschema::options()
            .with_pattern_options(options)
            .build(&schema)
            .map_err(|error| unusable(error.to_string()))?;
        Ok(Self { schema, validator, patterns })
    }

    /// Returns whether it is small enough to be kept for the next call.
    pub fn is_light(&self) -> bool {
        self.patterns <= FEW
    }

    /// Returns whether the schema lists an argument.
    pub fn has(&self, name: &str) -> bool {
        self.schema["properties"].get(name).is_some()
    }

    /// Checks arguments.
    pub fn check(&self, args: &Value) -> Result<(), Fault> {
        effort::check_work(&self.schema, args).map_err(unusable)?;
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
                let about = self.description(name).map(|text| shorten(text, WORDS));
                let about = about.map(|text| format!(" ({})", page_text::line(&text)));
                format!("`{}` is missing{}", page_text::exact(name), about.unwrap_or_default())
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => self.unknown(unexpected),
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                let list: Vec<_> = options.iter().map(Value::to_string).collect();
                let given = shorten(&error.instance().to_string(), 60);
                let list = shorten(&page_text::json(&list.join(", ")), VALUES);
                format!("{place} must be one of {list}, not {given}")
            }
            _ => format!("{place}: {}", page_text::exact(&shorten(&error.to_string(), 200))),
        }
    }

    fn unknown(&self, unexpected: &[String]) -> String {
        let known: Vec<&str> = self.schema["properties"]
            .as_object()
            .map(|properties| properties.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let name = unexpected.first().map(String::as_str).unwrap_or_default();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("; did you mean `{}`?", page_text::exact(near)),
            None => String::new(),
        };
        let known = known.iter().take(NAMES).map(|name| shorten(name, WORDS));
        let known: Vec<_> = known.map(|name| format!("`{}`", page_text::exact(&name))).collect();
        let list = match known.is_empty() {
            true => "it takes none".to_owned(),
            false => format!("it takes {}", known.join(", ")),
        };
        format!("there is no argument `{}`; {list}{hint}", page_text::exact(&shorten(name, 60)))
    }

    fn description(&self, name: &str) -> Option<&str> {
        self.schema["properties"][name]["description"].as_str()
    }
}

fn unusable(why: String) -> Fault {
    let message = format!("the tool's schema cannot be used: {why}");
    Fault::new(Code::InvalidArgument, page_text::exact(&shorten(&message, 400)))
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
        Some(path) => format!("`{}`", page_text::exact(&path.replace('/', "."))),
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
            json!({"pattern": "\\p{L}{100}"}),
        ] {
            assert!(Checker::new(schema.clone()).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_check_that_would_not_end_is_not_begun() {
        // Each of seven names the six others: they can be gone through in thousands of orders.
        let others = |own: usize| (0..7).filter(move |other| *other != own);
        let refer = |other| json!({"$ref": format!("#/$defs/{other}")});
        let one = |own: usize| {
            (own.to_string(), json!({"allOf": Value::from_iter(others(own).map(refer))}))
        };
        let defs = Value::Object((0..7).map(one).collect());
        let checker = Checker::new(json!({"$ref": "#/$defs/0", "$defs": defs})).unwrap();
        let message = checker.check(&json!({"a": 1})).unwrap_err().message;
        assert!(message.contains("places"), "{message}");
    }

    #[test]
    fn an_error_does_not_repeat_a_page_of_the_schema() {
        let long = "x".repeat(5000);
        let values: Vec<_> = (0..5000).map(|it| format!("v{it}")).collect();
        let checker = Checker::new(json!({
            "properties": {"a": {"enum": values}, "b": {"description": long}, long: true},
            "required": ["b"],
            "additionalProperties": false,
        }))
        .unwrap();
        for args in [json!({"a": 1, "b": 1}), json!({"a": "v1"}), json!({"b": 1, "c": 1})] {
            let message = checker.check(&args).unwrap_err().message;
            assert!(message.len() < 2000, "{} bytes", message.len());
        }
    }
}
