//! Tool `browser_emulate`: lets a page see another screen, place, device or network.

use serde_json::{Value, json};

use crate::{
    Toolbox,
    action::{self, Action, act},
    commands::Order,
    definition::{Client, CoreTool, Definition, Work},
};

/// The tool.
pub const TOOL: CoreTool =
    CoreTool { name: "browser_emulate", define, aliases: &[], actions: ACTIONS, run };

const ACTIONS: &[Action] = &[
    act("viewport", "browser_set_viewport", "width height", "deviceScaleFactor mobile"),
    act("user_agent", "browser_set_user_agent", "userAgent", "platform"),
    act("geolocation", "browser_set_geolocation", "latitude longitude", "accuracy"),
    act("timezone", "browser_set_timezone", "timezoneId", ""),
    act("device", "browser_emulate_device", "device", ""),
    act("offline", "browser_set_offline", "offline", ""),
    act(
        "throttle",
        "browser_throttle_network",
        "preset|downloadThroughput|uploadThroughput|latency",
        "",
    )
    .only(&[("preset", "slow-3g fast-3g 4g wifi offline none")]),
];

fn define() -> Definition {
    let description = "Emulates screen, device, place, network (bytes/s, ms).";
    action::define(
        &TOOL,
        "Emulate",
        description,
        json!({
            "width": {"type": "integer"},
            "height": {"type": "integer"},
            "deviceScaleFactor": {"type": "number"},
            "mobile": {"type": "boolean"},
            "userAgent": {"type": "string"},
            "platform": {"type": "string"},
            "latitude": {"type": "number"},
            "longitude": {"type": "number"},
            "accuracy": {"type": "number"},
            "timezoneId": {"type": "string"},
            "device": {"type": "string"},
            "offline": {"type": "boolean"},
            "preset": {"type": "string"},
            "downloadThroughput": {"type": "number"},
            "uploadThroughput": {"type": "number"},
            "latency": {"type": "number"},
        }),
    )
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move { Order::read(toolbox, client, &TOOL, args)?.run().await })
}
