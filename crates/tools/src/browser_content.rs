//! Tool `browser_content`: what is in a page, as text, structure, picture or paper.
//!
//! Markdown and outlines are made here of a snapshot, where the browser gives one as data; text and
//! HTML are the browser's to give.

use std::sync::Arc;

use hub::Session;
use model::{Code, Fault};
use serde_json::{Map, Value, json};
use snapshot::{Format, Page, Subject, View, kept};

use crate::{
    Toolbox,
    action::{Action, invalid, read},
    answer,
    command_arguments::{Argument, flag, number, text, whole, word},
    commands::CommandCall,
    definition::{Client, CoreTool, Output, Source, Work},
};

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool =
    CoreTool::of_commands("browser_content", "browse", DESCRIPTION, ARGUMENTS, ACTIONS, run);

/// The command that gives a page as data.
const SNAPSHOT: &str = "browser_snapshot";
/// The dialect whose browsers do.
const OWN: &str = "native";
/// Bytes of one answer that can be asked for, at least and at most.
const SHORTEST: u64 = 400;
const LONGEST: usize = 200_000;

const DESCRIPTION: &str = "Reads a page, or the element at `ref` or `selector`. get: its content. query: elements that \
     fit.";

const ARGUMENTS: &[Argument] = &[
    text("ref", "from browser_snapshot"),
    text("selector", "CSS"),
    word("format", "png jpeg webp text html markdown", "of picture or content")
        .also("semantic ascii skeleton"),
    flag("fullPage", "all of it"),
    flag("labels", "refs in the picture"),
    text("text", "query: text in them"),
    text("attribute", "its name"),
    text("cursor", "get: next part"),
    flag("all", "query: false gives the first only").unlisted(),
    flag("includeHidden", "viewport_dom: hidden ones too").unlisted(),
    flag("landscape", "pdf: wide pages").unlisted(),
    whole("maxElements", "viewport_dom: at most, 500 if not given").unlisted(),
    whole("maxBytes", "screenshot: 500000 if not given").unlisted(),
    whole("maxLength", "get: characters of one answer").unlisted(),
    whole("maxWidth", "screenshot: pixels, 1280 if not given").unlisted(),
    text("onlyIfChanged", "screenshot: the version of the last one; says so if it is still that")
        .unlisted(),
    number("paperHeight", "pdf: inches").unlisted(),
    number("paperWidth", "pdf: inches").unlisted(),
    flag("printBackground", "pdf: with backgrounds").unlisted(),
    whole("quality", "screenshot: 1 to 100, for jpeg and webp").unlisted(),
    number("scale", "pdf: 0.1 to 2").unlisted(),
];

const ACTIONS: &[Action] = &[
    read(
        "screenshot",
        "browser_screenshot",
        "",
        "format:png/jpeg/webp='jpeg' quality:1..100=80 fullPage=false selector ref \
         maxWidth:16..8000=1280 maxBytes:1000..10000000=500000 labels=false onlyIfChanged",
    ),
    read(
        "pdf",
        "browser_pdf",
        "",
        "landscape=false printBackground=false scale:0.1..2=1 paperWidth:1..200 \
         paperHeight:1..200",
    ),
    read(
        "get",
        "browser_get_content",
        "",
        "selector ref format:text/html/markdown*/semantic*/ascii*/skeleton*='text' \
         maxLength:1..1000000=20000 cursor",
    )
    .or_if(is_shaped),
    read("query", "browser_query_selector", "selector|text", "all=true"),
    read("attribute", "browser_get_attribute", "selector|ref attribute", ""),
    read(
        "viewport_dom",
        "browser_get_viewport_dom",
        "",
        "maxElements:1..2000=500 includeHidden=false",
    )
    .unlisted(),
];

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let order = CommandCall::read(toolbox, client, &TOOL, args)?;
        if order.action.name != "get" {
            return order.run().await;
        }
        let session = order.find_session()?;
        let carried = || {
            let cursor = order.args.get("cursor")?.as_str()?;
            snapshot::cursor::carried(cursor, "format")
        };
        let format = order.args.get("format").cloned().or_else(carried);
        match (is_shaped(&session), format.as_ref().and_then(Value::as_str)) {
            (true, Some("markdown")) => read_page(order, &session, Format::Markdown).await,
            (true, Some("semantic")) => read_page(order, &session, Format::Outline).await,
            (true, Some("skeleton")) => read_page(order, &session, Format::Skeleton).await,
            (true, Some("ascii")) => Err(no_ascii()),
            _ if !session.can(order.action.command) => Err(order.unable(&session)),
            _ => order.run_in(&session).await,
        }
    })
}

/// Whether a session's snapshots are data that is shaped here.
fn is_shaped(session: &Session) -> bool {
    &*session.dialect == OWN && session.can(SNAPSHOT)
}

/// Reads a page by its snapshot, and writes it here.
async fn read_page(
    mut order: CommandCall<'_>,
    session: &Arc<Session>,
    format: Format,
) -> Result<Output, Fault> {
    let mut args = Map::new();
    for name in ["cursor", "ref", "selector"] {
        args.extend(order.args.remove(name).map(|value| (name.to_owned(), value)));
    }
    // So that the next part can be asked for by its cursor alone.
    let word = match format {
        Format::Markdown => "markdown",
        Format::Outline => "semantic",
        Format::Skeleton => "skeleton",
    };
    args.insert("format".to_owned(), json!(word));
    let mut view = View::take(&mut args)?;
    view.format = format;
    if let Some(length) = order.args.remove("maxLength") {
        let length = length.as_u64().filter(|length| *length >= SHORTEST);
        let length = length.ok_or_else(|| {
            invalid(format!("`maxLength` is a whole number from {SHORTEST} for this format"))
        })?;
        view.budget = usize::try_from(length).map_or(LONGEST, |length| length.min(LONGEST));
    }
    let tab = order.choose_tab(session)?;
    if format == Format::Markdown {
        args.insert("links".to_owned(), json!(true));
    }
    let result = order.send(session, tab, SNAPSHOT, &args).await?;
    let Some(page) = Page::read(&result)? else {
        return Ok(answer::show(session, order.action, &result));
    };
    let version = kept::version(&page, &view.scope);
    let subject = Subject { page: &page, version: &version, before: None };
    let shown = snapshot::write(&subject, &view)?;
    let source = Source { session: session.name.to_string(), origin: Some(page.url.clone()) };
    // Some clients show a model the structure alone: it must not be less than the text.
    let structured = Value::Null;
    Ok(Output { text: shown.text, structured, source: Some(source), ..Output::default() })
}

fn no_ascii() -> Fault {
    let message = "get takes as `format` one of text, html, markdown, semantic, skeleton here";
    Fault::new(Code::InvalidArgument, message)
        .hint("ascii is for browsers that draw it themselves; browser_snapshot is an outline")
}
