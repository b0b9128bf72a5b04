//! Regions: the landmarks and dialogs of a page, found by role or name.

use std::ops::Range;

use model::Fault;

use crate::{
    lines::{headless, one_line},
    roles::REGIONS,
    tree::Tree,
    view::invalid,
};

/// Regions that an error lists.
const LISTED: usize = 12;

/// Finds a region: by role, by name, by role and name together, or by a part of its name. Of
/// several, the first.
pub fn find(tree: &Tree<'_>, wanted: &str) -> Result<Range<usize>, Fault> {
    let wanted = one_line(wanted).to_lowercase().replace('"', "");
    let all = || (0..tree.page.nodes.len()).filter(|at| is_region(tree, *at));
    let role = |at: usize| tree.node(at).role.to_lowercase();
    let name = |at: usize| one_line(&tree.node(at).name).to_lowercase();
    let found = all()
        .find(|at| role(*at) == wanted)
        .or_else(|| all().find(|at| name(*at) == wanted))
        .or_else(|| all().find(|at| format!("{} {}", role(*at), name(*at)) == wanted))
        .or_else(|| all().find(|at| !wanted.is_empty() && name(*at).contains(&wanted)));
    found.map(|at| tree.whole(at)).ok_or_else(|| {
        let list: Vec<_> = all().take(LISTED).map(|at| headless(tree.node(at))).collect();
        let more = all().count().saturating_sub(LISTED);
        let hint = match (list.is_empty(), more) {
            (true, _) => "the page has no regions; use `ref` or `selector`".to_owned(),
            (false, 0) => format!("there are: {}", list.join(", ")),
            (false, more) => format!("there are: {} and {more} more", list.join(", ")),
        };
        let wanted = model::json::shorten(&wanted, 60);
        invalid(format!("no region is {wanted:?} by role or name")).hint(hint)
    })
}

fn is_region(tree: &Tree<'_>, at: usize) -> bool {
    REGIONS.contains(&tree.node(at).role.as_str())
}
