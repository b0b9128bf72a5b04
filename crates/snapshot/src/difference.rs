//! What differs between two snapshots of the same place, by the identity of nodes.
//!
//! A node is the same when its document and number are. Text has no number and is compared by its
//! place below what it is in. A thing that is new comes with all that is in it and where it is; of
//! one that is gone its name is enough.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet, VecDeque},
    ops::Range,
};

use model::page_text::{escaped, folded, line, quoted, quoted_exact, word};

use crate::{
    Node, Page,
    lines::{indent, phrase, short, shorten},
    plan::{Layout, Plan, Wish},
    roles::CELLS,
    runs::Run,
    tree::Tree,
};

/// Texts that are passed over on the way to a thing that can be referred to.
const NEAR: usize = 8;
/// Siblings among which a change of order is looked for.
const ORDERED: usize = 5000;

type Identity = (u32, u32);

/// One entry of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A thing or text that is another now: its line, and what was.
    Changed(String),
    /// New things, with where.
    Added(String),
    /// A thing or text that is gone.
    Removed(String),
    /// What is elsewhere now.
    Moved(String),
}

impl Change {
    /// Returns its words.
    pub fn text(&self) -> &str {
        match self {
            Self::Changed(text) | Self::Added(text) | Self::Removed(text) | Self::Moved(text) => {
                text
            }
        }
    }
}

/// Returns whether two snapshots are of the same document, so that a difference has a meaning.
pub fn is_comparable(before: &Page, now: &Page) -> bool {
    let first = |page: &Page| page.nodes.first().map(|node| node.doc);
    first(before) == first(now) || before.nodes.is_empty() || now.nodes.is_empty()
}

/// Finds what differs. Of new runs only a part is shown, as always.
pub fn find(before: &Page, tree: &Tree<'_>, runs: &[Run]) -> Vec<Change> {
    let old = Tree::of(before);
    let (was, is) = (identities(before), identities(tree.page));
    let comparison = Comparison { old: &old, new: tree, runs, was: &was, is: &is };
    let mut changes = comparison.changed();
    let (texts, new_texts) = comparison.texts();
    changes.extend(texts);
    changes.extend(comparison.added(&new_texts));
    changes.extend(comparison.removed());
    changes.extend(comparison.moved());
    changes
}

/// How many of each kind there are, in words.
pub fn summary(changes: &[Change]) -> String {
    let count = |fits: fn(&Change) -> bool| changes.iter().filter(|change| fits(change)).count();
    let counts = [
        (count(|change| matches!(change, Change::Changed(_))), "changed"),
        (count(|change| matches!(change, Change::Added(_))), "added"),
        (count(|change| matches!(change, Change::Removed(_))), "removed"),
        (count(|change| matches!(change, Change::Moved(_))), "moved"),
    ];
    let told = counts.iter().filter(|(count, _)| *count > 0);
    told.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

fn identity(node: &Node) -> Identity {
    (node.doc, node.reference)
}

fn identities(page: &Page) -> HashMap<Identity, usize> {
    let nodes = page.nodes.iter().enumerate().filter(|(_, node)| node.reference != 0);
    nodes.map(|(at, node)| (identity(node), at)).collect()
}

struct Comparison<'c, 'o, 'n> {
    old: &'c Tree<'o>,
    new: &'c Tree<'n>,
    runs: &'c [Run],
    was: &'c HashMap<Identity, usize>,
    is: &'c HashMap<Identity, usize>,
}

impl Comparison<'_, '_, '_> {
    /// The places of nodes that are in both, before and now, in today's order.
    fn same(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let nodes = self.new.page.nodes.iter().enumerate();
        nodes
            .filter(|(_, node)| node.reference != 0)
            .filter_map(|(at, node)| Some((*self.was.get(&identity(node))?, at)))
    }

    fn changed(&self) -> Vec<Change> {
        let changed = self.same().filter_map(|(before, at)| {
            let now = self.new.node(at);
            let was = what_was(self.old.node(before), now)?;
            let row = self.row_of(at).unwrap_or_default();
            Some(Change::Changed(format!("~ {} ({was}){row}", phrase(now))))
        });
        changed.collect()
    }

    /// The row that a cell is in, and what it begins with.
    fn row_of(&self, at: usize) -> Option<String> {
        let is_cell = CELLS.contains(&self.new.node(at).role.as_str());
        let row = self.new.parent(at).filter(|_| is_cell)?;
        let first = self.new.children(row).next().filter(|first| *first != at)?;
        let name = quoted(&shorten(&folded(&self.new.node(first).name)));
        Some(format!(" in row [ref={}] {name}", self.new.node(row).reference()?))
    }

    /// Texts that are directly in things that are in both. Returns the changes, and the places of
    /// texts that are new.
    fn texts(&self) -> (Vec<Change>, HashSet<usize>) {
        let (mut changes, mut new) = (Vec::new(), HashSet::new());
        let top = [(None, None)].into_iter();
        let pairs = self.same().map(|(before, now)| (Some(before), Some(now)));
        for (before, now) in top.chain(pairs) {
            let was = texts(self.old, before);
            let is = texts(self.new, now);
            if was.is_empty() && is.is_empty() {
                continue;
            }
            let place = now.and_then(|at| self.new.node(at).reference());
            let place = place.map_or(String::new(), |place| format!(" in [ref={place}]"));
            let (gone, come) = different(was, is);
            // Taken from near its beginning, which would move all of a list.
            let mut gone = VecDeque::from(gone);
            for text in come {
                let is_it = |old: &Text<'_>| {
                    old.before == text.before || (old.after == text.after && text.after.is_some())
                };
                // Few are left, and of many only the first are compared.
                let near = gone.iter().take(NEAR).position(is_it);
                match near.and_then(|near| gone.remove(near)) {
                    Some(old) => {
                        let (new, old) = (escaped(&text.words), quoted(&shorten(&old.words)));
                        let words = format!("~ text: {new} (was {old}){place}");
                        changes.push(Change::Changed(words));
                    }
                    None => drop(new.insert(text.at)),
                }
            }
            let gone = gone.iter().map(|old| escaped(&shorten(&old.words)).into_owned());
            changes.extend(gone.map(|old| Change::Removed(format!("- gone: text: {old}{place}"))));
        }
        (changes, new)
    }

    /// New things and texts. Neighbours come together, so that many alike can be folded.
    fn added(&self, new_texts: &HashSet<usize>) -> Vec<Change> {
        let parts = self.new_parts(new_texts);
        // A run that is not all new is not folded: its new items would not be seen.
        let is_new = |run: &Run| {
            let part = parts.partition_point(|part| part.end <= run.start());
            parts.get(part).is_some_and(|part| part.start <= run.start() && run.end <= part.end)
        };
        let layout = Layout::of(self.new, self.runs, &[], is_new);
        let added = parts.iter().map(|part| {
            let parent = self.new.parent(part.start);
            let below = parent.and_then(|at| self.new.node(at).reference());
            let place = below.map_or("at the top".to_owned(), |it| format!("below [ref={it}]"));
            let before = self.sibling_before(parent, part.start);
            let after = before.map_or(String::new(), |it| format!(", after [ref={it}]"));
            let wish = Wish { parts: vec![part.clone()], depth: None, skeleton: false };
            let plan = Plan::new(self.new, &layout, &wish);
            let lines = plan.steps.iter().map(|step| format!("{}{}", indent(1), plan.write(step)));
            let lines: Vec<_> = lines.collect();
            Change::Added(format!("+ {place}{after}:\n{}", lines.join("\n")))
        });
        added.collect()
    }

    fn new_parts(&self, new_texts: &HashSet<usize>) -> Vec<Range<usize>> {
        let tree = self.new;
        let is_new = |at: usize| match tree.node(at).reference {
            0 => new_texts.contains(&at),
            _ => !self.was.contains_key(&identity(tree.node(at))),
        };
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while at < tree.page.nodes.len() {
            if !is_new(at) {
                at += 1;
                continue;
            }
            let end = tree.end(at);
            match parts.last_mut() {
                Some(last) if last.end == at && tree.parent(last.start) == tree.parent(at) => {
                    last.end = end;
                }
                _ => parts.push(at..end),
            }
            at = end;
        }
        parts
    }

    /// The thing before a place that has the same parent and a reference.
    fn sibling_before(&self, parent: Option<usize>, at: usize) -> Option<String> {
        let mut at = at;
        for _ in 0..NEAR {
            let mut before = at.checked_sub(1).filter(|before| Some(*before) != parent)?;
            while self.new.parent(before) != parent {
                before = self.new.parent(before)?;
            }
            match self.new.node(before).reference() {
                Some(reference) => return Some(reference),
                None => at = before,
            }
        }
        None
    }

    fn removed(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut at = 0;
        while at < self.old.page.nodes.len() {
            let node = self.old.node(at);
            if node.reference == 0 || self.is.contains_key(&identity(node)) {
                at += 1;
                continue;
            }
            let inner = self.old.page.nodes[at + 1..self.old.end(at)].iter();
            let numbered = inner.filter(|node| node.reference != 0);
            let gone = numbered.filter(|node| !self.is.contains_key(&identity(node))).count();
            let with = if gone > 0 { format!(" and {gone} in it") } else { String::new() };
            changes.push(Change::Removed(format!("- gone: {}{with}", short(node))));
            at = self.old.end(at);
        }
        changes
    }

    /// What is in something else now, or in another order.
    fn moved(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut by_parent: HashMap<Option<Identity>, Vec<(usize, usize)>> = HashMap::new();
        for (before, now) in self.same() {
            let above = self.new.parent(now).map(|at| identity(self.new.node(at)));
            let was_above = self.old.parent(before).map(|at| identity(self.old.node(at)));
            if above == was_above {
                by_parent.entry(above).or_default().push((before, now));
            } else {
                let below = self.new.parent(now).and_then(|at| self.new.node(at).reference());
                let below = below.unwrap_or_else(|| "the top".to_owned());
                let what = short(self.new.node(now));
                changes.push((now, format!("> {what} is below {below} now")));
            }
        }
        for pairs in by_parent.values().filter(|pairs| pairs.len() <= ORDERED) {
            for now in out_of_order(pairs) {
                let what = short(self.new.node(now));
                let before = self.sibling_before(self.new.parent(now), now);
                let place = before.map_or("first".to_owned(), |it| format!("after [ref={it}]"));
                changes.push((now, format!("> {what} is {place} now")));
            }
        }
        changes.sort();
        changes.into_iter().map(|(_, text)| Change::Moved(text)).collect()
    }
}

/// Says what of a node was otherwise; `None` means that it is as it was.
fn what_was(before: &Node, now: &Node) -> Option<String> {
    let mut was = Vec::new();
    if before.role != now.role {
        was.push(word(&before.role).into_owned());
    }
    if before.name != now.name {
        was.push(quoted(&shorten(&folded(&before.name))));
    }
    if before.value != now.value {
        let old = before.value.as_deref().unwrap_or_default();
        was.push(format!("value {}", quoted_exact(&shorten(old))));
    }
    let gone = before.flags.iter().filter(|flag| !now.flags.contains(flag));
    was.extend(gone.map(|flag| line(flag).into_owned()));
    let come = now.flags.iter().filter(|flag| !before.flags.contains(flag));
    let come: Vec<_> = come.map(|flag| format!("not {}", line(flag))).collect();
    was.extend(come.into_iter().filter(|it| !it.contains('=')));
    let is_same = before.flags == now.flags && was.is_empty();
    match (is_same, was.is_empty()) {
        (true, _) => None,
        (false, true) => Some("other marks".to_owned()),
        (false, false) => Some(format!("was {}", was.join(", "))),
    }
}

/// A text, where it is, and what is beside it.
struct Text<'p> {
    at: usize,
    words: Cow<'p, str>,
    before: Option<Identity>,
    after: Option<Identity>,
}

/// The texts directly in a node that are worth a line.
fn texts<'p>(tree: &Tree<'p>, at: Option<usize>) -> Vec<Text<'p>> {
    let part = at.map_or(0..tree.page.nodes.len(), |at| at + 1..tree.end(at));
    let mut texts: Vec<Text<'p>> = Vec::new();
    let (mut before, mut waiting) = (None, 0);
    for at in tree.tops(part) {
        let node = tree.node(at);
        if node.reference == 0 {
            texts.push(Text { at, words: folded(&node.name), before, after: None });
        } else {
            before = Some(identity(node));
            texts[waiting..].iter_mut().for_each(|text| text.after = before);
            waiting = texts.len();
        }
    }
    texts
}

/// What two lists do not have in common.
fn different<'o, 'n>(was: Vec<Text<'o>>, is: Vec<Text<'n>>) -> (Vec<Text<'o>>, Vec<Text<'n>>) {
    let mut left: HashMap<String, usize> = HashMap::new();
    was.iter().for_each(|text| *left.entry(text.words.to_string()).or_default() += 1);
    let mut common: HashMap<String, usize> = HashMap::new();
    let mut come = Vec::new();
    for text in is {
        match left.get_mut(&*text.words).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                *common.entry(text.words.into_owned()).or_default() += 1;
            }
            None => come.push(text),
        }
    }
    let mut is_gone = |text: &Text<'o>| match common.get_mut(&*text.words) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    (was.into_iter().filter(|text| is_gone(text)).collect(), come)
}

/// Those of a list, with their places before and now, that must have moved; as few as possible.
fn out_of_order(pairs: &[(usize, usize)]) -> Vec<usize> {
    if pairs.is_sorted() {
        return Vec::new();
    }
    // The longest run of those that are in order stays; by patience sorting.
    let mut tails: Vec<usize> = Vec::new();
    let mut links: Vec<Option<usize>> = vec![None; pairs.len()];
    for (at, (before, _)) in pairs.iter().enumerate() {
        let place = tails.partition_point(|tail| pairs[*tail].0 < *before);
        links[at] = place.checked_sub(1).map(|place| tails[place]);
        match tails.get_mut(place) {
            Some(tail) => *tail = at,
            None => tails.push(at),
        }
    }
    let mut stays = vec![false; pairs.len()];
    let mut last = tails.last().copied();
    while let Some(at) = last {
        stays[at] = true;
        last = links[at];
    }
    pairs.iter().zip(stays).filter(|(_, stays)| !stays).map(|((_, now), _)| *now).collect()
}
