//! Files that are made from code: written by `gen`, compared by `gen --check`.

use std::fs;

use anyhow::{Result, bail};

use crate::{extension_commands, extension_results, shell, tools_doc, typescript};

pub fn run(check: bool) -> Result<()> {
    // The settings are in the program, which is no library: a test of it writes their reference.
    let update: &[_] = if check { &[] } else { &[("UPDATE_DOCS", "1")] };
    let test =
        ["cargo", "test", "-q", "-p", "tabwire", "--bin", "tabwire", "the_reference_of_settings"];
    shell::run_with("", &test, update)?;
    let mut stale = Vec::new();
    for (path, text) in files()? {
        let full = shell::root().join(path);
        if fs::read_to_string(&full).unwrap_or_default() == text {
            continue;
        }
        if check {
            stale.push(path);
        } else {
            fs::write(&full, text)?;
            eprintln!("wrote {path}");
        }
    }
    if !stale.is_empty() {
        bail!("not what the code says: {}; run `cargo xtask gen`", stale.join(", "));
    }
    Ok(())
}

/// Every generated file with what it should hold.
fn files() -> Result<Vec<(&'static str, String)>> {
    Ok(vec![
        ("docs/tools.md", tools_doc::render()?),
        ("web/extension/src/commands/generated/contracts.ts", extension_commands::contracts()),
        ("web/extension/src/commands/index.ts", extension_commands::index()),
        ("web/extension/src/generated/command-results.ts", extension_results::render()),
        ("web/shared/src/generated/protocol.ts", typescript::render()),
    ])
}
