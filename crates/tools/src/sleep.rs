//! Tool `sleep`: waits, for clients that cannot.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Toolbox,
    definition::{Annotations, Client, CoreTool, Definition, Output, Work, decode},
};

/// Longest sleep; `wait_for` is the better way to wait for something.
const LONGEST_MS: u64 = 60_000;

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool =
    CoreTool::own("sleep", "wait", define, run).aliases(&[("duration", "durationMs")]);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Args {
    duration_ms: u64,
}

fn define() -> Definition {
    Definition {
        name: TOOL.name.to_owned(),
        title: String::new(),
        description: "Waits. Prefer wait_for.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"durationMs": {
                "type": "integer", "minimum": 0, "maximum": LONGEST_MS, "description": "how long",
            }},
            "required": ["durationMs"],
            "additionalProperties": false,
        }),
        output_schema: Some(json!({
            "type": "object",
            "properties": {"sleptMs": {"type": "integer"}},
            "required": ["sleptMs"],
        })),
        annotations: Annotations { read_only: true, idempotent: true, ..Annotations::default() },
    }
}

fn run<'a>(_: &'a Toolbox, _: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let args: Args = decode(args)?;
        tokio::time::sleep(Duration::from_millis(args.duration_ms)).await;
        let structured = json!({"sleptMs": args.duration_ms});
        Ok(Output {
            text: format!("slept {} ms", args.duration_ms),
            structured,
            ..Output::default()
        })
    })
}
