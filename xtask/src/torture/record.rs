//! `docs/torture.md`: a dated row for each run of a long proof.

use std::{fs, time::Duration};

use anyhow::{Context, Result};

use crate::shell;

/// Where the rows are.
pub const DOCUMENT: &str = "docs/torture.md";

/// What came of one run.
pub struct Row {
    proof: String,
    date: String,
    commit: String,
    what: String,
    took: Duration,
    passed: bool,
}

impl Row {
    pub fn new(proof: &str, what: &str, took: Duration, passed: bool) -> Result<Self> {
        let (proof, what) = (proof.to_owned(), what.to_owned());
        Ok(Self { proof, date: date()?, commit: commit()?, what, took, passed })
    }

    fn write(&self) -> String {
        let Self { proof, date, commit, what, took, passed } = self;
        let seconds = took.as_secs();
        let result = if *passed { "passed" } else { "**failed**" };
        let time = format!("{} min {:02} s", seconds / 60, seconds % 60);
        format!("| {proof} | {date} | `{commit}` | {what} | {time} | {result} |\n")
    }
}

/// Returns the time now, for people.
pub fn date() -> Result<String> {
    Ok(shell::output("", &["date", "-u", "+%Y-%m-%d %H:%M"])?.trim().to_owned())
}

/// Names what is checked out, with a mark if more than the document has been changed since.
pub fn commit() -> Result<String> {
    let mut commit = shell::output("", &["git", "rev-parse", "--short", "HEAD"])?.trim().to_owned();
    let document = format!(":!{DOCUMENT}");
    if !shell::output("", &["git", "status", "--porcelain", "--", ".", &document])?.is_empty() {
        commit.push_str(" and changes");
    }
    Ok(commit)
}

/// Adds a row at the end of the last table.
pub fn add(row: &Row) -> Result<()> {
    let path = shell::root().join(DOCUMENT);
    let mut text = fs::read_to_string(&path).with_context(|| format!("{DOCUMENT} is missing"))?;
    text.push_str(&row.write());
    fs::write(&path, text)?;
    eprintln!("noted in {DOCUMENT}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_ran_and_what_came_of_it() {
        let row = Row {
            proof: "suite".into(),
            date: "2026-11-16 15:00".into(),
            commit: "abc1234".into(),
            what: "run 1 of 10, alone".into(),
            took: Duration::from_secs(603),
            passed: false,
        };
        let expected = "| suite | 2026-11-16 15:00 | `abc1234` | run 1 of 10, alone | \
            10 min 03 s | **failed** |\n";
        assert_eq!(row.write(), expected);
    }
}
