//! Looks at the configurations of the AI clients that are here.

use std::path::{Path, PathBuf};

use super::{Finding, Patient};
use crate::install::{Client, Entry, Found, clients, file_change::look, surroundings::is_program};

/// Looks at all of them, one finding each.
pub fn clients(patient: &Patient) -> Vec<Finding> {
    let chosen = clients::chosen(&patient.what.here, &[]);
    if chosen.is_empty() {
        let mend = "name one: tabwire install --client claude-code; or see docs/install.md";
        return vec![Finding::warning("clients", "no AI client that we know was found", mend)];
    }
    chosen.into_iter().map(|client| look_at(patient, client)).collect()
}

fn look_at(patient: &Patient, client: &Client) -> Finding {
    let check = format!("client:{}", client.name);
    let (path, title) = ((client.file)(&patient.what.here), client.title);
    let shown = path.display();
    let mend = format!("tabwire install --client {}", client.name);
    let file = match look(&path) {
        Ok(file) => file,
        Err(error) => return Finding::problem(&check, error.to_string(), "look at that file"),
    };
    let missing = format!("{title} does not know Tabwire");
    let Some(text) = file.text else { return Finding::warning(&check, missing, mend) };
    match client.format.find(&text) {
        Err(error) => {
            let mend = format!("mend the file by hand, then: {mend}");
            Finding::problem(&check, format!("{shown}: {error}"), mend)
        }
        Ok(Found::Nothing) => Finding::warning(&check, missing, mend),
        Ok(Found::Other) => {
            Finding::warning(&check, format!("{title}'s entry starts no program"), mend)
        }
        Ok(Found::Program(entry)) => entry_of(patient, client, &check, &entry, mend),
    }
}

fn entry_of(
    patient: &Patient,
    client: &Client,
    check: &str,
    entry: &Entry,
    mend: String,
) -> Finding {
    let (title, command) = (client.title, &entry.command);
    let Some(program) = find(patient, Path::new(command)) else {
        let message = format!("{title} starts {command}, which is not there");
        return Finding::problem(check, message, mend);
    };
    if program != real(&patient.what.program) {
        let message = format!("{title} starts another program: {}", program.display());
        return Finding::warning(check, message, mend);
    }
    if entry.args != patient.what.entry.args {
        let message = format!("{title} starts it with other arguments: {}", entry.args.join(" "));
        return Finding::warning(check, message, mend);
    }
    Finding::ok(check, format!("{title} starts this program"))
}

/// Finds what a command starts.
fn find(patient: &Patient, command: &Path) -> Option<PathBuf> {
    let path = match command.components().count() {
        1 if !command.is_absolute() => patient.what.here.program(command.to_str()?)?,
        _ => command.to_owned(),
    };
    is_program(&path).then(|| real(&path))
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
