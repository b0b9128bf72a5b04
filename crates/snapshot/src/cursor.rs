//! Cursors: where the next part of an answer begins, and of what.
//!
//! A cursor names the node at which the next part begins: the page is looked at anew, and what
//! was inserted before it changes nothing. It also carries the arguments that it was made with, so
//! that it is enough to pass it alone: `1.45.12~open=e7`.

use model::Fault;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::{Node, tree::Tree, view::invalid};

/// The longest that is read: one byte of an argument takes up to six.
const LONGEST: usize = 64 << 10;

/// The node at which the next part begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    doc: u32,
    reference: u32,
    /// Its place when the cursor was made, for nodes without a reference.
    index: usize,
}

impl Cursor {
    /// Reads a cursor and adds the arguments that it carries, where they were not given anew.
    pub fn take(text: &str, args: &mut Map<String, Value>) -> Result<Self, Fault> {
        let refused = || {
            let text = model::json::shorten(text, 60);
            invalid(format!("`cursor` {text:?} is not one that a snapshot gave"))
                .hint("pass it as it was given, or take a snapshot without `cursor`")
        };
        if text.len() > LONGEST {
            return Err(refused());
        }
        let mut parts = text.split('~');
        let cursor = parts.next().and_then(Self::parse).ok_or_else(refused)?;
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(refused)?;
            let value = percent_decode_str(value).decode_utf8().map_err(|_| refused())?;
            let value = serde_json::from_str(&value).map_err(|_| refused())?;
            if !CARRIED.contains(&name) {
                return Err(refused());
            }
            args.entry(name).or_insert(value);
        }
        Ok(cursor)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
        let (doc, reference, index) = (parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(Self { doc, reference, index: index as usize })
    }

    /// Writes the cursor of a node, with the arguments it needs.
    pub fn write(node: &Node, index: usize, carried: &str) -> String {
        format!("{}.{}.{index}{carried}", node.doc, node.reference)
    }

    /// Finds the node again, wherever it is by now.
    pub fn find(&self, tree: &Tree<'_>) -> Result<usize, Fault> {
        let nodes = &tree.page.nodes;
        let is_it = |node: &Node| node.doc == self.doc && node.reference == self.reference;
        let by_index = nodes.get(self.index).filter(|node| is_it(node)).map(|_| self.index);
        let found = match self.reference {
            0 => by_index,
            _ => by_index.or_else(|| nodes.iter().position(is_it)),
        };
        found.ok_or_else(|| {
            invalid("the page is another than when the cursor was given".to_owned())
                .hint("take a new snapshot without `cursor`")
        })
    }
}

/// The arguments that a cursor carries.
const CARRIED: [&str; 10] = [
    "depth",
    "find",
    "format",
    "links",
    "open",
    "ref",
    "region",
    "role",
    "selector",
    "viewportOnly",
];

/// What would end an argument, or a cursor in a client's text.
const SPECIAL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// Returns an argument that a cursor carries.
pub fn carried(text: &str, name: &str) -> Option<Value> {
    let mut parts = text.split('~').skip(1).filter_map(|part| part.split_once('='));
    let (_, value) = parts.find(|(known, _)| *known == name)?;
    serde_json::from_str(&percent_decode_str(value).decode_utf8().ok()?).ok()
}

/// Writes the arguments that a cursor carries.
pub fn carry(args: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (name, value) in args.iter().filter(|(name, _)| CARRIED.contains(&name.as_str())) {
        text += &format!("~{name}={}", utf8_percent_encode(&value.to_string(), SPECIAL));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cursor_carries_can_be_asked_for() {
        let args = Map::from_iter([("format".to_owned(), Value::from("markdown"))]);
        let text = format!("1.45.12{}~depth=2", carry(&args));
        assert_eq!(carried(&text, "format"), Some(Value::from("markdown")));
        assert_eq!(carried(&text, "region"), None);
        assert_eq!(carried("120", "format"), None, "one of another kind");
    }
}
