//! Tool `browser_network`: requests, what becomes of them, cookies, web storage, downloads.

use model::{Code, Fault, Json};
use serde_json::{Map, Value, json};

use crate::{
    Toolbox,
    action::{Action, CommandScope, act, read},
    answer,
    command_arguments::{Argument, flag, number, records, text, text_map, texts, whole, word},
    command_results::{
        download_list::{DownloadList, DownloadReport},
        network::{AwaitedRequest, HeadersSet, MockList, RequestDetail, RequestList},
        site_data::{CookieList, CookieSet, CookiesCleared, Storage, StorageCleared, StorageSet},
    },
    commands::CommandCall,
    definition::{Client, CoreTool, Output, Work},
    downloads,
};

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool =
    CoreTool::of_commands("browser_network", "network", DESCRIPTION, ARGUMENTS, ACTIONS, run)
        .aliases(&[("type", "storageType"), ("downloadId", "id"), ("key", "name")]);

const COOKIES: &str = "browser_get_cookies";

const DESCRIPTION: &str = "wait: for a request to `url`. mock: answers it with `status` and `body`, or fails it; unmock: \
     ends that.";

const ARGUMENTS: &[Argument] = &[
    text("url", "part, *pattern* or /regex/"),
    text("id", "request or download"),
    whole("since", "cursor of the last list"),
    whole("status", "mock"),
    text("body", "mock"),
    flag("fail", "mock"),
    text_map("headers", "to send; mock: of the answer"),
    text("name", "cookie or key"),
    text("value", "to set"),
    word("storageType", "local session all", "which").also("localStorage sessionStorage"),
    whole("timeoutMs", "at most"),
    text("domain", "cookies of this domain").unlisted(),
    flag("enabled", "intercept: false lets all through").unlisted(),
    number("expires", "set_cookie: Unix seconds").unlisted(),
    flag("httpOnly", "set_cookie: not for scripts").unlisted(),
    whole("limit", "requests: at most, 100 if not given").unlisted(),
    whole("maxLength", "characters of a body or file").unlisted(),
    text("method", "only such requests").unlisted(),
    word("part", "headers body response", "request: only this").unlisted(),
    text("path", "set_cookie").unlisted(),
    records("patterns", "urlPattern resourceType", "intercept: what is blocked")
        .unlisted()
        .read_by("urlPatterns"),
    text("resourceType", "only such: document, xhr, fetch, …").unlisted(),
    text("sameSite", "set_cookie: Strict, Lax or None").unlisted(),
    flag("secure", "set_cookie: https only").unlisted(),
    word("state", "in_progress complete interrupted all", "downloads: only such").unlisted(),
    whole("times", "mock: so often, then no more").unlisted(),
    texts("urls", "get_cookies: for these addresses").unlisted(),
];

const ACTIONS: &[Action] = &[
    read(
        "requests",
        "browser_get_requests",
        "",
        "url resourceType method status:100..599 since:0..=0 limit:1..500=100",
    )
    .answers::<RequestList>(),
    read("request", "browser_get_request", "id", "part maxLength:1..1000000=8000")
        .answers::<RequestDetail>(),
    read("wait", "browser_wait_for_request", "url", "method since:0.. timeoutMs:0..=10000")
        .answers::<AwaitedRequest>(),
    act(
        "mock",
        "browser_mock_request",
        "url",
        "method resourceType status:200..599=200 body='' headers={} fail=false \
         times:1..1000000",
    )
    .answers::<MockList>(),
    act("unmock", "browser_unmock_requests", "", "url").answers::<MockList>(),
    act("intercept", "browser_intercept_requests", "enabled", "patterns=[]")
        .answers::<MockList>()
        .unlisted(),
    act("set_headers", "browser_set_headers", "headers", "").answers::<HeadersSet>(),
    read("get_cookies", COOKIES, "", "urls domain name")
        .answers::<CookieList>()
        .at(CommandScope::Site),
    act(
        "set_cookie",
        "browser_set_cookie",
        "name value",
        "url domain path secure httpOnly sameSite:Strict/Lax/None expires:0..",
    )
    .answers::<CookieSet>()
    .at(CommandScope::Site),
    act("clear_cookies", "browser_clear_cookies", "", "domain name")
        .answers::<CookiesCleared>()
        .at(CommandScope::Site),
    read(
        "get_storage",
        "browser_get_local_storage",
        "",
        "name>key storageType:local*/session*/localStorage/sessionStorage='localStorage'",
    )
    .answers::<Storage>(),
    act(
        "set_storage",
        "browser_set_local_storage",
        "name>key value",
        "storageType:local*/session*/localStorage/sessionStorage='localStorage'",
    )
    .answers::<StorageSet>(),
    act(
        "clear_storage",
        "browser_clear_storage",
        "",
        "storageType:local*/session*/all/localStorage/sessionStorage='localStorage'",
    )
    .answers::<StorageCleared>(),
    read("downloads", downloads::LIST, "", "state='all'")
        .answers::<DownloadList>()
        .at(CommandScope::Browser),
    read("download_wait", downloads::WAIT, "", "id timeoutMs:1..=60000")
        .answers::<DownloadReport>()
        .at(CommandScope::Browser),
    read("download_read", downloads::READ, "id", "maxLength")
        .at(CommandScope::HubAlone)
        .or_if(downloads::can_be_read),
];

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let mut order = CommandCall::read(toolbox, client, &TOOL, args)?;
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
async fn masked_cookies(order: &CommandCall<'_>) -> Result<Output, Fault> {
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

/// Spells out which storage is meant.
fn name_storage(args: &mut Map<String, Value>) {
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
