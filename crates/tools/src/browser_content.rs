//! Tool `browser_content`: what is in a page, as text, structure, picture or paper.

use serde_json::{Value, json};

use crate::{
    Toolbox,
    action::{self, Action, read},
    commands::Order,
    definition::{Client, CoreTool, Definition, Work},
};

/// The tool.
pub const TOOL: CoreTool =
    CoreTool { name: "browser_content", define, aliases: &[], actions: ACTIONS, run };

const ACTIONS: &[Action] = &[
    read(
        "screenshot",
        "browser_screenshot",
        "",
        "format quality fullPage selector ref maxWidth maxBytes",
    )
    .only(&[("format", "png jpeg webp")]),
    read("pdf", "browser_pdf", "", "landscape printBackground scale"),
    read("get", "browser_get_content", "", "selector format maxLength")
        .only(&[("format", "text html markdown semantic ascii skeleton")]),
    read("query", "browser_query_selector", "selector|text", "all"),
    read("attribute", "browser_get_attribute", "selector attribute", ""),
    read("viewport_dom", "browser_get_viewport_dom", "", "maxElements includeHidden"),
];

fn define() -> Definition {
    let description = "Reads a page, or the element at `selector`.";
    let formats =
        ["png", "jpeg", "webp", "text", "html", "markdown", "semantic", "ascii", "skeleton"];
    action::define(
        &TOOL,
        "Page content",
        description,
        json!({
            "selector": {"type": "string"},
            "ref": {"type": "string"},
            "text": {"type": "string"},
            "format": {"enum": formats},
            "quality": {"type": "integer"},
            "fullPage": {"type": "boolean"},
            "maxWidth": {"type": "integer"},
            "maxBytes": {"type": "integer"},
            "landscape": {"type": "boolean"},
            "printBackground": {"type": "boolean"},
            "scale": {"type": "number"},
            "maxLength": {"type": "integer"},
            "all": {"type": "boolean"},
            "attribute": {"type": "string"},
            "maxElements": {"type": "integer"},
            "includeHidden": {"type": "boolean"},
        }),
    )
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move { Order::read(toolbox, client, &TOOL, args)?.run().await })
}
