//! Looks at the configurations of the AI clients that are here.

use std::path::{Path, PathBuf};

use super::{Finding, InspectedSetup};
use crate::install::{Client, Entry, Found, clients, file_change::look, surroundings::is_program};

/// Looks at all of them, one finding each.
pub fn clients(setup: &InspectedSetup) -> Vec<Finding> {
    let chosen = clients::chosen(&setup.what.here, &[]);
    if chosen.is_empty() {
        let fix = "name one: tabwire install --client claude-code; or see docs/install.md";
        return vec![Finding::warning("clients", "no AI client that we know was found", fix)];
    }
    chosen.into_iter().map(|client| look_at(setup, client)).collect()
}

fn look_at(setup: &InspectedSetup, client: &Client) -> Finding {
    let check = format!("client:{}", client.name);
    let (path, title) = ((client.file)(&setup.what.here), client.title);
    let shown = path.display();
    let fix = format!("tabwire install --client {}", client.name);
    let file = match look(&path) {
        Ok(file) => file,
        Err(error) => return Finding::problem(&check, error.to_string(), "look at that file"),
    };
    let missing = format!("{title} does not know Tabwire");
    let Some(text) = file.text else { return Finding::warning(&check, missing, fix) };
    match client.format.find(&text) {
        Err(error) => {
            let fix = format!("fix the file by hand, then: {fix}");
            Finding::problem(&check, format!("{shown}: {error}"), fix)
        }
        Ok(Found::Nothing) => Finding::warning(&check, missing, fix),
        Ok(Found::Other) => {
            Finding::warning(&check, format!("{title}'s entry starts no program"), fix)
        }
        Ok(Found::Program(entry)) => entry_of(setup, client, &check, &entry, fix),
    }
}

fn entry_of(
    setup: &InspectedSetup,
    client: &Client,
    check: &str,
    entry: &Entry,
    fix: String,
) -> Finding {
    let (title, command) = (client.title, &entry.command);
    let Some(program) = find(setup, Path::new(command)) else {
        let message = format!("{title} starts {command}, which is not there");
        return Finding::problem(check, message, fix);
    };
    if program != real(&setup.what.program) {
        let message = format!("{title} starts another program: {}", program.display());
        return Finding::warning(check, message, fix);
    }
    if entry.args != setup.what.entry.args {
        let message = format!("{title} starts it with other arguments: {}", entry.args.join(" "));
        return Finding::warning(check, message, fix);
    }
    Finding::ok(check, format!("{title} starts this program"))
}

/// Finds what a command starts.
fn find(setup: &InspectedSetup, command: &Path) -> Option<PathBuf> {
    let path = match command.components().count() {
        1 if !command.is_absolute() => setup.what.here.program(command.to_str()?)?,
        _ => command.to_owned(),
    };
    is_program(&path).then(|| real(&path))
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
