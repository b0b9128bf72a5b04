//! Tool `browser_tab`: the tabs of a browser; `list` without `session` covers all browsers.
//!
//! Where a browser tells its tabs by itself, the hub knows them and nobody is asked.

use std::sync::Arc;

use hub::{Session, tabs::Holder};
use model::{ClientId, Fault, Json, Tab, TabId, page_text};
use serde_json::{Value, json};

use crate::{
    Toolbox,
    action::{self, Action, CommandScope, act, add, read},
    answer,
    command_arguments::{Argument, flag, text},
    command_results::action_report::TabAddress,
    commands::{self, CommandCall},
    definition::{Client, CoreTool, Output, Source, Work},
};

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool =
    CoreTool::of_commands("browser_tab", "browse", DESCRIPTION, ARGUMENTS, ACTIONS, run)
        .aliases(&[("keepTabId", "tab")]);

/// The command that opens a tab.
pub(crate) const NEW: &str = "browser_tab_new";
const LIST: &str = "browser_tab_list";
/// What the hub does by itself.
const RELEASE: &str = "browser_tab_release";
const HAND_OVER: &str = "browser_tab_hand_over";

const DESCRIPTION: &str = "`tab` everywhere: else your last one. A tab you open or act in is yours until you release it \
     or hand it over.";

const ARGUMENTS: &[Argument] = &[
    text("url", "to open"),
    text("to", "client's name"),
    flag("active", "new: true brings it to the front").unlisted(),
];

const ACTIONS: &[Action] = &[
    read("list", LIST, "", "").at(CommandScope::HubAlone).or_if(Session::tells_tabs),
    add("new", NEW, "", "url active=false").answers::<TabAddress>().at(CommandScope::Browser),
    act("close", "browser_tab_close", "", "").tells_nothing().at(CommandScope::Tab).wants_tab(),
    act("close_others", "browser_tab_close_others", "", "")
        .tells_nothing()
        .at(CommandScope::Tab)
        .unlisted(),
    act("activate", "browser_tab_activate", "", "")
        .tells_nothing()
        .at(CommandScope::Tab)
        .wants_tab(),
    read("release", RELEASE, "", "")
        .at(CommandScope::Hub)
        .wants_tab()
        .or_if(Session::keeps_tabs_apart),
    read("hand_over", HAND_OVER, "to", "")
        .at(CommandScope::Hub)
        .wants_tab()
        .or_if(Session::keeps_tabs_apart),
];

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let order = CommandCall::read(toolbox, client, &TOOL, args)?;
        match order.action.command {
            LIST => list(order).await,
            NEW => open(order).await,
            RELEASE | HAND_OVER => pass_on(&order),
            _ => order.run().await,
        }
    })
}

async fn open(order: CommandCall<'_>) -> Result<Output, Fault> {
    let session = order.find_session()?;
    let result = order.send(&session, None, NEW, &order.args).await?;
    remember(&order, &session, &result);
    Ok(answer::show(&session, order.action, &result))
}

/// Makes a tab that was just opened the client's own and its last one, where the hub keeps that.
pub(crate) fn remember(order: &CommandCall<'_>, session: &Session, result: &Json) -> Option<TabId> {
    let result = result.to_value().ok()?;
    let tab = TabId(number(&result)?);
    session.tab_opened(&order.client.caller, tab);
    Some(tab)
}

/// Lets go of the client's tab, or offers it to another; the browser is only told.
fn pass_on(order: &CommandCall<'_>) -> Result<Output, Fault> {
    let session = order.find_session()?;
    let caller = &order.client.caller;
    let Some(tab) = order.choose_tab(&session)? else {
        return Err(action::invalid("a tab must be named as `tab`".to_owned()));
    };
    let to = order.args.get("to").and_then(Value::as_str).map(str::trim);
    let fits =
        |to: &str| (1..=ClientId::LONGEST).contains(&to.len()) && !to.contains(char::is_control);
    if to.is_some_and(|to| !fits(to)) {
        return Err(action::invalid("`to` is the name or id of a client".to_owned()));
    }
    let text = match to {
        Some(to) => {
            session.hand_over_tab(&caller.client, tab, to)?;
            format!(
                "tab {tab} is kept for {}; it has it as soon as it uses it",
                page_text::quoted(to)
            )
        }
        None => {
            session.release_tab(&caller.client, tab)?;
            format!("tab {tab} is free")
        }
    };
    let structured = json!({"tab": tab.0, "to": to});
    Ok(Output { text, structured, ..Output::default() })
}

/// The tabs of one browser, or why they are not known.
type Told = (Arc<Session>, Result<Vec<Tab>, Fault>);

async fn list(order: CommandCall<'_>) -> Result<Output, Fault> {
    let sessions = match order.session {
        Some(_) => vec![order.find_session()?],
        None => {
            let able = order.toolbox.hub.filtered(|session| order.action.fits(session));
            able.into_iter().filter(|session| session.is_connected()).collect()
        }
    };
    if sessions.is_empty() {
        return Err(order.nobody());
    }
    let (telling, asked): (Vec<_>, Vec<_>) =
        sessions.into_iter().partition(|session| session.is_connected() && session.tells_tabs());
    let mut told: Vec<Told> =
        telling.into_iter().map(|session| (session.clone(), Ok(session.info().tabs))).collect();
    let request =
        |session: &Arc<Session>| (session.clone(), order.request(None, LIST, &order.args));
    let answers = commands::ask_all(&order.toolbox.hub, asked.iter().map(request).collect()).await;
    for (session, answer) in asked.into_iter().zip(answers) {
        told.push((session, answer.and_then(commands::result).map(|result| tabs(&result))));
    }
    match told.as_slice() {
        // With one browser alone, its error is the answer.
        [(_, Err(fault))] => Err(fault.clone()),
        _ => Ok(show(order.action, &order.client.caller.client, told)),
    }
}

fn show(action: &Action, client: &ClientId, mut told: Vec<Told>) -> Output {
    told.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
    let (mut lines, mut listed, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (session, tabs) in &told {
        let name = &*session.name;
        match tabs {
            Ok(tabs) if tabs.is_empty() => lines.push(format!("{name}: no tabs")),
            Ok(tabs) => {
                lines.push(format!("{name}:"));
                lines.extend(tabs.iter().map(|tab| line(tab, whose(session, tab, client))));
            }
            Err(fault) => lines.push(format!("{name}: {fault}")),
        }
        if let hidden @ 1.. = session.hidden_tabs() {
            lines.push(format!("{name}: {}", not_shown(hidden)));
        }
        match tabs {
            Ok(tabs) => listed.extend(tabs.iter().map(|tab| entry(session, tab, client))),
            Err(fault) => failed.push(json!({"session": name, "error": fault.to_string()})),
        }
    }
    let mut structured = json!({ "tabs": listed });
    if !failed.is_empty() {
        structured["failed"] = json!(failed);
    }
    let source = match told.as_slice() {
        [(only, _)] => Some(Source::of(only)),
        _ => None,
    };
    answer::limited(action, lines.join("\n"), structured, source)
}

/// Says that there are tabs which the user keeps to themselves, and how they show them.
fn not_shown(hidden: u64) -> String {
    let tabs = if hidden == 1 { "tab" } else { "tabs" };
    format!(
        "{hidden} more {tabs} of the user's own, not shown; the user can give you one in the \
         extension's window, or show all in its options"
    )
}

fn line(tab: &Tab, whose: Option<String>) -> String {
    let active = if tab.active { " (active)" } else { "" };
    let whose = whose.map(|whose| format!(" [{}]", page_text::line(&whose))).unwrap_or_default();
    let (title, url) = (page_text::quoted(&tab.title), page_text::address(&tab.url));
    format!("- {} {title} {url}{active}{whose}", tab.id)
}

/// Says whose a tab is, where it is anybody's.
fn whose(session: &Session, tab: &Tab, client: &ClientId) -> Option<String> {
    Some(match session.holder(tab.id)? {
        Holder::Client { id, .. } if id == *client => "yours".to_owned(),
        Holder::Client { name, .. } => format!("of {name}"),
        Holder::Offered { to, .. } => format!("kept for {to}"),
        Holder::User => "taken back by the user".to_owned(),
    })
}

fn entry(session: &Session, tab: &Tab, client: &ClientId) -> Value {
    let Tab { id, title, url, active } = tab;
    let name = &*session.name;
    let mut entry =
        json!({"session": name, "tab": id.0, "title": title, "url": url, "active": active});
    if let Some(whose) = whose(session, tab, client) {
        entry["owner"] = json!(whose);
    }
    entry
}

/// Reads the tabs out of a browser's answer, whatever it calls their numbers.
fn tabs(result: &Json) -> Vec<Tab> {
    let value = result.to_value().unwrap_or_default();
    let list = value.as_array().or_else(|| value["tabs"].as_array());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tab = |value: &Value| {
        Some(Tab {
            id: TabId(number(value)?),
            title: text(&value["title"]),
            url: text(&value["url"]),
            active: value["active"].as_bool().unwrap_or_default(),
        })
    };
    list.into_iter().flatten().filter_map(tab).collect()
}

fn number(value: &Value) -> Option<u64> {
    ["tab", "tabId", "id"].into_iter().find_map(|name| value[name].as_u64())
}
