//! Snapshots: a page as data from the extension, written for a model.
//!
//! - [`page`]: `snapshot.v1` as it comes;
//! - [`lines`]: what a line says;
//! - this file: which lines, and how many at once.
//!
//! A model pays for every line on every step, so there is a cap, and a cursor for what follows.
//! A cursor names the node at which the next part begins: the page is looked at anew, and what
//! was inserted before it changes nothing.

pub mod lines;
pub mod page;

use model::{Code, Fault};
use serde_json::{Map, Value};

pub use page::{Node, Page};

/// Tokens of one answer, unless the client wants fewer or more.
pub const TOKENS: usize = 6000;
/// The most that a client can ask for.
const MOST: usize = 50_000;
/// Bytes that count as one token.
const BYTES: usize = 4;

/// What a client wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Tokens at most.
    pub max_tokens: usize,
    /// Where to go on.
    pub cursor: Option<Cursor>,
}

/// The node at which the next part begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    doc: u32,
    reference: u32,
    /// Its place when the cursor was made, for nodes without a reference.
    index: usize,
}

/// A part of a page, written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// For a model.
    pub text: String,
    /// Lines in it.
    pub lines: usize,
    /// Where the rest begins.
    pub cursor: Option<String>,
}

impl View {
    /// Takes what concerns the writing out of a command's arguments.
    pub fn take(args: &mut Map<String, Value>) -> Result<Self, Fault> {
        let max_tokens = match args.remove("maxTokens").as_ref().map(Value::as_u64) {
            None => TOKENS,
            Some(Some(tokens @ 100..)) => MOST.min(tokens as usize),
            Some(_) => return Err(invalid("`maxTokens` is a whole number from 100".to_owned())),
        };
        let cursor = args.remove("cursor");
        let cursor = cursor.as_ref().and_then(Value::as_str).map(Cursor::parse).transpose()?;
        Ok(Self { max_tokens, cursor })
    }
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, Fault> {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
        match (parts.next().flatten(), parts.next().flatten(), parts.next().flatten(), parts.next())
        {
            (Some(doc), Some(reference), Some(index), None) => {
                Ok(Self { doc, reference, index: index as usize })
            }
            _ => Err(invalid(format!(
                "`cursor` {:?} is not one that a snapshot gave",
                model::json::shorten(text, 60)
            ))),
        }
    }

    fn at(node: &Node, index: usize) -> String {
        format!("{}.{}.{index}", node.doc, node.reference)
    }

    /// Finds the node again, wherever it is by now.
    fn find(&self, page: &Page) -> Result<usize, Fault> {
        let is_it = |node: &Node| node.doc == self.doc && node.reference == self.reference;
        let by_index = page.nodes.get(self.index).filter(|node| is_it(node)).map(|_| self.index);
        let found = match self.reference {
            0 => by_index,
            _ => by_index.or_else(|| page.nodes.iter().position(is_it)),
        };
        found.ok_or_else(|| {
            Fault::new(Code::InvalidArgument, "the page is another than when the cursor was given")
                .hint("take a new snapshot without `cursor`")
        })
    }
}

/// Writes a page, or the part of it that fits.
pub fn write(page: &Page, view: &View) -> Result<Shown, Fault> {
    let start = view.cursor.map(|cursor| cursor.find(page)).transpose()?.unwrap_or(0);
    let budget = view.max_tokens * BYTES;
    let mut text = head(page);
    if start > 0 {
        text.push_str("(continued)\n");
    }
    let mut shown = 0;
    let mut next = None;
    for (index, line) in lines::of(page, start) {
        let line = if line.len() > budget { model::json::shorten(&line, budget) } else { line };
        // At least one line, so that a cursor always moves on.
        if shown > 0 && text.len() + line.len() + 1 + REST > budget {
            next = Some(index);
            break;
        }
        text.push_str(&line);
        text.push('\n');
        shown += 1;
    }
    let cursor = next.and_then(|index| Some(Cursor::at(page.nodes.get(index)?, index)));
    match (&cursor, page.truncated) {
        (Some(cursor), _) => text.push_str(&format!(
            "… more follows: pass cursor {cursor:?}, or narrow it with ref or selector"
        )),
        (None, true) => text.push_str(
            "… the page is longer than what is looked at; narrow it with ref or selector",
        ),
        (None, false) => drop(text.pop()),
    }
    Ok(Shown { text, lines: shown, cursor })
}

/// Bytes that the closing remark may need.
const REST: usize = 120;

fn head(page: &Page) -> String {
    let url = model::json::shorten(&lines::one_line(&page.url), 2000);
    format!("page {:?} {url}\n", model::json::shorten(&page.title, 200))
}

fn invalid(message: String) -> Fault {
    Fault::new(Code::InvalidArgument, message)
}

#[cfg(test)]
mod tests;
