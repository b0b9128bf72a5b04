//! Chores of the repository, in Rust so that they run wherever the project builds.
//!
//! - [`test`]: installs what the tests need and runs all of them, with [`clients`]; [`check`]: style and lint;
//! - [`generate`]: files that are made from code, with [`typescript`];
//! - [`layout`]: which functions lie side by side in the program;
//! - [`demo`]: something visible;
//! - [`fuzz`]: any bytes against what reads them; [`torture`]: proofs that take long, one at a time;
//! - [`bench`]: numbers, as ratios, into `docs/benchmarks.md`;
//! - [`shell`]: running other programs, [`hub_process`]: a hub among them; [`http`]: asking them.

mod bench;
mod check;
mod clients;
mod demo;
mod extension_commands;
mod extension_results;
mod fuzz;
mod generate;
mod http;
mod hub_process;
mod layout;
mod shell;
mod test;
mod tools_doc;
mod torture;
mod typescript;

use clap::{Parser, Subcommand};

/// Chores of the Tabwire repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Builds everything and runs `tabwire demo`: the 3D viewer in a browser, and an AI client's
    /// side played.
    Demo(demo::Options),
    /// Installs what the tests need and runs all of them.
    Test {
        /// Leave out a part, by name: rust, fuzz, web, agreement, hub, clients or demo. Said at the end.
        #[arg(long, value_name = "PART")]
        skip: Vec<String>,
    },
    /// Format, lint, types, spelling, generated files, dependencies, commit messages.
    Check,
    /// Rewrites the files that are made from code.
    Gen {
        /// Only compares, and fails when a file is not what it should be.
        #[arg(long)]
        check: bool,
    },
    /// Looks which functions a relay runs, and writes down that they lie side by side.
    Layout,
    /// Runs a proof that takes long, by name, and notes the result in docs/torture.md.
    Torture(torture::Options),
    /// Measures beside the floor in the same run and writes docs/benchmarks.md.
    Bench {
        #[command(subcommand)]
        part: Option<BenchPart>,
        /// How many idle connections; needs as many open files here and in the hub.
        #[arg(long, default_value_t = 10_000)]
        connections: usize,
        /// Prints only, and leaves docs/benchmarks.md alone.
        #[arg(long, global = true)]
        dry_run: bool,
    },
    /// The measuring half of `bench`, built for speed.
    #[command(hide = true)]
    BenchRun(bench::Options),
    /// The floor of `bench`: servers that do nothing but answer.
    #[command(hide = true)]
    BenchFloor,
}

/// What is measured apart from the rest, because it needs more than this repository.
#[derive(Subcommand)]
enum BenchPart {
    /// In a real browser, beside other servers for AI clients, which are installed from npm.
    Browser(bench::browser::Options),
    /// Whole tasks in a real browser, with Tabwire and with another server, which is installed from npm.
    Tasks(bench::tasks::Options),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().chore {
        Chore::Demo(options) => demo::run(&options),
        Chore::Test { skip } => test::run(&skip),
        Chore::Torture(options) => torture::run(&options),
        Chore::Check => check::run(),
        Chore::Gen { check } => generate::run(check),
        Chore::Layout => layout::run(),
        Chore::Bench { part: Some(BenchPart::Browser(options)), dry_run, .. } => {
            bench::browser::start(&options, dry_run)
        }
        Chore::Bench { part: Some(BenchPart::Tasks(options)), dry_run, .. } => {
            bench::tasks::start(&options, dry_run)
        }
        Chore::Bench { part: None, connections, dry_run } => bench::start(connections, dry_run),
        Chore::BenchRun(options) => bench::run(&options),
        Chore::BenchFloor => bench::floor::run(),
    }
}
