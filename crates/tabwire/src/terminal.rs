//! Standard output and standard error of the commands. Words of peers, pages, files and other
//! programs cannot steer the terminal that shows them.
//!
//! Control characters and those that change the direction of text come out as `\u009b`. That is how
//! JSON writes them too, so what programs read keeps its meaning. Not for what speaks a protocol on
//! standard output.

use std::{
    borrow::Cow,
    fmt::Display,
    io::{self, Stdout, Write},
};

/// Returns standard output for people, and for JSON.
pub fn stdout() -> Escaping<Stdout> {
    Escaping { inner: io::stdout(), cut: Vec::new() }
}

/// Tells people on standard error what is not part of the result.
pub fn tell(words: impl Display) {
    let mut errors = Escaping { inner: io::stderr(), cut: Vec::new() };
    // Nobody can be told that standard error takes nothing.
    let _ = writeln!(errors, "tabwire: {words}");
}

/// Makes one line of a text, for rows: what has line ends cannot pretend to be several.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// Escapes what could steer a terminal, apart from the characters that are `kept`.
fn escape(text: &str, kept: fn(char) -> bool) -> Cow<'_, str> {
    let is_escaped = |letter: char| steers(letter) && !kept(letter);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match is_escaped(letter) {
            true => escaped += &format!("\\u{:04x}", u32::from(letter)),
            false => escaped.push(letter),
        }
    }
    Cow::Owned(escaped)
}

/// Whether a character does something else than being shown. All of them have four hex digits.
fn steers(letter: char) -> bool {
    let changes_direction = matches!(letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let ends_line = matches!(letter, '\u{2028}' | '\u{2029}');
    letter.is_control() || changes_direction || ends_line
}

/// A writer that escapes everything but line ends and tabs.
pub struct Escaping<W> {
    inner: W,
    /// The beginning of a character whose end has not been written yet.
    cut: Vec<u8>,
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut whole = std::mem::take(&mut self.cut);
        whole.extend_from_slice(bytes);
        if let Err(error) = std::str::from_utf8(&whole)
            && error.error_len().is_none()
        {
            self.cut = whole.split_off(error.valid_up_to());
        }
        let text = String::from_utf8_lossy(&whole);
        let escaped = escape(&text, |letter| matches!(letter, '\n' | '\t'));
        self.inner.write_all(escaped.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut out = Escaping { inner: Vec::new(), cut: Vec::new() };
        write!(out, "{text}").unwrap();
        assert_eq!(String::from_utf8(out.inner).unwrap(), expected);
        // Byte by byte as well: a buffer may end within a character.
        let mut out = Escaping { inner: Vec::new(), cut: Vec::new() };
        text.bytes().for_each(|byte| out.write_all(&[byte]).unwrap());
        assert_eq!(String::from_utf8(out.inner).unwrap(), expected);
    }

    #[test]
    fn what_steers_a_terminal_is_escaped_and_the_rest_is_as_it_was() {
        check("plain, Größe, 日本語 🙂\n\tnext\n", "plain, Größe, 日本語 🙂\n\tnext\n");
        check("\x1b]0;pwned\x07", "\\u001b]0;pwned\\u0007");
        check("a\u{9b}31mb\x7f", "a\\u009b31mb\\u007f");
        check("over\rwritten\x08", "over\\u000dwritten\\u0008");
        check("\u{202e}txt.exe\u{2066}\u{200f}\u{61c}", "\\u202etxt.exe\\u2066\\u200f\\u061c");
        assert_eq!(one_line("one\ntwo\tthree\u{2028}"), "one\\u000atwo\\u0009three\\u2028");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"na\u{9b}me": ["\u{202e}\x1b\r\n\t\\ \u{2069}"]});
        for text in [value.to_string(), format!("{value:#}")] {
            let mut out = Escaping { inner: Vec::new(), cut: Vec::new() };
            out.write_all(text.as_bytes()).unwrap();
            let text = String::from_utf8(out.inner).unwrap();
            assert!(!text.contains(|letter| letter != '\n' && steers(letter)), "{text}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
    }
}
