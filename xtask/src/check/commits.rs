//! Commit messages: `room: what changes`, then a blank line and a body.
//!
//! Git says which commits there are; each new one is judged by its text alone. Merges are not
//! judged, nor commits made before the rule. What could not be judged is said.

use anyhow::{Result, bail};

use crate::shell;

/// The last commit before the rule. Half of the commits up to it have no body.
const LAST_BEFORE_RULE: &str = "55b3b6235367ab40f11e9315a710077473474d5c";
const SUBJECT_CAP: usize = 72;

/// Judges all commits since the rule, and fails with what is wrong with each.
pub fn run() -> Result<()> {
    if !shell::root().join(".git").exists() {
        shell::say("not a git checkout: commit subjects not checked");
        return Ok(());
    }
    shell::say("commit subjects");
    // The raw form has the real parents, also where a shallow clone has cut them off.
    let log = shell::output("", &["git", "rev-list", "--header", &range()?])?;
    let commits: Vec<Commit> = log.split_terminator('\0').map(Commit::parse).collect();
    let mut faults = 0;
    for commit in commits.iter().filter(|commit| !commit.is_merge) {
        if let Some(fault) = fault(&commit.message) {
            let subject = commit.message.lines().next().unwrap_or_default();
            eprintln!("{} {subject:?}: {fault}", &commit.hash[..10]);
            faults += 1;
        }
    }
    if faults > 0 {
        bail!("{faults} of {} commits have a message that has to be reworded", commits.len());
    }
    Ok(())
}

/// Returns the commits to look at, as git understands it, and says which cannot be.
fn range() -> Result<String> {
    let base = format!("{LAST_BEFORE_RULE}^{{commit}}");
    let found = shell::command("", &["git", "rev-parse", "--quiet", "--verify", &base]).output()?;
    if found.status.success() {
        return Ok(format!("{LAST_BEFORE_RULE}..HEAD"));
    }
    let oldest = shell::output("", &["git", "rev-list", "--max-parents=0", "HEAD"])?;
    let oldest = oldest.split_whitespace().collect::<Vec<_>>().join(", ");
    eprintln!("{LAST_BEFORE_RULE} is not in this clone: commits before {oldest} not checked");
    Ok("HEAD".into())
}

/// One commit, as much of it as is judged.
struct Commit {
    hash: String,
    is_merge: bool,
    message: String,
}

impl Commit {
    /// Reads git's raw form: the hash, headers, a blank line, and the message indented.
    fn parse(raw: &str) -> Commit {
        let (header, message) = raw.split_once("\n\n").unwrap_or((raw, ""));
        let unindent = |line: &str| line.strip_prefix("    ").unwrap_or(line).to_owned() + "\n";
        Commit {
            hash: header.lines().next().unwrap_or_default().into(),
            is_merge: header.lines().filter(|line| line.starts_with("parent ")).count() > 1,
            message: message.lines().map(unindent).collect(),
        }
    }
}

/// Returns what is wrong with a commit's message.
fn fault(message: &str) -> Option<&'static str> {
    let mut lines = message.lines();
    let subject = lines.next().unwrap_or_default();
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let is_room = |room: &str| room.split(' ').all(is_word);
    match subject.split_once(": ") {
        Some((rooms, change)) if rooms.split(", ").all(is_room) && !change.trim().is_empty() => {}
        _ => return Some("the subject is not `room: what changes`"),
    }
    if subject.chars().count() > SUBJECT_CAP {
        return Some("the subject has more than 72 characters");
    }
    if subject.ends_with('.') {
        return Some("the subject ends with a full stop");
    }
    if lines.next().is_some_and(|line| !line.trim().is_empty()) {
        return Some("the second line is not blank");
    }
    if lines.all(|line| line.trim().is_empty()) {
        return Some("there is no body: the problem, the decision, how it was checked");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: Option<&str>) {
        let found = fault(message);
        let fits = match (found, expected) {
            (Some(found), Some(expected)) => found.contains(expected),
            (found, expected) => found == expected,
        };
        assert!(fits, "{message:?}: {found:?}");
    }

    #[test]
    fn rooms_a_change_and_a_body_pass() {
        let seventy_two = format!("hub: {}", "x".repeat(67));
        for subject in [
            "hub: keep the epoch",
            "browser tests: soon is a number again",
            "hub, edge-2, MCP: what is counted is true: always",
            "docs: Größe",
            &seventy_two,
        ] {
            check(&format!("{subject}\n\nWhy.\n"), None);
        }
    }

    #[test]
    fn a_subject_names_rooms_and_a_change() {
        for subject in [
            "",
            "keep the epoch",
            "hub:keep the epoch",
            "hub: ",
            ": keep the epoch",
            "hub,: keep",
            "hub , edge: keep",
            "feat(hub): keep",
            "fixup! hub: keep",
            "Revert \"hub: keep\"",
        ] {
            check(&format!("{subject}\n\nWhy.\n"), Some("not `room: what changes`"));
        }
    }

    #[test]
    fn a_subject_is_short_and_no_sentence() {
        check(&format!("hub: {}\n\nWhy.\n", "x".repeat(68)), Some("more than 72"));
        check("hub: keep the epoch.\n\nWhy.\n", Some("full stop"));
    }

    #[test]
    fn a_body_comes_after_a_blank_line() {
        check("hub: keep the epoch", Some("no body"));
        check("hub: keep the epoch\n\n  \n", Some("no body"));
        check("hub: keep the epoch\nWhy.\n", Some("second line"));
    }

    #[test]
    fn gits_raw_form_is_read() {
        let raw = "c0ffee\ntree 1\nparent 2\nparent 3\nauthor A\n\n    hub: keep\n    \n    Why.\n";
        let commit = Commit::parse(raw);
        assert_eq!((commit.hash.as_str(), commit.is_merge), ("c0ffee", true));
        assert_eq!(commit.message, "hub: keep\n\nWhy.\n");
        assert!(!Commit::parse("c0ffee\ntree 1\nparent 2\n\n    hub: keep\n").is_merge);
    }
}
