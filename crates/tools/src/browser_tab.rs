//! Tool `browser_tab`: the tabs of a browser; `list` without `session` covers all browsers.
//!
//! Where a browser tells its tabs by itself, the hub knows them and nobody is asked.

use std::sync::Arc;

use hub::Session;
use model::{Fault, Json, Tab, TabId};
use serde_json::{Value, json};

use crate::{
    Toolbox,
    action::{self, Action, TabUse, act, add, read},
    answer,
    commands::{self, Order},
    definition::{Client, CoreTool, Definition, Output, Source, Work},
};

/// The tool.
pub const TOOL: CoreTool = CoreTool {
    name: "browser_tab",
    define,
    aliases: &[("keepTabId", "tab")],
    actions: ACTIONS,
    run,
};

/// The command that opens a tab.
pub(crate) const NEW: &str = "browser_tab_new";
const LIST: &str = "browser_tab_list";

const ACTIONS: &[Action] = &[
    read("list", LIST, "", "").tab(TabUse::Never).or_if(commands::tells_tabs),
    add("new", NEW, "", "url active").tab(TabUse::Never),
    act("close", "browser_tab_close", "", "").tab(TabUse::Wanted),
    act("close_others", "browser_tab_close_others", "", ""),
    act("activate", "browser_tab_activate", "", "").tab(TabUse::Wanted),
];

fn define() -> Definition {
    action::define(
        &TOOL,
        "Tabs",
        "Tabs. new: opens `url`, in front if `active`.",
        json!({"url": {"type": "string"}, "active": {"type": "boolean"}}),
    )
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let order = Order::read(toolbox, client, &TOOL, args)?;
        match order.action.command {
            LIST => list(order).await,
            NEW => open(order).await,
            _ => order.run().await,
        }
    })
}

async fn open(order: Order<'_>) -> Result<Output, Fault> {
    order.toolbox.check_address(order.args.get("url"))?;
    let session = order.find_session()?;
    let result = order.send(&session, None, NEW, &order.args).await?;
    remember(&order, &session, &result);
    Ok(answer::show(&session, order.action, &result))
}

/// Makes a tab that was just opened the client's last one, where the hub knows it.
pub(crate) fn remember(order: &Order<'_>, session: &Session, result: &Json) -> Option<TabId> {
    let result = result.to_value().ok()?;
    let tab = TabId(number(&result)?);
    // A browser that does not tell its tabs keeps one for the client by itself.
    let _ = session.choose_tab(&order.client.caller.client, Some(tab));
    Some(tab)
}

/// The tabs of one browser, or why they are not known.
type Told = (Arc<Session>, Result<Vec<Tab>, Fault>);

async fn list(order: Order<'_>) -> Result<Output, Fault> {
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
    let (telling, asked): (Vec<_>, Vec<_>) = sessions
        .into_iter()
        .partition(|session| session.is_connected() && commands::tells_tabs(session));
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
        _ => Ok(show(order.action, told)),
    }
}

fn show(action: &Action, mut told: Vec<Told>) -> Output {
    told.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
    let (mut lines, mut listed, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (session, tabs) in &told {
        let name = &*session.name;
        match tabs {
            Ok(tabs) if tabs.is_empty() => lines.push(format!("{name}: no tabs")),
            Ok(tabs) => {
                lines.push(format!("{name}:"));
                lines.extend(tabs.iter().map(line));
            }
            Err(fault) => lines.push(format!("{name}: {fault}")),
        }
        match tabs {
            Ok(tabs) => listed.extend(tabs.iter().map(|tab| entry(name, tab))),
            Err(fault) => failed.push(json!({"session": name, "error": fault.to_string()})),
        }
    }
    let mut structured = json!({ "tabs": listed });
    if !failed.is_empty() {
        structured["failed"] = json!(failed);
    }
    let source = match told.as_slice() {
        [(only, _)] => Some(Source { session: only.name.to_string(), origin: only.origin.clone() }),
        _ => None,
    };
    answer::limited(action, lines.join("\n"), structured, source)
}

fn line(tab: &Tab) -> String {
    let active = if tab.active { " (active)" } else { "" };
    format!("- {} {:?} {}{active}", tab.id, tab.title, tab.url)
}

fn entry(session: &str, tab: &Tab) -> Value {
    let Tab { id, title, url, active } = tab;
    json!({"session": session, "tab": id.0, "title": title, "url": url, "active": active})
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
