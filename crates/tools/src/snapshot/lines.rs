//! What a line of a snapshot says, in the shape that models know:
//! `- textbox "Email" [ref=e7]: a@b.c`.
//!
//! Text that only repeats a name is left out: of what it is in, or of the field beside it that it
//! labels.

use super::{Node, Page};

/// Roles whose names are made of what is in them.
const NAMED_BY_CONTENT: [&str; 22] = [
    "button",
    "cell",
    "checkbox",
    "columnheader",
    "gridcell",
    "heading",
    "link",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "row",
    "rowheader",
    "summary",
    "switch",
    "tab",
    "term",
    "tooltip",
    "treeitem",
    "caption",
    "label",
];

/// Roles that are named by a label beside them.
const FIELDS: [&str; 8] =
    ["checkbox", "combobox", "listbox", "radio", "searchbox", "slider", "spinbutton", "textbox"];

/// Levels that are shown by indentation: who sends a page also says how deep it is.
const DEEPEST: u32 = 100;

/// Returns the lines from a node on, each with its node's place.
pub fn of(page: &Page, start: usize) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut above: Vec<&Node> = Vec::new();
    for node in &page.nodes[..start.min(page.nodes.len())] {
        rise(&mut above, node);
        above.push(node);
    }
    page.nodes.iter().enumerate().skip(start).filter_map(move |(index, node)| {
        rise(&mut above, node);
        let beside = [index.checked_sub(1), index.checked_add(1)];
        let beside = beside.map(|at| at.and_then(|at| page.nodes.get(at)));
        let shown = !is_repetition(node, &above) && !is_label(node, beside);
        let line = shown.then(|| (index, line(node)));
        above.push(node);
        line
    })
}

/// Writes one line.
pub fn line(node: &Node) -> String {
    let mut line = "  ".repeat(node.depth.min(DEEPEST) as usize);
    line.push_str("- ");
    if node.role == "text" {
        line.push_str("text: ");
        line.push_str(&one_line(&node.name));
        return line;
    }
    line.push_str(&one_line(&node.role));
    if !node.name.is_empty() {
        line.push_str(&format!(" {:?}", one_line(&node.name)));
    }
    for flag in &node.flags {
        line.push_str(&format!(" [{}]", one_line(flag)));
    }
    if let Some(reference) = node.reference() {
        line.push_str(&format!(" [ref={reference}]"));
    }
    if let Some(value) = &node.value {
        // Exact, a trailing space included, and on one line.
        line.push_str(": ");
        value.chars().for_each(|letter| match letter {
            '\\' => line.push_str("\\\\"),
            _ if letter.is_control() || "\u{2028}\u{2029}".contains(letter) => {
                line.extend(letter.escape_default());
            }
            _ => line.push(letter),
        });
    }
    line
}

/// Leaves in `above` only what a node is in.
fn rise(above: &mut Vec<&Node>, node: &Node) {
    while above.last().is_some_and(|last| last.depth >= node.depth) {
        above.pop();
    }
}

/// Whether a text is only the label of the field before or after it, which has it as its name.
fn is_label(node: &Node, beside: [Option<&Node>; 2]) -> bool {
    let labels = |field: &Node| {
        field.depth == node.depth
            && FIELDS.contains(&field.role.as_str())
            && one_line(&field.name) == one_line(&node.name)
    };
    node.role == "text" && beside.into_iter().flatten().any(labels)
}

fn is_repetition(node: &Node, above: &[&Node]) -> bool {
    if node.role != "text" {
        return false;
    }
    let text = one_line(&node.name);
    let says_it = |other: &&&Node| {
        NAMED_BY_CONTENT.contains(&other.role.as_str()) && other.name.contains(text.as_str())
    };
    text.is_empty() || above.iter().rev().take(4).find(says_it).is_some()
}

/// Makes a text one that neither ends its line nor speaks to a terminal.
pub(super) fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|letter| !letter.is_control());
    line
}
