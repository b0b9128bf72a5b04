//! What a line of a snapshot says, in the shape that models know:
//! `- textbox "Email" [ref=e7]: a@b.c`.
//!
//! Which lines there are is decided elsewhere. How words of pages are written is the rule of
//! [`model::page_text`]; marks in brackets are ours alone.

use std::borrow::Cow;

use model::page_text;

use crate::Node;

/// Levels that are shown by indentation: who sends a page also says how deep it is.
const DEEPEST: usize = 100;
/// Letters of a name or value where a thing is only mentioned.
const SHORT: usize = 80;
/// Marks that no flag may be.
const OURS: [&str; 3] = ["ref=", "open=", "version="];

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
        return format!("text: {}", page_text::line(&node.name));
    }
    let mut text = headless(node);
    if let Some(value) = &node.value {
        // Exact, a trailing space included, and on one line.
        text.push_str(": ");
        text.push_str(&page_text::exact(value));
    }
    text
}

/// Writes a thing without its value.
pub(super) fn headless(node: &Node) -> String {
    called(node, &node.name)
}

/// Writes a thing without its value, and with the beginning of its name.
pub(super) fn short(node: &Node) -> String {
    called(node, &shorten(&page_text::folded(&node.name)))
}

fn called(node: &Node, name: &str) -> String {
    let mut text = page_text::word(&node.role).into_owned();
    if !name.is_empty() {
        text.push_str(&format!(" {}", page_text::quoted(name)));
    }
    text.push_str(&marks(node));
    text
}

/// Writes a thing's flags and reference.
pub(super) fn marks(node: &Node) -> String {
    let mut text = String::new();
    for flag in flags(node) {
        text.push_str(&format!(" [{flag}]"));
    }
    if let Some(reference) = node.reference() {
        text.push_str(&format!(" [ref={reference}]"));
    }
    text
}

/// Returns what else there is to say of a thing.
pub(super) fn flags(node: &Node) -> impl Iterator<Item = Cow<'_, str>> {
    let written = node.flags.iter().map(|flag| match flag.strip_prefix("url=") {
        Some(url) => Cow::Owned(format!("url={}", page_text::address(url))),
        None => page_text::line(flag),
    });
    written.filter(|flag| !OURS.iter().any(|own| flag.starts_with(own)))
}

/// Cuts an old or far name or value; it is not escaped yet.
pub(super) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHORT) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}
