//! Tool `browser_snapshot`: what can be seen and done in a page, one line per thing.
//!
//! Our extension sends the page as data and it is written here; what browsers of other projects
//! answer is shown as it came.

use serde_json::{Value, json};

use crate::{
    Toolbox,
    action::{self, Action, read},
    answer,
    commands::Order,
    definition::{Client, CoreTool, Definition, Output, Source, Work},
    snapshot::{self, View},
};

/// The tool.
pub const TOOL: CoreTool =
    CoreTool { name: "browser_snapshot", define, aliases: &[], actions: ACTIONS, run };

const COMMAND: &str = "browser_snapshot";

const ACTIONS: &[Action] =
    &[read("", COMMAND, "", "ref selector viewportOnly maxTokens cursor mode level")];

fn define() -> Definition {
    action::define(
        &TOOL,
        "Page snapshot",
        "What can be seen and done in a page, one line per thing, with a `ref` for each that can \
            be acted on. Long pages come in parts: pass `cursor` for the next.",
        json!({
            "ref": {"type": "string"},
            "selector": {"type": "string"},
            "viewportOnly": {"type": "boolean"},
            "maxTokens": {"type": "integer"},
            "cursor": {"type": "string"},
            "mode": {"type": "string"},
            "level": {"type": "string"},
        }),
    )
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let mut order = Order::read(toolbox, client, &TOOL, args)?;
        let view = View::take(&mut order.args)?;
        let session = order.find_session()?;
        let tab = order.choose_tab(&session)?;
        let result = order.send(&session, tab, COMMAND, &order.args).await?;
        let Some(page) = snapshot::Page::read(&result)? else {
            return Ok(answer::show(&session, order.action, &result));
        };
        let shown = snapshot::write(&page, &view)?;
        let source = Source { session: session.name.to_string(), origin: Some(page.url.clone()) };
        // Some clients show a model the structure alone: it must not be less than the text.
        let structured = Value::Null;
        Ok(Output { text: shown.text, structured, images: Vec::new(), source: Some(source) })
    })
}
