//! Tool `browser_network`: requests, what becomes of them, cookies, web storage, downloads.

use model::{Code, Fault, Json};
use serde_json::{Map, Value, json};

use crate::{
    Toolbox,
    action::{self, Action, TabUse, act, read},
    answer,
    commands::Order,
    definition::{Client, CoreTool, Definition, Output, Work},
    downloads,
};

/// The tool.
pub const TOOL: CoreTool = CoreTool {
    name: "browser_network",
    define,
    aliases: &[("type", "storageType"), ("downloadId", "id"), ("key", "name")],
    actions: ACTIONS,
    run,
};

const COOKIES: &str = "browser_get_cookies";

/// Only clearing can mean both storages.
const STORAGES: &[(&str, &str)] = &[("storageType", "local session localStorage sessionStorage")];

const ACTIONS: &[Action] = &[
    read("requests", "browser_get_requests", "", "url resourceType method status since limit"),
    read("request", "browser_get_request", "id", "part maxLength"),
    read("wait", "browser_wait_for_request", "url", "method since timeoutMs"),
    act(
        "mock",
        "browser_mock_request",
        "url",
        "method resourceType status body headers fail times",
    ),
    act("unmock", "browser_unmock_requests", "", "url"),
    act("intercept", "browser_intercept_requests", "enabled", "patterns").unlisted(),
    act("set_headers", "browser_set_headers", "headers", ""),
    read("get_cookies", COOKIES, "", "urls domain name"),
    act(
        "set_cookie",
        "browser_set_cookie",
        "name value",
        "url domain path secure httpOnly sameSite expires",
    )
    .only(&[("sameSite", "Strict Lax None")]),
    act("clear_cookies", "browser_clear_cookies", "", "domain name"),
    read("get_storage", "browser_get_local_storage", "", "name storageType").only(STORAGES),
    act("set_storage", "browser_set_local_storage", "name value", "storageType").only(STORAGES),
    act("clear_storage", "browser_clear_storage", "", "storageType"),
    read("downloads", downloads::LIST, "", "state").tab(TabUse::Never),
    read("download_wait", downloads::WAIT, "", "id timeoutMs").tab(TabUse::Never),
    read("download_read", downloads::READ, "id", "maxLength")
        .tab(TabUse::Never)
        .or_if(downloads::can_be_read),
];

fn define() -> Definition {
    action::define(
        &TOOL,
        "wait: for a request to `url`. mock: answers it with `status` and `body`, or fails it; \
            unmock: ends that.",
        json!({
            "url": {"type": "string", "description": "part, *pattern* or /regex/"},
            "id": {"type": "string", "description": "request or download"},
            "since": {"type": "integer", "description": "cursor of the last list"},
            "status": {"type": "integer", "description": "mock"},
            "body": {"type": "string", "description": "mock"},
            "fail": {"type": "boolean", "description": "mock"},
            "headers": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "to send; mock: of the answer",
            },
            "name": {"type": "string", "description": "cookie or key"},
            "value": {"type": "string", "description": "to set"},
            "storageType": {
                "enum": ["local", "session", "all"],
                "also": ["localStorage", "sessionStorage"],
                "description": "which",
            },
            "timeoutMs": {"type": "integer", "description": "at most"},
        }),
        json!({
            "domain": {"type": "string", "description": "cookies of this domain"},
            "enabled": {"type": "boolean", "description": "intercept: false lets all through"},
            "expires": {"type": "number", "description": "set_cookie: Unix seconds"},
            "httpOnly": {"type": "boolean", "description": "set_cookie: not for scripts"},
            "limit": {"type": "integer", "description": "requests: at most, 100 if not given"},
            "maxLength": {"type": "integer", "description": "characters of a body or file"},
            "method": {"type": "string", "description": "only such requests"},
            "part": {
                "enum": ["headers", "body", "response"],
                "description": "request: only this",
            },
            "path": {"type": "string", "description": "set_cookie"},
            "patterns": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "urlPattern": {"type": "string"},
                        "resourceType": {"type": "string"},
                    },
                },
                "description": "intercept: what is blocked",
            },
            "resourceType": {"type": "string", "description": "only such: document, xhr, fetch, …"},
            "sameSite": {"type": "string", "description": "set_cookie: Strict, Lax or None"},
            "secure": {"type": "boolean", "description": "set_cookie: https only"},
            "state": {
                "enum": ["in_progress", "complete", "interrupted", "all"],
                "description": "downloads: only such",
            },
            "times": {"type": "integer", "description": "mock: so often, then no more"},
            "urls": {
                "type": "array",
                "items": {"type": "string"},
                "description": "get_cookies: for these addresses",
            },
        }),
    )
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let mut order = Order::read(toolbox, client, &TOOL, args)?;
        if order.action.name.starts_with("download") {
            return downloads::run(order).await;
        }
        if order.action.name.ends_with("_storage") {
            name_storage(&mut order.args);
        }
        if order.action.command == COOKIES && toolbox.hub.is_read_only() {
            return masked_cookies(&order).await;
        }
        order.run().await
    })
}

/// Reads cookies where looking is all that is allowed: what logs somebody in stays hidden. A
/// browser knows its own user's limits, but not the hub's.
async fn masked_cookies(order: &Order<'_>) -> Result<Output, Fault> {
    let session = order.find_session()?;
    let tab = order.choose_tab(&session)?;
    let result = order.send(&session, tab, COOKIES, &order.args).await?;
    let mut result = result.to_value().unwrap_or_default();
    if !mask(&mut result) {
        let message = format!("{} tells its cookies in a way that hides nothing", session.name);
        return Err(Fault::new(Code::Refused, message)
            .hint("an operator can start the hub without --read-only"));
    }
    Ok(answer::show(&session, order.action, &Json::of(&result)))
}

/// Masks the cookies that scripts cannot see; returns whether there is a list of cookies at all.
fn mask(result: &mut Value) -> bool {
    let list = match result {
        Value::Array(list) => Some(list),
        Value::Object(fields) => fields.get_mut("cookies").and_then(Value::as_array_mut),
        _ => None,
    };
    let Some(list) = list else { return false };
    for cookie in list {
        match cookie.as_object_mut() {
            Some(fields) if fields.get("httpOnly") == Some(&json!(false)) => {}
            Some(fields) => drop(fields.insert("value".to_owned(), json!("•••"))),
            None => *cookie = json!("•••"),
        }
    }
    true
}

/// Gives what concerns storage the words of the commands.
fn name_storage(args: &mut Map<String, Value>) {
    if let Some(name) = args.remove("name") {
        args.insert("key".to_owned(), name);
    }
    let long = match args.get("storageType").and_then(Value::as_str) {
        Some("local") => "localStorage",
        Some("session") => "sessionStorage",
        _ => return,
    };
    args.insert("storageType".to_owned(), json!(long));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_logs_somebody_in_is_masked_in_every_shape() {
        let seen = json!({"name": "a", "value": "1", "httpOnly": false});
        let (own, foreign) = (json!({"name": "b", "value": "2", "httpOnly": true}), json!("c=3"));
        let cookies = json!([seen, own, foreign]);
        let masked = json!([seen, {"name": "b", "value": "•••", "httpOnly": true}, "•••"]);
        for (mut result, expected) in [
            (cookies.clone(), masked.clone()),
            (json!({"cookies": cookies}), json!({"cookies": masked})),
        ] {
            assert!(mask(&mut result));
            assert_eq!(result, expected);
        }
        for mut odd in [json!("b=2"), json!(7), Value::Null, json!({"b": "2"})] {
            assert!(!mask(&mut odd), "{odd}");
        }
    }
}
