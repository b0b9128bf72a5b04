//! The section of `docs/benchmarks.md` on tasks: calls, tokens and time, and their sums.

use std::{fmt::Write, time::Duration};

use testkit::tasks::Task;

use super::{
    super::browser::table::{grouped, millis, title},
    Account, Cost,
};

/// Under which circumstances it was measured.
pub struct Setting {
    pub chromium: String,
    pub node: String,
    pub day: String,
    pub debug: bool,
    pub rounds: usize,
    pub load: String,
}

/// Writes the section.
pub fn write(setting: &Setting, tasks: &[&Task], accounts: &[Account]) -> String {
    let mut text = opening(setting, tasks.len());
    let names: Vec<_> = accounts.iter().map(|account| title(account.name)).collect();
    let (ours, peer) = (&accounts[0], &accounts[1]);
    let _ = writeln!(
        text,
        "| Task | calls: {0} | {1} | tokens: {0} | {1} | {1} / {0} | ms: {0} | {1} | {2} |",
        names[0], names[1], names[2]
    );
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(8));
    for (index, task) in tasks.iter().enumerate() {
        row(&mut text, task.name, accounts, |account| Sum::of([&account.costs[index]], 0));
    }
    let both = both_done(accounts);
    let kept = |account: &Account, more: usize| {
        let costs = account.costs.iter().zip(&both).filter(|(_, both)| **both);
        Sum::of(costs.map(|(cost, _)| cost), more)
    };
    let done = both.iter().filter(|both| **both).count();
    let what = format!("the {done} that everybody has done");
    row(&mut text, &what, accounts, |account| kept(account, 0));
    row(&mut text, "the same with the list of tools, read once", accounts, |account| {
        kept(account, account.list)
    });
    let share = |account: &Account| {
        let done = account.costs.iter().filter(|cost| cost.failed.is_none()).count();
        format!("{}: {done} of {}", title(account.name), account.costs.len())
    };
    let shares: Vec<_> = accounts.iter().map(share).collect();
    let _ = write!(text, "\nDone: {}.\n", shares.join("; "));
    let lists = [ours, peer].map(|it| format!("{} {}", title(it.name), grouped(it.list / 4)));
    let _ = writeln!(text, "Tokens of the list of tools: {}.", lists.join(", "));
    for account in accounts {
        for (task, cost) in tasks.iter().zip(&account.costs) {
            if let Some(why) = &cost.failed {
                let why: String = why.replace('\n', " ").chars().take(300).collect();
                let _ = write!(text, "\n{}, {} failed: {why}\n", title(account.name), task.name);
            }
        }
    }
    text
}

fn opening(setting: &Setting, count: usize) -> String {
    let Setting { chromium, node, day, rounds, load, .. } = setting;
    let build = if setting.debug { "**debug build, not for comparison**" } else { "release build" };
    format!(
        "\
## Tasks in a browser

Written by `cargo xtask bench tasks` on {day}: {build}, {chromium}, Node {node},
load average {load}.

{count} tasks on pages of this repository, each done {rounds} times by a script with each server, one after the other. A
script sees what an AI client sees: it looks at a page before it acts there, takes every reference out of the text of an
answer, and knows no selectors. A task is done when its page has told the test that it is, by what has become of it. The
scripts are in `crates/testkit/src/tasks`, one for each server beside the other, and `cargo test` runs those for Tabwire.

- Calls are calls of tools. Tokens are bytes / 4 of all arguments and of the text of all results, in the last round.
  What comes beside the text (structured results, pictures) is not counted; `@playwright/mcp` has nothing there.
- Times are what the servers took, medians in milliseconds; what a model would take to think is not in them, and is more.
- Each script asks for as little as its server lets it: parts by words where the words are known, forms in one
  call, and no look at what an answer has told already. `@playwright/mcp` writes a snapshot after each action into a file;
  reading that file is not counted, because the scripts ask for the part that they need instead. It leaves the reading
  of downloads to its client: that is counted as a call with the file's text, and takes no time.
- `@playwright/mcp` has no tool that scrolls, so its script scrolls by JavaScript. It cannot become another device while
  it runs, so it gets the size of a phone's window.

"
    )
}

/// What some tasks have cost together.
struct Sum {
    calls: usize,
    bytes: usize,
    time: Duration,
    failed: bool,
}

impl Sum {
    /// Adds up, with bytes that are on top.
    fn of<'c>(costs: impl IntoIterator<Item = &'c Cost>, more: usize) -> Self {
        let costs: Vec<_> = costs.into_iter().collect();
        Self {
            calls: costs.iter().map(|cost| cost.bill.calls).sum(),
            bytes: costs.iter().map(|cost| cost.bill.bytes).sum::<usize>() + more,
            time: costs.iter().map(|cost| cost.times.median()).sum(),
            failed: costs.iter().any(|cost| cost.failed.is_some()),
        }
    }
}

/// Whether each task was done by everybody, always.
fn both_done(accounts: &[Account]) -> Vec<bool> {
    let count = accounts.first().map_or(0, |account| account.costs.len());
    let done = |index: usize| accounts.iter().all(|it| it.costs[index].failed.is_none());
    (0..count).map(done).collect()
}

fn row(text: &mut String, what: &str, accounts: &[Account], sum: impl Fn(&Account) -> Sum) {
    let sums: Vec<_> = accounts.iter().map(sum).collect();
    let shown = |sum: &Sum, cell: String| if sum.failed { "failed".to_owned() } else { cell };
    let cells = |count: usize, cell: &dyn Fn(&Sum) -> String| {
        let cells = sums.iter().take(count).map(|sum| shown(sum, cell(sum)));
        cells.collect::<Vec<_>>().join(" | ")
    };
    let ratio = match sums.iter().take(2).any(|sum| sum.failed) {
        true => "–".to_owned(),
        false => format!("{:.1}", sums[1].bytes as f64 / sums[0].bytes.max(1) as f64),
    };
    let _ = writeln!(
        text,
        "| {what} | {} | {} | {ratio} | {} |",
        cells(2, &|sum| sum.calls.to_string()),
        cells(2, &|sum| grouped(sum.bytes / 4)),
        cells(3, &|sum| format!("{:.0}", millis(sum.time))),
    );
}

#[cfg(test)]
mod tests {
    use testkit::tasks::run::Bill;

    use super::*;
    use crate::bench::browser::systems;

    fn account(name: &'static str, calls: usize, failed: bool) -> Account {
        let bill = Bill { calls, bytes: calls * 400, time: Duration::from_millis(5) };
        let failed = failed.then(|| "fell".to_owned());
        let mut cost = Cost { bill, failed, ..Cost::default() };
        cost.times.record(bill.time);
        Account { name, list: 4000, costs: vec![cost] }
    }

    #[test]
    fn costs_stand_beside_each_other_and_who_failed_has_none() {
        let sum = |account: &Account| Sum::of(&account.costs, 0);
        let (two, four) = (account(systems::OURS, 2, false), account("peer", 4, false));
        let mut text = String::new();
        row(&mut text, "sign in", &[two, four, account("late", 4, false)], sum);
        assert_eq!(text, "| sign in | 2 | 4 | 200 | 400 | 2.0 | 5 | 5 | 5 |\n");
        let (two, four) = (account(systems::OURS, 2, false), account("peer", 4, true));
        let accounts = [two, four, account("late", 4, false)];
        let mut text = String::new();
        row(&mut text, "sign in", &accounts, sum);
        assert_eq!(text, "| sign in | 2 | failed | 200 | failed | – | 5 | failed | 5 |\n");
        assert_eq!(both_done(&accounts), [false]);
    }
}
