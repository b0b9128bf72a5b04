//! Finds the id of a request that is too long to keep, while its bytes pass by.
//!
//! A scanner for one JSON object that remembers nothing but where it is and the text of a
//! top-level `id`. Without it, whoever sent too much would wait for an answer until a timeout.

use rmcp::model::RequestId;

use crate::lines::read_id;

/// The longest id that is kept.
const MAX_ID: usize = 256;

/// Watches the bytes of one line.
#[derive(Default)]
pub(crate) struct IdFinder {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the next top-level text is a value, not a key.
    after_colon: bool,
    /// Whether the current top-level value belongs to the key `id`.
    wanted: bool,
    /// The current top-level key or simple value.
    text: Vec<u8>,
    id: Option<RequestId>,
}

impl IdFinder {
    /// Takes the next bytes of the line.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    /// Returns the id, if there was one.
    pub(crate) fn found(self) -> Option<RequestId> {
        self.id
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
            b':' if self.depth == 1 => self.end_key(),
            b',' if self.depth == 1 => self.end_value(),
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.text.len() < MAX_ID {
            self.text.push(byte);
        }
    }

    fn end_key(&mut self) {
        self.wanted = self.text == b"\"id\"";
        self.after_colon = true;
        self.text.clear();
    }

    fn end_value(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.wanted && self.after_colon {
            self.id = std::str::from_utf8(&self.text).ok().and_then(read_id);
        }
        self.wanted = false;
        self.after_colon = false;
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<RequestId>) {
        let mut finder = IdFinder::default();
        finder.feed(line.as_bytes());
        assert_eq!(finder.found(), expected, "{line}");
    }

    #[test]
    fn only_a_top_level_id_counts() {
        let seven = Some(RequestId::Number(7));
        check(r#"{"id":7,"method":"x"}"#, seven.clone());
        check(r#"{"params":{"id":1,"a":["id",{"id":2}]},"id": 7 }"#, seven.clone());
        check(r#"{"method":"\"id\":3,","params":"}","id":7}"#, seven);
        check(r#"{"id":"a-b","x":1}"#, Some(RequestId::String("a-b".into())));
        check(r#"{"params":{"id":1}}"#, None);
        check(r#"{"id":null}"#, None);
        check(r#"{"id":7.0}"#, None);
        check(r#"[{"id":7}]"#, None);
        check("no json at all", None);
    }
}
