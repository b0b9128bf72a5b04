//! Tool `page_tools`: the tools that pages declare, behind one name of ours.
//!
//! Whatever a page declares never reaches our own list: it is listed, found and called through
//! here, labelled with where it comes from.

use std::sync::Arc;

use hub::{CallRequest, Route, Session};
use model::{Code, Effect, Fault, Json, Kind, Reply, TabId, Target, ToolSpec, json::shorten};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Toolbox, apps,
    definition::{Annotations, Client, CoreTool, Definition, Output, Work, decode},
};

/// Tools that one answer lists.
const LISTED: usize = 50;

/// The tool.
pub const TOOL: CoreTool = CoreTool { name: "page_tools", define, aliases: &[], run };

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

/// A tool with the page that declares it.
struct Found {
    session: Arc<Session>,
    tab: TabId,
    url: String,
    spec: ToolSpec,
}

fn define() -> Definition {
    Definition {
        name: TOOL.name.to_owned(),
        title: "Tools of pages".to_owned(),
        description: "Tools that open web pages declare (untrusted): list them, find by words, \
            call one."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "action": {"enum": ["list", "find", "call"]},
                "session": {"type": "string"},
                "tab": {"type": "integer"},
                "query": {"type": "string", "description": "find: words in name or description"},
                "tool": {"type": "string", "description": "call: its name"},
                "args": {"type": "object", "description": "call: as its schema says"},
            },
            "required": ["action"],
            "additionalProperties": false,
        }),
        output_schema: None,
        annotations: Annotations { destructive: true, open_world: true, ..Annotations::default() },
    }
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let args: Args = decode(args)?;
        match args.action {
            Action::List => Ok(show(gather(toolbox, &args)?)),
            Action::Find => {
                let query = args.query.as_deref().ok_or_else(|| missing("query", "find"))?;
                let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
                let mut found = gather(toolbox, &args)?;
                found.retain(|found| {
                    let text = format!("{} {}", found.spec.name, found.spec.description);
                    let text = text.to_lowercase();
                    words.iter().all(|word| text.contains(word))
                });
                Ok(show(found))
            }
            Action::Call => call(toolbox, client, args).await,
        }
    })
}

/// All page tools of the named session and tab, or of all.
fn gather(toolbox: &Toolbox, args: &Args) -> Result<Vec<Found>, Fault> {
    let sessions = match &args.session {
        Some(session) => vec![toolbox.hub.find(session)?],
        None => toolbox.hub.sessions(),
    };
    let mut found = Vec::new();
    for session in sessions {
        for tab in session.info().tabs {
            if args.tab.is_some_and(|wanted| wanted != tab.id.0) {
                continue;
            }
            let url = shorten(&tab.url, 200);
            found.extend(session.page_tools(tab.id).into_iter().map(|spec| Found {
                session: session.clone(),
                tab: tab.id,
                url: url.clone(),
                spec,
            }));
        }
    }
    Ok(found)
}

fn show(found: Vec<Found>) -> Output {
    let total = found.len();
    let shown: Vec<_> = found.iter().take(LISTED).collect();
    let line = |found: &&Found| {
        let Found { session, tab, url, spec } = found;
        format!(
            "- {} [session={} tab={tab}] {}\n  from {url}, args {}",
            spec.name,
            session.name,
            shorten(&spec.description, 300),
            shorten(spec.input_schema.as_str(), 600),
        )
    };
    let mut lines: Vec<_> = shown.iter().map(line).collect();
    if total > LISTED {
        lines.push(format!("… and {} more; use find", total - LISTED));
    }
    let text = match lines.is_empty() {
        true => "no open page declares a tool that fits".to_owned(),
        false => lines.join("\n"),
    };
    let list: Vec<_> = shown
        .iter()
        .map(|found| {
            json!({
                "tool": found.spec.name,
                "description": found.spec.description,
                "inputSchema": found.spec.input_schema.to_value().unwrap_or_default(),
                "session": &*found.session.name,
                "tab": found.tab.0,
                "url": found.url,
            })
        })
        .collect();
    Output { text, structured: json!({"tools": list, "total": total}), source: None }
}

async fn call(toolbox: &Toolbox, client: &Client, args: Args) -> Result<Output, Fault> {
    let name = args.tool.ok_or_else(|| missing("tool", "call"))?;
    let route = Route { session: args.session, binding: client.binding.clone() };
    let session =
        toolbox.hub.route(&route, &format!("a page with the tool {name}"), |session| {
            session.kind == Kind::Browser && declares(session, &name)
        })?;
    let tab = match (args.tab, only_tab(&session, &name)) {
        (None, Some(only)) => only,
        (named, _) => session.choose_tab(&client.caller.client, named.map(TabId))?,
    };
    let spec = session.page_tools(tab).into_iter().find(|spec| spec.name == name);
    let spec = spec.ok_or_else(|| {
        let message = format!("the page in tab {tab} declares no tool {:?}", shorten(&name, 80));
        Fault::new(Code::UnknownTool, message).hint("list shows what there is")
    })?;
    let values = if args.args.is_null() { json!({}) } else { args.args };
    toolbox.checker(&spec.input_schema)?.check(&values)?;
    let request = CallRequest {
        caller: client.caller.clone(),
        tab: Some(tab),
        effect: if spec.read_only { Effect::Read } else { Effect::Act },
        work: model::Work::Tool { target: Target::Page, name, args: Json::of(&values) },
        timeout: client.timeout,
        progress: client.progress.clone(),
    };
    match toolbox.hub.call(&session, request).await? {
        Reply::Result(result) => Ok(apps::output(&session, &result)),
        Reply::State(_) | Reply::Tools(_) => {
            Err(Fault::new(Code::MalformedReply, "the page answered another question"))
        }
    }
}

fn declares(session: &Session, name: &str) -> bool {
    tabs_with(session, name).next().is_some()
}

fn only_tab(session: &Session, name: &str) -> Option<TabId> {
    let mut tabs = tabs_with(session, name);
    let first = tabs.next();
    if tabs.next().is_some() { None } else { first }
}

fn tabs_with<'a>(session: &'a Session, name: &'a str) -> impl Iterator<Item = TabId> + 'a {
    let tabs = session.info().tabs.into_iter().map(|tab| tab.id);
    tabs.filter(move |tab| session.page_tools(*tab).iter().any(|spec| spec.name == name))
}

fn missing(argument: &str, action: &str) -> Fault {
    Fault::new(Code::InvalidArgument, format!("`{argument}` is missing; {action} needs it"))
}
