//! Tool `browser_instance`: which browsers and apps there are.

use hub::{Session, SessionInfo};
use serde_json::{Value, json};

use crate::{
    Toolbox,
    definition::{Annotations, Client, CoreTool, Definition, Output, Work},
};

/// The tool.
pub const TOOL: CoreTool =
    CoreTool { name: "browser_instance", define, aliases: &[], actions: &[], run };

fn define() -> Definition {
    Definition {
        name: TOOL.name.to_owned(),
        title: "Browsers and apps".to_owned(),
        description: "Lists connected browsers and apps with the names that `session` takes."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"action": {"enum": ["list"]}},
            "additionalProperties": false,
        }),
        output_schema: Some(json!({
            "type": "object",
            "properties": {"sessions": {"type": "array", "items": {"type": "object", "properties": {
                "session": {"type": "string"},
                "id": {"type": "string"},
                "kind": {"enum": ["browser", "app"]},
                "connected": {"type": "boolean"},
                "origin": {"type": ["string", "null"]},
                "tools": {"type": "array", "items": {"type": "string"}},
                "tabs": {"type": "array", "items": {"type": "object"}},
            }}}},
            "required": ["sessions"],
        })),
        annotations: Annotations { read_only: true, idempotent: true, ..Annotations::default() },
    }
}

fn run<'a>(toolbox: &'a Toolbox, _: &'a Client, _: Value) -> Work<'a> {
    Box::pin(async move {
        let sessions: Vec<_> =
            toolbox.hub.sessions().iter().map(|session| Session::info(session)).collect();
        let text = match sessions.is_empty() {
            true => "no browser or app has connected yet".to_owned(),
            false => sessions.iter().map(line).collect::<Vec<_>>().join("\n"),
        };
        let list: Vec<_> = sessions.iter().map(show).collect();
        let structured = json!({ "sessions": list });
        Ok(Output { text, structured, images: Vec::new(), source: None })
    })
}

fn line(info: &SessionInfo) -> String {
    let away = if info.connected { "" } else { ", away" };
    let tools: Vec<_> = info.tools.iter().map(|tool| tool.name.as_str()).collect();
    let tools = if tools.is_empty() { String::new() } else { format!(": {}", tools.join(", ")) };
    let tabs = match info.tabs.len() {
        0 => String::new(),
        count => format!(", {count} tabs"),
    };
    format!("- {} ({}{away}{tabs}){tools}", info.name, info.kind.as_str())
}

/// Shows a session to a program, in this tool and wherever else an AI client meets it.
pub fn show(info: &SessionInfo) -> Value {
    let tools: Vec<_> = info.tools.iter().map(|tool| tool.name.as_str()).collect();
    let tabs: Vec<_> = info
        .tabs
        .iter()
        .map(|tab| json!({"tab": tab.id.0, "title": tab.title, "url": tab.url, "active": tab.active}))
        .collect();
    json!({
        "session": info.name,
        "id": info.id.as_str(),
        "kind": info.kind.as_str(),
        "connected": info.connected,
        "origin": info.origin,
        "tools": tools,
        "tabs": tabs,
    })
}
