//! The large pages: what each server makes of them, in tokens and in time.
//!
//! Each page says what was clicked and when it has changed (`pages/big/big.js`), and that is how a
//! click counts as one. What a server does not have, or fails at, is a cell with its reason.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use testkit::Site;

use super::{client::Answer, systems::System};
use crate::{bench::Times, shell};

/// How long a page may take to tell something.
const TELLING: Duration = Duration::from_secs(10);

/// A large page.
pub struct Page {
    /// What it is.
    pub title: &'static str,
    path: &'static str,
    /// Documents in it, each of which tells when it is there.
    documents: usize,
    /// What is looked for and clicked on.
    target: &'static str,
    /// What a small change brings.
    fresh: &'static str,
}

const fn page(
    title: &'static str,
    path: &'static str,
    target: &'static str,
    fresh: &'static str,
) -> Page {
    Page { title, path, documents: 1, target, fresh }
}

/// All of them.
pub const ALL: [Page; 9] = [
    page("form with 30 fields", "/big/form.html", "Field 17", "Fresh"),
    page("table of 1000 rows with links", "/big/table.html", "Order 730", "Fresh"),
    page("long document", "/big/document.html", "source 45", "Fresh"),
    page("dashboard", "/big/dashboard.html", "Edit 41", "Fresh"),
    page("single-page app", "/big/app.html", "Archive 55", "Undo"),
    Page {
        documents: 4,
        ..page("frames of other origins", "/big/frames.html", "Button 33 of frame 4", "Fresh")
    },
    page("shadow DOM", "/big/shadow.html", "Buy Thing 99", "Fresh"),
    page("5,000 buttons", "/big/buttons.html", "Key 4321", "Fresh"),
    page("virtual list", "/big/virtual.html", "Open 21", "Open 33"),
];

/// A thing to do with a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    /// As it comes when nothing is asked for in particular.
    Snapshot,
    /// One thing by its name.
    Find,
    /// What a small change has brought.
    Difference,
    /// From a name to the click on it, whatever must be read for that.
    Click,
    /// Of what is in view.
    Screenshot,
}

/// All of them, in the order of the columns.
pub const DEEDS: [Deed; 5] =
    [Deed::Snapshot, Deed::Find, Deed::Difference, Deed::Click, Deed::Screenshot];

impl Deed {
    /// What it is called in a table.
    pub fn name(self) -> &'static str {
        match self {
            Deed::Snapshot => "snapshot",
            Deed::Find => "find",
            Deed::Difference => "difference",
            Deed::Click => "find and click",
            Deed::Screenshot => "screenshot",
        }
    }
}

/// What a deed has cost.
#[derive(Default)]
pub struct Cost {
    /// Bytes of what a model reads; of a picture, as it is sent.
    pub bytes: usize,
    /// How long it took, each time.
    pub times: Times,
    /// Why there are no numbers.
    pub missing: Option<String>,
}

/// Costs by page, as in [`ALL`], and deed.
pub type Costs = BTreeMap<(usize, Deed), Cost>;

/// Says that a server has no such thing.
pub const NOTHING: &str = "has no such tool";

/// Visits a page and does everything there once.
pub fn visit(system: &mut System, index: usize, site: &Site, costs: &mut Costs) {
    let page = &ALL[index];
    let mut note = |deed: Deed, done: Result<(usize, Duration)>| {
        let cost = costs.entry((index, deed)).or_default();
        match done {
            Ok((bytes, time)) => {
                cost.bytes = bytes;
                cost.times.record(time);
            }
            Err(why) => drop(cost.missing.get_or_insert(super::rounds::say(why))),
        }
    };
    if let Err(why) = arrive(system, page, site) {
        let why = format!("{why:#}");
        return DEEDS.into_iter().for_each(|deed| note(deed, Err(anyhow::anyhow!(why.clone()))));
    }
    let snapshot = system.snapshot();
    note(Deed::Snapshot, snapshot.as_ref().map(price).map_err(|why| anyhow::anyhow!("{why:#}")));
    note(Deed::Find, find(system, page));
    note(Deed::Difference, snapshot.and_then(|seen| difference(system, page, site, &seen)));
    note(Deed::Click, click(system, page, site));
    note(Deed::Screenshot, screenshot(system));
}

/// Goes there, and waits until all of it is.
fn arrive(system: &mut System, page: &Page, site: &Site) -> Result<()> {
    site.forget();
    system.navigate(&site.url(page.path))?;
    told(site, "things", |reports| reports.len() >= page.documents)
}

fn find(system: &mut System, page: &Page) -> Result<(usize, Duration)> {
    let found = system.find(page.target)?.context(NOTHING)?;
    system.reference(&found, &quoted(page.target))?;
    Ok(price(&found))
}

fn difference(
    system: &mut System,
    page: &Page,
    site: &Site,
    seen: &Answer,
) -> Result<(usize, Duration)> {
    let before = system.before_difference(seen)?.context(NOTHING)?;
    system.evaluate("(change(), 1)")?;
    told(site, "changed", |reports| !reports.is_empty())?;
    let answer = system.difference(&before)?;
    let text = answer.text();
    ensure!(text.contains(page.fresh), "{:?} is not in {text}", page.fresh);
    Ok(price(&answer))
}

/// With a search where there is one, and otherwise with a snapshot.
fn click(system: &mut System, page: &Page, site: &Site) -> Result<(usize, Duration)> {
    let found = match system.find(page.target)? {
        Some(found) => found,
        None => system.snapshot()?,
    };
    let reference = system.reference(&found, &quoted(page.target))?;
    let clicked = system.click(&reference)?;
    told(site, "clicked", |reports| reports.iter().any(|it| it == page.target))?;
    let ((read, looking), (said, clicking)) = (price(&found), price(&clicked));
    Ok((read + said, looking + clicking))
}

fn screenshot(system: &mut System) -> Result<(usize, Duration)> {
    let answer = system.screenshot()?;
    let parts = answer.result["content"].as_array().into_iter().flatten();
    let bytes: usize = parts.filter_map(|part| part["data"].as_str()).map(str::len).sum();
    ensure!(bytes > 0, "no picture came along");
    Ok((bytes, answer.time))
}

fn price(answer: &Answer) -> (usize, Duration) {
    (answer.text().len(), answer.time)
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// Waits until the page has told something.
fn told(site: &Site, name: &str, enough: impl Fn(&[serde_json::Value]) -> bool) -> Result<()> {
    let deadline = Instant::now() + TELLING;
    while !enough(&site.reports(name)) {
        if Instant::now() > deadline {
            bail!("the page has told {:?} as {name}", site.reports(name).len());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Returns the folder of all pages that tests bring.
pub fn folder() -> PathBuf {
    shell::root().join("crates/tabwire/tests/browser/pages")
}
