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
        "format quality fullPage selector ref maxWidth maxBytes labels onlyIfChanged",
    )
    .only(&[("format", "png jpeg webp")]),
    read("pdf", "browser_pdf", "", "landscape printBackground scale paperWidth paperHeight"),
    read("get", "browser_get_content", "", "selector ref format maxLength cursor")
        .only(&[("format", "text html markdown semantic ascii skeleton")]),
    read("query", "browser_query_selector", "selector|text", "all"),
    read("attribute", "browser_get_attribute", "selector|ref attribute", ""),
    read("viewport_dom", "browser_get_viewport_dom", "", "maxElements includeHidden").unlisted(),
];

fn define() -> Definition {
    action::define(
        &TOOL,
        "Reads a page, or the element at `ref` or `selector`. get: its content. query: elements \
            that fit.",
        json!({
            "ref": {"type": "string", "description": "from browser_snapshot"},
            "selector": {"type": "string", "description": "CSS"},
            "format": {
                "enum": ["png", "jpeg", "webp", "text", "html", "markdown"],
                "also": ["semantic", "ascii", "skeleton"],
                "description": "of picture or content",
            },
            "fullPage": {"type": "boolean", "description": "all of it"},
            "labels": {"type": "boolean", "description": "refs in the picture"},
            "text": {"type": "string", "description": "query: text in them"},
            "attribute": {"type": "string", "description": "its name"},
            "cursor": {"type": "string", "description": "get: next part"},
        }),
        json!({
            "all": {"type": "boolean", "description": "query: false gives the first only"},
            "includeHidden": {"type": "boolean", "description": "viewport_dom: hidden ones too"},
            "landscape": {"type": "boolean", "description": "pdf: wide pages"},
            "maxElements": {"type": "integer", "description": "viewport_dom: at most, 500 if not given"},
            "maxBytes": {"type": "integer", "description": "screenshot: 500000 if not given"},
            "maxLength": {"type": "integer", "description": "get: characters of one answer"},
            "maxWidth": {"type": "integer", "description": "screenshot: pixels, 1280 if not given"},
            "onlyIfChanged": {
                "type": "string",
                "description": "screenshot: the version of the last one; says so if it is still that",
            },
            "paperHeight": {"type": "number", "description": "pdf: inches"},
            "paperWidth": {"type": "number", "description": "pdf: inches"},
            "printBackground": {"type": "boolean", "description": "pdf: with backgrounds"},
            "quality": {"type": "integer", "description": "screenshot: 1 to 100, for jpeg and webp"},
            "scale": {"type": "number", "description": "pdf: 0.1 to 2"},
        }),
    )
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move { Order::read(toolbox, client, &TOOL, args)?.run().await })
}
