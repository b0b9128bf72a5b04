//! The shape of a JSON text: how deep it nests and how many values it holds, before a tree is built.
//!
//! Carried payloads are not parsed, so the parser's own limit does not protect whoever opens them
//! later; and three bytes of text can become hundreds of a tree. One pass over the bytes tells
//! both; it assumes nothing about the text being valid.

/// Deepest nesting that is carried. The same limit as that of our JSON parser.
pub const DEEPEST: usize = 128;

/// Values that a client's request may have, keys included. A tree of as many takes some 16 MiB at
/// most, whatever they are.
pub const REQUEST_VALUES: usize = 50_000;

/// How a text is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// How many brackets are open at the deepest point.
    pub depth: usize,
    /// How many values it has at most; keys count as values.
    pub values: usize,
}

impl Shape {
    /// Looks at a text.
    pub fn of(text: impl AsRef<[u8]>) -> Self {
        let mut shape = Self { depth: 0, values: 1 };
        let mut open = 0_usize;
        let mut bytes = text.as_ref().iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => skip_string(&mut bytes),
                b'[' | b'{' => {
                    open += 1;
                    shape.depth = shape.depth.max(open);
                    shape.values += 1;
                }
                b']' | b'}' => open = open.saturating_sub(1),
                b',' | b':' => shape.values += 1,
                _ => {}
            }
        }
        shape
    }
}

/// Says what keeps a client's request from being read into a tree, if anything does.
pub fn complaint(request: &[u8]) -> Option<String> {
    let shape = Shape::of(request);
    if shape.depth > DEEPEST {
        return Some(format!("it nests deeper than {DEEPEST} levels"));
    }
    (shape.values > REQUEST_VALUES)
        .then(|| format!("it has more than {REQUEST_VALUES} values, counting keys"))
}

/// Returns whether brackets nest deeper than [`DEEPEST`].
pub fn too_deep(text: &str) -> bool {
    Shape::of(text).depth > DEEPEST
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(too_deep(text), expected, "{}", &text[..text.len().min(60)]);
    }

    #[test]
    fn nesting_counts_and_strings_do_not() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        check("", false);
        check(&nested(DEEPEST), false);
        check(&nested(DEEPEST + 1), true);
        check(&"[]".repeat(1000), false);
        check(&format!("\"{}\"", "[".repeat(1000)), false);
        check(&format!(r#"["\"{}"]"#, "{".repeat(1000)), false);
        check(&format!(r#"["\\",{}]"#, "[".repeat(1000)), true);
    }

    #[test]
    fn a_request_with_too_many_values_or_levels_is_complained_of() {
        let list = |count: usize| format!("[{}]", vec!["{}"; count].join(","));
        assert_eq!(complaint(list(20_000).as_bytes()), None);
        assert!(complaint(list(REQUEST_VALUES).as_bytes()).unwrap().contains("50000 values"));
        let deep = "[".repeat(DEEPEST + 1);
        assert!(complaint(deep.as_bytes()).unwrap().contains("128 levels"));
        let long = format!("\"{}\"", ",".repeat(1 << 20));
        assert_eq!(complaint(long.as_bytes()), None, "what is in a string is no value");
    }

    #[test]
    fn no_text_has_more_values_than_are_counted() {
        for (text, values) in [
            ("7", 1),
            ("[]", 1),
            ("[{},{},{}]", 4),
            (r#"{"a":1,"b":[true,null]}"#, 7),
            (r#"["a,b:c[{","\",\\"]"#, 3),
        ] {
            let counted = Shape::of(text).values;
            assert!(counted >= values && counted <= 2 * values + 1, "{text}: {counted}");
        }
    }
}
