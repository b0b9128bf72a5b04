//! The tables of the large pages: one of tokens and one of times, a row per page.
//!
//! A cell has a number for each server, in the order that is said above the table.

use std::{collections::BTreeSet, fmt::Write};

use super::{
    pages::{self, Cost, DEEDS, Deed},
    rounds::Outcome,
    systems,
    table::{grouped, millis, title},
};

/// Writes both tables and what is missing in them.
pub fn write(outcomes: &[Outcome], rounds: usize) -> String {
    let mut text = opening(rounds);
    // Without its wait a server says the same, only sooner.
    let readers: Vec<_> =
        outcomes.iter().filter(|it| it.name != systems::PLAYWRIGHT_AT_ONCE).collect();
    table(&mut text, "Tokens", &readers, |cost| grouped(cost.bytes / 4));
    let all: Vec<_> = outcomes.iter().collect();
    table(&mut text, "Milliseconds", &all, |cost| format!("{:.0}", millis(cost.times.median())));
    missing(&mut text, &all);
    text
}

fn opening(rounds: usize) -> String {
    format!(
        "
### Large pages

The pages are `crates/tabwire/tests/browser/pages/big`. Each server visits each page {rounds} times and does there, one after
the other: a *snapshot* as it comes when nothing is asked for; *find* one thing by its name; the *difference* after a small
change (a few elements of the page), which must name what is new; *find and click* a thing, with everything that must be
read for that, and the page must have noticed the click; a *screenshot* of what is in view. Tokens are bytes / 4 of the
text that a model reads; of a screenshot, of the picture as it is sent, which models count in ways of their own. Times are
medians.

- A dash means that a server has no such thing: then a model takes a whole snapshot instead. chrome-devtools-mcp
  and agent-browser have nothing to find with in their usual lists of tools, so for a click they take a snapshot first.
- A first snapshot of Tabwire is never more than 6,000 tokens: long lists are folded, with some examples, and what is
  folded can be found, opened or read on. The others give everything at once.
"
    )
}

fn table(text: &mut String, what: &str, outcomes: &[&Outcome], show: impl Fn(&Cost) -> String) {
    let names: Vec<_> = outcomes.iter().map(|outcome| title(outcome.name)).collect();
    let _ = write!(text, "\n{what}: {}.\n\n", names.join(" / "));
    let heads: Vec<_> = DEEDS.iter().map(|deed| deed.name()).collect();
    let _ = writeln!(text, "| Page | {} |", heads.join(" | "));
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(DEEDS.len()));
    for (index, page) in pages::ALL.iter().enumerate() {
        let cell = |deed: Deed| {
            let numbers = outcomes
                .iter()
                .map(|outcome| cost(outcome, index, deed).map_or_else(|| "–".to_owned(), &show));
            numbers.collect::<Vec<_>>().join(" / ")
        };
        let cells: Vec<_> = DEEDS.into_iter().map(cell).collect();
        let _ = writeln!(text, "| {} | {} |", page.title, cells.join(" | "));
    }
}

/// What a deed has cost a server, where it could be done every time.
fn cost(outcome: &Outcome, page: usize, deed: Deed) -> Option<&Cost> {
    let costs = &outcome.numbers.as_ref().ok()?.pages;
    costs.get(&(page, deed)).filter(|cost| cost.missing.is_none())
}

/// Why there are dashes, apart from what a server does not have anywhere.
fn missing(text: &mut String, outcomes: &[&Outcome]) {
    for outcome in outcomes {
        let Ok(numbers) = &outcome.numbers else { continue };
        let mut nowhere = BTreeSet::new();
        for ((page, deed), cost) in &numbers.pages {
            let Some(why) = &cost.missing else { continue };
            if why == pages::NOTHING {
                nowhere.insert(deed.name());
                continue;
            }
            let why: String = why.chars().take(200).collect();
            let (name, page) = (title(outcome.name), pages::ALL[*page].title);
            let _ = write!(text, "\n{name}, {page}, {}: {why}\n", deed.name());
        }
        if !nowhere.is_empty() {
            let deeds: Vec<_> = nowhere.into_iter().collect();
            let name = title(outcome.name);
            let _ = write!(text, "\n{name} has no tool for: {}.\n", deeds.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::browser::rounds::Numbers;

    #[test]
    fn numbers_stand_beside_each_other_and_dashes_have_reasons() {
        let outcome = |name, bytes, missing: Option<&str>| {
            let cost = Cost { bytes, missing: missing.map(str::to_owned), ..Cost::default() };
            let mut numbers = Numbers::default();
            numbers.pages.insert((0, Deed::Find), cost);
            Outcome { name, numbers: Ok(numbers) }
        };
        let (ours, peer) =
            (outcome(systems::OURS, 400, None), outcome("peer", 800, Some(pages::NOTHING)));
        let mut text = String::new();
        table(&mut text, "Tokens", &[&ours, &peer], |cost| grouped(cost.bytes / 4));
        assert!(text.contains("| form with 30 fields | – / – | 100 / – |"), "{text}");
        let mut text = String::new();
        missing(&mut text, &[&ours, &peer]);
        assert_eq!(text, "\npeer has no tool for: find.\n");
    }
}
