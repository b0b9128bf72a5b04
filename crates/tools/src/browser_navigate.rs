//! Tool `browser_navigate`: to where a page goes, and waiting until it is there.
//!
//! Without `action` it is `goto`. A browser that can only open tabs opens one for the first
//! address, and the answer says so.

use std::sync::Arc;

use hub::Session;
use model::{Code, Effect, Fault};
use serde_json::{Map, Value, json};

use crate::{
    Toolbox,
    action::{Action, CommandScope, act, read},
    answer, browser_tab,
    command_arguments::{Argument, flag, text, whole, word},
    commands::CommandCall,
    definition::{Client, CoreTool, Output, Work},
};

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool =
    CoreTool::of_commands("browser_navigate", "browse", DESCRIPTION, ARGUMENTS, ACTIONS, run)
        .aliases(&[("time", "timeMs")]);

const GOTO: &str = "browser_navigate";

const DESCRIPTION: &str =
    "Loads `url` (goto, the default; opens a tab if you have none). wait: until something is so.";

const ARGUMENTS: &[Argument] = &[
    text("url", "wait: part of it"),
    text("selector", "wait: CSS"),
    text("text", "wait: in the page"),
    word("state", "visible hidden attached", "of selector or text"),
    text("expression", "wait: is true"),
    whole("timeoutMs", "at most"),
    flag("ignoreCache", "reload: loads everything anew").unlisted(),
    flag("networkIdle", "wait: until nothing is loaded").unlisted(),
    whole("timeMs", "wait: so long").unlisted(),
    word("waitUntil", "load domcontentloaded networkidle", "goto: load if not given").unlisted(),
];

const ACTIONS: &[Action] = &[
    act("goto", GOTO, "url", "waitUntil='load' timeoutMs:1..")
        .at(CommandScope::Tab)
        .or_if(opens_only),
    act("reload", "browser_reload", "", "ignoreCache=false").at(CommandScope::Site),
    act("back", "browser_go_back", "", "").at(CommandScope::Tab),
    act("forward", "browser_go_forward", "", "").at(CommandScope::Tab),
    read(
        "wait",
        "browser_wait_for",
        "selector|text|url|expression|networkIdle|timeMs:0..",
        "state='visible' timeoutMs:0..=10000",
    ),
];

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let mut order = CommandCall::read(toolbox, client, &TOOL, args)?;
        if order.args.contains_key("expression") {
            // It waits for nobody, but an expression can do anything.
            order.effect = Effect::Add;
        }
        if order.action.command != GOTO {
            return order.run().await;
        }
        let session = order.find_session()?;
        match session.can(GOTO) {
            true => go(order, &session).await,
            false => open(order, &session).await,
        }
    })
}

fn opens_only(session: &Session) -> bool {
    session.can(browser_tab::NEW) && !session.can(GOTO)
}

/// Goes to an address in the client's tab; a client that has none there gets one.
async fn go(order: CommandCall<'_>, session: &Arc<Session>) -> Result<Output, Fault> {
    let client = &order.client.caller.client;
    let has_tab = order.tab.is_some() || session.known_tab(client, None).is_ok();
    if has_tab || !session.keeps_tabs_apart() {
        return order.run_in(session).await;
    }
    let opened = order.send(session, None, browser_tab::NEW, &Map::new()).await?;
    let Some(tab) = browser_tab::remember(&order, session, &opened) else {
        return Err(Fault::new(
            Code::MalformedReply,
            "the browser did not say which tab it opened",
        ));
    };
    let output = order.run_in_tab(session, Some(tab)).await?;
    Ok(Output { text: format!("opened tab {tab}: {}", output.text), ..output })
}

/// Goes to an address by opening a tab, where no tab is known that should go there instead.
async fn open(order: CommandCall<'_>, session: &Arc<Session>) -> Result<Output, Fault> {
    let known = order.tab.or_else(|| order.choose_tab(session).ok().flatten());
    if let Some(tab) = known {
        let message = format!("{} cannot load another address in tab {tab}", session.name);
        return Err(Fault::new(Code::Unsupported, message)
            .hint("browser_tab new opens it in a tab of its own"));
    }
    let url = order.args.get("url").cloned().unwrap_or_default();
    let args = Map::from_iter([("url".to_owned(), url)]);
    let result = order.send(session, None, browser_tab::NEW, &args).await?;
    let tab = browser_tab::remember(&order, session, &result);
    let mut output = answer::show(session, order.action, &result);
    let opened = tab.map_or_else(|| "a new tab".to_owned(), |tab| format!("tab {tab}"));
    output.text = format!("opened {opened} for it: {}", output.text);
    if let Some(fields) = output.structured.as_object_mut() {
        fields.insert("opened".to_owned(), json!(true));
    }
    Ok(output)
}
