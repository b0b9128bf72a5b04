//! `tabwire dialects`: what the hub speaks, where, and who is there.

use std::io::Write;

use serde_json::Value;

use crate::{
    api::{self, Api},
    cli::Dialects,
    failure::Failure,
    terminal,
};

pub fn run(options: &Dialects) -> Result<(), Failure> {
    api::block_on(async {
        let body = Api::new(&options.target).get("/api/dialects").await?;
        show(&body["dialects"], options.target.json)
    })
}

fn show(dialects: &Value, as_json: bool) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    if as_json {
        writeln!(out, "{dialects}")?;
        return Ok(());
    }
    for dialect in dialects.as_array().into_iter().flatten() {
        writeln!(
            out,
            "{:<12} {:<12} {} ({})",
            text(&dialect["name"]),
            place(dialect),
            sessions(&dialect["sessions"]),
            text(&dialect["serves"]),
        )?;
        if let Some(problem) = dialect["problem"].as_str() {
            writeln!(out, "             {problem}")?;
        }
    }
    Ok(())
}

fn place(dialect: &Value) -> String {
    match (dialect["enabled"] == true, &dialect["port"]) {
        (true, port) => format!("port {port}"),
        (false, Value::Null) => "off".to_owned(),
        (false, port) => format!("no port {port}"),
    }
}

fn sessions(list: &Value) -> String {
    let shown = |session: &Value| match session["connected"] == true {
        true => text(&session["name"]).to_owned(),
        false => format!("{} (away)", text(&session["name"])),
    };
    let names: Vec<_> = list.as_array().into_iter().flatten().map(shown).collect();
    if names.is_empty() { "no sessions".to_owned() } else { names.join(", ") }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
