//! JSON as people write it, with the place of every part: comments and trailing commas are taken.
//!
//! A text comes in, and a tree of spans goes out, so that an editor can touch some bytes and leave
//! the others alone. It changes nothing, and what is no JSON even so is refused with its line.

use std::ops::Range;

use serde_json::{Map, Value};

/// How deep values may lie in one another.
const DEEPEST: usize = 128;

/// A value and where it stands.
#[derive(Debug)]
pub struct Node {
    /// From its first byte to behind its last.
    pub span: Range<usize>,
    /// What kind of value it is, with what it holds.
    pub kind: Kind,
}

/// What a value is, as far as an editor must know.
#[derive(Debug)]
pub enum Kind {
    /// An object with its members in their order.
    Object(Vec<Member>),
    /// A list.
    Array(Vec<Node>),
    /// Anything else, as it is read.
    Scalar(Value),
}

/// A member of an object.
#[derive(Debug)]
pub struct Member {
    /// Its name, without quotes and escapes.
    pub key: String,
    /// Where the name begins.
    pub start: usize,
    /// What it holds.
    pub value: Node,
    /// Where the comma after it stands, if there is one.
    pub comma: Option<usize>,
}

/// A text that is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Broken {
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

/// Reads a text; `None` means that there is nothing but blanks and comments in it.
pub fn read(text: &str) -> Result<Option<Node>, Broken> {
    let mut reader = Reader { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    reader.skip()?;
    if reader.at == text.len() {
        return Ok(None);
    }
    let root = reader.value(0)?;
    reader.skip()?;
    if reader.at < text.len() {
        return Err(reader.broken("something stands behind the end"));
    }
    Ok(Some(root))
}

impl Node {
    /// Returns what it says.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Kind::Object(members) => {
                let pairs = members.iter().map(|one| (one.key.clone(), one.value.to_value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn broken(&self, what: &str) -> Broken {
        let before = &self.text.as_bytes()[..self.at.min(self.text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Broken { line, what: what.to_owned() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Goes over blanks and comments.
    fn skip(&mut self) -> Result<(), Broken> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end = rest.find("*/").ok_or_else(|| self.broken("a comment has no end"))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Broken> {
        let start = self.at;
        let kind = match self.peek() {
            _ if depth > DEEPEST => return Err(self.broken("it is nested too deeply")),
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::Scalar(Value::String(self.string()?)),
            _ => self.word()?,
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, Broken> {
        let mut members: Vec<Member> = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Kind::Object(members));
                }
                Some(b'"') if members.last().is_none_or(|last| last.comma.is_some()) => {
                    members.push(self.member(depth)?);
                }
                _ => return Err(self.broken("a name in quotes, a comma or } is missing")),
            }
        }
    }

    fn member(&mut self, depth: usize) -> Result<Member, Broken> {
        let start = self.at;
        let key = self.string()?;
        self.skip()?;
        if self.peek() != Some(b':') {
            return Err(self.broken("a colon is missing"));
        }
        self.at += 1;
        self.skip()?;
        let value = self.value(depth + 1)?;
        self.skip()?;
        let comma = (self.peek() == Some(b',')).then_some(self.at);
        self.at += usize::from(comma.is_some());
        Ok(Member { key, start, value, comma })
    }

    fn array(&mut self, depth: usize) -> Result<Kind, Broken> {
        let mut items = Vec::new();
        let mut ready = true;
        self.at += 1;
        loop {
            self.skip()?;
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(Kind::Array(items));
                }
                Some(_) if ready => items.push(self.value(depth + 1)?),
                _ => return Err(self.broken("a comma or ] is missing")),
            }
            self.skip()?;
            ready = self.peek() == Some(b',');
            self.at += usize::from(ready);
        }
    }

    fn string(&mut self) -> Result<String, Broken> {
        let mut escaped = false;
        let end = self.rest().bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let end = end.ok_or_else(|| self.broken("a text has no end"))? + 2;
        let text = serde_json::from_str(&self.rest()[..end])
            .map_err(|_| self.broken("a text is not written as JSON wants it"))?;
        self.at += end;
        Ok(text)
    }

    fn word(&mut self) -> Result<Kind, Broken> {
        let rest = self.rest();
        let part = |byte: char| byte.is_ascii_alphanumeric() || "+-.".contains(byte);
        let end = rest.find(|byte| !part(byte)).unwrap_or(rest.len());
        let value = serde_json::from_str(&rest[..end])
            .map_err(|_| self.broken("a value is missing or not JSON"))?;
        self.at += end;
        Ok(Kind::Scalar(value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_trailing_commas_and_marks_are_no_hindrance() {
        let text = "\u{feff}// first\n{ /* a */ \"a\" /* b */ : [1, 2e3, -4.5,], \"\\u0062\": \
                    {\"c\": \"//no\\\"\",}, \"d\": null } // last";
        let read = read(text).unwrap().unwrap().to_value();
        assert_eq!(read, json!({"a": [1, 2e3, -4.5], "b": {"c": "//no\""}, "d": null}));
    }

    #[test]
    fn spans_are_those_of_the_text() {
        let text = "{ \"a\": [1], \"b\": \"ü\" }";
        let Kind::Object(members) = read(text).unwrap().unwrap().kind else { panic!() };
        let parts: Vec<_> = members.iter().map(|one| &text[one.value.span.clone()]).collect();
        assert_eq!(parts, ["[1]", "\"ü\""]);
        assert_eq!((members[0].comma, members[1].comma), (Some(10), None));
        assert_eq!(&text[members[1].start..=members[1].start + 2], "\"b\"");
    }

    #[test]
    fn nothing_is_told_apart_from_something() {
        for text in ["", " \r\n\t", "\u{feff}", "// only this", "/* and that */\n"] {
            assert!(read(text).unwrap().is_none(), "{text:?}");
        }
    }

    #[test]
    fn broken_texts_are_refused_with_their_line() {
        let deep = "[".repeat(500);
        for (text, line) in [
            ("{", 1),
            ("{\n\"a\": 1\n\"b\": 2}", 3),
            ("{\"a\" 1}", 1),
            ("{a: 1}", 1),
            ("{\"a\": }", 1),
            ("{\"a\": 1} x", 1),
            ("[1 2]", 1),
            ("[,]", 1),
            ("{,}", 1),
            ("{\"a\": \"x\ny\"}", 1),
            ("\n\n{\"a\": \"x", 3),
            ("/* x", 1),
            ("{\"a\": tru}", 1),
            ("{\"a\": 01}", 1),
            (&deep, 1),
        ] {
            assert_eq!(read(text).unwrap_err().line, line, "{text:?}");
        }
    }
}
