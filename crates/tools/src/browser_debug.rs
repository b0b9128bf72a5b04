//! Tool `browser_debug`: dialogs, the console, performance.
//!
//! A browser that tells what its pages log, as it happens, is not asked for it: the session's feed
//! has the newest lines.

use hub::Session;
use model::{Sequence, page_text, record::LogEntry};
use serde_json::{Value, json};

use crate::{
    Toolbox,
    action::{Action, CommandScope, act, add, read},
    answer,
    command_arguments::{Argument, flag, text, texts, word},
    command_results::{measurements::Measurements, page_errors::PageErrors},
    commands::{self, CommandCall},
    definition::{Client, CoreTool, Output, Source, Work},
};

/// Console lines that one answer shows, where they come from the feed.
const LINES: usize = 50;

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool =
    CoreTool::of_commands("browser_debug", "debug", DESCRIPTION, ARGUMENTS, ACTIONS, run);

const CONSOLE: &str = "browser_get_console_logs";

const DESCRIPTION: &str = "errors: what went wrong, in short. performance: timings.";

const ARGUMENTS: &[Argument] = &[
    word("dialogAction", "accept dismiss", "of the open dialog"),
    text("promptText", "answer to a prompt"),
    word("level", "log info warning error all", "console").also("debug"),
    flag("clear", "console: forgets what it has told").unlisted(),
    texts("categories", "trace_start: Chrome's names of what to trace").unlisted(),
];

const ACTIONS: &[Action] = &[
    // An open dialog holds up its tab, so its answer must pass by what waits there.
    add("dialog", "browser_handle_dialog", "dialogAction", "promptText")
        .at(CommandScope::Site)
        .answers_dialog(),
    read("console", CONSOLE, "", "level='all' clear=false").or_if(tells_console),
    read("errors", "browser_get_errors", "", "").answers::<PageErrors>(),
    read("performance", "browser_get_performance_metrics", "", "").answers::<Measurements>(),
    act("trace_start", "browser_start_tracing", "", "categories=[]").tells_nothing(),
    act("trace_stop", "browser_stop_tracing", "", "").tells_nothing(),
];

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let order = CommandCall::read(toolbox, client, &TOOL, args)?;
        if order.action.command != CONSOLE {
            return order.run().await;
        }
        let session = order.find_session()?;
        match session.can(CONSOLE) {
            true => order.run_in(&session).await,
            false => Ok(from_feed(&order, &session)),
        }
    })
}

fn tells_console(session: &Session) -> bool {
    commands::has_capability(session, "console_events")
}

/// The newest console lines that the session was told.
fn from_feed(order: &CommandCall<'_>, session: &Session) -> Output {
    let level = order.args.get("level").and_then(Value::as_str).filter(|level| *level != "all");
    let (_, entries) = session.feed_after(Sequence(0), usize::MAX);
    let mut fitting: Vec<Value> = entries
        .iter()
        .filter(|entry| entry.kind == "event" && entry.name == "console")
        .map(line)
        .filter(|line| level.is_none_or(|level| line["level"] == level) && is_in(order, line))
        .collect();
    let older = fitting.len().saturating_sub(LINES);
    let logs = fitting.split_off(older);
    let mut lines: Vec<_> = logs.iter().map(show).collect();
    if older > 0 {
        lines.insert(0, format!("({older} older ones are not shown)"));
    }
    if lines.is_empty() {
        lines.push("the console has said nothing that fits".to_owned());
    }
    if order.args.get("clear") == Some(&json!(true)) {
        lines.push("(nothing is cleared: these are kept as events)".to_owned());
    }
    let structured = json!({"logs": logs, "count": logs.len(), "older": older});
    answer::limited(order.action, lines.join("\n"), structured, Some(Source::of(session)))
}

/// One line of the console; what is not an object is its text.
fn line(entry: &LogEntry) -> Value {
    let mut line = match serde_json::from_str(&entry.body) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        Ok(Value::String(text)) => json!({ "text": text }),
        _ => json!({"text": entry.body}),
    };
    // In the tool's words: what the line says, else how bad the event is.
    line["level"] = json!(match (line["level"].as_str(), entry.level) {
        (Some("warn"), _) | (None, 1) => "warning",
        (Some(level), _) => level,
        (None, 0) => "info",
        (None, _) => "error",
    });
    if line["timestamp"].is_null() {
        line["timestamp"] = json!(entry.at_ms);
    }
    line
}

/// Whether a line comes from the wanted tab; one that does not say where from fits all.
fn is_in(order: &CommandCall<'_>, line: &Value) -> bool {
    match (order.tab, line["tabId"].as_u64()) {
        (Some(wanted), Some(tab)) => wanted.0 == tab,
        _ => true,
    }
}

fn show(line: &Value) -> String {
    let level = page_text::word(line["level"].as_str().unwrap_or_default());
    let text = ["message", "text"].into_iter().find_map(|name| line[name].as_str());
    match text {
        Some(text) => format!("[{level}] {}", page_text::exact(text)),
        None => format!("[{level}] {}", page_text::json(&line.to_string())),
    }
}
