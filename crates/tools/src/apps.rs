//! The tools that connected apps declare, by their own names.
//!
//! Apps with the same tool and the same schema share one entry and `session` picks; with
//! different schemas, or under a name of ours, each appears as `session.tool`. Each description begins
//! with whose word it is. They are listed while the app is connected and for a while after; a call
//! then says that it is away.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hub::{CallRequest, Hub, Route, Session};
use model::{Code, Effect, Fault, Json, Reply, Target, ToolSpec, Work, json::shorten, page_text};
use serde_json::{Map, Value};

use crate::{
    TOOLS, Toolbox, answer,
    definition::{Annotations, Client, Definition, Output, Source},
    direct_pages,
    list_room::Offered,
    originals, schema,
};

/// Origins that an entry names; more share it only where they declare the same.
const NAMED: usize = 3;

type Offer = (Arc<Session>, ToolSpec);

/// Lists the tools that apps declare, by name, each with who declares it.
pub(crate) fn list(toolbox: &Toolbox) -> Vec<Offered> {
    let declared = by_name(&toolbox.hub).into_iter().flat_map(|(name, offers)| {
        match is_shared(toolbox, &name, &offers) {
            true => vec![offer(name, &offers)],
            false => {
                let alone =
                    |one: &Offer| offer(full_name(&one.0, &name), std::slice::from_ref(one));
                offers.iter().map(alone).collect()
            }
        }
    });
    declared.collect()
}

/// Returns what a client reads about one tool, without looking at all others.
pub fn definition(hub: &Hub, name: &str) -> Option<Definition> {
    if direct_pages::is_name(name) {
        return None;
    }
    if let Some((session, tool)) = name.split_once('.')
        && let Ok(session) = hub.find(session)
        && let Some(spec) = session.app_tool(tool)
    {
        return Some(offer(name.to_owned(), &[(session, spec)]).definition);
    }
    let declaring = hub.offering(name).into_iter().filter(|session| session.is_listed());
    let with_spec = |session: Arc<Session>| Some((session.clone(), session.app_tool(name)?));
    let offers: Vec<Offer> = declaring.filter_map(with_spec).collect();
    (!offers.is_empty()).then(|| offer(name.to_owned(), &offers).definition)
}

/// Calls a tool of an app.
pub async fn call(
    toolbox: &Toolbox,
    client: &Client,
    name: &str,
    args: Value,
) -> Result<Output, Fault> {
    let mut fields = match args {
        Value::Object(fields) => fields,
        _ => return Err(Fault::new(Code::InvalidArgument, "the arguments must be an object")),
    };
    let (session, spec) = find(toolbox, client, name, take_session(&mut fields)?)?;
    let args = Value::Object(fields);
    toolbox.checker(&spec.input_schema)?.check(&args)?;
    let request = CallRequest {
        caller: client.caller.clone(),
        tab: None,
        effect: if spec.read_only { Effect::Read } else { Effect::Act },
        work: Work::Tool { target: Target::App, name: spec.name, args: Json::of(&args) },
        timeout: client.timeout,
        progress: client.progress.clone(),
    };
    match toolbox.hub.call(&session, request).await? {
        Reply::Result(result) => Ok(answer::of_app(name, output(&session, &result))),
        Reply::State(_) | Reply::Tools(_) => {
            Err(Fault::new(Code::MalformedReply, "the app answered another question"))
        }
    }
}

/// Makes what an app or page answered readable for a model and for a program.
pub(crate) fn output(session: &Session, result: &Json) -> Output {
    let value = result.to_value().unwrap_or_else(|_| Value::String(result.as_str().to_owned()));
    Output {
        text: answer::of_value(&value),
        structured: value,
        source: Some(Source::of(session)),
        ..Output::default()
    }
}

/// Takes the reserved argument out: it picks the session and is not the app's.
pub(crate) fn take_session(fields: &mut Map<String, Value>) -> Result<Option<String>, Fault> {
    match fields.remove("session") {
        None => Ok(None),
        Some(Value::String(session)) => Ok(Some(session)),
        Some(_) => Err(Fault::new(Code::InvalidArgument, "`session` must be a text")),
    }
}

/// Finds the session and the tool that a name means.
fn find(
    toolbox: &Toolbox,
    client: &Client,
    name: &str,
    named: Option<String>,
) -> Result<(Arc<Session>, ToolSpec), Fault> {
    let hub = &toolbox.hub;
    if direct_pages::is_name(name) {
        return Err(unknown(toolbox, name));
    }
    // A full name says which session: their names have no dots.
    if let Some((session, tool)) = name.split_once('.')
        && let Ok(session) = hub.find(session)
        && let Some(spec) = session.app_tool(tool)
    {
        return Ok((session, spec));
    }
    let named = named.or_else(|| own_page(toolbox, client, name));
    let route = Route { session: named, binding: client.binding.clone() };
    let session =
        hub.route_to_app(&route, name).map_err(|fault| with_names(toolbox, name, fault))?;
    let spec = session.app_tool(name).ok_or_else(|| {
        let message = format!("{} has no tool {:?}", session.name, shorten(name, 80));
        let tools = session.app_tools();
        let names: Vec<_> = tools.iter().take(20).map(|tool| tool.name.as_str()).collect();
        Fault::new(Code::UnknownTool, message).hint(format!("it offers {}", names.join(", ")))
    })?;
    Ok((session, spec))
}

/// The error of a name that nobody has.
pub(crate) fn unknown(toolbox: &Toolbox, name: &str) -> Fault {
    with_names(toolbox, name, Fault::new(Code::UnknownTool, "unknown"))
}

/// The page that was opened through the client's own link, however many others there are: where
/// its manifest's tools go, those that it declares itself go too.
fn own_page(toolbox: &Toolbox, client: &Client, tool: &str) -> Option<String> {
    if client.binding.is_some() {
        return None;
    }
    let own = toolbox.hub.of_instance(&toolbox.link_id(client))?;
    let can = own.is_connected() && own.app_tool(tool).is_some();
    can.then(|| own.name.to_string())
}

/// Adds to an unknown name what there is.
fn with_names(toolbox: &Toolbox, name: &str, fault: Fault) -> Fault {
    if fault.code != Code::UnknownTool {
        return fault;
    }
    let own = TOOLS.iter().map(|tool| tool.name.to_owned());
    let apps = list(toolbox).into_iter().map(|offered| offered.definition.name);
    let described = toolbox.manifests.list(&toolbox.hub).into_iter().map(|tool| tool.name);
    let names: Vec<String> = own.chain(apps).chain(described).collect();
    let nearest = names.iter().max_by(|one, other| {
        strsim::jaro_winkler(one, name).total_cmp(&strsim::jaro_winkler(other, name))
    });
    let nearest = nearest.map(|nearest| format!("the nearest there is: {nearest}"));
    let hint = [nearest, fault.hint].into_iter().flatten().collect::<Vec<_>>().join("; ");
    let hint = Some(hint).filter(|hint| !hint.is_empty());
    Fault { message: format!("there is no tool {:?}", shorten(name, 80)), hint, ..fault }
}

fn by_name(hub: &Hub) -> BTreeMap<String, Vec<Offer>> {
    let mut all: BTreeMap<String, Vec<Offer>> = BTreeMap::new();
    for session in hub.filtered(Session::is_listed) {
        for spec in session.app_tools() {
            all.entry(spec.name.clone()).or_default().push((session.clone(), spec));
        }
    }
    all
}

/// One entry for all: nobody's schema differs, and the name is not ours.
fn is_shared(toolbox: &Toolbox, name: &str, offers: &[Offer]) -> bool {
    let first = &offers[0].1.input_schema;
    !is_ours(toolbox, name) && offers.iter().all(|(_, spec)| spec.input_schema == *first)
}

/// Names of ours, listed or only accepted, and of pages: an app's tool of that name has its
/// session in front.
fn is_ours(toolbox: &Toolbox, name: &str) -> bool {
    TOOLS.iter().any(|tool| tool.name == name)
        || originals::find(name).is_some()
        || direct_pages::is_name(name)
        || toolbox.manifests.has(&toolbox.hub, name)
        || is_full(&toolbox.hub, name)
}

/// The name that says a session and its tool; one that would begin like those of pages has the
/// session's id.
fn full_name(session: &Session, tool: &str) -> String {
    let name = format!("{}.{tool}", session.name);
    if direct_pages::is_name(&name) { format!("{}.{tool}", session.id) } else { name }
}

/// Whether a name says a session and its tool: calling it goes there, whoever else has that name.
fn is_full(hub: &Hub, name: &str) -> bool {
    name.split_once('.').is_some_and(|(session, tool)| {
        hub.find(session).is_ok_and(|session| session.app_tool(tool).is_some())
    })
}

/// One entry of the list, for all that share it.
fn offer(name: String, offers: &[Offer]) -> Offered {
    let whose: BTreeSet<_> = offers.iter().map(|(session, _)| whose(session)).collect();
    let whose: Vec<_> = whose.into_iter().take(NAMED).collect();
    let definition = define(name, &whose.join(", "), &offers[0].1);
    Offered { whose: whose.into_iter().next().unwrap_or_default(), definition }
}

/// Whose word an app's is: its web origin, which the browser attests; of a program its name.
fn whose(session: &Session) -> String {
    match &session.origin {
        Some(origin) => page_text::address(origin).into_owned(),
        None => format!("the program {}", session.name),
    }
}

fn define(name: String, whose: &str, spec: &ToolSpec) -> Definition {
    Definition {
        title: spec.name.replace(['_', '-', '.'], " "),
        description: format!("(app of {whose}) {}", page_text::line(&spec.description)),
        input_schema: schema::declared(&spec.input_schema, &[("session", "string")]),
        output_schema: None,
        annotations: Annotations::reaching_pages(spec.read_only),
        name,
    }
}
