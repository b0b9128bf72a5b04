//! What the extension of mcp-browser can do, and our commands in its words.
//!
//! It works in one tab, on elements that it finds by selector or XPath. Most commands are
//! `dom_command`s, which the page's content script carries out.

use model::{Code, Fault, Target, Work};
use serde_json::{Map, Value, json};

use super::CALLED;
use crate::foreign::{self, args::Args};

/// The commands that it can do.
pub const NAMES: &[&str] = &[
    "browser_tab_list",
    "browser_navigate",
    "browser_wait_for",
    "browser_screenshot",
    "browser_get_content",
    "browser_query_selector",
    "browser_mouse_click",
    "browser_type",
    "browser_mouse_scroll",
    "browser_select",
    "browser_check",
    "browser_submit",
    "browser_evaluate",
];

/// Pixels that one step to the side scrolls; the client's own steps up and down are as long.
const STEP: f64 = 500.0;

/// How a command is carried out.
#[derive(Debug)]
pub enum Plan {
    /// One message that is answered by its id.
    Request {
        /// The `type` of its message.
        wire: &'static str,
        /// Its other fields, without the id.
        fields: Map<String, Value>,
        /// What its answer is.
        shape: Shape,
    },
    /// A navigation, which must be watched.
    Navigate(String),
    /// A scroll in a direction, which is not answered.
    Scroll(Value),
    /// A question about the tab.
    TabInfo,
}

/// What an answer is, where that is more than data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The result as it came.
    Plain,
    /// A text, of which at most so many characters are wanted.
    Content(Option<usize>),
    /// Where a page is scrolled to, as JSON in a text.
    Place,
    /// What a script gave, an object as JSON in a text.
    Value,
}

/// Makes a script give objects as JSON: the client turns whatever it gets into a text.
fn whole(expression: &Value) -> String {
    format!(
        "(value => typeof value === 'object' && value !== null ? JSON.stringify(value) : value)\
         ((0, eval)({expression}))"
    )
}

/// Plans a piece of work.
pub fn plan(work: &Work) -> Result<Plan, Fault> {
    let Work::Tool { target: Target::Command, name, args } = work else {
        return Err(foreign::cannot(CALLED, foreign::name_of(work), NAMES));
    };
    let mut args = Args::of(args);
    match name.as_str() {
        "browser_tab_list" => Ok(Plan::TabInfo),
        "browser_navigate" => {
            // It is watched until the page has loaded; the earlier moment is over by then.
            args.only_values(CALLED, "waitUntil", &["load", "domcontentloaded"])?;
            args.skip(&["waitUntil", "timeoutMs"]);
            args.only(CALLED, name, &["url"])?;
            args.need("url")?
                .as_str()
                .map(|url| Plan::Navigate(url.to_owned()))
                .ok_or_else(|| Fault::new(Code::InvalidArgument, "`url` is not a text"))
        }
        "browser_screenshot" => {
            args.usual("fullPage", false);
            args.only(CALLED, name, &["format", "quality"])?;
            // Both are left out: the result says what kind of picture it is.
            Ok(request("capture_screenshot", json!({}), Shape::Plain))
        }
        "browser_evaluate" => {
            args.usual("awaitPromise", false);
            args.only(CALLED, name, &["expression"])?;
            Ok(request(
                "evaluate_js",
                json!({"code": whole(&args.need("expression")?)}),
                Shape::Value,
            ))
        }
        "browser_get_content" => content(&mut args),
        "browser_mouse_scroll" => scroll(&mut args),
        name => {
            let (kind, params) = dom_command(name, args)?;
            Ok(dom(kind, params))
        }
    }
}

fn request(wire: &'static str, fields: Value, shape: Shape) -> Plan {
    let fields = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    Plan::Request { wire, fields, shape }
}

fn dom(kind: &str, params: Value) -> Plan {
    let command = json!({"type": kind, "params": params});
    request("dom_command", json!({ "command": command }), Shape::Plain)
}

fn content(args: &mut Args) -> Result<Plan, Fault> {
    const FORMATS: &[&str] = &["text", "semantic", "ascii", "skeleton"];
    args.only(CALLED, "browser_get_content", &["format", "maxLength"])?;
    args.only_values(CALLED, "format", FORMATS)?;
    let longest = args.count("maxLength");
    Ok(match args.text("format").as_deref() {
        Some("semantic") => request("extract_semantic_dom", json!({"options": {}}), Shape::Plain),
        Some("ascii") => request("extract_ascii_layout", json!({"options": {}}), Shape::Plain),
        Some("skeleton") => dom("get_skeletal_dom", json!({})),
        _ => request("extract_content", json!({}), Shape::Content(longest)),
    })
}

/// Its own `scroll` knows places and two directions; distances are left to the page.
fn scroll(args: &mut Args) -> Result<Plan, Fault> {
    let takes = ["selector", "direction", "deltaX", "deltaY"];
    args.only(CALLED, "browser_mouse_scroll", &takes)?;
    args.only_values(CALLED, "direction", &["up", "down", "left", "right"])?;
    let ways =
        [args.has("selector"), args.has("direction"), args.has("deltaX") || args.has("deltaY")];
    if ways.into_iter().filter(|given| *given).count() != 1 {
        return Err(Fault::new(Code::Unsupported, format!("{CALLED} scrolls one way at a time"))
            .hint("give a selector, a direction, or deltaX and deltaY"));
    }
    if let Some(selector) = args.take("selector") {
        return Ok(dom("scroll_to", json!({ "selector": selector })));
    }
    let (x, y) = match args.take("direction") {
        Some(direction) if direction == "left" => (-STEP, 0.0),
        Some(direction) if direction == "right" => (STEP, 0.0),
        Some(direction) => return Ok(Plan::Scroll(direction)),
        None => (number(args, "deltaX")?, number(args, "deltaY")?),
    };
    let place = "JSON.stringify({x: window.scrollX, y: window.scrollY})";
    let code = format!("(window.scrollBy({x}, {y}), {place})");
    Ok(request("evaluate_js", json!({ "code": code }), Shape::Place))
}

/// Takes out a number. It becomes part of a script, so nothing else may pass.
fn number(args: &mut Args, name: &str) -> Result<f64, Fault> {
    match args.take(name) {
        None => Ok(0.0),
        Some(value) => value
            .as_f64()
            .ok_or_else(|| Fault::new(Code::InvalidArgument, format!("`{name}` is not a number"))),
    }
}

fn dom_command(name: &str, mut args: Args) -> Result<(&'static str, Value), Fault> {
    let (kind, takes): (_, &[&str]) = match name {
        "browser_mouse_click" => ("click", &["selector", "text"]),
        "browser_type" => ("fill", &["selector", "text"]),
        "browser_select" => ("select_option", &["selector", "value", "label", "index", "values"]),
        "browser_check" => ("check_checkbox", &["selector", "checked"]),
        "browser_submit" => ("submit", &["selector"]),
        "browser_wait_for" => ("wait_for_element", &["selector", "timeoutMs"]),
        "browser_query_selector" if args.take("all") == Some(json!(true)) => {
            ("get_elements", &["selector"])
        }
        "browser_query_selector" => ("get_element", &["selector", "text"]),
        other => return Err(foreign::cannot(CALLED, other, NAMES)),
    };
    args.usual("button", "left");
    args.usual("clickCount", 1);
    args.usual("submit", false);
    // It sets the whole text at once.
    args.skip(&["delayMs"]);
    args.only(CALLED, name, takes)?;
    match kind {
        "click" | "get_element" => by_text(&mut args)?,
        "fill" => args.rename("text", "value"),
        "select_option" => choose(&mut args)?,
        // Without a wish it would change whatever is there.
        "check_checkbox" if !args.has("checked") => args.put("checked", true),
        "wait_for_element" => {
            // For the client 0 is no limit of its own but its usual one.
            if let Some(limit) = args.count("timeoutMs") {
                args.put("timeout", limit.max(1));
            }
        }
        _ => {}
    }
    if kind != "submit" && !args.has("selector") && !args.has("xpath") {
        return Err(Fault::new(Code::Unsupported, format!("{CALLED} needs a selector for {name}"))
            .hint(format!("it takes: {}", takes.join(", "))));
    }
    Ok((kind, Value::Object(args.fields())))
}

/// The client's own search by text finds the whole document first; the innermost element that
/// has the text is what is meant.
fn by_text(args: &mut Args) -> Result<(), Fault> {
    let Some(text) = args.text("text") else { return Ok(()) };
    if args.has("selector") {
        return Err(Fault::new(Code::Unsupported, format!("{CALLED} finds an element one way"))
            .hint("give selector or text"));
    }
    let has = format!("contains(normalize-space(.), {})", literal(&text));
    let seen = "not(self::script or self::style or self::noscript)";
    args.put("xpath", format!("//body//*[{seen} and {has} and not(.//*[{has}])]"));
    Ok(())
}

/// Writes a text in XPath, which has no escapes.
fn literal(text: &str) -> String {
    if !text.contains('"') {
        return format!("\"{text}\"");
    }
    let parts: Vec<_> = text.split('"').map(|part| format!("\"{part}\"")).collect();
    format!("concat({})", parts.join(", '\"', "))
}

fn choose(args: &mut Args) -> Result<(), Fault> {
    if let Some(values) = args.take("values") {
        match values {
            Value::Array(values) if values.len() == 1 && !args.has("value") => {
                args.put("value", values.into_iter().next().unwrap_or_default());
            }
            _ => {
                let message = format!("{CALLED} selects one option at a time");
                return Err(
                    Fault::new(Code::Unsupported, message).hint("give one of value, label, index")
                );
            }
        }
    }
    args.rename("value", "optionValue");
    args.rename("label", "optionText");
    args.rename("index", "optionIndex");
    Ok(())
}

#[cfg(test)]
mod tests {
    use model::Json;

    use super::*;

    #[track_caller]
    fn check_refused(name: &str, args: Value, code: Code) {
        let target = Target::Command;
        let work = Work::Tool { target, name: name.to_owned(), args: Json::of(&args) };
        let refused = plan(&work).map_err(|fault| fault.code).err();
        assert_eq!(refused, Some(code), "{name} {args}");
    }

    #[test]
    fn what_it_cannot_do_is_refused() {
        check_refused("browser_snapshot", json!({}), Code::Unsupported);
        check_refused("browser_mouse_click", json!({"x": 1, "y": 2}), Code::Unsupported);
        check_refused("browser_mouse_click", json!({"ref": "e1"}), Code::Unsupported);
        check_refused("browser_mouse_click", json!({}), Code::Unsupported);
        check_refused("browser_type", json!({"text": "a"}), Code::Unsupported);
        check_refused("browser_wait_for", json!({"text": "a"}), Code::Unsupported);
        check_refused("browser_get_content", json!({"format": "html"}), Code::Unsupported);
        check_refused("browser_get_content", json!({"selector": "main"}), Code::Unsupported);
        check_refused(
            "browser_query_selector",
            json!({"text": "a", "all": true}),
            Code::Unsupported,
        );
        check_refused("browser_evaluate", json!({"expression": "1", "awaitPromise": true}), {
            Code::Unsupported
        });
        check_refused("browser_navigate", json!({}), Code::InvalidArgument);
    }

    #[test]
    fn no_argument_becomes_part_of_a_script() {
        let odd = json!({"deltaY": "0); alert(1"});
        check_refused("browser_mouse_scroll", odd, Code::InvalidArgument);
    }

    #[test]
    fn texts_cannot_escape_their_quotes() {
        assert_eq!(literal("Buy"), "\"Buy\"");
        assert_eq!(literal("it's"), "\"it's\"");
        assert_eq!(literal("a\"b'c"), r#"concat("a", '"', "b'c")"#);
    }
}
