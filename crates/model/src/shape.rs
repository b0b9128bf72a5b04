//! The shape of a JSON text: how deep it nests and how many values it holds, before a tree is built.
//!
//! Carried payloads are not parsed, so the parser's own limit does not protect whoever opens them
//! later; and three bytes of text can become hundreds of a tree. One pass over the bytes tells
//! both; it assumes nothing about the text being valid.

/// Deepest nesting that is carried. The same limit as that of our JSON parser.
pub const DEEPEST: usize = 128;

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
    pub fn of(text: &str) -> Self {
        let mut shape = Self { depth: 0, values: 1 };
        let mut open = 0_usize;
        let mut bytes = text.bytes();
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

/// Returns whether brackets nest deeper than [`DEEPEST`].
pub fn too_deep(text: &str) -> bool {
    Shape::of(text).depth > DEEPEST
}

fn skip_string(bytes: &mut std::str::Bytes<'_>) {
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
