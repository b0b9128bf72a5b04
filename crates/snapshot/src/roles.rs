//! Roles as the shaping of snapshots sees them: which are items, prose, places or controls.

/// Whose names are made of what is in them.
pub(super) const NAMED_BY_CONTENT: [&str; 22] = [
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

/// Which are named by a label beside them.
pub(super) const FIELDS: [&str; 8] =
    ["checkbox", "combobox", "listbox", "radio", "searchbox", "slider", "spinbutton", "textbox"];

/// Into which something is entered: they are what a form is for, and each is another one.
pub(super) const ENTRIES: [&str; 7] =
    ["combobox", "listbox", "radio", "searchbox", "slider", "spinbutton", "textbox"];

/// Which are switched on and off.
pub(super) const SWITCHES: [&str; 2] = ["checkbox", "switch"];

/// Which a user works with.
const CONTROLS: [&str; 22] = [
    "button",
    "checkbox",
    "combobox",
    "gridcell",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "scrollbar",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
    "iframe",
    "audio",
    "video",
];

/// Parts of a page that can be asked for by name.
pub(super) const REGIONS: [&str; 12] = [
    "alertdialog",
    "banner",
    "complementary",
    "contentinfo",
    "dialog",
    "form",
    "main",
    "navigation",
    "region",
    "search",
    "tabpanel",
    "toolbar",
];

/// What is read and not worked with, or is a part of something: much of it is not a list of the
/// same.
const PROSE: [&str; 33] = [
    "alert",
    "audio",
    "blockquote",
    "caption",
    "cell",
    "code",
    "columnheader",
    "definition",
    "deletion",
    "emphasis",
    "figure",
    "grid",
    "gridcell",
    "heading",
    "iframe",
    "img",
    "insertion",
    "list",
    "log",
    "mark",
    "math",
    "note",
    "paragraph",
    "rowgroup",
    "rowheader",
    "separator",
    "status",
    "strong",
    "table",
    "term",
    "text",
    "tree",
    "video",
];

/// What stands within a line of text.
const PHRASES: [&str; 15] = [
    "code",
    "deletion",
    "emphasis",
    "generic",
    "img",
    "insertion",
    "label",
    "mark",
    "math",
    "strong",
    "subscript",
    "superscript",
    "term",
    "text",
    "time",
];

/// Cells of a row.
pub(super) const CELLS: [&str; 4] = ["cell", "columnheader", "gridcell", "rowheader"];

/// Returns whether a user works with it.
pub(super) fn is_control(role: &str) -> bool {
    CONTROLS.contains(&role)
}

/// Returns whether it stands within a line of text.
pub(super) fn is_phrase(role: &str) -> bool {
    PHRASES.contains(&role)
}

/// Returns whether things of this role can make a list of the same.
pub(super) fn is_item(role: &str) -> bool {
    !PROSE.contains(&role) && !REGIONS.contains(&role)
}

/// Roles that make a shape, in order.
const SHAPES: [&str; 60] = [
    "alert",
    "alertdialog",
    "article",
    "banner",
    "blockquote",
    "button",
    "caption",
    "cell",
    "checkbox",
    "code",
    "columnheader",
    "combobox",
    "complementary",
    "contentinfo",
    "definition",
    "deletion",
    "dialog",
    "emphasis",
    "figure",
    "form",
    "generic",
    "grid",
    "gridcell",
    "group",
    "heading",
    "iframe",
    "img",
    "insertion",
    "link",
    "list",
    "listbox",
    "listitem",
    "main",
    "menu",
    "menuitem",
    "navigation",
    "option",
    "paragraph",
    "progressbar",
    "radio",
    "region",
    "row",
    "rowgroup",
    "rowheader",
    "searchbox",
    "separator",
    "slider",
    "spinbutton",
    "status",
    "strong",
    "switch",
    "tab",
    "table",
    "tabpanel",
    "term",
    "textbox",
    "time",
    "toolbar",
    "tree",
    "treeitem",
];

/// Returns the role's bit in a set. Text has none, because it makes no shape; rare roles share one,
/// which makes their shapes more alike and nothing wrong.
pub(super) fn bit(role: &str) -> u64 {
    match role {
        "text" => 0,
        _ => 1 << SHAPES.binary_search(&role).unwrap_or(SHAPES.len()),
    }
}

/// Returns the set of several roles.
pub(super) fn bits(roles: &[&str]) -> u64 {
    roles.iter().fold(0, |set, role| set | bit(role))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_in_order_and_fit_a_set() {
        assert!(SHAPES.is_sorted() && SHAPES.len() < 64);
        assert_eq!(bits(&SHAPES).count_ones() as usize, SHAPES.len());
    }
}
