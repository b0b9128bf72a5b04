//! Find: what fits a text, a regular expression or a role, each with where it is and what is
//! beside it.
//!
//! Names bubble up, so a text fits a link, its cell and its row; only the innermost counts. What
//! is in a row or an item is shown with that, because a name alone says little.

use std::borrow::Cow;

use model::{Fault, page_text};
use regex::{Regex, RegexBuilder};

use crate::{
    Node, dense,
    lines::{headless, indent, line},
    roles::REGIONS,
    tree::Tree,
    view::invalid,
};

/// Bytes that a compiled expression may take.
const EXPRESSION: usize = 1 << 20;
/// The longest text or expression.
const LONGEST: usize = 1000;
/// Nodes of an item that is shown with what was found in it.
const ITEM: usize = 24;
/// Ancestors among which an item is looked for.
const NEAR: usize = 6;
/// Ancestors that are looked at for a path, and how many of them are told.
const PATH: (usize, usize) = (100, 4);
/// Letters of a name in a path.
const SHORT: usize = 40;
/// Letters before and after what was found in a long text.
const AROUND: usize = 120;
/// Names that are compared when nothing fits, and how many are told.
const NEAREST: (usize, usize) = (2000, 5);
/// What is shown whole when something in it fits.
const ITEMS: [&str; 9] = [
    "article",
    "definition",
    "figure",
    "group",
    "listitem",
    "paragraph",
    "row",
    "term",
    "treeitem",
];

/// What to look for.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    expression: Regex,
}

impl Pattern {
    /// Reads a text, or an expression between slashes with its flags.
    pub fn read(source: &str) -> Result<Self, Fault> {
        if source.len() > LONGEST {
            let length = source.len();
            return Err(invalid(format!("`find` has {length} bytes; at most {LONGEST}")));
        }
        let split = source.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
        let flags_are_letters = |flags: &str| flags.bytes().all(|flag| flag.is_ascii_alphabetic());
        let (written, flags) = match split.filter(|(_, flags)| flags_are_letters(flags)) {
            Some((written, flags)) => (written.to_owned(), flags),
            // It may be copied from a line in which it is escaped.
            None => match page_text::unescaped(source) {
                plain if plain == source => (as_expression(source), "i"),
                plain => (format!("{}|{}", as_expression(source), as_expression(&plain)), "i"),
            },
        };
        let mut builder = RegexBuilder::new(&written);
        builder.size_limit(EXPRESSION).dfa_size_limit(EXPRESSION);
        for flag in flags.chars() {
            match flag {
                'i' => builder.case_insensitive(true),
                'm' => builder.multi_line(true),
                's' => builder.dot_matches_new_line(true),
                'u' | 'g' => &mut builder,
                _ => {
                    let message = format!("`find` has the flag {flag:?}; there are i, m, s, u");
                    return Err(invalid(message));
                }
            };
        }
        let expression = builder.build().map_err(|error| {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
            invalid(format!("`find` is no expression that can be used: {reason}"))
                .hint("look-around and references back are not known; plain text needs no slashes")
        })?;
        Ok(Self { source: source.to_owned(), expression })
    }

    fn fits(&self, node: &Node) -> bool {
        let has = |text: &str| self.expression.is_match(text);
        has(&node.name)
            || matches!(page_text::folded(&node.name), Cow::Owned(shown) if has(&shown))
            || node.value.as_deref().is_some_and(has)
    }
}

/// A text as an expression in which white space may be any.
fn as_expression(text: &str) -> String {
    text.split_whitespace().map(regex::escape).collect::<Vec<_>>().join(r"\s+")
}

/// What a search has found in a page, and what it looked for.
pub struct Found<'t, 'p> {
    tree: &'t Tree<'p>,
    pattern: Option<&'t Pattern>,
    role: Option<&'t str>,
    /// What fits, in the order of the page.
    pub hits: Vec<usize>,
    /// The last heading before each node.
    headings: Vec<Option<usize>>,
}

/// Looks for a pattern, a role or both in a part of a page.
pub fn search<'t, 'p>(
    tree: &'t Tree<'p>,
    part: std::ops::Range<usize>,
    pattern: Option<&'t Pattern>,
    role: Option<&'t str>,
) -> Found<'t, 'p> {
    let total = tree.page.nodes.len();
    let mut has = vec![false; total];
    let mut is_hit = vec![false; total];
    let mut is_outer = vec![false; total];
    for at in part.clone().rev() {
        let node = tree.node(at);
        has[at] |= tree.is_shown(at) && pattern.is_none_or(|pattern| pattern.fits(node));
        let is_role = role.is_none_or(|role| node.role.eq_ignore_ascii_case(role));
        // With a role alone every one counts; otherwise only the innermost.
        let is_inner = !is_outer[at] || pattern.is_none();
        is_hit[at] = has[at] && is_role && is_inner && tree.is_shown(at);
        if let Some(parent) = tree.parent(at) {
            // What is asked for by role has its words in what is in it.
            has[parent] |= has[at] && role.is_some();
            is_outer[parent] |= is_outer[at] || is_hit[at];
        }
    }
    let mut heading = None;
    let headings = (0..total).map(|at| {
        heading = if tree.node(at).role == "heading" { Some(at) } else { heading };
        heading
    });
    let headings = headings.collect();
    Found { tree, pattern, role, hits: part.filter(|at| is_hit[*at]).collect(), headings }
}

impl Found<'_, '_> {
    /// Says what was looked for.
    pub fn what(&self) -> String {
        let pattern = self.pattern.map(|pattern| page_text::quoted(&pattern.source));
        let role = self.role.map(|role| page_text::line(role).into_owned());
        [role, pattern].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Writes what was found from a node on: each text with the place of its first hit.
    pub fn write(&self, start: usize) -> impl Iterator<Item = (usize, String)> + '_ {
        let (mut shown, mut said) = (0, String::new());
        let hits = self.hits.iter().copied().filter(move |hit| *hit >= start);
        hits.filter_map(move |hit| {
            if hit < shown {
                return None;
            }
            let item = self.item_of(hit);
            shown = self.tree.end(item).max(hit + 1);
            let path = self.path(item);
            let mut text = String::new();
            if path != said && !path.is_empty() {
                text = format!("in {path}:\n");
            }
            said = path;
            text.push_str(&self.surroundings(item, hit));
            Some((hit, text))
        })
    }

    /// The row or item that something is in, where that is small.
    fn item_of(&self, hit: usize) -> usize {
        let is_item = |at: &usize| {
            ITEMS.contains(&self.tree.node(*at).role.as_str())
                && (self.tree.whole(*at).len() <= ITEM || dense::is_row(self.tree, *at))
        };
        std::iter::once(hit).chain(self.tree.ancestors(hit).take(NEAR)).find(is_item).unwrap_or(hit)
    }

    fn surroundings(&self, item: usize, hit: usize) -> String {
        let tree = self.tree;
        if dense::is_row(tree, item) {
            return format!("  {}", dense::line(tree, item));
        }
        if item == hit && tree.whole(item).len() > ITEM {
            let inside = tree.count(item + 1..tree.end(item));
            return format!("  {} … {inside} things inside", line(tree.node(item)));
        }
        let shown = tree.whole(item).filter(|at| tree.is_shown(*at));
        let lines = shown.map(|at| {
            let space = indent(1 + tree.level(at) - tree.level(item));
            format!("{space}{}", self.short_line(at))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// A line; of a long text only what is around the words that fit.
    fn short_line(&self, at: usize) -> String {
        let node = self.tree.node(at);
        let name = page_text::folded(&node.name);
        let place = self.pattern.and_then(|pattern| pattern.expression.find(&name));
        if node.role != "text" || name.chars().count() <= 3 * AROUND {
            return line(node);
        }
        let (start, end) = place.map_or((0, 0), |place| (place.start(), place.end()));
        let from = name[..start].char_indices().rev().nth(AROUND).map_or(0, |(at, _)| at);
        let to = name[end..].char_indices().nth(AROUND).map_or(name.len(), |(at, _)| end + at);
        let before = if from > 0 { "…" } else { "" };
        let after = if to < name.len() { "…" } else { "" };
        format!("- text: {before}{}{after}", page_text::escaped(&name[from..to]))
    }

    /// Where something is: the landmarks and lists that it is in, and the heading before it.
    fn path(&self, at: usize) -> String {
        let tree = self.tree;
        let tells = |at: &usize| {
            let node = tree.node(*at);
            let is_named = matches!(node.role.as_str(), "article" | "grid" | "group" | "list");
            REGIONS.contains(&node.role.as_str())
                || matches!(node.role.as_str(), "iframe" | "table")
                || (is_named && !node.name.is_empty())
        };
        let above = tree.ancestors(at).take(PATH.0).filter(tells).take(PATH.1);
        let mut parts: Vec<_> = above.map(|at| short(tree.node(at))).collect();
        parts.reverse();
        let heading =
            self.headings[at].filter(|heading| *heading != at && self.is_over(*heading, at));
        parts.extend(heading.map(|heading| short(tree.node(heading))));
        parts.join(" > ")
    }

    /// Whether a heading is of what a node is in.
    fn is_over(&self, heading: usize, at: usize) -> bool {
        self.tree.parent(heading).is_none_or(|parent| at < self.tree.end(parent))
    }

    /// Says what comes near, when nothing fits.
    pub fn nearest(&self) -> String {
        let nodes = || self.tree.page.nodes.iter().filter(|node| node.role != "text");
        let roles = || nodes().map(|node| node.role.as_str());
        if let Some(role) = self.role
            && !roles().any(|known| known.eq_ignore_ascii_case(role))
        {
            let mut known: Vec<_> = roles().collect();
            known.sort_unstable();
            known.dedup();
            let known: Vec<_> = known.into_iter().map(page_text::word).collect();
            let role = page_text::quoted(role);
            return format!("there is no {role} here; there are: {}", known.join(", "));
        }
        let Some(pattern) = self.pattern else { return String::new() };
        let wanted = pattern.source.to_lowercase();
        let named = nodes().filter(|node| (1..100).contains(&node.name.len())).take(NEAREST.0);
        let mut near: Vec<_> = named.map(|node| (likeness(&wanted, &node.name), node)).collect();
        near.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut told: Vec<String> = Vec::new();
        for (_, node) in near.into_iter().filter(|(likeness, _)| *likeness > 0.6) {
            let line = headless(node);
            if told.len() < NEAREST.1 && !told.contains(&line) {
                told.push(line);
            }
        }
        match told.is_empty() {
            true => String::new(),
            false => format!("nearest: {}", told.join(", ")),
        }
    }
}

fn short(node: &Node) -> String {
    let role = page_text::word(&node.role);
    let name = page_text::folded(&node.name);
    let cut = model::json::cut(&name, SHORT);
    match cut.len() {
        0 => role.into_owned(),
        length if length < name.len() => format!("{role} {}", page_text::quoted(&(cut + "…"))),
        _ => format!("{role} {}", page_text::quoted(&cut)),
    }
}

fn likeness(wanted: &str, name: &str) -> f64 {
    let name = name.to_lowercase();
    let whole = strsim::jaro_winkler(wanted, &name);
    let words = name.split_whitespace().map(|word| strsim::jaro_winkler(wanted, word));
    words.fold(whole, f64::max)
}
