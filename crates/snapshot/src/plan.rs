//! Which lines are written, before any is: a plan is cheap, so a page is planned whole and only
//! the part that fits is written.

use std::ops::Range;

use model::page_text::word;

use crate::{
    dense,
    lines::{indent, line},
    roles,
    runs::{Fold, Run},
    tree::Tree,
};

/// One line to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A thing, by its place in the page, on a line of its own.
    Line(usize),
    /// A thing, and how many things in it are deeper than wanted.
    Cut(usize, usize),
    /// A thing with all that is in it.
    Dense(usize),
    /// Many that are like those around them.
    Fold(Fold),
}

/// What is to be planned.
#[derive(Debug, Clone)]
pub struct Wish {
    /// The parts of the page.
    pub parts: Vec<Range<usize>>,
    /// Levels at most.
    pub depth: Option<usize>,
    /// Only what leads somewhere: landmarks, headings and what can be worked with.
    pub skeleton: bool,
}

/// How the things of a page are laid out, whichever of them are wanted.
pub struct Layout {
    /// What is not shown, by its beginning.
    folds: Vec<Fold>,
    /// What is one line with all that is in it.
    dense: Vec<bool>,
}

/// The lines to be, in the order of the page.
pub struct Plan<'t, 'p> {
    tree: &'t Tree<'p>,
    /// The lines, from top to bottom.
    pub steps: Vec<Step>,
    /// The level at which the parts begin.
    base: usize,
}

impl Layout {
    /// Lays out a page. Runs fold where they are worth it and `may_fold` allows it; those in
    /// `opened` do not, and their items are written densely.
    pub fn of(
        tree: &Tree<'_>,
        runs: &[Run],
        opened: &[usize],
        may_fold: impl Fn(&Run) -> bool,
    ) -> Self {
        let (mut folds, mut dense) = (Vec::new(), vec![false; tree.page.nodes.len()]);
        for (place, run) in runs.iter().enumerate() {
            let is_open = opened.contains(&place);
            if run.folds && !is_open && may_fold(run) {
                folds.extend(run.hidden(tree));
            }
            let ends = run.items.iter().skip(1).chain([&run.end]);
            for (item, end) in run.items.iter().zip(ends) {
                let is_one = (run.folds || is_open) && *end == tree.end(*item);
                dense[*item] =
                    dense::is_row(tree, *item) || (is_one && dense::is_item(tree, *item));
            }
        }
        folds.sort_by_key(|fold| fold.start);
        Self { folds, dense }
    }
}

impl Step {
    /// Returns the place of its first node.
    pub fn node(&self) -> usize {
        match self {
            Self::Line(at) | Self::Cut(at, _) | Self::Dense(at) => *at,
            Self::Fold(fold) => fold.start,
        }
    }
}

impl<'t, 'p> Plan<'t, 'p> {
    /// Plans parts of a page.
    pub fn new(tree: &'t Tree<'p>, layout: &Layout, wish: &Wish) -> Self {
        let base = wish.parts.iter().filter(|part| !part.is_empty());
        let base = base.map(|part| tree.level(part.start)).min().unwrap_or(0);
        let mut plan = Self { tree, steps: Vec::new(), base };
        for part in &wish.parts {
            plan.add(part.clone(), layout, wish);
        }
        plan
    }

    fn add(&mut self, part: Range<usize>, layout: &Layout, wish: &Wish) {
        let Layout { folds, dense } = layout;
        let mut at = part.start;
        let mut fold = folds.partition_point(|fold| fold.start < at);
        while at < part.end {
            while folds.get(fold).is_some_and(|fold| fold.start < at) {
                fold += 1;
            }
            if let Some(found) = folds.get(fold).filter(|fold| fold.start == at) {
                self.steps.push(Step::Fold(*found));
                at = found.end;
            } else {
                at = self.add_node(at, dense[at], wish);
            }
        }
    }

    /// Adds a node's line; returns where to go on.
    fn add_node(&mut self, at: usize, is_dense: bool, wish: &Wish) -> usize {
        let tree = self.tree;
        if !tree.is_shown(at) || (wish.skeleton && !leads_somewhere(tree, at)) {
            return at + 1;
        }
        let level = tree.level(at).saturating_sub(self.base);
        let inside = tree.count(at + 1..tree.end(at));
        match wish.depth {
            Some(depth) if level + 1 >= depth && inside > 0 => {
                self.steps.push(Step::Cut(at, inside));
                tree.end(at)
            }
            _ if !wish.skeleton && (is_dense || dense::is_words(tree, at)) => {
                self.steps.push(Step::Dense(at));
                tree.end(at)
            }
            // Its line would say nothing that the thing in it does not.
            _ if is_wrapper(tree, at) => at + 1,
            _ => {
                self.steps.push(Step::Line(at));
                at + 1
            }
        }
    }

    /// Writes a line.
    pub fn write(&self, step: &Step) -> String {
        let space = indent(self.tree.level(step.node()).saturating_sub(self.base));
        match step {
            Step::Line(at) => format!("{space}{}", line(self.tree.node(*at))),
            Step::Cut(at, inside) => {
                let things = if *inside == 1 { "thing" } else { "things" };
                format!("{space}{} … {inside} {things} inside", line(self.tree.node(*at)))
            }
            Step::Dense(at) => format!("{space}{}", dense::line(self.tree, *at)),
            Step::Fold(fold) => {
                let roles: Vec<_> = self
                    .tree
                    .tops(fold.start..fold.item_end)
                    .map(|at| word(&self.tree.node(at).role))
                    .collect();
                let name = self.tree.node(fold.name).reference().unwrap_or_default();
                let what = roles.join(" + ");
                format!("{space}- … {} more {what} like these [open={name}]", fold.count)
            }
        }
    }
}

/// Whether it is a paragraph around one thing, such as a field of a form.
fn is_wrapper(tree: &Tree<'_>, at: usize) -> bool {
    let node = tree.node(at);
    let mut children = tree.children(at);
    node.role == "paragraph"
        && node.name.is_empty()
        && node.flags.is_empty()
        && children.next().is_some_and(|child| tree.node(child).role != "text")
        && children.next().is_none()
}

fn leads_somewhere(tree: &Tree<'_>, at: usize) -> bool {
    let node = tree.node(at);
    roles::is_control(&node.role)
        || roles::REGIONS.contains(&node.role.as_str())
        || node.role == "heading"
        || node.flags.iter().any(|flag| flag == "clickable")
}

/// Finds the runs that a node names, has in it, or is in; none where it has nothing to open.
pub fn opened(runs: &[Run], at: usize) -> Vec<usize> {
    let all = || runs.iter().enumerate();
    let places = |found: Vec<(usize, &Run)>| found.into_iter().map(|(place, _)| place).collect();
    let by_name: Vec<_> = all().filter(|(_, run)| run.folds && run.name == at).collect();
    if !by_name.is_empty() {
        return places(by_name);
    }
    let by_parent: Vec<_> = all().filter(|(_, run)| run.parent == Some(at)).collect();
    if !by_parent.is_empty() {
        return places(by_parent);
    }
    let within = all().filter(|(_, run)| run.start() <= at && at < run.end);
    within.max_by_key(|(_, run)| run.start()).map(|(place, _)| place).into_iter().collect()
}

/// The parts of a page that runs take. One that is in another is shown with that: an item may name
/// the run that it begins, and the one that is in it.
pub fn parts_of(runs: &[Run], opened: &[usize]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for run in opened.iter().map(|place| &runs[*place]) {
        if parts.last().is_none_or(|last| last.end < run.end) {
            parts.push(run.start()..run.end);
        }
    }
    parts
}
