//! Tool `browser_emulate`: lets a page see another screen, place, device or network.
//!
//! Each action has arguments of its own, which are accepted; listed is only `value`, one short text
//! from which they are read.

use model::{Fault, json::shorten};
use serde_json::{Map, Value, json};

use crate::{
    Toolbox,
    action::{Action, act, invalid},
    command_arguments::{Argument, flag, number, text, whole, word},
    command_results::emulation::Emulated,
    commands::CommandCall,
    definition::{Client, CoreTool, Work},
};

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool =
    CoreTool::of_commands("browser_emulate", "emulate", DESCRIPTION, ARGUMENTS, ACTIONS, run);

/// What `throttle` knows by name.
const PRESETS: &str = "slow-3g fast-3g 4g wifi offline none";

const DESCRIPTION: &str = "What a page sees of screen, device, place and network, until reset.";

const ARGUMENTS: &[Argument] = &[
    text(
        "value",
        "viewport: 390x844 or 390x844 mobile; device: iPhone 14; geolocation: 52.5,13.4; \
         timezone: Europe/Berlin; locale: de-DE; media: dark, light, reduced-motion, print; \
         offline: true; throttle: slow-3g, fast-3g, 4g, wifi, none",
    )
    .to_hub(),
    whole("width", "viewport: pixels").unlisted(),
    whole("height", "viewport: pixels").unlisted(),
    number("deviceScaleFactor", "viewport: dots per pixel").unlisted(),
    flag("mobile", "viewport: touch and mobile layout").unlisted(),
    text("userAgent", "user_agent: header and navigator").unlisted(),
    text("platform", "user_agent: navigator.platform").unlisted(),
    number("latitude", "geolocation: degrees, -90 to 90").unlisted(),
    number("longitude", "geolocation: degrees, -180 to 180").unlisted(),
    number("accuracy", "geolocation: metres").unlisted(),
    text("timezoneId", "timezone: IANA name").unlisted(),
    text("locale", "locale: such as de-DE").unlisted(),
    text("device", "device: its name").unlisted(),
    word("colorScheme", "light dark", "media").unlisted(),
    flag("reducedMotion", "media").unlisted(),
    word("media", "screen print", "media: type").unlisted(),
    flag("offline", "offline: true, or false to end it").unlisted(),
    text("preset", "throttle: a network by name").unlisted(),
    number("downloadThroughput", "throttle: bytes per second").unlisted(),
    number("uploadThroughput", "throttle: bytes per second").unlisted(),
    number("latency", "throttle: milliseconds").unlisted(),
];

/// A row that answers with all that is in force then.
const fn set(
    name: &'static str,
    command: &'static str,
    needs: &'static str,
    takes: &'static str,
) -> Action {
    act(name, command, needs, takes).answers::<Emulated>()
}

const ACTIONS: &[Action] = &[
    set(
        "viewport",
        "browser_set_viewport",
        "value|width:1..10000+height:1..10000",
        "deviceScaleFactor:0.1..10 mobile=false",
    ),
    set("device", "browser_emulate_device", "value|device", ""),
    set("user_agent", "browser_set_user_agent", "value|userAgent", "platform"),
    set(
        "geolocation",
        "browser_set_geolocation",
        "value|latitude:-90..90+longitude:-180..180",
        "accuracy:0..1000000=10",
    ),
    set("timezone", "browser_set_timezone", "value|timezoneId", ""),
    set("locale", "browser_set_locale", "value|locale", ""),
    set("media", "browser_emulate_media", "value|colorScheme|reducedMotion", "media"),
    set("offline", "browser_set_offline", "value|offline", ""),
    set(
        "throttle",
        "browser_throttle_network",
        "value|preset:slow-3g/fast-3g/4g/wifi/offline/none|downloadThroughput:1..|\
         uploadThroughput:1..|latency:0..60000",
        "",
    ),
    set("reset", "browser_reset_emulation", "", ""),
];

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let mut order = CommandCall::read(toolbox, client, &TOOL, args)?;
        if let Some(Value::String(value)) = order.args.remove("value") {
            spell_out(order.action.name, value.trim(), &mut order.args)?;
        }
        order.run().await
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
    fn what_is_said_twice_is_refused() {
        let mut args = Map::from_iter([("offline".to_owned(), json!(true))]);
        let fault = spell_out("offline", "true", &mut args).unwrap_err();
        assert!(fault.to_string().contains("`offline`"), "{fault}");
    }
}
