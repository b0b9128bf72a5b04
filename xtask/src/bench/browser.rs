//! Tabwire in a real browser, beside other browser servers for AI clients, in one run.
//!
//! - [`systems`]: the servers, how each is started and how it wants to be asked;
//! - [`client`]: an MCP client over stdio that takes the time; [`site`]: the pages;
//! - [`rounds`]: what is measured, one call of each server in turn, and proof that it was done;
//! - [`pages`]: large pages, and what is done in them, with [`page_tables`];
//! - [`place`]: a folder per server, and the end of everything that was started in it;
//! - [`table`]: the section that is printed and written to `docs/benchmarks.md`.
//!
//! The others are npm packages (`web/peers`), which are installed by this chore alone. A server
//! that cannot be run is in the table with its reason, and without numbers.

mod client;
mod page_tables;
pub(super) mod pages;
mod place;
mod rounds;
mod site;
pub(super) mod systems;
pub(super) mod table;

use anyhow::{Result, ensure};
use clap::Args;

use self::{rounds::Rounds, site::Site, systems::System};
use super::document;
use crate::shell;

/// What can be chosen.
#[derive(Args)]
pub struct Options {
    /// How often each thing is measured with each server, after the warm-up.
    #[arg(long, default_value_t = 30)]
    rounds: usize,
    /// How often each large page is visited with each server.
    #[arg(long, default_value_t = 5)]
    page_rounds: usize,
    /// Takes target/release/tabwire as it is.
    #[arg(long)]
    no_build: bool,
    /// Takes target/debug/tabwire as it is and writes nothing: for working on this.
    #[arg(long)]
    debug: bool,
    /// Only the servers whose names have one of these in them; writes nothing.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// Installs, builds, measures and writes.
pub fn start(options: &Options, dry_run: bool) -> Result<()> {
    ensure!(options.rounds > 0 && options.page_rounds > 0, "nothing can be said about nothing");
    shell::ensure_program("chromium", "chromium")?;
    let binary = if options.debug { "target/debug/tabwire" } else { "target/release/tabwire" };
    if !options.debug && !options.no_build {
        build()?;
    }
    systems::install()?;
    let site = Site::start()?;
    let before = load();
    let wanted = |name: &str| {
        options.only.is_empty() || options.only.iter().any(|only| name.contains(only.as_str()))
    };
    let names = systems::NAMES.iter().filter(|name| wanted(name));
    let started = names.map(|name| (*name, System::start(name, binary))).collect();
    let rounds = Rounds { calls: options.rounds, pages: options.page_rounds };
    // The large pages have a thread of their own; servers are waited for in this one.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let large = runtime.block_on(testkit::Site::start(pages::folder()));
    let results = rounds::run(started, &site, &large, rounds);
    let setting = table::Setting {
        chromium: systems::chromium()?,
        node: shell::output("", &["node", "--version"])?.trim().to_owned(),
        day: shell::output("", &["date", "-u", "+%F"])?.trim().to_owned(),
        debug: options.debug,
        rounds: options.rounds,
        table: site.table_bytes,
        load: format!("{before} before, {} after", load()),
    };
    let failed = results.iter().any(|it| it.name == systems::OURS && it.numbers.is_err());
    // A part of the truth, or the truth about another build, is not for the document.
    let dry_run = dry_run || options.debug || !options.only.is_empty() || failed;
    let text = table::write(&setting, &results) + &page_tables::write(&results, rounds.pages);
    document::publish(&text, dry_run)?;
    ensure!(!failed, "{} itself could not be measured; nothing is written", systems::OURS);
    Ok(())
}

/// Builds the program with the extension in it.
pub(super) fn build() -> Result<()> {
    shell::install_web()?;
    shell::run("web", &["npm", "run", "--silent", "build"])?;
    shell::run("", &["cargo", "build", "--release", "-q", "-p", "tabwire"])
}

/// How busy the machine was in the last minute.
pub(super) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}
