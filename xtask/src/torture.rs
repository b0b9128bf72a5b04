//! `cargo xtask torture NAME`: the proofs that take long, one at a time.
//!
//! The short form of each is part of `cargo xtask test`. Every run, good or bad, becomes a dated row
//! of `docs/torture.md`; [`fuzzing`] has a table of its own. A failing test prints its seed; `--seed` runs it again.

mod fuzzing;
mod load;
mod proofs;
mod record;

use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;

use load::BusyCores;
use proofs::{PROOFS, Proof, Work};
use record::Row;

use crate::shell;

#[derive(Args)]
pub struct Options {
    /// Which proof; without a name they are listed.
    name: Option<String>,
    /// How many times the long form; for `suite`, how many runs.
    #[arg(long)]
    times: Option<u32>,
    /// The seed of a run that failed, to run it again.
    #[arg(long)]
    seed: Option<u64>,
    /// For `fuzz`: only this target.
    #[arg(long)]
    target: Option<String>,
    /// For `suite`: the number of the first run, to go on with a series that was interrupted.
    #[arg(long, default_value_t = 1)]
    from: u32,
}

pub fn run(options: &Options) -> Result<()> {
    let Some(name) = &options.name else {
        for Proof { name, what, .. } in PROOFS {
            eprintln!("{name:10} {what}");
        }
        return Ok(());
    };
    let Some(proof) = PROOFS.iter().find(|proof| proof.name == name) else {
        let names: Vec<_> = PROOFS.iter().map(|proof| proof.name).collect();
        bail!("there is no proof {name:?}; there are {}", names.join(", "));
    };
    match proof.work {
        Work::Suite => run_suite(options),
        Work::Fuzz => fuzzing::run(options.target.as_deref(), options.times.unwrap_or(1)),
        Work::Tests(lines) => run_tests(proof, lines, options),
    }
}

/// Runs the whole suite again and again, every second time while both cores are busy.
fn run_suite(options: &Options) -> Result<()> {
    let last = options.times.unwrap_or(10);
    for number in options.from..=last {
        let busy = (number % 2 == 0).then(BusyCores::start).transpose()?;
        let how = if busy.is_some() { "all cores busy with something else" } else { "alone" };
        noted("suite", &format!("run {number} of {last}, {how}"), || {
            shell::run("", &["cargo", "xtask", "test"])
        })?;
    }
    Ok(())
}

fn run_tests(proof: &Proof, lines: &[&[&str]], options: &Options) -> Result<()> {
    let times = options.times.unwrap_or(1);
    let (scale, cases) = (times.to_string(), (times * proofs::CASES).to_string());
    let seed = options.seed.map(|seed| seed.to_string());
    let mut variables = vec![("TABWIRE_TORTURE", scale.as_str()), ("PROPTEST_CASES", &cases)];
    variables.extend(seed.as_deref().map(|seed| ("TABWIRE_SEED", seed)));
    let how = seed.as_deref().map_or(String::new(), |seed| format!(", seed {seed}"));
    noted(proof.name, &format!("{times} × the long form{how}"), || {
        lines.iter().try_for_each(|line| shell::run_with("", line, &variables))
    })
}

/// Does something and notes in the document what came of it.
fn noted(name: &str, what: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let started = Instant::now();
    let outcome = work();
    let row = Row::new(name, what, started.elapsed(), outcome.is_ok())?;
    record::add(&row)?;
    outcome
}
