//! Tool `browser_interact`: what a person does with mouse and keyboard.
//!
//! Listed are few arguments; those of the commands are accepted too, and made of the listed ones.

use model::Fault;
use serde_json::{Map, Value, json};

use crate::{
    Toolbox,
    action::{Action, act, invalid},
    command_arguments::{Argument, flag, number, records, text, texts, whole, word},
    commands::CommandCall,
    definition::{Client, CoreTool, Work},
    uploads,
};

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool =
    CoreTool::of_commands("browser_interact", "browse", DESCRIPTION, ARGUMENTS, ACTIONS, run)
        .aliases(&[("delay", "delayMs")]);

const DESCRIPTION: &str = "Acts on the element at `ref` or `selector`. Returns when the page is quiet, and says what \
     changed, with refs.";

const ARGUMENTS: &[Argument] = &[
    text("ref", "from a snapshot or an answer"),
    text("selector", "CSS"),
    number("x", "px in view"),
    number("y", "px"),
    text("text", "to type, or on what to click"),
    word("button", "left middle right", "click"),
    whole("clickCount", "2: double"),
    text("modifiers", "held: Control+Shift").to_hub(),
    flag("clear", "type: false adds"),
    flag("submit", "type, fill: then Enter"),
    text("key", "press: Control+A"),
    word("direction", "up down left right", "scroll"),
    texts("values", "select: values or labels"),
    flag("checked", "check: false unchecks"),
    text("to", "drag: ref, selector or x,y").to_hub(),
    texts("files", "upload: paths below your working or downloads folder").read_by("fileFacts"),
    records("fields", "field value", "fill: ref, selector or label, and value")
        .read_by("formFields"),
    records(
        "contents",
        "name mimeType data",
        "upload: files as name, mimeType and data (base64), for clients on another machine",
    )
    .unlisted()
    .to_hub(),
    flag("force", "click: even what is covered or disabled").unlisted(),
    whole("delayMs", "type: between keys").unlisted(),
    flag("ctrl", "held").unlisted(),
    flag("alt", "held").unlisted(),
    flag("shift", "held").unlisted(),
    flag("meta", "held").unlisted(),
    number("deltaX", "scroll: px to the right").unlisted(),
    number("deltaY", "scroll: px down").unlisted(),
    text("value", "select: by value").unlisted(),
    text("label", "select: by label").unlisted(),
    whole("index", "select: by place, from 0").unlisted(),
    text("toRef", "drag: to this element").unlisted(),
    text("toSelector", "drag: to this element").unlisted(),
    number("toX", "drag: px in view").unlisted(),
    number("toY", "drag: px in view").unlisted(),
    text("uploadId", "upload: whose bytes have come").from_hub(),
];

const ACTIONS: &[Action] = &[
    act(
        "click",
        "browser_mouse_click",
        "selector|ref|text|x+y",
        "button='left' clickCount:1..3=1 modifiers ctrl=false alt=false shift=false meta=false \
         force=false",
    ),
    act("move", "browser_mouse_move", "selector|ref|x+y", ""),
    act("hover", "browser_hover", "selector|ref", ""),
    act("type", "browser_type", "text", "selector ref delayMs:0..1000=0 submit=false clear"),
    act(
        "press",
        "browser_keyboard_press",
        "key",
        "selector ref modifiers ctrl=false alt=false shift=false meta=false",
    ),
    act("scroll", "browser_mouse_scroll", "", "deltaX deltaY selector ref direction"),
    act("select", "browser_select", "selector|ref values|value|label|index:0..", ""),
    act("check", "browser_check", "selector|ref", "checked=true"),
    act("drag", "browser_drag", "selector|ref|x+y to|toSelector|toRef|toX+toY", ""),
    act("submit", "browser_submit", "", "selector ref"),
    act("upload", uploads::UPLOAD, "selector|ref files|contents", "").adds("uploadId"),
    act("fill", "browser_fill_form", "fields", "submit=false"),
];

/// Keys that can be held, and the arguments that say so.
const HELD: &[(&str, &str)] = &[
    ("control", "ctrl"),
    ("ctrl", "ctrl"),
    ("alt", "alt"),
    ("shift", "shift"),
    ("meta", "meta"),
    ("command", "meta"),
];

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let mut order = CommandCall::read(toolbox, client, &TOOL, args)?;
        hold_keys(&mut order.args)?;
        aim(&mut order.args)?;
        name_fields(&mut order.args)?;
        match order.action.command {
            uploads::UPLOAD => uploads::run(order).await,
            _ => order.run().await,
        }
    })
}

/// `Control+Shift` becomes the arguments that say which keys are held.
fn hold_keys(args: &mut Map<String, Value>) -> Result<(), Fault> {
    let Some(Value::String(keys)) = args.remove("modifiers") else { return Ok(()) };
    for key in keys.split('+').map(str::trim) {
        let known = HELD.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        let (_, argument) = known.ok_or_else(|| {
            invalid(format!(
                "`modifiers` are Control, Alt, Shift and Meta, joined by +; {key:?} is none"
            ))
        })?;
        args.insert((*argument).to_owned(), json!(true));
    }
    Ok(())
}

/// Where something is dragged to: a reference, a place or a selector.
fn aim(args: &mut Map<String, Value>) -> Result<(), Fault> {
    let Some(Value::String(to)) = args.remove("to") else { return Ok(()) };
    let to = to.trim();
    if to.is_empty() {
        return Err(invalid("`to` is a ref, a selector or a place such as 120,300".to_owned()));
    }
    let place = to
        .split_once(',')
        .and_then(|(x, y)| Some((x.trim().parse::<f64>().ok()?, y.trim().parse::<f64>().ok()?)));
    match place {
        Some((x, y)) => {
            args.insert("toX".to_owned(), json!(x));
            args.insert("toY".to_owned(), json!(y));
        }
        None if is_reference(to) => drop(args.insert("toRef".to_owned(), json!(to))),
        None => drop(args.insert("toSelector".to_owned(), json!(to))),
    }
    Ok(())
}

/// Each field as the command takes it: `ref`, `selector` or `label`, with `value`.
fn name_fields(args: &mut Map<String, Value>) -> Result<(), Fault> {
    let Some(fields) = args.get_mut("fields").and_then(Value::as_array_mut) else { return Ok(()) };
    for (place, field) in fields.iter_mut().enumerate() {
        let Some(field) = field.as_object_mut() else { continue };
        let Some(Value::String(name)) = field.remove("field") else { continue };
        let kind = match name.trim() {
            "" => return Err(invalid(format!("`fields.{place}.field` is empty"))),
            name if is_reference(name) => "ref",
            name if looks_like_css(name) => "selector",
            _ => "label",
        };
        field.insert(kind.to_owned(), json!(name.trim()));
    }
    Ok(())
}

/// `e12`, `d3e12`.
pub(crate) fn is_reference(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let element = |text: &str| text.strip_prefix('e').is_some_and(digits);
    element(text)
        || text
            .strip_prefix('d')
            .and_then(|rest| rest.split_once('e'))
            .is_some_and(|(document, reference)| digits(document) && digits(reference))
}

/// Labels are words; selectors begin with `#`, `.` or `[`, or have brackets like `input[name=a]`.
fn looks_like_css(text: &str) -> bool {
    text.starts_with(['#', '.', '[']) || (text.contains('[') && text.ends_with(']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn held_keys_are_read_and_unknown_ones_named() {
        let mut args = object(json!({"modifiers": "Control+shift"}));
        hold_keys(&mut args).unwrap();
        assert_eq!(Value::Object(args), json!({"ctrl": true, "shift": true}));
        let mut args = object(json!({"modifiers": "Hyper"}));
        assert!(hold_keys(&mut args).unwrap_err().to_string().contains("\"Hyper\""));
    }

    #[test]
    fn a_drag_ends_at_a_reference_a_place_or_a_selector() {
        for (to, meant) in [
            ("d3e12", json!({"toRef": "d3e12"})),
            ("12, 30.5", json!({"toX": 12.0, "toY": 30.5})),
            ("#bin", json!({"toSelector": "#bin"})),
            ("em", json!({"toSelector": "em"})),
        ] {
            let mut args = object(json!({"to": to}));
            aim(&mut args).unwrap();
            assert_eq!(Value::Object(args), meant, "{to}");
        }
    }

    #[test]
    fn a_field_is_named_by_reference_selector_or_label() {
        let mut args = object(json!({"fields": [
            {"field": "e7", "value": "a"},
            {"field": "#mail", "value": "b"},
            {"field": "E-mail", "value": "c"},
            {"field": "input[name=q]", "value": "d"},
            {"selector": "p", "value": "e"},
        ]}));
        name_fields(&mut args).unwrap();
        assert_eq!(
            Value::Object(args),
            json!({"fields": [
                {"ref": "e7", "value": "a"},
                {"selector": "#mail", "value": "b"},
                {"label": "E-mail", "value": "c"},
                {"selector": "input[name=q]", "value": "d"},
                {"selector": "p", "value": "e"},
            ]})
        );
    }
}
