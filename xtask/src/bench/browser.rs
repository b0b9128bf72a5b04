//! Tabwire in a real browser, beside other browser servers for AI clients, in one run.
//!
//! - [`systems`]: the servers, how each is started and how it wants to be asked;
//! - [`client`]: an MCP client over stdio that takes the time; [`site`]: the pages;
//! - [`rounds`]: what is measured, one call of each server in turn, and proof that it was done;
//! - [`place`]: a folder per server, and the end of everything that was started in it;
//! - [`table`]: the section that is printed and written to `docs/benchmarks.md`.
//!
//! The others are npm packages (`web/peers`), which are installed by this chore alone. A server
//! that cannot be run is in the table with its reason, and without numbers.

mod client;
mod place;
mod rounds;
mod site;
mod systems;
mod table;

use anyhow::{Result, ensure};
use clap::Args;

use self::{site::Site, systems::System};
use super::document;
use crate::shell;

/// What can be chosen.
#[derive(Args)]
pub struct Options {
    /// How often each thing is measured with each server, after the warm-up.
    #[arg(long, default_value_t = 30)]
    rounds: usize,
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
    ensure!(options.rounds > 0, "nothing can be said about nothing");
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
    let results = rounds::run(started, &site, options.rounds);
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
    document::publish(&table::write(&setting, &results), dry_run)?;
    ensure!(!failed, "{} itself could not be measured; nothing is written", systems::OURS);
    Ok(())
}

/// Builds the program with the extension in it.
fn build() -> Result<()> {
    shell::install_web()?;
    shell::run("web", &["npm", "run", "--silent", "build"])?;
    shell::run("", &["cargo", "build", "--release", "-q", "-p", "tabwire"])
}

/// How busy the machine was in the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}
