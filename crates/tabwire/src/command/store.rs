//! `tabwire store`: looking at the file of the embedded store, and working on it.

use std::{io::Write, path::Path};

use serde_json::json;
use store::embedded::{export, operate};

use crate::{
    api,
    cli::{Store, StoreAction},
    config::ProgramConfig,
    failure::Failure,
    terminal,
};

pub fn run(options: &Store) -> Result<(), Failure> {
    let mut own = ProgramConfig::default();
    if let Some(data) = &options.data {
        own.data.clone_from(data);
    }
    let file = own.store_file();
    if !file.exists() {
        return Err(Failure::failed(format!("there is no store at {}", file.display())));
    }
    match options.action {
        StoreAction::Check => check(&file, options.json),
        StoreAction::Compact => {
            api::must_not_run(&own.data)?;
            compact(&file, options.json)
        }
        StoreAction::Export => {
            let mut out = std::io::BufWriter::new(terminal::stdout());
            export::export(&file, &mut out).map_err(Failure::failed)?;
            Ok(out.flush()?)
        }
    }
}

fn check(file: &Path, as_json: bool) -> Result<(), Failure> {
    let report = operate::check(file).map_err(Failure::failed)?;
    let bad: u64 = report.tables.iter().map(|table| table.bad).sum();
    let mut out = terminal::stdout();
    if as_json {
        let tables: Vec<_> = report
            .tables
            .iter()
            .map(|table| json!({"name": table.name, "rows": table.rows, "bad": table.bad}))
            .collect();
        let body = json!({
            "format": report.format, "program": report.program, "term": report.term,
            "tables": tables, "findings": report.findings,
        });
        writeln!(out, "{body}")?;
    } else {
        writeln!(out, "{} (format {}, term {})", file.display(), report.format, report.term)?;
        for table in &report.tables {
            writeln!(out, "{:<10} {:>8} rows {:>6} damaged", table.name, table.rows, table.bad)?;
        }
        for finding in &report.findings {
            writeln!(out, "{finding}")?;
        }
    }
    if bad > 0 || !report.findings.is_empty() {
        let message = "the file is damaged; the hub repairs what it can when it starts";
        return Err(Failure::failed(message));
    }
    Ok(())
}

fn compact(file: &Path, as_json: bool) -> Result<(), Failure> {
    let (before, after) = operate::compact(file).map_err(Failure::failed)?;
    let mut out = terminal::stdout();
    match as_json {
        true => writeln!(out, "{}", json!({"before": before, "after": after}))?,
        false => writeln!(out, "{before} bytes before, {after} after")?,
    }
    Ok(())
}
