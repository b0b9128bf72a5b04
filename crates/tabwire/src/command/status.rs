//! `tabwire status`: whether a hub runs for a data folder, and where.

use std::io::Write;

use machine::{HubRecord, Status as Found};
use serde_json::json;

use crate::{api, cli::Status, failure::Failure, terminal};

pub fn run(options: &Status) -> Result<(), Failure> {
    let data = options.data.path();
    api::block_on(async {
        let found = machine::status(&data).await.map_err(Failure::failed)?;
        let mut out = terminal::stdout();
        if options.json {
            writeln!(out, "{}", for_programs(&found))?;
        }
        match found {
            Found::Running(_) if options.json => Ok(()),
            Found::Running(_) => Ok(writeln!(out, "{}", for_people(&found))?),
            Found::Unresponsive(_) => Err(Failure::failed(for_people(&found))),
            Found::Stale(_) | Found::NotRunning => Err(Failure::no_hub(for_people(&found))),
        }
    })
}

fn for_programs(found: &Found) -> serde_json::Value {
    let record = |state: &str, record: &HubRecord| {
        json!({
            "state": state, "pid": record.pid, "port": record.port, "term": record.term,
            "version": record.version, "since": record.since,
        })
    };
    match found {
        Found::Running(hub) => json!({
            "state": "running", "pid": hub.pid, "port": hub.port, "term": hub.term,
            "version": hub.version, "since": hub.since,
        }),
        Found::Unresponsive(found) => record("unresponsive", found),
        Found::Stale(found) => record("stale", found),
        Found::NotRunning => json!({"state": "not_running"}),
    }
}

fn for_people(found: &Found) -> String {
    match found {
        Found::Running(hub) => format!(
            "tabwire {} runs on http://127.0.0.1:{} (process {}, term {}, since {})",
            hub.version, hub.port, hub.pid, hub.term, hub.since
        ),
        Found::Unresponsive(record) => format!(
            "the hub (process {}, port {}) runs but does not answer; `tabwire stop --force` ends it",
            record.pid, record.port
        ),
        Found::Stale(record) => {
            format!("no hub runs; the last one (process {}) did not end by itself", record.pid)
        }
        Found::NotRunning => "no hub runs".to_owned(),
    }
}
