//! Tool `browser_emulate`: lets a page see another screen, place, device or network.
//!
//! Each action has arguments of its own, which are accepted; listed is only `value`, one short text
//! from which they are read.

use model::{Fault, json::shorten, page_text};
use serde_json::{Map, Value, json};

use crate::{
    Toolbox,
    action::{self, Action, act, invalid},
    commands::Order,
    definition::{Client, CoreTool, Definition, Output, Work},
};

/// The tool.
pub const TOOL: CoreTool =
    CoreTool { name: "browser_emulate", define, aliases: &[], actions: ACTIONS, run };

/// What `throttle` knows by name.
const PRESETS: &str = "slow-3g fast-3g 4g wifi offline none";

const ACTIONS: &[Action] = &[
    act("viewport", "browser_set_viewport", "value|width+height", "deviceScaleFactor mobile"),
    act("device", "browser_emulate_device", "value|device", ""),
    act("user_agent", "browser_set_user_agent", "value|userAgent", "platform"),
    act("geolocation", "browser_set_geolocation", "value|latitude+longitude", "accuracy"),
    act("timezone", "browser_set_timezone", "value|timezoneId", ""),
    act("locale", "browser_set_locale", "value|locale", ""),
    act("media", "browser_emulate_media", "value|colorScheme|reducedMotion", "media"),
    act("offline", "browser_set_offline", "value|offline", ""),
    act(
        "throttle",
        "browser_throttle_network",
        "value|preset|downloadThroughput|uploadThroughput|latency",
        "",
    )
    .only(&[("preset", PRESETS)]),
    act("reset", "browser_reset_emulation", "", ""),
];

fn define() -> Definition {
    action::define(
        &TOOL,
        "What a page sees of screen, device, place and network, until reset.",
        json!({
            "value": {
                "type": "string",
                "description": "viewport: 390x844 or 390x844 mobile; device: iPhone 14; \
                    geolocation: 52.5,13.4; timezone: Europe/Berlin; locale: de-DE; media: dark, \
                    light, reduced-motion, print; offline: true; throttle: slow-3g, fast-3g, 4g, \
                    wifi, none",
            },
        }),
        json!({
            "width": {"type": "integer", "description": "viewport: pixels"},
            "height": {"type": "integer", "description": "viewport: pixels"},
            "deviceScaleFactor": {"type": "number", "description": "viewport: dots per pixel"},
            "mobile": {"type": "boolean", "description": "viewport: touch and mobile layout"},
            "userAgent": {"type": "string", "description": "user_agent: header and navigator"},
            "platform": {"type": "string", "description": "user_agent: navigator.platform"},
            "latitude": {"type": "number", "description": "geolocation: degrees, -90 to 90"},
            "longitude": {"type": "number", "description": "geolocation: degrees, -180 to 180"},
            "accuracy": {"type": "number", "description": "geolocation: metres"},
            "timezoneId": {"type": "string", "description": "timezone: IANA name"},
            "locale": {"type": "string", "description": "locale: such as de-DE"},
            "device": {"type": "string", "description": "device: its name"},
            "colorScheme": {"enum": ["light", "dark"], "description": "media"},
            "reducedMotion": {"type": "boolean", "description": "media"},
            "media": {"enum": ["screen", "print"], "description": "media: type"},
            "offline": {"type": "boolean", "description": "offline: true, or false to end it"},
            "preset": {"type": "string", "description": "throttle: a network by name"},
            "downloadThroughput": {"type": "number", "description": "throttle: bytes per second"},
            "uploadThroughput": {"type": "number", "description": "throttle: bytes per second"},
            "latency": {"type": "number", "description": "throttle: milliseconds"},
        }),
    )
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let mut order = Order::read(toolbox, client, &TOOL, args)?;
        if let Some(Value::String(value)) = order.args.remove("value") {
            spell_out(order.action.name, value.trim(), &mut order.args)?;
        }
        order.run().await.map(in_words)
    })
}

/// Reads the short form into the arguments of an action. What is given twice is an error.
fn spell_out(action: &str, value: &str, args: &mut Map<String, Value>) -> Result<(), Fault> {
    let meant = read(action, value).ok_or_else(|| {
        let given = shorten(value, 60);
        invalid(format!("{action} takes as `value` {}, not {given:?}", example(action)))
    })?;
    for (name, value) in meant {
        if args.insert(name.to_owned(), value).is_some() {
            return Err(invalid(format!("`value` and `{name}` say the same; give one of them")));
        }
    }
    Ok(())
}

fn read(action: &str, value: &str) -> Option<Vec<(&'static str, Value)>> {
    let text = |name| (!value.is_empty()).then(|| vec![(name, json!(value))]);
    match action {
        "viewport" => viewport(value),
        "device" => text("device"),
        "user_agent" => text("userAgent"),
        "geolocation" => {
            let (latitude, longitude) = pair(value, ',')?;
            Some(vec![("latitude", json!(latitude)), ("longitude", json!(longitude))])
        }
        "timezone" => text("timezoneId"),
        "locale" => text("locale"),
        "media" => match value {
            "light" | "dark" => Some(vec![("colorScheme", json!(value))]),
            "reduced-motion" => Some(vec![("reducedMotion", json!(true))]),
            "print" | "screen" => Some(vec![("media", json!(value))]),
            _ => None,
        },
        "offline" => value.parse::<bool>().ok().map(|offline| vec![("offline", json!(offline))]),
        "throttle" => {
            PRESETS.split(' ').any(|known| known == value).then(|| vec![("preset", json!(value))])
        }
        _ => None,
    }
}

/// `390x844`, `390x844 mobile`.
fn viewport(value: &str) -> Option<Vec<(&'static str, Value)>> {
    let (size, rest) = value.split_once(' ').unwrap_or((value, ""));
    let (width, height) = size.split_once('x')?;
    let pixels = |text: &str| text.trim().parse::<u32>().ok().map(|pixels| json!(pixels));
    let mut meant = vec![("width", pixels(width)?), ("height", pixels(height)?)];
    match rest.trim() {
        "" => {}
        "mobile" => meant.push(("mobile", json!(true))),
        _ => return None,
    }
    Some(meant)
}

fn pair(value: &str, between: char) -> Option<(f64, f64)> {
    let (one, other) = value.split_once(between)?;
    Some((one.trim().parse().ok()?, other.trim().parse().ok()?))
}

fn example(action: &str) -> &'static str {
    match action {
        "viewport" => "a size such as 390x844, or 390x844 mobile",
        "geolocation" => "latitude and longitude such as 52.5,13.4",
        "media" => "one of dark, light, reduced-motion, print, screen",
        "offline" => "true or false",
        "throttle" => "one of slow-3g, fast-3g, 4g, wifi, offline, none",
        "reset" => "nothing",
        _ => "a text",
    }
}

/// Says what is in force in lines; another browser's answer stays as it is.
fn in_words(output: Output) -> Output {
    let Some(emulated) = output.structured["emulated"].as_object() else { return output };
    let lines: Vec<_> = emulated.iter().map(|(name, value)| line(name, value)).collect();
    let text = match lines.is_empty() {
        true => "the tab sees what the browser has; nothing is emulated".to_owned(),
        false => format!("in force in this tab, until reset:\n{}", lines.join("\n")),
    };
    Output { text, ..output }
}

/// One line: a name and what it is set to, without the marks of JSON.
fn line(name: &str, value: &Value) -> String {
    let plain = |value: &Value| match value {
        Value::String(text) => page_text::exact(text).into_owned(),
        other => page_text::json(&other.to_string()).into_owned(),
    };
    let text = match value {
        Value::Object(fields) => {
            let parts = fields
                .iter()
                .map(|(name, value)| format!("{} {}", page_text::line(name), plain(value)));
            parts.collect::<Vec<_>>().join(", ")
        }
        value => plain(value),
    };
    format!("{}: {text}", page_text::line(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(action: &str, value: &str, expected: Value) {
        let mut args = Map::new();
        let read = spell_out(action, value, &mut args).map(|()| Value::Object(args));
        match expected {
            Value::String(part) => {
                let fault = read.unwrap_err().to_string();
                assert!(fault.contains(&part) && fault.contains("value"), "{fault}");
            }
            expected => assert_eq!(read.unwrap(), expected, "{action} {value}"),
        }
    }

    #[test]
    fn a_short_text_says_what_an_action_needs() {
        check("viewport", "390x844", json!({"width": 390, "height": 844}));
        check("viewport", "390x844 mobile", json!({"width": 390, "height": 844, "mobile": true}));
        check("geolocation", "52.5, -13.4", json!({"latitude": 52.5, "longitude": -13.4}));
        check("timezone", "Europe/Berlin", json!({"timezoneId": "Europe/Berlin"}));
        check("media", "reduced-motion", json!({"reducedMotion": true}));
        check("offline", "false", json!({"offline": false}));
        check("throttle", "slow-3g", json!({"preset": "slow-3g"}));
        check("device", "iPhone 14", json!({"device": "iPhone 14"}));
    }

    #[test]
    fn a_text_that_says_nothing_is_refused_with_what_would_be_right() {
        check("viewport", "big", json!("390x844"));
        check("geolocation", "here", json!("52.5,13.4"));
        check("media", "sepia", json!("dark"));
        check("offline", "maybe", json!("true or false"));
        check("throttle", "2g", json!("fast-3g"));
    }

    #[test]
    fn what_is_in_force_is_said_in_lines() {
        let said = |emulated: Value| {
            let structured = json!({ "emulated": emulated });
            let text = structured.to_string();
            in_words(Output { text, structured, ..Output::default() }).text
        };
        let both = json!({"viewport": {"height": 844, "width": 390}, "locale": "de-DE"});
        let expected =
            "in force in this tab, until reset:\nlocale: de-DE\nviewport: height 844, width 390";
        assert_eq!(said(both), expected);
        assert!(said(json!({})).contains("nothing is emulated"));
        assert_eq!(
            said(json!("as another browser says")),
            "{\"emulated\":\"as another browser says\"}"
        );
    }

    #[test]
    fn what_is_said_twice_is_refused() {
        let mut args = Map::from_iter([("offline".to_owned(), json!(true))]);
        let fault = spell_out("offline", "true", &mut args).unwrap_err();
        assert!(fault.to_string().contains("`offline`"), "{fault}");
    }
}
