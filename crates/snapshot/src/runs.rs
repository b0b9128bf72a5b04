//! Runs: many siblings of the same shape, of which a few stand for all.
//!
//! A shape is the set of roles in a thing; two are alike when they share at least half of them, so
//! that one more badge makes no difference. An item may also be several siblings (a heading, a
//! text and a button), because what only groups them has no role and is not in the page's list.
//! What is read as text, what a form asks for, and what is short anyway is no run to fold.

use crate::{
    Node,
    roles::{self, ENTRIES, SWITCHES},
    tree::Tree,
};

/// Alike siblings that make a run.
pub const LEAST: usize = 8;
/// Alike siblings that make one where each has a field to fill in.
pub const LEAST_FIELDS: usize = 40;
/// Shown of a folded run: so many at its beginning …
pub const FIRST: usize = 3;
/// … and so many at its end.
pub const LAST: usize = 1;
/// Shown between them because of their state, such as what is selected.
const NOTABLE: usize = 3;
/// Bytes, roughly, that must be saved by folding.
pub const SAVED: usize = 800;
/// Siblings that one item has at most.
const SIBLINGS: usize = 8;
/// Bytes, roughly, of an item that begins with words.
const CARD: usize = 500;

/// Many siblings of the same shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Where each item begins.
    pub items: Vec<usize>,
    /// Where the last one ends.
    pub end: usize,
    /// The node that names the run.
    pub name: usize,
    /// What they are in.
    pub parent: Option<usize>,
    /// Whether it is worth folding.
    pub folds: bool,
}

/// A part of a run that is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fold {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Where its first item ends.
    pub item_end: usize,
    /// Items in it.
    pub count: usize,
    /// The node that names the run.
    pub name: usize,
}

impl Run {
    /// Returns where it begins.
    pub fn start(&self) -> usize {
        self.items[0]
    }

    /// Returns the parts that are not shown.
    pub fn hidden(&self, tree: &Tree<'_>) -> Vec<Fold> {
        let last = self.items.len() - LAST;
        let ends = |item: usize| self.items.get(item + 1).copied().unwrap_or(self.end);
        let is_notable = |item: &usize| {
            tree.page.nodes[self.items[*item]..ends(*item)].iter().any(has_notable_state)
        };
        let mut cuts: Vec<_> = (FIRST..last).filter(is_notable).take(NOTABLE).collect();
        cuts.push(last);
        let mut folds = Vec::new();
        let mut from = FIRST;
        for cut in cuts {
            if cut > from {
                let (start, end) = (self.items[from], self.items[cut]);
                let (item_end, count) = (ends(from), cut - from);
                folds.push(Fold { start, end, item_end, count, name: self.name });
            }
            from = cut + 1;
        }
        folds
    }
}

fn has_notable_state(node: &Node) -> bool {
    let notable = |flag: &String| {
        matches!(flag.as_str(), "focused" | "selected" | "invalid" | "pressed" | "expanded")
    };
    node.flags.iter().any(notable)
}

/// Finds all runs, in the order of the page.
pub fn find(tree: &Tree<'_>) -> Vec<Run> {
    let total = tree.page.nodes.len();
    let mut runs = Vec::new();
    let mut siblings = Vec::new();
    for parent in std::iter::once(None).chain((0..total).map(Some)) {
        let part = parent.map_or(0..total, |parent| parent + 1..tree.end(parent));
        siblings.clear();
        siblings.extend(tree.tops(part));
        if siblings.len() >= LEAST {
            runs.extend(find_among(tree, parent, &siblings));
        }
    }
    runs.sort_by_key(Run::start);
    runs
}

fn find_among(tree: &Tree<'_>, parent: Option<usize>, siblings: &[usize]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut at = 0;
    while at + LEAST <= siblings.len() {
        let found = measure(tree, siblings, at);
        // A short try is looked at again from its next sibling; it has cost little.
        match found.items.len() >= LEAST {
            true => {
                at = found.next;
                runs.extend(accept(tree, parent, siblings, &found));
            }
            false => at += 1,
        }
    }
    // The parent outlives its items, so it names the run if there is only one.
    let folding = runs.iter().filter(|run| run.folds).count();
    if let Some(parent) = parent.filter(|at| tree.node(*at).reference != 0 && folding == 1) {
        runs.iter_mut().filter(|run| run.folds).for_each(|run| run.name = parent);
    }
    runs
}

/// Items that are alike, as places among their siblings.
struct Measured {
    items: Vec<usize>,
    next: usize,
    mask: u64,
}

/// Follows a run from a sibling on, as far as it goes.
fn measure(tree: &Tree<'_>, siblings: &[usize], first: usize) -> Measured {
    let role = |place: usize| tree.node(siblings[place]).role.as_str();
    let lead = role(first);
    let mut measured = Measured { items: Vec::new(), next: first, mask: 0 };
    if tree.node(siblings[first]).reference == 0 {
        return measured;
    }
    let (mut shape, mut outer) = (None, 0);
    let mut at = first;
    while at < siblings.len() && role(at) == lead {
        let limit = siblings.len().min(at + 1 + SIBLINGS);
        let next = (at + 1..limit).find(|place| role(*place) == lead);
        let mask = |end: usize| siblings[at..end].iter().fold(0, |set, it| set | tree.mask[*it]);
        let fits = |mask: u64| shape.is_none_or(|shape| is_alike(shape, mask));
        let known = |place: &usize| outer & roles::bit(role(*place)) == roles::bit(role(*place));
        let whole = next.filter(|next| fits(mask(*next)));
        // The last item has only what the others have too: what follows is something else.
        let end = whole.unwrap_or_else(|| (at + 1..limit).find(|it| !known(it)).unwrap_or(limit));
        if !fits(mask(end)) {
            break;
        }
        let found = mask(end);
        shape = shape.or(Some(found));
        measured.mask |= found;
        outer |= siblings[at..end].iter().fold(0, |set, it| set | roles::bit(&tree.node(*it).role));
        measured.items.push(at);
        at = end;
        measured.next = end;
        if whole.is_none() {
            break;
        }
    }
    measured
}

/// Whether two sets of roles have at least half in common.
fn is_alike(one: u64, other: u64) -> bool {
    2 * (one & other).count_ones() >= (one | other).count_ones()
}

fn accept(
    tree: &Tree<'_>,
    parent: Option<usize>,
    siblings: &[usize],
    found: &Measured,
) -> Option<Run> {
    let items: Vec<_> = found.items.iter().map(|place| siblings[*place]).collect();
    let end = tree.end(siblings[found.next - 1]);
    let (first, count) = (items[0], items.len());
    let lead = tree.node(first).role.as_str();
    let is_form = found.mask & roles::bits(&ENTRIES) != 0 || SWITCHES.contains(&lead);
    if is_form && count < LEAST_FIELDS {
        return None;
    }
    if !roles::is_item(lead) && !is_cards(tree, siblings, found, end) {
        return None;
    }
    let hidden = items[FIRST]..items[count - LAST];
    let folds = tree.ink(hidden) >= SAVED;
    Some(Run { items, end, name: first, parent, folds })
}

/// Whether items that begin with words are things to use and not chapters to read: each is short
/// and has something to work with besides its first words.
fn is_cards(tree: &Tree<'_>, siblings: &[usize], found: &Measured, end: usize) -> bool {
    let start = siblings[found.items[0]];
    let is_short = tree.ink(start..end) <= CARD * found.items.len();
    let second = found.items[1];
    let mut others = siblings[found.items[0] + 1..second].iter();
    is_short && others.any(|other| is_used(tree.node(*other)))
}

fn is_used(node: &Node) -> bool {
    roles::is_control(&node.role) || node.flags.iter().any(|flag| flag == "clickable")
}
