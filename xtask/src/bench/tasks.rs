//! Whole tasks in a real browser: what each costs with Tabwire and with `@playwright/mcp`.
//!
//! The scripts and the proof that a task was done are `testkit::tasks`; here they are run beside
//! each other and counted. [`table`] is the section of `docs/benchmarks.md`. A task that fails is
//! in the table as failed, and its server starts anew.

mod table;

use anyhow::{Result, ensure};
use clap::Args;
use serde_json::Value;
use testkit::{
    Site,
    tasks::{
        self, Server, Task,
        run::{Bill, Driver, Said},
    },
};

use super::{
    Times,
    browser::{
        self, pages,
        systems::{self, System},
    },
    document,
};
use crate::shell;

/// Who does them; ours first.
const NAMES: [&str; 3] = [systems::OURS, systems::PLAYWRIGHT, systems::PLAYWRIGHT_AT_ONCE];

/// What can be chosen.
#[derive(Args)]
pub struct Options {
    /// How often each task is done with each server.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Takes target/release/tabwire as it is.
    #[arg(long)]
    no_build: bool,
    /// Takes target/debug/tabwire as it is and writes nothing: for working on this.
    #[arg(long)]
    debug: bool,
    /// Only the tasks whose names have one of these in them; writes nothing.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// What one task has cost one server over all rounds.
#[derive(Default)]
pub struct Cost {
    /// The newest bill; its time is one of `times`.
    pub bill: Bill,
    /// How long it took, each time.
    pub times: Times,
    /// Why it failed, if it did once.
    pub failed: Option<String>,
}

/// A server, and what its tasks have cost.
pub struct Account {
    /// Its name.
    pub name: &'static str,
    /// Bytes of its list of tools.
    pub list: usize,
    /// As many as there are tasks.
    pub costs: Vec<Cost>,
}

/// Installs, builds, does all tasks and writes.
pub fn start(options: &Options, dry_run: bool) -> Result<()> {
    ensure!(options.rounds > 0, "nothing can be said about nothing");
    shell::ensure_program("chromium", "chromium")?;
    let binary = if options.debug { "target/debug/tabwire" } else { "target/release/tabwire" };
    if !options.debug && !options.no_build {
        browser::build()?;
    }
    systems::install()?;
    let wanted = |task: &&&Task| {
        options.only.is_empty() || options.only.iter().any(|only| task.name.contains(only.as_str()))
    };
    let all = tasks::all();
    let tasks: Vec<_> = all.iter().filter(wanted).copied().collect();
    ensure!(!tasks.is_empty(), "no task has such a name");
    // The site has a thread of its own; scripts wait for servers in this one.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let site = runtime.block_on(Site::start(pages::folder()));
    let before = browser::load();
    let accounts = run(&tasks, &site, binary, options.rounds)?;
    let setting = table::Setting {
        chromium: systems::chromium()?,
        node: shell::output("", &["node", "--version"])?.trim().to_owned(),
        day: shell::output("", &["date", "-u", "+%F"])?.trim().to_owned(),
        debug: options.debug,
        rounds: options.rounds,
        load: format!("{before} before, {} after", browser::load()),
    };
    // A part of the truth, or the truth about another build, is not for the document.
    let dry_run = dry_run || options.debug || !options.only.is_empty();
    document::publish(&table::write(&setting, &tasks, &accounts), dry_run)
}

/// Does each task with each server in turn, round after round.
fn run(tasks: &[&Task], site: &Site, binary: &'static str, rounds: usize) -> Result<Vec<Account>> {
    let mut systems = Vec::new();
    let mut accounts = Vec::new();
    for name in NAMES {
        let mut client = Client { system: None, name, binary, first: site.url("/start.html") };
        let list = serde_json::to_string(&client.system()?.tools)?.len();
        let costs = tasks.iter().map(|_| Cost::default()).collect();
        accounts.push(Account { name, list, costs });
        systems.push(client);
    }
    for round in 0..rounds {
        for (index, task) in tasks.iter().enumerate() {
            shell::say(&format!("round {} of {rounds}: {}", round + 1, task.name));
            for turn in 0..systems.len() {
                // Whoever follows a slow one does not always follow the same one.
                let place = (turn + round) % systems.len();
                systems[place].attempt(task, site, &mut accounts[place].costs[index])?;
            }
        }
    }
    for client in systems {
        client.system.into_iter().for_each(System::close);
    }
    Ok(accounts)
}

/// A server that is started anew when a task has failed with it.
struct Client {
    system: Option<System>,
    name: &'static str,
    binary: &'static str,
    /// Where it goes first: some start their browser only then.
    first: String,
}

impl Client {
    fn attempt(&mut self, task: &Task, site: &Site, cost: &mut Cost) -> Result<()> {
        let server = if self.name == systems::OURS { Server::Tabwire } else { Server::Playwright };
        let folder = self.system()?.folder();
        let outcome = task.run(server, self, site, &folder);
        cost.bill = outcome.bill;
        cost.times.record(outcome.bill.time);
        if let Err(why) = outcome.done {
            eprintln!("{}: {} failed: {why}", self.name, task.name);
            cost.failed.get_or_insert(why);
            self.system.take().into_iter().for_each(System::close);
        }
        Ok(())
    }

    fn system(&mut self) -> Result<&mut System> {
        let system = match self.system.take() {
            Some(system) => system,
            None => {
                let mut system = System::start(self.name, self.binary)?;
                system.navigate(&self.first)?;
                system
            }
        };
        Ok(self.system.insert(system))
    }
}

impl Driver for Client {
    fn call(&mut self, tool: &str, args: &Value) -> Result<Said, String> {
        let say = |why: anyhow::Error| format!("{why:#}");
        let answer = self.system().map_err(say)?.ask(tool, args).map_err(say)?;
        Ok(Said { text: answer.text(), failed: answer.is_error(), time: answer.time })
    }
}
