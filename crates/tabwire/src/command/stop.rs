//! `tabwire stop`: ends the hub of a data folder; by force only if it is proven to be that hub.

use std::io::Write;

use machine::{ControlError, Stopped};
use serde_json::json;

use crate::{api, cli::Stop, config::Own, failure::Failure};

pub fn run(options: &Stop) -> Result<(), Failure> {
    let data = options.data.clone().unwrap_or_else(|| Own::default().data);
    api::block_on(async {
        let stopped = machine::stop(&data, options.force, options.timeout).await;
        let stopped = stopped.map_err(|error| match error {
            ControlError::NotRunning(_) => Failure::no_hub(error),
            ControlError::Unproven(_) => Failure::refused(error),
            _ => Failure::failed(error),
        })?;
        let forced = stopped == Stopped::Forced;
        let mut out = std::io::stdout();
        match (options.json, forced) {
            (true, _) => writeln!(out, "{}", json!({"stopped": true, "forced": forced}))?,
            (false, true) => writeln!(out, "the hub was ended by force")?,
            (false, false) => writeln!(out, "the hub has ended")?,
        }
        Ok(())
    })
}
