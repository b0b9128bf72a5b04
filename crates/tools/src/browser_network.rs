//! Tool `browser_network`: cookies, storage, headers, and which requests get through.

use serde_json::{Value, json};

use crate::{
    Toolbox,
    action::{self, Action, act, read},
    commands::Order,
    definition::{Client, CoreTool, Definition, Work},
};

/// The tool.
pub const TOOL: CoreTool = CoreTool {
    name: "browser_network",
    define,
    aliases: &[("type", "storageType")],
    actions: ACTIONS,
    run,
};

/// Only clearing can mean both storages.
const STORAGES: &[(&str, &str)] = &[("storageType", "localStorage sessionStorage")];

const ACTIONS: &[Action] = &[
    read("get_cookies", "browser_get_cookies", "", "urls"),
    act(
        "set_cookie",
        "browser_set_cookie",
        "name value",
        "url domain path secure httpOnly sameSite expires",
    )
    .only(&[("sameSite", "Strict Lax None")]),
    act("clear_cookies", "browser_clear_cookies", "", "domain"),
    act("set_headers", "browser_set_headers", "headers", ""),
    act("intercept", "browser_intercept_requests", "enabled", "patterns"),
    read("get_storage", "browser_get_local_storage", "", "key storageType").only(STORAGES),
    act("set_storage", "browser_set_local_storage", "key value", "storageType").only(STORAGES),
    act("clear_storage", "browser_clear_storage", "", "storageType"),
];

fn define() -> Definition {
    action::define(
        &TOOL,
        "Network",
        "Cookies, headers, request blocking, web storage.",
        json!({
            "urls": {"type": "array", "items": {"type": "string"}},
            "name": {"type": "string"},
            "value": {"type": "string"},
            "url": {"type": "string"},
            "domain": {"type": "string"},
            "path": {"type": "string"},
            "secure": {"type": "boolean"},
            "httpOnly": {"type": "boolean"},
            "sameSite": {"type": "string"},
            "expires": {"type": "number"},
            "headers": {"type": "object"},
            "enabled": {"type": "boolean"},
            "patterns": {"type": "array", "items": {"type": "object"}},
            "key": {"type": "string"},
            "storageType": {"enum": ["localStorage", "sessionStorage", "all"]},
        }),
    )
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move { Order::read(toolbox, client, &TOOL, args)?.run().await })
}
