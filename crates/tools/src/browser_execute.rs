//! Tool `browser_execute`: runs JavaScript in a page. It does one thing, so it has no `action`.

use serde_json::{Value, json};

use crate::{
    Toolbox,
    action::{self, Action, act},
    commands::Order,
    definition::{Client, CoreTool, Definition, Work},
};

/// The tool.
pub const TOOL: CoreTool = CoreTool {
    name: "browser_execute",
    define,
    aliases: &[("code", "expression")],
    actions: ACTIONS,
    run,
};

const ACTIONS: &[Action] = &[act("", "browser_evaluate", "expression", "awaitPromise").value()];

fn define() -> Definition {
    action::define(
        &TOOL,
        "Runs JavaScript in a page; returns its value.",
        json!({
            "expression": {"type": "string", "description": "may await"},
        }),
        json!({
            "awaitPromise": {"type": "boolean", "description": "false does not wait for a promise"},
        }),
    )
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move { Order::read(toolbox, client, &TOOL, args)?.run().await })
}
