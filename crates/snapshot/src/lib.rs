//! Snapshots: a page as data from the extension, written for a model.
//!
//! In reading order:
//! - [`page`]: `snapshot.v1` as it comes; [`tree`]: what is in what;
//! - [`view`]: what a client wants to see; [`cursor`]: where to go on;
//! - [`runs`]: many of the same, which are folded; [`plan`]: which lines there are;
//! - [`lines`] and [`dense`]: what a line says; [`roles`]: which role is what;
//! - [`region`], [`find`], [`difference`], [`markdown`]: other ways to look at a page;
//! - [`kept`]: versions, and the last snapshots for differences;
//! - this file: how much at once.
//!
//! A model pays for every line on every step, so there is a cap, and a cursor for what follows.
//! Everything is linear in the size of the page and only what fits is written.

pub mod cursor;
pub mod dense;
pub mod difference;
pub mod find;
pub mod kept;
pub mod lines;
pub mod markdown;
pub mod page;
pub mod plan;
pub mod region;
pub mod roles;
pub mod runs;
pub mod tree;
pub mod view;

use std::ops::Range;

use model::{Fault, page_text};

use cursor::Cursor;
pub use page::{Node, Page};
use plan::{Layout, Plan, Wish};
use tree::Tree;
use view::invalid;
pub use view::{Format, TOKENS, View};

/// Bytes that the closing remark may need, without its cursor.
const REST: usize = 132;
/// What is said of a page that is not whole yet.
const LOADING: &str = "the page is still loading: there is more to come";

/// A part of a page, written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What a model reads.
    pub text: String,
    /// Lines or blocks in it.
    pub lines: usize,
    /// Where the rest begins.
    pub cursor: Option<String>,
}

/// A page with its version, and with the one to compare it with.
pub struct Subject<'a> {
    /// The page as the extension has told it.
    pub page: &'a Page,
    /// Names this state of the page, for asking what changed since.
    pub version: &'a str,
    /// The page as it was at the version that is asked for, where that is kept.
    pub before: Option<&'a Page>,
}

/// Writes a page, or the part of it that is wanted and fits.
pub fn write(subject: &Subject<'_>, view: &View) -> Result<Shown, Fault> {
    let page = subject.page;
    let mut head = head(subject, view);
    if view.only_if_changed.as_deref() == Some(subject.version) {
        let text = head + &view.remark(format!("nothing changed since {}", subject.version));
        return Ok(Shown { text, lines: 0, cursor: None });
    }
    let tree = Tree::of(page);
    if let Some(since) = &view.since {
        match write_difference(subject, &tree, view, &head) {
            Ok(shown) => return Ok(shown),
            Err(reason) => {
                let since = model::json::shorten(&page_text::line(since), 20);
                head.push_str(&format!("no difference to {since}: {reason}; the whole page:\n"));
            }
        }
    }
    let start = view.cursor.map(|cursor| cursor.find(&tree)).transpose()?.unwrap_or(0);
    if start > 0 {
        head.push_str(&(view.remark("(continued)".to_owned()) + "\n"));
    }
    let part = match &view.region {
        Some(region) => region::find(&tree, region)?,
        None => 0..page.nodes.len(),
    };
    if view.looks_for() {
        return Ok(write_found(&tree, part, view, head, start));
    }
    if view.format == Format::Markdown {
        let blocks = markdown::write(&tree, &[part]);
        let blocks = blocks.into_iter().filter(|(at, _)| *at >= start);
        return Ok(fit(page, view, head, blocks));
    }
    write_outline(&tree, part, view, head, start)
}

fn write_outline(
    tree: &Tree<'_>,
    part: Range<usize>,
    view: &View,
    head: String,
    start: usize,
) -> Result<Shown, Fault> {
    let runs = runs::find(tree);
    let (mut opened, mut parts) = (Vec::new(), vec![part]);
    if let Some(open) = view.open {
        let at = tree.find(open).ok_or_else(|| {
            invalid("what `open` names is not in the page any more".to_owned())
                .hint("take a new snapshot; folded lists say [open=…]")
        })?;
        opened = plan::opened(&runs, at);
        parts = plan::parts_of(&runs, &opened);
        if parts.is_empty() {
            parts.push(tree.whole(at));
        }
    }
    let layout = Layout::of(tree, &runs, &opened, |_| true);
    let skeleton = view.format == Format::Skeleton;
    let wish = Wish { parts, depth: view.depth, skeleton };
    let plan = Plan::new(tree, &layout, &wish);
    // Nodes rise along the steps, so the first one from the cursor on is where it goes on.
    let first = plan.steps.partition_point(|step| step.node() < start);
    let steps = plan.steps[first..].iter().map(|step| (step.node(), plan.write(step)));
    Ok(fit(tree.page, view, head, steps))
}

fn write_found(
    tree: &Tree<'_>,
    part: Range<usize>,
    view: &View,
    mut head: String,
    start: usize,
) -> Shown {
    let found = find::search(tree, part, view.find.as_ref(), view.role.as_deref());
    let what = found.what();
    if found.hits.is_empty() {
        let mut text = format!("{head}nothing fits {what}");
        let near = found.nearest();
        if !near.is_empty() {
            text.push_str(&format!("; {near}"));
        }
        if tree.page.truncated {
            text.push_str("; the page is longer than what is looked at");
        }
        let text = shorten(text, view.budget);
        return Shown { text, lines: 0, cursor: None };
    }
    let count = found.hits.len();
    head.push_str(&format!("{count} {} {what}\n", if count == 1 { "fits" } else { "fit" }));
    fit(tree.page, view, head, found.write(start))
}

/// Writes what differs; the error says why that makes no sense.
fn write_difference(
    subject: &Subject<'_>,
    tree: &Tree<'_>,
    view: &View,
    head: &str,
) -> Result<Shown, &'static str> {
    let since = view.since.as_deref().unwrap_or_default();
    if since == subject.version {
        let text = format!("{head}nothing changed since {since}");
        return Ok(Shown { text, lines: 0, cursor: None });
    }
    let before =
        subject.before.ok_or("that version is not kept any more, or is of another part")?;
    if !difference::is_comparable(before, tree.page) {
        return Err("the tab shows another document now");
    }
    let changes = difference::find(before, tree, &runs::find(tree));
    let mut text = format!("{head}since {since}: {}", difference::summary(&changes));
    if before.url != tree.page.url {
        let old = shorten(page_text::address(&before.url).into_owned(), 200);
        text.push_str(&format!("\n~ address (was {old})"));
    }
    if before.title != tree.page.title {
        let old = page_text::quoted(&model::json::shorten(&before.title, 200));
        text.push_str(&format!("\n~ title (was {old})"));
    }
    for change in &changes {
        text.push('\n');
        text.push_str(change.text());
        if text.len() > view.budget {
            return Err("too much is different");
        }
    }
    Ok(Shown { text, lines: changes.len(), cursor: None })
}

/// Puts together what fits, and where the rest begins.
fn fit(
    page: &Page,
    view: &View,
    head: String,
    lines: impl Iterator<Item = (usize, String)>,
) -> Shown {
    let rest = REST + view.carried.len();
    let room = view.budget.saturating_sub(head.len() + rest).max(view.budget / 4);
    let mut text = head;
    let (mut shown, mut next) = (0, None);
    for (index, line) in lines {
        let line = shorten(line, room);
        // At least one line, so that a cursor always moves on.
        if shown > 0 && text.len() + line.len() + 1 + rest > view.budget {
            next = Some(index);
            break;
        }
        text.push_str(&line);
        text.push('\n');
        shown += 1;
    }
    let cursor =
        next.and_then(|index| Some(Cursor::write(page.nodes.get(index)?, index, &view.carried)));
    match (&cursor, page.truncated) {
        (Some(cursor), _) => text.push_str(&view.remark(format!(
            "… more follows: pass cursor {cursor:?}, or narrow it with find, region, ref or selector"
        ))),
        (None, true) => text.push_str(&view.remark(
            "… the page is longer than what is looked at; narrow it with ref or selector".to_owned(),
        )),
        (None, false) => drop(text.pop()),
    }
    Shown { text, lines: shown, cursor }
}

/// Cuts a text that is longer than so many bytes, and says that it did.
fn shorten(text: String, bytes: usize) -> String {
    if text.len() <= bytes {
        return text;
    }
    let mark = format!("… ({} bytes)", text.len());
    let mut end = bytes.saturating_sub(mark.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // An escape is not cut in two.
    let backslashes = text[..end].bytes().rev().take_while(|byte| *byte == b'\\').count();
    format!("{}{mark}", &text[..end - backslashes % 2])
}

/// The first line, and whether more is to come. A long title or address must not take the room of the rest.
fn head(subject: &Subject<'_>, view: &View) -> String {
    let (Subject { page, version, .. }, budget) = (subject, view.budget);
    let url = shorten(page_text::address(&page.url).into_owned(), 2000.min(budget / 4));
    // Escapes double it at most.
    let title = page_text::folded(&page.title).into_owned();
    let title = page_text::quoted(&shorten(title, 200.min(budget / 16)));
    let mut head = format!("page {title} {url} [version={version}]\n");
    if page.loading {
        head.push_str(&(view.remark(LOADING.to_owned()) + "\n"));
    }
    head
}

#[cfg(test)]
mod tests;
