//! Several things on one line: `- row [ref=e9]: 12 | Ann | link "Order 12" [ref=e12]`.
//!
//! Only where nothing is lost that can be acted on: whatever has a role for it, or says that it
//! can be clicked, keeps its reference. A plain cell gives only its text.

use model::page_text::{escaped, exact, folded, word};

use crate::{
    lines::{headless, marks},
    roles::{self, CELLS},
    tree::Tree,
};

/// Nodes that fit on one line, the item itself included.
const MOST: usize = 64;
/// Levels that fit on one line.
const DEEPEST: usize = 8;
/// What does not fit on a line.
const BLOCKS: [&str; 12] = [
    "dialog", "grid", "iframe", "list", "listbox", "menu", "row", "rowgroup", "table", "tablist",
    "tree", "treegrid",
];

/// Returns whether a row can be written as one line: it has nothing but cells.
pub(super) fn is_row(tree: &Tree<'_>, at: usize) -> bool {
    let is_cell = |child: usize| CELLS.contains(&tree.node(child).role.as_str());
    tree.node(at).role == "row"
        && tree.children(at).next().is_some()
        && tree.children(at).all(is_cell)
        && is_short(tree, at)
}

/// Returns whether an item can be written as one line: nothing in it needs lines of its own.
pub(super) fn is_item(tree: &Tree<'_>, at: usize) -> bool {
    tree.children(at).next().is_some() && is_short(tree, at)
}

/// Returns whether there is nothing in a thing but one text, which then stands in its line.
pub(super) fn is_words(tree: &Tree<'_>, at: usize) -> bool {
    let node = tree.node(at);
    let mut children = tree.children(at);
    node.role != "text"
        && node.name.is_empty()
        && node.value.is_none()
        && children.next().is_some_and(|child| is_text_leaf(tree, child))
        && children.next().is_none()
}

fn is_text_leaf(tree: &Tree<'_>, at: usize) -> bool {
    tree.node(at).role == "text" && tree.children(at).next().is_none()
}

fn is_short(tree: &Tree<'_>, at: usize) -> bool {
    let whole = tree.whole(at);
    whole.len() <= MOST
        && whole.clone().all(|inner| tree.level(inner) <= tree.level(at) + DEEPEST)
        && (at + 1..whole.end).all(|inner| !BLOCKS.contains(&tree.node(inner).role.as_str()))
}

/// Writes an item and all that is in it as one line.
pub(super) fn line(tree: &Tree<'_>, at: usize) -> String {
    let node = tree.node(at);
    let is_row = node.role == "row";
    let head = match is_row {
        // Its cells say its name.
        true => format!("row{}", marks(node)),
        false => headless(node),
    };
    let inner = match is_row {
        true => {
            let cells: Vec<_> = tree.children(at).map(|cell| cell_text(tree, cell)).collect();
            cells.join(" | ")
        }
        false => rest(tree, at, &[&folded(&node.name)]).join(" "),
    };
    let value = node.value.as_ref().map(|value| exact(value));
    let parts = value.into_iter().map(|it| it.into_owned()).chain(Some(inner));
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    match parts.is_empty() {
        true => format!("- {head}"),
        false => format!("- {head}: {}", parts.join(" ")),
    }
}

fn cell_text(tree: &Tree<'_>, cell: usize) -> String {
    let node = tree.node(cell);
    let text = content(tree, cell);
    let is_plain = matches!(node.role.as_str(), "cell" | "rowheader") && node.flags.is_empty();
    match (is_plain, tree.children(cell).next()) {
        (true, _) => text,
        (false, None) => headless(node),
        (false, Some(_)) => format!("{}{}: {text}", word(&node.role), marks(node)),
    }
}

/// Writes what is in a node, its own name where that is made of it.
pub(super) fn content(tree: &Tree<'_>, at: usize) -> String {
    let pieces = pieces(tree, at);
    merge(&folded(&tree.node(at).name), &pieces)
}

/// Puts things into a folded text in the places of their folded names; what has no place there comes
/// before what is left of the text. Things are written already, the text is not.
pub(super) fn merge(text: &str, pieces: &[(String, String)]) -> String {
    let (mut merged, mut left) = (String::new(), text);
    for (name, shown) in pieces {
        match place_of(left, name) {
            Some(place) => {
                add(&mut merged, &left[..place]);
                merged.push_str(shown);
                left = &left[place + name.len()..];
            }
            None => {
                let space = if merged.is_empty() || merged.ends_with(' ') { "" } else { " " };
                merged.push_str(&format!("{space}{shown} "));
            }
        }
    }
    add(&mut merged, left);
    merged.trim().to_owned()
}

/// Adds words of a page, with one space at most between them and those before. What is in brackets
/// there is ours, so they must not go on as if they said where that leads.
fn add(merged: &mut String, words: &str) {
    let is_spaced = merged.is_empty() || merged.ends_with(' ');
    if merged.ends_with(']') && words.starts_with('(') {
        merged.push(' ');
    }
    merged.push_str(&escaped(if is_spaced { words.trim_start() } else { words }));
}

/// Finds a name in a text, best where it is not a part of a longer word.
fn place_of(text: &str, name: &str) -> Option<usize> {
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let is_apart = |place: &usize| {
        !is_word(text[..*place].chars().next_back())
            && !is_word(text[*place + name.len()..].chars().next())
    };
    if name.is_empty() {
        return None;
    }
    let mut places = text.match_indices(name).map(|(place, _)| place);
    places.find(is_apart).or_else(|| text.find(name))
}

/// What is in a node: the words that stand for each in names around it, and how it is written.
fn pieces(tree: &Tree<'_>, at: usize) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for child in tree.children(at) {
        let node = tree.node(child);
        let name = folded(&node.name).into_owned();
        if node.role == "text" {
            all.push((name.clone(), escaped(&name).into_owned()));
        } else if is_kept(tree, child) {
            let inner = rest(tree, child, &[&name]);
            let inner =
                if inner.is_empty() { String::new() } else { format!(" ({})", inner.join(" ")) };
            let value = node.value.as_ref().map_or(String::new(), |it| format!(": {}", exact(it)));
            all.push((name, format!("{}{value}{inner}", headless(node))));
        } else if name.is_empty() || tree.children(child).next().is_some() {
            all.extend(pieces(tree, child));
        } else {
            let shown = match node.role == "img" {
                true => headless(node),
                false => escaped(&name).into_owned(),
            };
            all.push((name, shown));
        }
    }
    all
}

/// What is in a node and not said by the names around it.
fn rest(tree: &Tree<'_>, at: usize, said: &[&str]) -> Vec<String> {
    let is_said = |name: &str| said.iter().any(|around| around.contains(name));
    let shown = |(name, shown): (String, String)| {
        let is_new = shown.contains("[ref=") || !is_said(&name);
        is_new.then_some(shown)
    };
    pieces(tree, at).into_iter().filter_map(shown).collect()
}

fn is_kept(tree: &Tree<'_>, at: usize) -> bool {
    let node = tree.node(at);
    roles::is_control(&node.role)
        || !node.flags.is_empty()
        || node.value.is_some()
        || node.role == "columnheader"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, pieces: &[(&str, &str)], expected: &str) {
        let pieces: Vec<_> =
            pieces.iter().map(|(name, shown)| ((*name).to_owned(), (*shown).to_owned())).collect();
        assert_eq!(merge(text, &pieces), expected);
    }

    #[test]
    fn things_stand_in_the_places_of_their_names() {
        check("Ann Edit Drop", &[("Edit", "<1>"), ("Drop", "<2>")], "Ann <1> <2>");
        check("See docs.", &[("docs", "<1>")], "See <1>.");
        check("11 1", &[("1", "<1>")], "11 <1>");
        check("Edit", &[("", "<1>")], "<1> Edit");
        check("", &[("", "<1>"), ("x", "<2>")], "<1> <2>");
        check("plain", &[], "plain");
    }
}
