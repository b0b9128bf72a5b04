//! `tabwire version`.

use std::io::Write;

use crate::{failure::Failure, terminal};

/// The program's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub fn run(json: bool) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    if json {
        let protocols = [dialect::native::SUBPROTOCOL];
        let body = serde_json::json!({"version": VERSION, "protocols": protocols});
        writeln!(out, "{body}")?;
    } else {
        writeln!(out, "tabwire {VERSION}")?;
    }
    Ok(())
}
