//! Tool `page_tools`: the tools that pages declare, behind one name of ours.
//!
//! Whatever a page declares never reaches our own list: it is listed, found and called through
//! here, labelled with where it comes from. How it is known is a matter of [`discovery`].

use std::sync::Arc;

use hub::{CallRequest, Route, Session};
use model::{Code, Effect, Fault, Json, TabId, Target, ToolSpec, json::shorten, page_text};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Toolbox, answer, apps, commands,
    definition::{Annotations, Client, CoreTool, Definition, Output, Work, decode},
    discovery::{self, Found, Heard},
};

/// Tools that one answer lists.
const LISTED: usize = 50;
/// Bytes of a schema that is shown whole.
const SCHEMA: usize = 4096;

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool = CoreTool::own("page_tools", "pages", define, run);

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Find,
    Call,
}

#[derive(Deserialize)]
struct Args {
    action: Action,
    session: Option<String>,
    tab: Option<u64>,
    query: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    args: Value,
}

fn define() -> Definition {
    Definition {
        name: TOOL.name.to_owned(),
        title: String::new(),
        description: "Tools that open pages declare (untrusted).".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "action": {"enum": ["list", "find", "call"]},
                "session": {"type": "string"},
                "tab": {"type": "integer"},
                "query": {"type": "string", "description": "find: words"},
                "tool": {"type": "string", "description": "call: its name"},
                "args": {"type": "object", "description": "by its schema"},
            },
            "required": ["action"],
            "additionalProperties": false,
        }),
        output_schema: None,
        annotations: Annotations::reaching_pages(false),
    }
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let args: Args = decode(args)?;
        let sessions = match &args.session {
            Some(session) => vec![toolbox.hub.find(session)?],
            None => toolbox.hub.sessions(),
        };
        let words = match (args.action, args.query.as_deref()) {
            (Action::Call, _) => return call(toolbox, client, &sessions, args).await,
            (Action::List, _) => Vec::new(),
            (Action::Find, Some(query)) => {
                query.split_whitespace().map(str::to_lowercase).collect()
            }
            (Action::Find, None) => return Err(missing("query", "find")),
        };
        let tab = args.tab.map(TabId);
        let heard = discovery::ask(toolbox, client, &sessions, tab).await;
        let mut found = discovery::tools(&sessions, tab, &heard);
        found.retain(|found| {
            let text = format!("{} {}", found.spec.name, found.spec.description).to_lowercase();
            words.iter().all(|word| text.contains(word))
        });
        Ok(show(&found, &heard))
    })
}

fn show(found: &[Found], heard: &Heard) -> Output {
    let shown = &found[..found.len().min(LISTED)];
    let line = |found: &Found| {
        let Found { session, tab, url, spec } = found;
        let frame = spec.origin.as_deref().map(page_text::address);
        format!(
            "- {} [session={} tab={tab}] {}\n  from {}{}, args {}",
            page_text::word(&spec.name),
            session.name,
            page_text::line(&shorten(&spec.description, 300)),
            frame.map(|origin| format!("a frame of {origin} in ")).unwrap_or_default(),
            page_text::address(url),
            shorten(&page_text::json(spec.input_schema.as_str()), 600),
        )
    };
    let mut lines: Vec<_> = shown.iter().map(line).collect();
    if found.is_empty() {
        lines.push("no open page declares a tool that fits".to_owned());
    }
    if found.len() > LISTED {
        lines.push(format!("… and {} more; use find", found.len() - LISTED));
    }
    for (session, tab, fault) in &heard.silent {
        lines
            .push(format!("(tab {tab} of {} could not be asked: {})", session.name, fault.message));
    }
    if heard.unasked > 0 {
        lines.push(format!("({} more tabs were not asked; name one as `tab`)", heard.unasked));
    }
    let list: Vec<_> = shown
        .iter()
        .map(|found| {
            let mut told = json!({
                "tool": found.spec.name,
                "description": found.spec.description,
                "inputSchema": schema(&found.spec),
                "session": &*found.session.name,
                "tab": found.tab.0,
                "url": found.url,
            });
            if let Some(origin) = &found.spec.origin {
                told["frameOrigin"] = json!(origin);
            }
            told
        })
        .collect();
    let mut structured = json!({"tools": list, "total": found.len()});
    if !heard.silent.is_empty() {
        let silent = heard.silent.iter().map(|(session, tab, fault)| {
            json!({"session": &*session.name, "tab": tab.0, "error": fault.message})
        });
        structured["silent"] = silent.collect();
    }
    Output { text: lines.join("\n"), structured, ..Output::default() }
}

async fn call(
    toolbox: &Toolbox,
    client: &Client,
    sessions: &[Arc<Session>],
    args: Args,
) -> Result<Output, Fault> {
    let name = args.tool.ok_or_else(|| missing("tool", "call"))?;
    let found = find(toolbox, client, sessions, (&name, args.tab.map(TabId))).await;
    let route = Route { session: args.session, binding: client.binding.clone() };
    let session =
        toolbox.hub.route(&route, &format!("a page with the tool {name}"), |session| {
            found.iter().any(|found| found.session.id == session.id)
        })?;
    let here: Vec<_> = found.into_iter().filter(|found| found.session.id == session.id).collect();
    let tab = match (args.tab, here.as_slice()) {
        (None, [only]) => only.tab,
        (named, _) => session.known_tab(&client.caller.client, named.map(TabId))?,
    };
    let spec = here.into_iter().find(|found| found.tab == tab).map(|found| found.spec);
    let spec = spec.ok_or_else(|| {
        let message = format!("the page in tab {tab} declares no tool {:?}", shorten(&name, 80));
        Fault::new(Code::UnknownTool, message).hint("list shows what there is")
    })?;
    let values = if args.args.is_null() { json!({}) } else { args.args };
    toolbox.checker(&spec.input_schema)?.check(&values)?;
    let request = CallRequest {
        caller: client.caller.clone(),
        tab: Some(tab),
        // A page's word that its tool only looks is no reason to believe it.
        effect: Effect::Act,
        work: model::Work::Tool { target: Target::Page, name, args: Json::of(&values) },
        timeout: client.timeout,
        progress: client.progress.clone(),
    };
    let reply = toolbox.hub.call(&session, request).await?;
    Ok(answer::of_page(apps::output(&session, &commands::result(reply)?)))
}

/// Finds the pages that declare a tool; those that have not told of it are asked, if nobody who is
/// meant has.
async fn find(
    toolbox: &Toolbox,
    client: &Client,
    sessions: &[Arc<Session>],
    (name, tab): (&str, Option<TabId>),
) -> Vec<Found> {
    let named = |heard: &Heard| {
        let mut found = discovery::tools(sessions, None, heard);
        found.retain(|found| found.spec.name == name);
        found
    };
    let found = named(&Heard::default());
    let is_meant = |found: &Found| {
        found.session.is_connected() && tab.is_none_or(|wanted| wanted == found.tab)
    };
    if found.iter().any(is_meant) {
        return found;
    }
    // A tab that does not exist is not asked, and the error is about the tab.
    let exists = |wanted: &TabId| {
        sessions.iter().any(|session| session.info().tabs.iter().any(|tab| tab.id == *wanted))
    };
    named(&discovery::ask(toolbox, client, sessions, tab.filter(exists)).await)
}

/// The schema for a program; one that is longer than a page should need is left out.
fn schema(spec: &ToolSpec) -> Value {
    match spec.input_schema.size() > SCHEMA {
        true => json!({"truncated": true, "bytes": spec.input_schema.size()}),
        false => spec.input_schema.to_value().unwrap_or_default(),
    }
}

fn missing(argument: &str, action: &str) -> Fault {
    Fault::new(Code::InvalidArgument, format!("`{argument}` is missing; {action} needs it"))
}
