//! `cargo xtask torture fuzz`: every target for long, with a row for each in `docs/torture.md`.

use std::{fs, time::Duration};

use anyhow::{Context, Result, bail};

use super::record::{DOCUMENT, commit, date};
use crate::{
    fuzz::{
        self, Engine,
        run::{Finished, Limits},
    },
    shell,
};

/// When the long form of a target ends: after so many inputs, or so long.
const INPUTS: u64 = 10_000_000;
const TIME: Duration = Duration::from_secs(20 * 60);

/// The section of the document, and how its table begins.
const SECTION: &str = "\n## Fuzzing\n";
const RULE: &str = "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n";

/// Runs all targets, or one; `times` as many inputs and as long.
pub fn run(only: Option<&str>, times: u32) -> Result<()> {
    let engine = Engine::build()?;
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let targets: Vec<_> = engine.targets.iter().filter(|it| wanted(&it.name)).cloned().collect();
    if targets.is_empty() {
        let names: Vec<_> = engine.targets.iter().map(|target| target.name.as_str()).collect();
        bail!("there is no such target; there are {}", names.join(", "));
    }
    let limits = Limits { inputs: INPUTS * u64::from(times), time: Some(TIME * times), seed: None };
    let names: Vec<_> = targets.iter().map(|target| target.name.as_str()).collect();
    shell::say(&format!("fuzzing {}; what is said is in target/fuzz/logs", names.join(", ")));
    let mut failed = Vec::new();
    fuzz::run_long(&engine, &targets, limits, |plan, finished| {
        eprintln!("{:16} {}", plan.name, finished.summary());
        if !finished.passed {
            eprintln!("{}", finished.told);
            failed.push(plan.name.clone());
        }
        note(&plan.name, &row(&plan.name, &date()?, &commit()?, finished))
    })?;
    match failed.is_empty() {
        true => Ok(()),
        false => bail!("failed: {}; the inputs are in fuzz/findings", failed.join(", ")),
    }
}

fn row(target: &str, date: &str, commit: &str, finished: &Finished) -> String {
    let Finished { inputs, took, edges, peak, passed, .. } = finished;
    let seconds = took.as_secs();
    let result = if *passed { "passed" } else { "**failed**" };
    let time = format!("{} min {:02} s", seconds / 60, seconds % 60);
    format!(
        "| {target} | {date} | `{commit}` | {inputs} | {time} | {edges} | {peak} MiB | {result} |\n"
    )
}

/// Puts a target's row into the document.
fn note(target: &str, row: &str) -> Result<()> {
    let path = shell::root().join(DOCUMENT);
    let text = fs::read_to_string(&path).with_context(|| format!("{DOCUMENT} is missing"))?;
    fs::write(&path, placed(&text, target, row)?)?;
    Ok(())
}

/// Puts a row in the place of the one that the target has, or at the end of the section's table.
fn placed(text: &str, target: &str, row: &str) -> Result<String> {
    let section = text.find(SECTION).context("the document has no section on fuzzing")?;
    let rule = text[section..].find(RULE).context("the section has no table")?;
    let (before, rest) = text.split_at(section + rule + RULE.len());
    let end: usize =
        rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    let (rows, after) = rest.split_at(end);
    let is_it = |line: &&str| line.starts_with(&format!("| {target} |"));
    let table = match rows.split_inclusive('\n').find(is_it) {
        Some(old) => rows.replace(old, row),
        None => format!("{rows}{row}"),
    };
    Ok(format!("{before}{table}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_one_row_and_other_tables_stay_as_they_are() {
        let document = |rows: &str| {
            format!("# Long proofs\n{SECTION}\n| Target |\n{RULE}{rows}\n## Runs\n\n| fuzz | x |\n")
        };
        let empty = document("");
        let one = placed(&empty, "fuzz", "| fuzz | 1 |\n").unwrap();
        assert_eq!(one, document("| fuzz | 1 |\n"));
        let two = placed(&one, "native", "| native | 1 |\n").unwrap();
        let again = placed(&two, "fuzz", "| fuzz | 2 |\n").unwrap();
        assert_eq!(again, document("| fuzz | 2 |\n| native | 1 |\n"));
        assert!(placed("# Long proofs\n", "fuzz", "").is_err());
    }

    #[test]
    fn a_row_says_what_ran_and_what_came_of_it() {
        let finished = Finished {
            inputs: 10_000_000,
            took: Duration::from_secs(601),
            edges: 4321,
            peak: 88,
            passed: true,
            told: String::new(),
        };
        let expected = "| native | 2026-11-18 07:00 | `abc1234` | 10000000 | 10 min 01 s | 4321 | \
            88 MiB | passed |\n";
        assert_eq!(row("native", "2026-11-18 07:00", "abc1234", &finished), expected);
    }
}
