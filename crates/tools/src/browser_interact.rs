//! Tool `browser_interact`: what a person does in a page with mouse and keys.

use serde_json::{Value, json};

use crate::{
    Toolbox,
    action::{self, Action, act},
    commands::Order,
    definition::{Client, CoreTool, Definition, Work},
};

/// The tool.
pub const TOOL: CoreTool = CoreTool {
    name: "browser_interact",
    define,
    aliases: &[("delay", "delayMs"), ("pressEnter", "submit")],
    actions: ACTIONS,
    run,
};

const ACTIONS: &[Action] = &[
    act(
        "click",
        "browser_mouse_click",
        "selector|ref|text|x+y",
        "button clickCount ctrl alt shift meta force",
    )
    .only(&[("button", "left middle right")]),
    act("move", "browser_mouse_move", "selector|ref|x+y", ""),
    act("hover", "browser_hover", "selector|ref", ""),
    act("type", "browser_type", "text", "selector ref delayMs submit clear"),
    act("press", "browser_keyboard_press", "key", "ctrl alt shift meta"),
    act("scroll", "browser_mouse_scroll", "", "deltaX deltaY selector ref direction")
        .only(&[("direction", "up down left right")]),
    act("select", "browser_select", "selector|ref value|label|index|values", ""),
    act("check", "browser_check", "selector|ref", "checked"),
    act("drag", "browser_drag", "selector|ref|x+y toSelector|toRef|toX+toY", ""),
    act("submit", "browser_submit", "", "selector ref"),
    act("upload", "browser_upload_file", "selector|ref files", ""),
];

fn define() -> Definition {
    let description = "Acts on the element at `ref` (from browser_snapshot) or `selector` (click: \
        also `text` or x, y). type: replaces what is there (`clear`: false adds). check: \
        `checked`: false unchecks. scroll: by delta or direction. drag: to toRef, toSelector or \
        toX, toY. Returns when the page is quiet, and says what changed.";
    action::define(
        &TOOL,
        "Interact",
        description,
        json!({
            "selector": {"type": "string"},
            "ref": {"type": "string"},
            "text": {"type": "string"},
            "x": {"type": "number"},
            "y": {"type": "number"},
            "button": {"type": "string"},
            "clickCount": {"type": "integer"},
            "delayMs": {"type": "integer"},
            "submit": {"type": "boolean"},
            "clear": {"type": "boolean"},
            "force": {"type": "boolean"},
            "toSelector": {"type": "string"},
            "toRef": {"type": "string"},
            "toX": {"type": "number"},
            "toY": {"type": "number"},
            "key": {"type": "string"},
            "ctrl": {"type": "boolean"},
            "alt": {"type": "boolean"},
            "shift": {"type": "boolean"},
            "meta": {"type": "boolean"},
            "deltaX": {"type": "number"},
            "deltaY": {"type": "number"},
            "direction": {"type": "string"},
            "value": {"type": "string"},
            "label": {"type": "string"},
            "index": {"type": "integer"},
            "values": {"type": "array", "items": {"type": "string"}},
            "checked": {"type": "boolean"},
            "files": {"type": "array", "items": {"type": "string"}},
        }),
    )
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move { Order::read(toolbox, client, &TOOL, args)?.run().await })
}
