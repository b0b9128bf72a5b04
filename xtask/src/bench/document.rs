//! `docs/benchmarks.md`: several chores write it, each its own section and no other.
//!
//! A section begins with its heading of the second level and ends before the next one; what stands
//! before the first heading is the opening, which belongs to `cargo xtask bench` itself.

use std::fs;

use anyhow::Result;

use crate::shell;

/// Prints a section, which begins with its heading, and writes it unless this is a rehearsal.
pub fn publish(text: &str, dry_run: bool) -> Result<()> {
    eprintln!("{text}");
    if !dry_run {
        let file = shell::root().join("docs/benchmarks.md");
        let before = fs::read_to_string(&file).unwrap_or_default();
        fs::write(&file, replace(&before, text))?;
        eprintln!("written to docs/benchmarks.md");
    }
    Ok(())
}

/// Puts a section in the place of the one with the same heading, or at the end.
fn replace(document: &str, section: &str) -> String {
    let mut parts = split(document);
    let section = section.trim_end();
    match parts.iter_mut().find(|part| heading(part) == heading(section)) {
        Some(part) => *part = section,
        None if heading(section).is_empty() => parts.insert(0, section),
        None => parts.push(section),
    }
    parts.join("\n\n") + "\n"
}

/// Cuts a document before each heading of the second level.
fn split(document: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = document;
    while let Some(next) = rest.find("\n## ") {
        parts.push(rest[..next].trim());
        rest = &rest[next + 1..];
    }
    parts.push(rest.trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The heading of a section; the opening has none.
fn heading(section: &str) -> &str {
    let first = section.lines().next().unwrap_or_default();
    if first.starts_with("## ") { first } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, section: &str, expected: &str) {
        assert_eq!(replace(document, section), expected);
    }

    #[test]
    fn only_the_section_with_the_same_heading_is_replaced() {
        let document = "# All\n\nold\n\n## A\n\none\n\n## B\n\ntwo\n";
        check(document, "## A\n\nnew\n", "# All\n\nold\n\n## A\n\nnew\n\n## B\n\ntwo\n");
        check(document, "## B\n\nnew", "# All\n\nold\n\n## A\n\none\n\n## B\n\nnew\n");
        check(document, "# All\n\nnew\n", "# All\n\nnew\n\n## A\n\none\n\n## B\n\ntwo\n");
    }

    #[test]
    fn what_is_missing_is_added() {
        check("", "## A\n\none", "## A\n\none\n");
        check("# All\n\nold\n", "## A\n\none", "# All\n\nold\n\n## A\n\none\n");
        check("## A\n\none\n", "# All\n\nnew\n", "# All\n\nnew\n\n## A\n\none\n");
    }
}
