//! Finds the id of a request that is too long to keep, while its bytes pass by.
//!
//! A scanner for one JSON object that remembers nothing but where it is and the text of a
//! top-level `id`. Without it, whoever said too much would wait for an answer until a timeout.

/// The longest id that is kept; of a longer one only so much, which is no JSON then.
const MAX_ID: usize = 256;

/// Watches the bytes of one line.
#[derive(Default)]
pub struct IdFinder {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the current top-level value belongs to the key `id`.
    wanted: bool,
    /// The current top-level key or simple value.
    text: Vec<u8>,
    id: Option<Vec<u8>>,
}

impl IdFinder {
    /// Takes the next bytes of the line.
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    /// Returns the id as it is written, if there was one. Whether it is a fit one, the caller says.
    pub fn found(self) -> Option<String> {
        String::from_utf8(self.id?).ok()
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'"' => {
                self.keep(byte);
                self.in_string = true;
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.wanted = self.text == b"\"id\"";
                self.text.clear();
            }
            b',' => self.end_value(),
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.text.len() < MAX_ID {
            self.text.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.wanted {
            self.id = Some(std::mem::take(&mut self.text));
        }
        self.wanted = false;
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let mut finder = IdFinder::default();
        finder.feed(line.as_bytes());
        assert_eq!(finder.found().as_deref(), expected, "{line}");
    }

    #[test]
    fn only_a_top_level_id_counts() {
        check(r#"{"id":7,"method":"x"}"#, Some("7"));
        check(r#"{"params":{"id":1,"a":["id",{"id":2}]},"id": 7 }"#, Some("7"));
        check(r#"{"method":"\"id\":3,","params":"}","id":7}"#, Some("7"));
        check(r#"{"id":"a-b","x":1}"#, Some("\"a-b\""));
        check(r#"{"id":7,"id":null}"#, Some("null"));
        check(r#"{"params":{"id":1}}"#, None);
        check(r#"[{"id":7}]"#, None);
        check("no json at all", None);
    }

    #[test]
    fn an_id_that_is_too_long_is_cut() {
        let line = format!(r#"{{"id":"{}"}}"#, "x".repeat(2 * MAX_ID));
        let mut finder = IdFinder::default();
        finder.feed(line.as_bytes());
        assert_eq!(finder.found().map(|id| id.len()), Some(MAX_ID));
    }
}
