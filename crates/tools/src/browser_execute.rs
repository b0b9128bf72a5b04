//! Tool `browser_execute`: runs JavaScript in a page. It does one thing, so it has no `action`.

use serde_json::Value;

use crate::{
    Toolbox,
    action::{Action, act},
    command_arguments::{Argument, flag, text},
    commands::CommandCall,
    definition::{Client, CoreTool, Work},
};

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool =
    CoreTool::of_commands("browser_execute", "script", DESCRIPTION, ARGUMENTS, ACTIONS, run)
        .aliases(&[("code", "expression")]);

const DESCRIPTION: &str = "Runs JavaScript in a page; returns its value.";

const ARGUMENTS: &[Argument] = &[
    text("expression", "may await"),
    flag("awaitPromise", "false does not wait for a promise").unlisted(),
];

const ACTIONS: &[Action] =
    &[act("", "browser_evaluate", "expression", "awaitPromise=true").value()];

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move { CommandCall::read(toolbox, client, &TOOL, args)?.run().await })
}
