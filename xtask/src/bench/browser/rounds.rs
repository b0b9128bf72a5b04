//! What is measured: one call of each server in turn, round after round.
//!
//! Whatever a call should have done is looked up in the page afterwards, outside the time. A
//! server that fails once is out, with its reason.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{
    client::Answer,
    pages,
    site::{self, Site},
    systems::{self, System},
};
use crate::{bench::Times, shell};

/// How often everything is done before the time is taken.
const WARM_UP: usize = 3;
const BUTTON: &str = "Add one";
const COUNT: &str = "document.getElementById('count').textContent";

/// A kind of work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Evaluate,
    Snapshot,
    Click,
    Navigate,
    /// To the small page, a snapshot, a click on what it shows, and a snapshot of what that did.
    Journey,
    /// The first answer, whatever it shows of the table.
    TableSnapshot,
    /// With all parts that follow the first answer; measured along with it.
    TableWhole,
}

/// All kinds, in the order in which they are done and shown.
pub const ALL: [Work; 7] = [
    Work::Evaluate,
    Work::Snapshot,
    Work::Click,
    Work::Navigate,
    Work::Journey,
    Work::TableSnapshot,
    Work::TableWhole,
];

/// What was found out about one server.
pub struct Outcome {
    /// Its name.
    pub name: &'static str,
    /// Its numbers, or why there are none.
    pub numbers: Result<Numbers, String>,
}

/// Numbers of one server.
#[derive(Default)]
pub struct Numbers {
    /// Times by kind of work, as in [`ALL`].
    pub times: [Times; ALL.len()],
    /// How many tools there are.
    pub tools: usize,
    /// Bytes of the list of tools, as it is sent and without output schemas.
    pub list: usize,
    pub list_plain: usize,
    /// The first answer to a snapshot of the table, and all of them.
    pub table_first: Size,
    pub table_whole: Size,
    /// What the large pages have cost.
    pub pages: pages::Costs,
}

/// How much a snapshot of the table is, and how much of the table is in it.
#[derive(Clone, Default)]
pub struct Size {
    /// Bytes of the text that a model reads.
    pub text: usize,
    /// Bytes of the results, with everything that comes along with the text.
    pub result: usize,
    /// Rows whose order number is in the text.
    pub rows: usize,
}

/// Answers that make a whole.
#[derive(Default)]
struct Whole {
    text: String,
    result: usize,
    time: Duration,
}

impl Whole {
    fn add(&mut self, answer: &Answer) -> Result<()> {
        self.text += &answer.text();
        self.result += size(&answer.result)?;
        self.time += answer.time;
        Ok(())
    }

    fn size(&self) -> Size {
        Size { text: self.text.len(), result: self.result, rows: rows(&self.text) }
    }
}

/// One server on the way through the rounds.
struct Runner {
    system: System,
    numbers: Numbers,
    /// Clicks that the page must have counted.
    clicks: usize,
    /// Visits so far, so that each has an address of its own.
    visits: usize,
}

/// How often things are done.
#[derive(Clone, Copy)]
pub struct Rounds {
    /// Each call.
    pub calls: usize,
    /// Each visit of a large page.
    pub pages: usize,
}

/// Measures everything with every server.
pub fn run(
    started: Vec<(&'static str, Result<System>)>,
    site: &Site,
    large: &testkit::Site,
    rounds: Rounds,
) -> Vec<Outcome> {
    let mut all: Vec<(&str, Result<Runner, String>)> = started
        .into_iter()
        .map(|(name, system)| (name, system.and_then(|it| Runner::new(it, site)).map_err(say)))
        .collect();
    for work in ALL.into_iter().filter(|work| *work != Work::TableWhole) {
        shell::say(work.name());
        each(&mut all, 0, |runner| runner.prepare(work, site));
        for round in 0..WARM_UP + rounds.calls {
            // Whoever follows a slow one does not always follow the same one.
            each(&mut all, round, |runner| {
                for (done, time) in runner.work(work, site)? {
                    if round >= WARM_UP {
                        runner.numbers.times[done as usize].record(time);
                    }
                }
                Ok(())
            });
        }
    }
    for (index, page) in pages::ALL.iter().enumerate() {
        shell::say(page.title);
        for round in 0..rounds.pages {
            each(&mut all, round, |runner| {
                pages::visit(&mut runner.system, index, large, &mut runner.numbers.pages);
                Ok(())
            });
        }
    }
    all.into_iter().map(|(name, runner)| Outcome { name, numbers: runner.map(finish) }).collect()
}

fn finish(runner: Runner) -> Numbers {
    runner.system.close();
    runner.numbers
}

/// Has each that is still in do something, beginning with another one each time.
fn each(
    all: &mut [(&str, Result<Runner, String>)],
    turn: usize,
    mut job: impl FnMut(&mut Runner) -> Result<()>,
) {
    let count = all.len().max(1);
    for index in 0..all.len() {
        let (name, state) = &mut all[(index + turn) % count];
        let Ok(runner) = state else { continue };
        if let Err(why) = job(runner) {
            let why = say(why);
            eprintln!("{name}: {why}");
            *state = Err(why);
        }
    }
}

/// An error as a line of a document.
pub fn say(why: anyhow::Error) -> String {
    let text = format!("{why:#}").replace('\n', " ");
    text.chars().take(400).collect()
}

impl Work {
    /// What it is called in the table.
    pub fn name(self) -> &'static str {
        match self {
            Work::Evaluate => "evaluate `1+1`",
            Work::Snapshot => "snapshot of a small page",
            Work::Click => "click by reference, with a synchronous change",
            Work::Navigate => "navigate to a small page",
            Work::Journey => "navigate, snapshot, click, snapshot",
            Work::TableSnapshot => "snapshot of a table of 1000 rows, first answer",
            Work::TableWhole => "snapshot of the whole table, all answers",
        }
    }

    /// What was promised, in milliseconds.
    pub fn budget(self) -> Option<u64> {
        match self {
            Work::Evaluate | Work::Snapshot => Some(5),
            Work::Click => Some(40),
            Work::Navigate => Some(100),
            Work::Journey | Work::TableWhole => None,
            Work::TableSnapshot => Some(150),
        }
    }
}

impl Runner {
    fn new(mut system: System, site: &Site) -> Result<Self> {
        let mut numbers = Numbers { tools: system.tools.len(), ..Numbers::default() };
        numbers.list = size(&json!(system.tools))?;
        let mut plain = system.tools.clone();
        for tool in plain.iter_mut().filter_map(Value::as_object_mut) {
            tool.remove("outputSchema");
        }
        numbers.list_plain = size(&json!(plain))?;
        // The first visit starts the browser where that has not been done.
        system.navigate(&site.small("first"))?;
        let (agent, chromium) = (system.read("navigator.userAgent")?, systems::chromium()?);
        let major = chromium.split(['.', ' ']).nth(1).unwrap_or_default();
        ensure!(agent.contains(&format!("Chrome/{major}.")), "{agent} is not {chromium}");
        Ok(Self { system, numbers, clicks: 0, visits: 0 })
    }

    /// Goes where the work begins.
    fn prepare(&mut self, work: Work, site: &Site) -> Result<()> {
        match work {
            Work::TableSnapshot => {
                self.system.navigate(&site.table())?;
            }
            _ => drop(self.visit(site)?),
        }
        Ok(())
    }

    /// Does it once; returns how long that took, without the looking afterwards.
    fn work(&mut self, work: Work, site: &Site) -> Result<Vec<(Work, Duration)>> {
        let time = match work {
            Work::Evaluate => {
                let answer = self.system.evaluate("1+1")?;
                ensure!(answer.text().contains('2'), "1+1 is {}", answer.text());
                answer.time
            }
            Work::Snapshot => {
                let answer = self.system.snapshot()?;
                self.system.reference(&answer, BUTTON)?;
                answer.time
            }
            Work::Click => {
                let snapshot = self.system.snapshot()?;
                let reference = self.system.reference(&snapshot, BUTTON)?;
                self.click(&reference)?
            }
            Work::Navigate => self.visit(site)?,
            Work::Journey => {
                let arrived = self.visit(site)?;
                let snapshot = self.system.snapshot()?;
                let reference = self.system.reference(&snapshot, BUTTON)?;
                let clicked = self.click(&reference)?;
                arrived + snapshot.time + clicked + self.system.snapshot()?.time
            }
            Work::TableSnapshot | Work::TableWhole => return self.read_table(),
        };
        Ok(vec![(work, time)])
    }

    /// Takes a snapshot of the table, opens what is folded in it, and reads all parts.
    fn read_table(&mut self) -> Result<Vec<(Work, Duration)>> {
        let first = self.system.snapshot()?;
        let mut whole = Whole::default();
        whole.add(&first)?;
        self.numbers.table_first = whole.size();
        ensure!(self.numbers.table_first.rows > 0, "no row of the table is in {}", whole.text);
        self.read_on(&first, &mut whole)?;
        for reference in self.system.folded(&first) {
            let opened = self.system.open(&reference)?;
            whole.add(&opened)?;
            self.read_on(&opened, &mut whole)?;
        }
        self.numbers.table_whole = whole.size();
        Ok(vec![(Work::TableSnapshot, first.time), (Work::TableWhole, whole.time)])
    }

    /// Reads the parts that follow an answer.
    fn read_on(&mut self, first: &Answer, whole: &mut Whole) -> Result<()> {
        let mut next = self.system.snapshot_after(first)?;
        while let Some(part) = next {
            whole.add(&part)?;
            next = self.system.snapshot_after(&part)?;
        }
        Ok(())
    }

    /// Goes to the small page, which must be there then.
    fn visit(&mut self, site: &Site) -> Result<Duration> {
        self.visits += 1;
        self.clicks = 0;
        let mark = format!("visit={}", self.visits);
        let answer = self.system.navigate(&site.small(&mark))?;
        let there = self.system.read("location.search + document.readyState")?;
        ensure!(there == format!("?{mark}complete"), "not there yet: {there}");
        Ok(answer.time)
    }

    /// Clicks, which the page must have counted then.
    fn click(&mut self, reference: &str) -> Result<Duration> {
        let answer = self.system.click(reference)?;
        self.clicks += 1;
        let counted = self.system.read(COUNT)?;
        ensure!(counted == self.clicks.to_string(), "click {} counts {counted}", self.clicks);
        Ok(answer.time)
    }
}

fn size(value: &Value) -> Result<usize> {
    Ok(serde_json::to_string(value)?.len())
}

/// Counts the rows of the table whose number is in a text.
fn rows(text: &str) -> usize {
    let numbers = text.split(|sign: char| !sign.is_ascii_digit());
    let numbers = numbers.filter_map(|digits| digits.parse().ok());
    numbers.filter(|number| site::ORDERS.contains(number)).collect::<BTreeSet<usize>>().len()
}
