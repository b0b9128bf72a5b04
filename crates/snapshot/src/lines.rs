//! What a line of a snapshot says, in the shape that models know:
//! `- textbox "Email" [ref=e7]: a@b.c`.
//!
//! Which lines there are is decided elsewhere.

use std::borrow::Cow;

use crate::Node;

/// Levels that are shown by indentation: who sends a page also says how deep it is.
const DEEPEST: usize = 100;

/// Returns the space before a line.
pub(super) fn indent(level: usize) -> String {
    "  ".repeat(level.min(DEEPEST))
}

/// Writes one line, without what is before its dash.
pub fn line(node: &Node) -> String {
    format!("- {}", phrase(node))
}

/// Writes a thing as a line does, to stand within one.
pub(super) fn phrase(node: &Node) -> String {
    if node.role == "text" {
        return format!("text: {}", one_line(&node.name));
    }
    let mut text = headless(node);
    if let Some(value) = &node.value {
        // Exact, a trailing space included, and on one line.
        text.push_str(": ");
        text.push_str(&exact(value));
    }
    text
}

/// Writes a thing without its value.
pub(super) fn headless(node: &Node) -> String {
    let mut text = one_line(&node.role).into_owned();
    if !node.name.is_empty() {
        text.push_str(&format!(" {:?}", one_line(&node.name)));
    }
    text.push_str(&marks(node));
    text
}

/// Writes a thing's flags and reference.
pub(super) fn marks(node: &Node) -> String {
    let mut text = String::new();
    for flag in &node.flags {
        text.push_str(&format!(" [{}]", one_line(flag)));
    }
    if let Some(reference) = node.reference() {
        text.push_str(&format!(" [ref={reference}]"));
    }
    text
}

/// Writes a value so that nothing of it is lost and it stays on its line.
pub(super) fn exact(value: &str) -> Cow<'_, str> {
    let is_odd =
        |letter: char| letter == '\\' || letter.is_control() || "\u{2028}\u{2029}".contains(letter);
    if !value.contains(is_odd) {
        return Cow::Borrowed(value);
    }
    let mut text = String::with_capacity(value.len() + 8);
    value.chars().for_each(|letter| match letter {
        '\\' => text.push_str("\\\\"),
        _ if is_odd(letter) => text.extend(letter.escape_default()),
        _ => text.push(letter),
    });
    Cow::Owned(text)
}

/// Makes a text one that neither ends its line nor speaks to a terminal.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let plain = bytes.iter().all(|byte| (0x20..0x7f).contains(byte))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && !text.contains("  ");
    if plain {
        return Cow::Borrowed(text);
    }
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|letter| !letter.is_control());
    Cow::Owned(line)
}
