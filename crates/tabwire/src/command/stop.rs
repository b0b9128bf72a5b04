//! `tabwire stop`: ends the hub of a data folder; by force only if it is proven to be that hub.

use std::io::Write;

use machine::{ControlError, Stopped};
use serde_json::json;

use crate::{api, cli::Stop, failure::Failure, launcher::end_leftovers, terminal};

pub fn run(options: &Stop) -> Result<(), Failure> {
    let data = options.data.path();
    api::block_on(async {
        let stopped = machine::stop(&data, options.force, options.timeout).await;
        // A hub that died, or is ended by force, leaves the browsers that it has started.
        let left = match &stopped {
            Ok(Stopped::Forced) | Err(ControlError::NotRunning(_)) => end_leftovers(&data)?,
            _ => 0,
        };
        let also = match left {
            0 => String::new(),
            left => format!("; {left} browsers that it had started were ended"),
        };
        let stopped = stopped.map_err(|error| match error {
            ControlError::NotRunning(_) => Failure::no_hub(format!("{error}{also}")),
            ControlError::Unproven(_) => Failure::refused(error),
            _ => Failure::failed(error),
        })?;
        let forced = stopped == Stopped::Forced;
        let mut out = terminal::stdout();
        match (options.json, forced) {
            (true, _) => {
                let mut told = json!({"stopped": true, "forced": forced});
                if left > 0 {
                    told["browsers"] = json!(left);
                }
                writeln!(out, "{told}")?;
            }
            (false, true) => writeln!(out, "the hub was ended by force{also}")?,
            (false, false) => writeln!(out, "the hub has ended")?,
        }
        Ok(())
    })
}
