//! Regions: the landmarks and dialogs of a page, found by role or name.

use std::ops::Range;

use model::{
    Fault,
    page_text::{folded, quoted, unescaped},
};

use crate::{lines::short, roles::REGIONS, tree::Tree, view::invalid};

/// Regions that an error lists.
const LISTED: usize = 12;

/// Finds a region: by role, by name, by role and name together, or by a part of its name. Of
/// several, the first.
pub fn find(tree: &Tree<'_>, wanted: &str) -> Result<Range<usize>, Fault> {
    // It may be copied from a line in which it is escaped.
    let plain = |text: &str| folded(text).to_lowercase().replace('"', "");
    let (wanted, meant) = (plain(wanted), plain(&unescaped(wanted)));
    let all = || (0..tree.page.nodes.len()).filter(|at| is_region(tree, *at));
    let role = |at: usize| tree.node(at).role.to_lowercase();
    let name = |at: usize| plain(&tree.node(at).name);
    let by = |wanted: &str| {
        all()
            .find(|at| role(*at) == wanted)
            .or_else(|| all().find(|at| name(*at) == wanted))
            .or_else(|| all().find(|at| format!("{} {}", role(*at), name(*at)) == wanted))
            .or_else(|| all().find(|at| !wanted.is_empty() && name(*at).contains(wanted)))
    };
    by(&wanted).or_else(|| by(&meant)).map(|at| tree.whole(at)).ok_or_else(|| {
        let list: Vec<_> = all().take(LISTED).map(|at| short(tree.node(at))).collect();
        let more = all().count().saturating_sub(LISTED);
        let hint = match (list.is_empty(), more) {
            (true, _) => "the page has no regions; use `ref` or `selector`".to_owned(),
            (false, 0) => format!("there are: {}", list.join(", ")),
            (false, more) => format!("there are: {} and {more} more", list.join(", ")),
        };
        let wanted = model::json::shorten(&wanted, 60);
        invalid(format!("no region is {} by role or name", quoted(&wanted))).hint(hint)
    })
}

fn is_region(tree: &Tree<'_>, at: usize) -> bool {
    REGIONS.contains(&tree.node(at).role.as_str())
}
