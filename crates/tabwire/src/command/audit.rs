//! `tabwire audit`: who did what, one line per call.

use std::io::Write;

use serde_json::Value;

use crate::{
    api::{self, Api},
    cli::{Audit, AuditAction, AuditTail},
    failure::Failure,
    terminal,
};

/// Lines of one answer.
const PAGE: usize = 1000;

pub fn run(options: &Audit) -> Result<(), Failure> {
    let AuditAction::Tail(tail) = &options.action;
    api::block_on(show(tail))
}

async fn show(options: &AuditTail) -> Result<(), Failure> {
    let api = Api::new(&options.target);
    let mut newest: Vec<Value> = Vec::new();
    let mut since = 0;
    loop {
        let body = api.get(&format!("/api/audit?since={since}&limit={PAGE}")).await?;
        let lines = body["lines"].as_array().cloned().unwrap_or_default();
        let whole = lines.len() == PAGE;
        since = body["next"].as_u64().unwrap_or(since);
        newest.extend(lines);
        let surplus = newest.len().saturating_sub(options.lines);
        newest.drain(..surplus);
        if !whole {
            break;
        }
    }
    let mut out = terminal::stdout();
    for line in &newest {
        match options.target.json {
            true => writeln!(out, "{line}")?,
            false => writeln!(out, "{}", terminal::one_line(&for_people(line)))?,
        }
    }
    Ok(())
}

fn for_people(line: &Value) -> String {
    let text = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
    let time = std::time::UNIX_EPOCH
        + std::time::Duration::from_millis(line["atMs"].as_u64().unwrap_or_default());
    format!(
        "{} {:<20} {:<24} {:<16} {:<15} {:>6} ms",
        machine::discovery::iso_time(time),
        text("session"),
        text("tool"),
        text("client"),
        text("outcome"),
        line["ms"],
    )
}
