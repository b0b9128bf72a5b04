//! One run of a script: every call is counted, and what was said is read as a client reads it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

use crate::Site;

/// Set in the environment, it has every call and its answer written to standard error.
const ALOUD: &str = "TASKS_ALOUD";

/// What a script comes to: its answer, which is empty where none is wanted, or why it gave up.
pub type Story = Result<String, String>;

/// Somebody who calls the tools of a server.
pub trait Driver {
    /// Calls a tool; an error is one of the conversation, not of the tool.
    fn call(&mut self, tool: &str, args: &Value) -> Result<Said, String>;
}

/// What a tool said.
pub struct Said {
    /// The text of the result.
    pub text: String,
    /// Whether the tool says that it failed.
    pub failed: bool,
    /// How long it took.
    pub time: Duration,
}

/// What a task cost.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Bill {
    /// Calls of tools.
    pub calls: usize,
    /// Bytes of all arguments and of the text of all results.
    pub bytes: usize,
    /// Time in calls.
    pub time: Duration,
}

/// A script on its way.
pub struct Run<'a> {
    driver: &'a mut dyn Driver,
    site: &'a Site,
    folder: &'a Path,
    bill: Bill,
}

impl<'a> Run<'a> {
    /// Begins with nothing on the bill.
    pub fn new(driver: &'a mut dyn Driver, site: &'a Site, folder: &'a Path) -> Self {
        Self { driver, site, folder, bill: Bill::default() }
    }

    /// Calls a tool that must work; returns what it says.
    pub fn call(&mut self, tool: &str, args: &Value) -> Story {
        self.attempt(tool, args)?.map_err(|said| format!("{tool} {args}: {said}"))
    }

    /// Calls a tool that may fail; the inner error is what it says then.
    pub fn attempt(&mut self, tool: &str, args: &Value) -> Result<Story, String> {
        let said = self.driver.call(tool, args)?;
        self.bill.calls += 1;
        self.bill.bytes += args.to_string().len() + said.text.len();
        self.bill.time += said.time;
        if std::env::var_os(ALOUD).is_some() {
            eprintln!("→ {tool} {args}\n{}\n", said.text);
        }
        Ok(if said.failed { Err(said.text) } else { Ok(said.text) })
    }

    /// Leaves things as they were found, for what comes next; that is on nobody's bill.
    pub fn tidy(&mut self, tool: &str, args: &Value) -> Story {
        let bill = self.bill;
        let said = self.call(tool, args);
        self.bill = bill;
        said
    }

    /// Reads a file, as a client does that has a tool of its own for it; that is a call too.
    pub fn read_file(&mut self, path: &Path) -> Story {
        let text = std::fs::read_to_string(path).map_err(|why| format!("{path:?}: {why}"))?;
        self.bill.calls += 1;
        self.bill.bytes += path.as_os_str().len() + text.len();
        Ok(text)
    }

    /// Returns the address of a page of tasks.
    pub fn url(&self, page: &str) -> String {
        self.site.url(&format!("/tasks/{page}.html"))
    }

    /// Makes a file that the server may read.
    pub fn file(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(|why| format!("{path:?}: {why}"))?;
        Ok(path)
    }

    /// Returns the folder of files.
    pub fn folder(&self) -> &Path {
        self.folder
    }

    /// Returns what it has cost so far.
    pub fn bill(&self) -> Bill {
        self.bill
    }
}

/// Finds the reference of the first thing with all of these words, which are separated by `|`: in
/// its line, or in the one that it is in.
pub fn reference(text: &str, words: &str) -> Story {
    let lines: Vec<_> = text.lines().collect();
    let fits = |line: &str| words.split('|').all(|word| line.contains(word));
    let hits = (0..lines.len()).filter(|at| fits(lines[*at]));
    let found = hits.clone().find_map(|at| reference_in(lines[at], words));
    let around = || hits.clone().find_map(|at| reference_around(&lines[..=at]));
    let found = found.or_else(around).ok_or_else(|| format!("{words:?} is not in\n{text}"))?;
    Ok(found.to_owned())
}

/// The reference after the last of the words, as in a row with several things, or before them.
fn reference_in<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    let last = words.rsplit('|').next().unwrap_or_default();
    let after = line.find(last).map_or("", |at| &line[at..]);
    reference_of(after).or_else(|| reference_of(line))
}

fn reference_of(line: &str) -> Option<&str> {
    line.split("[ref=").nth(1)?.split([']', ' ']).next()
}

/// The reference of what the last of these lines is in.
fn reference_around<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let (last, before) = lines.split_last()?;
    let around = before.iter().rev().find(|line| depth(line) < depth(last))?;
    reference_of(around)
}

/// Finds what stands between two words.
pub fn between<'a>(text: &'a str, before: &str, after: &str) -> Result<&'a str, String> {
    let rest = text.split_once(before).map(|(_, rest)| rest);
    let inside = rest.and_then(|rest| rest.split(after).next());
    inside.map(str::trim).ok_or_else(|| format!("nothing follows {before:?} in\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_from_the_first_line_with_all_words() {
        let text =
            "- button \"Open\"\n- button \"Open\" [ref=e2]\n- link \"Open 5\" [ref=f1e3] [x]";
        assert_eq!(reference(text, "Open").unwrap(), "e2");
        assert_eq!(reference(text, "link|5").unwrap(), "f1e3");
        assert!(reference(text, "Close").unwrap_err().contains("Close"));
        let row = "- row [ref=e1]: 5 | Ada | link \"Open\" [ref=e2] | button \"Drop\" [ref=e3]";
        assert_eq!(reference(row, "Ada|link").unwrap(), "e2");
        assert_eq!(reference("- item [ref=e1]: Ada", "Ada").unwrap(), "e1");
        let text = "- list [ref=e1]\n  - item [ref=e2]\n    - text: Milk\n  - item [ref=e3]";
        assert_eq!(reference(text, "Milk").unwrap(), "e2");
    }

    #[test]
    fn words_are_read_from_between_others() {
        assert_eq!(between("Code: AB12\nend", "Code: ", "\n").unwrap(), "AB12");
        assert!(between("Code", "Word: ", "\n").is_err());
    }
}
