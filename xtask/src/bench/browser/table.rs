//! The section of `docs/benchmarks.md`: who took how long, and who needs how many words.

use std::{fmt::Write, time::Duration};

use super::{
    rounds::{self, Numbers, Outcome, Size, Work},
    systems,
};

const BUDGET_LIST: usize = 2_500;
const BUDGET_TABLE: usize = 6_000;

/// Under which circumstances it was measured.
pub struct Setting {
    pub chromium: String,
    pub node: String,
    pub day: String,
    pub debug: bool,
    pub rounds: usize,
    /// The size of the table's page in bytes.
    pub table: usize,
    pub load: String,
}

/// A cell: what is shown, and what is compared; what is not a number is not compared.
type Cell = (String, f64);

/// Writes the section.
pub fn write(setting: &Setting, outcomes: &[Outcome]) -> String {
    let mut text = opening(setting);
    let names: Vec<_> = outcomes.iter().map(|outcome| title(outcome.name)).collect();
    let _ = writeln!(
        text,
        "| What | {} | best other / {} | Budget |",
        names.join(" | "),
        systems::OURS
    );
    let _ = writeln!(text, "| --- |{} ---: | ---: |", " ---: |".repeat(names.len()));
    for (index, work) in rounds::ALL.into_iter().enumerate() {
        let budget = work.budget().map(|ms| format!("≤ {ms} ms")).unwrap_or_default();
        row(&mut text, outcomes, work.name(), &budget, |numbers| {
            comparable(work, time(numbers, index))
        });
    }
    row(&mut text, outcomes, "list of tools: tokens (number)", "", |numbers| {
        counted(numbers.list, &numbers.tools.to_string())
    });
    let budget = format!("≤ {}", grouped(BUDGET_LIST));
    row(&mut text, outcomes, "the same without output schemas", &budget, |numbers| {
        counted(numbers.list_plain, "")
    });
    for (work, budget) in [
        (Work::TableSnapshot, format!("≤ {}", grouped(BUDGET_TABLE))),
        (Work::TableWhole, String::new()),
    ] {
        let size = |numbers: &Numbers| match work {
            Work::TableWhole => numbers.table_whole.clone(),
            _ => numbers.table_first.clone(),
        };
        let what = format!("{}: tokens of the text (of the results)", work.name());
        row(&mut text, outcomes, &what, &budget, |numbers| {
            let Size { text, result, .. } = size(numbers);
            comparable(work, counted(text, &grouped(result / 4)))
        });
        let what = format!("{}: rows in it", work.name());
        row(&mut text, outcomes, &what, "", |numbers| (grouped(size(numbers).rows), f64::NAN));
    }
    for outcome in outcomes {
        if let Err(why) = &outcome.numbers {
            let _ = write!(text, "\n{} could not be measured: {why}\n", title(outcome.name));
        }
    }
    text
}

fn opening(setting: &Setting) -> String {
    let Setting { chromium, node, day, rounds, load, .. } = setting;
    let kilobytes = setting.table / 1000;
    let build = if setting.debug { "**debug build, not for comparison**" } else { "release build" };
    format!(
        "\
## In a browser

Written by `cargo xtask bench browser` on {day}: {build}, {chromium}, Node {node},
load average {load}.

Every server is asked over MCP on stdio and has a headless Chromium of its own with an empty profile. All of them run at
once, and one call of each is made in turn, {rounds} times after a warm-up. Times are medians in milliseconds, with the
95th percentile in brackets, from the first byte of the question to the last of the answer. The last column but one says
how many times as long as Tabwire (or as large) the best of the others is: more than 1 means that Tabwire is better.

- The others drive a browser that they have started themselves over its debugging protocol. Tabwire goes through the
  hub and the extension in the browser, as it does with a user's own. So the comparison favours the others; their own
  extension modes are not measured.
- Playwright is measured with its usual wait after actions and without. `evaluate_script` of chrome-devtools-mcp is
  called with `waitForStableDom: false`, as its help says for scripts that only read; otherwise it takes longer.
- agent-browser runs in its MCP mode, which starts its command line for each call, and that talks to its daemon.
- Each click is on the reference from a snapshot, and the page must have counted it as a real one; after each navigation
  the page must be complete. Both are looked up outside the time.
- Tokens are bytes / 4. The table's page has {kilobytes} kB. Snapshots are what a server gives when nothing is asked for
  in particular. Tabwire folds long lists and gives long pages in parts, so its first answer has only some rows, and first
  answers are not compared; the whole table is, with what was folded and all parts.

"
    )
}

/// A server with its version.
pub fn title(name: &str) -> String {
    let version = systems::version(name);
    match name.split_once(' ') {
        Some((package, flags)) => format!("{package} {version}, `{flags}`"),
        None => format!("{name} {version}").trim_end().to_owned(),
    }
}

fn row(
    text: &mut String,
    outcomes: &[Outcome],
    what: &str,
    budget: &str,
    cell: impl Fn(&Numbers) -> Cell,
) {
    let cells: Vec<_> = outcomes
        .iter()
        .map(|outcome| (outcome.name == systems::OURS, outcome.numbers.as_ref().ok().map(&cell)))
        .collect();
    let values = |ours: bool| {
        cells
            .iter()
            .filter(move |it| it.0 == ours)
            .filter_map(|it| Some(it.1.as_ref()?.1))
            .filter(|value| !value.is_nan())
    };
    let best = values(false).min_by(f64::total_cmp);
    let ratio = best.zip(values(true).next()).map(|(best, ours)| format!("{:.1}", best / ours));
    let shown = cells.iter().map(|(_, cell)| cell.as_ref().map_or("–", |cell| &cell.0));
    let shown = shown.collect::<Vec<_>>().join(" | ");
    let _ = writeln!(text, "| {what} | {shown} | {} | {budget} |", ratio.unwrap_or_default());
}

/// First answers show different shares of the table, so their sizes and times say nothing together.
fn comparable(work: Work, (shown, value): Cell) -> Cell {
    (shown, if work == Work::TableSnapshot { f64::NAN } else { value })
}

fn time(numbers: &Numbers, index: usize) -> Cell {
    let times = &numbers.times[index];
    let (middle, late) = (millis(times.median()), millis(times.percentile(0.95)));
    (format!("{middle:.1} ({late:.1})"), middle)
}

fn counted(bytes: usize, more: &str) -> Cell {
    let tokens = grouped(bytes / 4);
    let shown = if more.is_empty() { tokens } else { format!("{tokens} ({more})") };
    (shown, bytes as f64)
}

/// A time as a number.
pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Digits in groups of three.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let (head, rest) = digits.split_at(first);
    let groups = rest.as_bytes().chunks(3).map(String::from_utf8_lossy);
    let all = std::iter::once(head.into()).filter(|head: &std::borrow::Cow<str>| !head.is_empty());
    all.chain(groups).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped() {
        for (number, shown) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(number), shown);
        }
    }

    #[test]
    fn the_best_of_the_others_is_compared_and_who_failed_has_no_numbers() {
        let numbers = |list| Ok(Numbers { list, ..Numbers::default() });
        let outcomes = [
            Outcome { name: "slow", numbers: numbers(800) },
            Outcome { name: systems::OURS, numbers: numbers(200) },
            Outcome { name: "fast", numbers: numbers(400) },
            Outcome { name: "lame", numbers: Err("fell".to_owned()) },
        ];
        let mut text = String::new();
        row(&mut text, &outcomes, "list", "≤ 9", |numbers| counted(numbers.list, ""));
        assert_eq!(text, "| list | 200 | 50 | 100 | – | 2.0 | ≤ 9 |\n");
    }
}
