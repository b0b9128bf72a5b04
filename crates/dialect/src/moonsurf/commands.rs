//! What Moonsurf's extension can do, and our arguments in its words.
//!
//! The command names are its own, so only arguments differ. What it has no word for is refused.

use model::{Code, Fault, Json, TabId};
use serde_json::{Map, Value, json};

use super::{NAME, results::Shape};
use crate::foreign::{self, args::Args};

/// Pixels that one step in a direction scrolls.
const STEP: i64 = 500;

/// Every command, with those of our arguments that it can be given.
const COMMANDS: &[(&str, &[&str])] = &[
    ("browser_tab_list", &[]),
    ("browser_tab_new", &["url"]),
    ("browser_tab_close", &[]),
    ("browser_tab_close_others", &[]),
    ("browser_tab_activate", &[]),
    ("browser_navigate", &["url", "waitUntil"]),
    ("browser_reload", &["ignoreCache"]),
    ("browser_go_back", &[]),
    ("browser_go_forward", &[]),
    ("browser_wait_for", &["selector", "text", "expression", "timeoutMs"]),
    ("browser_screenshot", &["format", "quality", "fullPage", "selector"]),
    ("browser_pdf", &["landscape", "printBackground", "scale", "paperWidth", "paperHeight"]),
    ("browser_get_content", &["selector", "format", "maxLength"]),
    ("browser_query_selector", &["selector"]),
    ("browser_get_attribute", &["selector", "attribute"]),
    ("browser_get_viewport_dom", &["maxElements", "includeHidden", "domDepth", "minSize"]),
    ("browser_mouse_click", &["selector", "text", "x", "y"]),
    ("browser_mouse_move", &["selector", "x", "y"]),
    ("browser_hover", &["selector"]),
    ("browser_type", &["selector", "text", "delayMs"]),
    ("browser_keyboard_press", &["key", "ctrl", "alt", "shift", "meta"]),
    ("browser_mouse_scroll", &["deltaX", "deltaY", "direction", "selector"]),
    ("browser_select", &["selector", "value", "label", "index", "values"]),
    ("browser_upload_file", &["selector", "files"]),
    ("browser_evaluate", &["expression", "awaitPromise"]),
    ("browser_get_cookies", &["urls"]),
    (
        "browser_set_cookie",
        &["name", "value", "url", "domain", "path", "secure", "httpOnly", "sameSite", "expires"],
    ),
    ("browser_clear_cookies", &["domain"]),
    ("browser_set_headers", &["headers"]),
    ("browser_intercept_requests", &["enabled", "patterns"]),
    ("browser_get_local_storage", &["key", "storageType"]),
    ("browser_set_local_storage", &["key", "value", "storageType"]),
    ("browser_clear_storage", &["storageType"]),
    ("browser_set_viewport", &["width", "height", "deviceScaleFactor", "mobile"]),
    ("browser_set_user_agent", &["userAgent", "platform"]),
    ("browser_set_geolocation", &["latitude", "longitude", "accuracy"]),
    ("browser_set_timezone", &["timezoneId"]),
    ("browser_emulate_device", &["device"]),
    ("browser_set_offline", &["offline"]),
    ("browser_throttle_network", &["preset", "downloadThroughput", "uploadThroughput", "latency"]),
    ("browser_handle_dialog", &["dialogAction", "promptText"]),
    ("browser_get_console_logs", &["level", "clear"]),
    ("browser_get_performance_metrics", &[]),
    ("browser_start_tracing", &["categories"]),
    ("browser_stop_tracing", &[]),
];

/// Returns the names of all commands.
pub fn names() -> Vec<&'static str> {
    COMMANDS.iter().map(|(name, _)| *name).collect()
}

/// Translates one command: its arguments on the wire, and what shape its result will have.
pub fn translate(
    name: &str,
    args: &Json,
    tab: Option<TabId>,
) -> Result<(Map<String, Value>, Option<Shape>), Fault> {
    let Some((name, takes)) = COMMANDS.iter().find(|(known, _)| *known == name) else {
        return Err(foreign::cannot(NAME, name, &names()));
    };
    let mut args = Args::of(args);
    leave_out(name, &mut args);
    if *name == "browser_wait_for" && args.has("timeMs") {
        return Err(Fault::new(Code::Unsupported, "moonsurf cannot wait for a time alone")
            .hint("it waits for selector, text or expression; the tool sleep waits for a time"));
    }
    args.only(NAME, name, takes)?;
    let longest = args.count("maxLength");
    reword(name, &mut args)?;
    name_tab(name, &mut args, tab)?;
    Ok((args.fields(), Shape::of(name, tab, longest)))
}

/// Leaves out what it does anyway, and what it never does but which changes nothing.
fn leave_out(name: &str, args: &mut Args) {
    match name {
        "browser_mouse_click" => {
            args.usual("button", "left");
            args.usual("clickCount", 1);
        }
        "browser_type" => args.usual("submit", false),
        // The call's own deadline says the same.
        "browser_navigate" => args.skip(&["timeoutMs"]),
        // A new tab always comes to the front; a query always answers with all elements.
        "browser_tab_new" => args.skip(&["active"]),
        "browser_query_selector" => args.skip(&["all"]),
        _ => {}
    }
}

fn reword(name: &str, args: &mut Args) -> Result<(), Fault> {
    match name {
        "browser_wait_for" => {
            let conditions = ["selector", "text", "expression"];
            if conditions.into_iter().filter(|name| args.has(name)).count() != 1 {
                return Err(Fault::new(Code::Unsupported, "moonsurf waits for one condition")
                    .hint("give exactly one of selector, text, expression"));
            }
            if let Some(text) = args.text("text") {
                let shown = "(document.body ? document.body.innerText : '')";
                args.put("expression", format!("{shown}.includes({})", json!(text)));
            }
            args.rename("timeoutMs", "timeout");
        }
        "browser_get_content" => args.only_values(NAME, "format", &["text", "html"])?,
        "browser_mouse_click" if args.has("text") => {
            if ["selector", "x", "y"].into_iter().any(|name| args.has(name)) {
                return Err(Fault::new(Code::Unsupported, "moonsurf finds what to click one way")
                    .hint("give one of selector, text, or x with y"));
            }
            let text = args.text("text").unwrap_or_default();
            args.put("selector", format!("text={text}"));
        }
        "browser_type" => {
            args.rename("delayMs", "delay");
            // Without one it types like a person, which outlasts any deadline with a long text.
            if !args.has("delay") {
                args.put("delay", 0);
            }
        }
        "browser_mouse_scroll" => scroll(args)?,
        "browser_select" => select(args)?,
        "browser_clear_storage" => args.rename("storageType", "type"),
        "browser_handle_dialog" => args.rename("dialogAction", "action"),
        _ => {}
    }
    Ok(())
}

fn scroll(args: &mut Args) -> Result<(), Fault> {
    args.only_values(NAME, "direction", &["up", "down", "left", "right"])?;
    let Some(direction) = args.text("direction") else { return Ok(()) };
    if args.has("deltaX") || args.has("deltaY") {
        return Err(Fault::new(Code::Unsupported, "a direction and distances exclude each other")
            .hint("give direction, or deltaX and deltaY"));
    }
    let (x, y) = match direction.as_str() {
        "up" => (0, -STEP),
        "down" => (0, STEP),
        "left" => (-STEP, 0),
        _ => (STEP, 0),
    };
    args.put("deltaX", x);
    args.put("deltaY", y);
    Ok(())
}

fn select(args: &mut Args) -> Result<(), Fault> {
    match args.take("values") {
        None => Ok(()),
        Some(Value::Array(values)) if values.len() == 1 && !args.has("value") => {
            args.put("value", values.into_iter().next().unwrap_or_default());
            Ok(())
        }
        Some(_) => Err(Fault::new(Code::Unsupported, "moonsurf selects one option at a time")
            .hint("give one of value, label, index")),
    }
}

fn name_tab(name: &str, args: &mut Args, tab: Option<TabId>) -> Result<(), Fault> {
    match name {
        "browser_tab_list" | "browser_tab_new" => {}
        // Without one it would close or show whatever is in front.
        "browser_tab_close" | "browser_tab_activate" => {
            args.put("tabId", foreign::tab_of(tab)?.0);
        }
        "browser_tab_close_others" => {
            if let Some(tab) = tab {
                args.put("keepTabId", tab.0);
            }
        }
        _ => {
            if let Some(tab) = tab {
                args.put("tabId", tab.0);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, args: Value, expected: Result<Value, &str>) {
        let translated = translate(name, &Json::of(&args), Some(TabId(7)))
            .map(|(fields, _)| Value::Object(fields))
            .map_err(|fault| fault.message);
        assert_eq!(translated, expected.map_err(str::to_owned), "{name} {args}");
    }

    #[test]
    fn arguments_get_its_words() {
        check("browser_tab_list", json!({}), Ok(json!({})));
        check(
            "browser_tab_new",
            json!({"url": "https://a.example", "active": true}),
            Ok(json!({"url": "https://a.example"})),
        );
        check("browser_tab_close_others", json!({}), Ok(json!({"keepTabId": 7})));
        check(
            "browser_wait_for",
            json!({"selector": "#a", "timeoutMs": 500}),
            Ok(json!({"selector": "#a", "timeout": 500, "tabId": 7})),
        );
        check(
            "browser_mouse_click",
            json!({"text": "Buy", "button": "left"}),
            Ok(json!({"selector": "text=Buy", "tabId": 7})),
        );
        check(
            "browser_type",
            json!({"text": "hi", "delayMs": 5}),
            Ok(json!({"text": "hi", "delay": 5, "tabId": 7})),
        );
        check(
            "browser_mouse_scroll",
            json!({"direction": "up"}),
            Ok(json!({"deltaX": 0, "deltaY": -500, "tabId": 7})),
        );
        check(
            "browser_select",
            json!({"selector": "#s", "values": ["a"]}),
            Ok(json!({"selector": "#s", "value": "a", "tabId": 7})),
        );
        check("browser_clear_storage", json!({"storageType": "all"}), {
            Ok(json!({"type": "all", "tabId": 7}))
        });
        check("browser_get_local_storage", json!({"storageType": "sessionStorage"}), {
            Ok(json!({"storageType": "sessionStorage", "tabId": 7}))
        });
        check("browser_handle_dialog", json!({"dialogAction": "accept"}), {
            Ok(json!({"action": "accept", "tabId": 7}))
        });
    }

    #[test]
    fn a_text_to_wait_for_cannot_escape_its_quotes() {
        let shown = "(document.body ? document.body.innerText : '')";
        check("browser_wait_for", json!({"text": "a\"b"}), {
            Ok(json!({"expression": format!("{shown}.includes(\"a\\\"b\")"), "tabId": 7}))
        });
    }

    #[test]
    fn what_it_has_no_word_for_is_refused() {
        check("browser_snapshot", json!({}), Err("moonsurf cannot do browser_snapshot"));
        check("browser_check", json!({}), Err("moonsurf cannot do browser_check"));
        check(
            "browser_mouse_click",
            json!({"ref": "e1"}),
            Err("moonsurf cannot take `ref` for browser_mouse_click"),
        );
        check(
            "browser_mouse_click",
            json!({"selector": "a", "clickCount": 2}),
            Err("moonsurf cannot take `clickCount: 2` for browser_mouse_click"),
        );
        check("browser_get_content", json!({"format": "markdown"}), {
            Err("moonsurf has no format \"markdown\"")
        });
        check("browser_wait_for", json!({"timeMs": 5}), {
            Err("moonsurf cannot wait for a time alone")
        });
        let closed = translate("browser_tab_close", &Json::of(&json!({})), None);
        assert_eq!(closed.map_err(|fault| fault.code).err(), Some(Code::UnknownTab));
    }
}
