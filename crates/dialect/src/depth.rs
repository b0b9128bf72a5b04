//! How deeply a JSON text is nested.
//!
//! Carried payloads are not parsed, so the parser's own limit does not protect whoever opens
//! them later. One pass over the bytes does; it assumes nothing about the text being valid.

/// Deepest nesting that is carried. The same limit as that of our JSON parser.
pub const DEEPEST: usize = 128;

/// Returns whether brackets nest deeper than [`DEEPEST`].
pub fn too_deep(text: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
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
}
