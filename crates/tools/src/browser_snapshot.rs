//! Tool `browser_snapshot`: what can be seen and done in a page, one line per thing.
//!
//! Our extension sends the page as data and it is shaped here, as the client wants to see it; what
//! browsers of other projects answer is shown as it came.

use std::sync::Arc;

use hub::Session;
use model::{Code, Fault, TabId};
use serde_json::Value;
use snapshot::{
    Page, Subject, View,
    kept::{self, SnapshotKey},
};

use crate::{
    Toolbox,
    action::{Action, read},
    answer,
    command_arguments::{Argument, flag, text, whole, word},
    commands::CommandCall,
    definition::{Client, CoreTool, Output, Source, Work},
};

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool =
    CoreTool::of_commands("browser_snapshot", "browse", DESCRIPTION, ARGUMENTS, ACTIONS, run);

const COMMAND: &str = "browser_snapshot";

const DESCRIPTION: &str = "What can be seen and done in a page, one line per thing, with a `ref` for each that can be \
     acted on. Long pages come in parts, long lists folded.";

const ARGUMENTS: &[Argument] = &[
    text("ref", "only below"),
    text("selector", "only below"),
    text("region", "landmark: main").to_hub(),
    flag("viewportOnly", "only in view"),
    whole("depth", "levels").to_hub(),
    text("find", "text or /regex/: what fits, with surroundings").to_hub(),
    text("role", "find: this role").to_hub(),
    text("open", "ref of a folded list").to_hub(),
    word("format", "outline markdown", "markdown: to read").to_hub(),
    flag("links", "targets"),
    whole("maxTokens", "default 6000").to_hub(),
    text("cursor", "next part").to_hub(),
    text("since", "version: what differs").to_hub(),
    text("onlyIfChanged", "version: else whole").to_hub(),
    text("mode", "for browsers that have modes").unlisted().to_hub(),
    text("level", "for browsers that have levels").unlisted().to_hub(),
    whole("maxNodes", "at most").from_hub(),
];

const ACTIONS: &[Action] = &[read(
    "",
    COMMAND,
    "",
    "ref selector region viewportOnly=false depth find role open format links=false maxTokens \
     cursor since onlyIfChanged mode level",
)
.adds("maxNodes:1..20000=20000")];

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let mut order = CommandCall::read(toolbox, client, &TOOL, args)?;
        let view = View::take(&mut order.args)?;
        let session = order.find_session()?;
        let tab = order.choose_tab(&session)?;
        let result = order.send(&session, tab, COMMAND, &order.args).await?;
        match Page::read(&result)? {
            Some(page) => show(toolbox, &session, tab, page, &view),
            None => match view.shaping {
                Some(name) => Err(unshaped(&session, name)),
                None => Ok(answer::show(&session, order.action, &result)),
            },
        }
    })
}

/// Writes a page as a client wants to see it, and keeps it for a difference.
fn show(
    toolbox: &Toolbox,
    session: &Session,
    tab: Option<TabId>,
    page: Page,
    view: &View,
) -> Result<Output, Fault> {
    let version = kept::version(&page, &view.scope);
    let place = SnapshotKey { session: session.id.clone(), tab, scope: view.scope.clone() };
    let since = view.since.as_ref();
    let before = since.and_then(|since| toolbox.snapshots.find(&place, since));
    let page = Arc::new(page);
    let subject = Subject { page: &page, version: &version, before: before.as_deref() };
    let shown = snapshot::write(&subject, view)?;
    let source = Source { session: session.name.to_string(), origin: Some(page.url.clone()) };
    toolbox.snapshots.keep(place, &version, page);
    // Some clients show a model the structure alone: it must not be less than the text.
    let structured = Value::Null;
    Ok(Output { text: shown.text, structured, source: Some(source), ..Output::default() })
}

/// The error of a browser whose snapshots are not ours to shape.
fn unshaped(session: &Session, name: &str) -> Fault {
    let message =
        format!("{} writes its snapshots itself and does not know `{name}`", session.name);
    Fault::new(Code::Unsupported, message).hint("leave it out; `mode` and `level` are for it")
}
