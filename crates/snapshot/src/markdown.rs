//! A page as markdown, to be read: headings, paragraphs, lists, tables, and controls among the
//! words.
//!
//! In goes a page with its structure, out come blocks with the places of their first nodes, so
//! that a reader can go on at one. What is in brackets is ours: those of the page are escaped, as
//! everywhere. Nothing is folded. What the page does not tell is not guessed:
//! whether a list is numbered, and where lines break.

use std::ops::Range;

use model::page_text;

use crate::{
    Node, dense, lines,
    roles::{self, CELLS},
    tree::Tree,
};

/// Levels that are followed; what is deeper is told thing by thing.
const DEEPEST: usize = 60;
/// Nodes of a cell from which on a table is not written as rows.
const RICH: usize = 40;
/// Options that a field shows.
const OPTIONS: usize = 12;

/// A block: the place of its first node, and its lines.
pub type Block = (usize, String);

/// Writes parts of a page as blocks.
pub fn write(tree: &Tree<'_>, parts: &[Range<usize>]) -> Vec<Block> {
    let mut writer = Writer { tree, blocks: Vec::new() };
    for part in parts {
        writer.fill(part.clone(), &mut Around::default(), 0);
    }
    writer.blocks
}

/// What stands before the lines of a block.
#[derive(Debug, Clone, Default)]
struct Around {
    /// Before every line.
    indent: String,
    /// Before the next line instead, once.
    bullet: Option<String>,
    /// Text that follows text goes on in its line.
    flows: bool,
}

struct Writer<'t, 'p> {
    tree: &'t Tree<'p>,
    blocks: Vec<Block>,
}

impl Writer<'_, '_> {
    fn push(&mut self, at: usize, text: &str, around: &mut Around) {
        if text.is_empty() {
            return;
        }
        let before = around.bullet.take().unwrap_or_else(|| around.indent.clone());
        self.blocks.push((at, format!("{before}{text}")));
    }

    /// Writes what is in a part: words and controls together in lines, the rest as blocks.
    fn fill(&mut self, part: Range<usize>, around: &mut Around, depth: usize) {
        if depth > DEEPEST {
            return self.flat(part, around);
        }
        let (mut line, mut start, mut was_text) = (String::new(), part.start, false);
        for at in self.tree.tops(part) {
            let node = self.tree.node(at);
            if !self.is_inline(at) {
                self.push(start, &std::mem::take(&mut line), around);
                self.block(at, around, depth);
                continue;
            }
            let is_text = node.role == "text";
            if line.is_empty() || (is_text && was_text && !around.flows) {
                self.push(start, &std::mem::take(&mut line), around);
                start = at;
            }
            join(&mut line, &self.inline(at, depth));
            was_text = is_text;
        }
        self.push(start, &line, around);
    }

    fn block(&mut self, at: usize, around: &mut Around, depth: usize) {
        let node = self.tree.node(at);
        let inside = at + 1..self.tree.end(at);
        let flowing = Around { flows: true, ..around.clone() };
        match node.role.as_str() {
            "heading" => {
                let text = self.content(at, depth);
                let marks = "#".repeat(level(node));
                let gap = if self.blocks.is_empty() || around.bullet.is_some() { "" } else { "\n" };
                if !text.is_empty() {
                    let text = format!("{marks} {text}");
                    self.push(at, &text, around);
                    if let Some((_, last)) = self.blocks.last_mut() {
                        last.insert_str(0, gap);
                    }
                }
            }
            "separator" => self.push(at, "---", around),
            "table" | "grid" | "treegrid" => self.table(at, around, depth),
            "list" => self.list(inside, around, depth),
            "listitem" | "treeitem" | "menuitem" | "option" => self.item(at, around, depth),
            "blockquote" => {
                let indent = format!("{}> ", around.indent);
                let bullet = around.bullet.take().map(|bullet| format!("{bullet}> "));
                self.fill(inside, &mut Around { indent, bullet, flows: true }, depth + 1);
            }
            "definition" => {
                let bullet = Some(format!("{}: ", around.indent));
                self.fill(inside, &mut Around { bullet, ..flowing }, depth + 1);
            }
            "term" => {
                let text = format!("**{}**", self.content(at, depth));
                self.push(at, &text, around);
            }
            "caption" => {
                let text = self.content(at, depth);
                self.push(at, &text, around);
            }
            "paragraph" => {
                let mut inner = Around { bullet: around.bullet.take(), ..flowing };
                self.fill(inside, &mut inner, depth + 1);
                around.bullet = inner.bullet;
            }
            _ => self.fill(inside, around, depth + 1),
        }
    }

    fn list(&mut self, inside: Range<usize>, around: &mut Around, depth: usize) {
        let indent = match around.bullet {
            // A list that begins an item shares its line.
            Some(_) => String::new(),
            None => around.indent.clone(),
        };
        let first = around.bullet.take().unwrap_or_default();
        let mut inner = Around { indent: format!("{first}{indent}"), ..Around::default() };
        for at in self.tree.tops(inside) {
            match self.tree.node(at).role.as_str() {
                "listitem" => self.item(at, &mut inner, depth + 1),
                _ => self.fill(self.tree.whole(at), &mut inner, depth + 1),
            }
        }
    }

    fn item(&mut self, at: usize, around: &mut Around, depth: usize) {
        let node = self.tree.node(at);
        let bullet = Some(format!("{}- ", around.indent));
        let indent = format!("{}  ", around.indent);
        let mut inner = Around { indent, bullet, flows: true };
        if node.role != "listitem" {
            self.push(at, &control(node, ""), &mut inner);
        }
        self.fill(at + 1..self.tree.end(at), &mut inner, depth + 1);
    }

    fn table(&mut self, at: usize, around: &mut Around, depth: usize) {
        let tree = self.tree;
        let has_rows = (at + 1..tree.end(at)).any(|inner| tree.node(inner).role == "row");
        if !has_rows || self.is_layout(at) {
            return self.fill(at + 1..tree.end(at), around, depth + 1);
        }
        let mut place = at + 1;
        let mut rows = 0;
        while place < tree.end(at) {
            match tree.node(place).role.as_str() {
                "row" => {
                    let cells: Vec<_> =
                        tree.children(place).map(|cell| self.cell(cell, depth)).collect();
                    let rule = match rows {
                        0 => format!("\n{}|{}", around.indent, " --- |".repeat(cells.len())),
                        _ => String::new(),
                    };
                    rows += 1;
                    self.push(place, &format!("| {} |{rule}", cells.join(" | ")), around);
                    place = tree.end(place);
                }
                "caption" => {
                    self.block(place, around, depth + 1);
                    place = tree.end(place);
                }
                _ => place += 1,
            }
        }
    }

    /// Whether a table has in its cells what needs lines of its own: then it is a way to arrange a
    /// page, or too rich to be rows.
    fn is_layout(&self, at: usize) -> bool {
        const BLOCKS: [&str; 7] = ["form", "grid", "heading", "iframe", "list", "main", "table"];
        (at + 1..self.tree.end(at)).any(|inner| {
            let role = self.tree.node(inner).role.as_str();
            BLOCKS.contains(&role) || (CELLS.contains(&role) && self.tree.whole(inner).len() > RICH)
        })
    }

    fn cell(&self, at: usize, depth: usize) -> String {
        self.content(at, depth).replace('|', "\\|")
    }

    /// Whether it stands within a line.
    fn is_inline(&self, at: usize) -> bool {
        let role = self.tree.node(at).role.as_str();
        match role {
            "iframe" | "menuitem" | "option" | "treeitem" | "term" => false,
            "generic" => self.tree.children(at).all(|child| {
                let role = self.tree.node(child).role.as_str();
                role != "generic" && roles::is_phrase(role) || is_plain_control(role)
            }),
            _ => roles::is_phrase(role) || roles::is_control(role),
        }
    }

    /// Writes a thing within a line.
    fn inline(&self, at: usize, depth: usize) -> String {
        let node = self.tree.node(at);
        let name = page_text::line(&node.name);
        match node.role.as_str() {
            "text" => name.into_owned(),
            "img" if name.is_empty() => String::new(),
            "img" => format!("![{name}]"),
            "link" => self.link(at, depth),
            "strong" => wrap("**", &self.content(at, depth)),
            "emphasis" => wrap("*", &self.content(at, depth)),
            "deletion" => wrap("~~", &self.content(at, depth)),
            "code" => wrap("`", &self.content(at, depth)),
            role if roles::is_control(role) => control(node, &self.options(at)),
            "generic" if !node.flags.is_empty() && node.reference != 0 => {
                let inner = self.content(at, depth);
                match inner.is_empty() {
                    true => control(node, ""),
                    false => format!("[{inner}](ref {})", node.reference().unwrap_or_default()),
                }
            }
            _ => self.content(at, depth),
        }
    }

    fn link(&self, at: usize, depth: usize) -> String {
        let node = self.tree.node(at);
        let text = self.content(at, depth);
        let url = node.flags.iter().find_map(|flag| flag.strip_prefix("url="));
        let reference = node.reference().unwrap_or_default();
        let target = match url {
            Some(url) => page_text::address(url).replace('(', "%28").replace(')', "%29"),
            None => format!("ref {reference}"),
        };
        let text = if text.is_empty() { "link" } else { &text };
        format!("[{text}]({target})")
    }

    /// Writes what is in a thing: its name, with what is in it in the places of their names.
    fn content(&self, at: usize, depth: usize) -> String {
        let node = self.tree.node(at);
        if depth > DEEPEST {
            return page_text::line(&node.name).into_owned();
        }
        let is_named = !node.name.is_empty()
            && (roles::NAMED_BY_CONTENT.contains(&node.role.as_str())
                || self.tree.children(at).next().is_none());
        let pieces: Vec<_> = self.pieces(at, depth + 1);
        if is_named {
            let is_thing = |(name, shown): &(String, String)| *shown != page_text::escaped(name);
            let things: Vec<_> = pieces.into_iter().filter(is_thing).collect();
            return dense::merge(&page_text::folded(&node.name), &things);
        }
        let mut line = String::new();
        pieces.iter().for_each(|(_, shown)| join(&mut line, shown));
        line
    }

    fn pieces(&self, at: usize, depth: usize) -> Vec<(String, String)> {
        let piece = |child: usize| {
            let name = page_text::folded(&self.tree.node(child).name).into_owned();
            (name, self.inline(child, depth))
        };
        self.tree.children(at).map(piece).filter(|(_, shown)| !shown.is_empty()).collect()
    }

    fn options(&self, at: usize) -> String {
        let options = self.tree.whole(at).filter(|at| self.tree.node(*at).role == "option");
        let names: Vec<_> =
            options.map(|at| page_text::line(&self.tree.node(at).name).into_owned()).collect();
        match names.len() {
            0 => String::new(),
            count if count > OPTIONS => {
                format!(" of {} … and {} more", names[..OPTIONS].join(", "), count - OPTIONS)
            }
            _ => format!(" of {}", names.join(", ")),
        }
    }

    /// What is too deep to follow, thing by thing.
    fn flat(&mut self, part: Range<usize>, around: &mut Around) {
        for at in part.filter(|at| self.tree.is_shown(*at)) {
            let node = self.tree.node(at);
            let text = match node.role.as_str() {
                role if roles::is_control(role) => control(node, ""),
                _ => page_text::line(&node.name).into_owned(),
            };
            self.push(at, &text, around);
        }
    }
}

fn is_plain_control(role: &str) -> bool {
    roles::is_control(role) && role != "iframe" && !CELLS.contains(&role)
}

/// A control among words: `[button "Buy" e12 disabled]`.
fn control(node: &Node, more: &str) -> String {
    let mut text = format!("[{}", page_text::word(&node.role));
    if !node.name.is_empty() {
        text.push_str(&format!(" {}", page_text::quoted(&node.name)));
    }
    if let Some(reference) = node.reference() {
        text.push_str(&format!(" {reference}"));
    }
    for flag in lines::flags(node).filter(|flag| flag != "clickable") {
        text.push_str(&format!(" {flag}"));
    }
    if let Some(value) = &node.value {
        text.push_str(&format!(": {}", page_text::exact(value)));
    }
    text.push_str(more);
    text.push(']');
    text
}

fn wrap(mark: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{mark}{text}{mark}") }
}

/// Adds words to a line, with a space unless they are punctuation.
fn join(line: &mut String, words: &str) {
    let follows = words.starts_with(['.', ',', ';', ':', '!', '?', ')', '’']);
    if !line.is_empty() && !words.is_empty() && !follows && !line.ends_with(['(', ' ']) {
        line.push(' ');
    }
    line.push_str(words);
}

fn level(node: &Node) -> usize {
    let told = node.flags.iter().find_map(|flag| flag.strip_prefix("level=")?.parse().ok());
    told.unwrap_or(2).clamp(1, 6)
}
