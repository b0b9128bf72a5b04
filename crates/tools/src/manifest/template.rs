//! Texts with places to fill: `{name}` is an argument, `{/a/b}` a JSON pointer.

use model::page_text;
use serde_json::Value;

/// A text with places to fill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Place(String),
}

impl Template {
    /// Reads a template; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, place)) = rest.split_once('{') {
            let (place, after) =
                place.split_once('}').ok_or_else(|| format!("no `}}` follows `{{` in {text:?}"))?;
            parts.push(Part::Text(plain(before)?));
            parts.push(Part::Place(place.to_owned()));
            rest = after;
        }
        parts.push(Part::Text(plain(rest)?));
        Ok(Self(parts))
    }

    /// Returns the places to fill.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Place(place) => Some(place.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Fills all places, or returns none when one of them cannot be filled.
    pub fn fill(&self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        let part = |part: &Part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Place(place) => value(place),
        };
        self.0.iter().map(part).collect()
    }

    /// Fills places that are JSON pointers into a value.
    pub fn fill_from(&self, value: &Value) -> Option<String> {
        self.fill(|pointer| value.pointer(pointer).map(show))
    }
}

fn plain(text: &str) -> Result<String, String> {
    match text.contains('}') {
        true => Err(format!("no `{{` stands before `}}` in {text:?}")),
        false => Ok(text.to_owned()),
    }
}

/// Returns whether a text is a JSON pointer (RFC 6901).
pub(super) fn is_pointer(text: &str) -> bool {
    let escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && escapes
}

/// Shows a value to a reader: texts without quotes and on their line, numbers without the noise of floating point.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::String(text) => page_text::exact(text).into_owned(),
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or_else(|| number.to_string(), show_number)
        }
        other => page_text::json(&other.to_string()).into_owned(),
    }
}

fn show_number(number: f64) -> String {
    // 45.00000000000001 is 45 to a reader; whatever differs by more stays as it is.
    let near = (number * 1e6).round() / 1e6;
    let shown = if (near - number).abs() < 1e-9 { near } else { number };
    // Adding zero makes -0 a plain 0.
    (shown + 0.0).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_filled_or_nothing_is() {
        let template = Template::parse("X: {/x}°, Y: {/y}°").unwrap();
        assert_eq!(template.places().collect::<Vec<_>>(), ["/x", "/y"]);
        let full = template.fill_from(&json!({"x": 1.0, "y": "two"}));
        assert_eq!(full.unwrap(), "X: 1°, Y: two°");
        let odd = template.fill_from(&json!({"x": "[ref=e2]\n", "y": ["[z]"]})).unwrap();
        assert_eq!(odd, r#"X: \[ref=e2\]\n°, Y: ["\u005bz\u005d"]°"#);
        assert_eq!(template.fill_from(&json!({"x": 1})), None);
        for bad in ["{x", "x}", "{a} }", "a } {b}"] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_are_shown_without_noise_and_without_loss() {
        let cases = [
            (json!(45.00000000000001), "45"),
            (json!(-0.0), "0"),
            (json!(-1e-17), "0"),
            (json!(0.1), "0.1"),
            (json!(0.12345678), "0.12345678"),
            (json!(360), "360"),
        ];
        for (number, shown) in cases {
            assert_eq!(show(&number), shown);
        }
    }

    #[test]
    fn pointers_are_told_from_other_texts() {
        for (text, is) in [("", true), ("/a/b~1c", true), ("a", false), ("/a~2", false)] {
            assert_eq!(is_pointer(text), is, "{text:?}");
        }
    }
}
