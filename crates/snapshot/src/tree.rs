//! The tree behind a page's list of nodes: what is in what, and what is worth a line.
//!
//! Built in one pass, without recursion, from whatever depths were sent: a child is what is deeper
//! than the one before it. All questions are answered by looking up, so that no page is slow.

use std::ops::Range;

use model::page_text::folded;

use crate::{
    Node, Page,
    roles::{self, FIELDS, NAMED_BY_CONTENT},
};

/// Stands for no node in the tables of places.
const NONE: u32 = u32::MAX;
/// Texts beside each other that may make a label, before and after one of them.
const PARTS: usize = 6;
/// Ancestors whose name may say a text already.
const NEAR: usize = 4;

/// A page with its structure.
pub struct Tree<'a> {
    /// The page whose nodes are linked here.
    pub page: &'a Page,
    parent: Vec<u32>,
    end: Vec<u32>,
    level: Vec<u32>,
    shown: Vec<bool>,
    /// Shown nodes before each.
    count: Vec<u32>,
    /// Bytes that the nodes before each would take, roughly.
    ink: Vec<usize>,
    /// The roles in each and below, as bits.
    pub(super) mask: Vec<u64>,
}

impl<'a> Tree<'a> {
    /// Reads the structure of a page.
    pub fn of(page: &'a Page) -> Self {
        let total = page.nodes.len();
        let mut tree = Self {
            page,
            parent: vec![NONE; total],
            end: vec![total as u32; total],
            level: vec![0; total],
            shown: vec![true; total],
            count: Vec::with_capacity(total + 1),
            ink: Vec::with_capacity(total + 1),
            mask: vec![0; total],
        };
        tree.find_parents();
        let (mut count, mut ink) = (0, 0);
        for at in 0..total {
            tree.count.push(count);
            tree.ink.push(ink);
            tree.shown[at] = tree.is_worth_a_line(at);
            count += u32::from(tree.shown[at]);
            ink += tree.ink_of(at);
        }
        tree.count.push(count);
        tree.ink.push(ink);
        for at in (0..total).rev() {
            tree.mask[at] |= roles::bit(&page.nodes[at].role);
            if let Some(parent) = tree.parent(at) {
                tree.mask[parent] |= tree.mask[at];
            }
        }
        tree
    }

    fn find_parents(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for (at, node) in self.page.nodes.iter().enumerate() {
            while let Some(last) = open.pop_if(|last| self.page.nodes[*last].depth >= node.depth) {
                self.end[last] = at as u32;
            }
            if let Some(parent) = open.last() {
                self.parent[at] = *parent as u32;
                self.level[at] = self.level[*parent] + 1;
            }
            open.push(at);
        }
    }

    /// Returns a node.
    pub fn node(&self, at: usize) -> &'a Node {
        #[cfg(test)]
        steps::count();
        &self.page.nodes[at]
    }

    /// Returns the place of what a node is in.
    pub fn parent(&self, at: usize) -> Option<usize> {
        Some(self.parent[at]).filter(|parent| *parent != NONE).map(|parent| parent as usize)
    }

    /// Returns the places of what a node is in, the nearest first.
    pub fn ancestors(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.parent(at), |at| self.parent(*at))
    }

    /// Returns where a node and all that is in it ends.
    pub fn end(&self, at: usize) -> usize {
        #[cfg(test)]
        steps::count();
        self.end[at] as usize
    }

    /// Returns a node and all that is in it.
    pub fn whole(&self, at: usize) -> Range<usize> {
        at..self.end(at)
    }

    /// Returns how many nodes a node is in.
    pub fn level(&self, at: usize) -> usize {
        self.level[at] as usize
    }

    /// Returns whether a node has something to say.
    pub fn is_shown(&self, at: usize) -> bool {
        self.shown[at]
    }

    /// Returns how many nodes of a part have something to say.
    pub fn count(&self, part: Range<usize>) -> usize {
        (self.count[part.end] - self.count[part.start]) as usize
    }

    /// Returns how many bytes a part would take, roughly.
    pub fn ink(&self, part: Range<usize>) -> usize {
        self.ink[part.end] - self.ink[part.start]
    }

    /// Returns the outermost nodes of a part that have something to say.
    pub fn tops(&self, part: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let next = move |at: &usize| Some(self.end(*at)).filter(|at| *at < part.end);
        let first = Some(part.start).filter(|at| *at < part.end);
        std::iter::successors(first, next).filter(|at| self.is_shown(*at))
    }

    /// Returns what is directly in a node and has something to say.
    pub fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.tops(at + 1..self.end(at))
    }

    /// Finds a node by its document and number.
    pub fn find(&self, reference: (u32, u32)) -> Option<usize> {
        self.page.nodes.iter().position(|node| (node.doc, node.reference) == reference)
    }

    fn ink_of(&self, at: usize) -> usize {
        let node = self.node(at);
        let value = node.value.as_ref().map_or(0, String::len);
        let indent = 2 * self.level(at).min(20);
        if self.shown[at] { 16 + indent + node.name.len() + value } else { 0 }
    }

    /// Text that only repeats a name has nothing to say.
    fn is_worth_a_line(&self, at: usize) -> bool {
        let node = self.node(at);
        if node.role != "text" {
            return true;
        }
        let text = folded(&node.name);
        !text.is_empty() && !self.is_label(at, &text) && !self.is_repetition(at, &text)
    }

    /// Whether a text is the label of the field before or after it, or a part of it.
    fn is_label(&self, at: usize, text: &str) -> bool {
        let nodes = &self.page.nodes;
        let depth = nodes[at].depth;
        let is_text = |beside: &usize| {
            nodes.get(*beside).is_some_and(|node| node.role == "text" && node.depth == depth)
        };
        let before = (at.saturating_sub(PARTS)..at).rev().take_while(is_text).count();
        let after = (at + 1..at + 1 + PARTS).take_while(is_text).count();
        let (first, last) = (at - before, at + after);
        let field = |beside: Option<usize>| {
            let node = beside.and_then(|beside| nodes.get(beside))?;
            (node.depth == depth && FIELDS.contains(&node.role.as_str())).then_some(&node.name)
        };
        let names =
            [(field(first.checked_sub(1)), at == first), (field(last.checked_add(1)), at == last)];
        names.into_iter().any(|(name, is_beside)| {
            name.is_some_and(|name| {
                let parts = nodes[first..=last].iter().map(|node| node.name.as_str());
                (is_beside && folded(name) == text) || is_made_of(name, parts)
            })
        })
    }

    fn is_repetition(&self, at: usize, text: &str) -> bool {
        self.ancestors(at).take(NEAR).any(|above| {
            let above = self.node(above);
            NAMED_BY_CONTENT.contains(&above.role.as_str()) && above.name.contains(text)
        })
    }
}

/// Whether a name is made of these parts, in this order, whatever space is between them.
fn is_made_of<'p>(name: &str, parts: impl Iterator<Item = &'p str>) -> bool {
    let letters = name.chars().filter(|letter| !letter.is_whitespace());
    letters.eq(parts.flat_map(str::chars).filter(|letter| !letter.is_whitespace()))
}

/// Counts how often nodes are looked at, so that a test can say how much work a page is.
#[cfg(test)]
pub(super) mod steps {
    use std::cell::Cell;

    thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn count() {
        STEPS.set(STEPS.get() + 1);
    }

    /// Returns the steps since it was last asked.
    pub(crate) fn taken() -> usize {
        STEPS.replace(0)
    }
}
