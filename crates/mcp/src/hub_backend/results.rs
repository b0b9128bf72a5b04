//! Tools and what they give back, as MCP says it.

use model::{Code, Fault, page_text};
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ErrorData, MetaObject, Resource, Tool,
};
use serde_json::{Value, json};
use tools::{Annotations, Definition, Link, Output};

use crate::backend::Answer;

/// The key of `_meta` under which we tell whose words a result holds, or why a call failed.
const META: &str = "tabwire";

/// Writes a tool's definition.
pub fn definition(tool: &Definition) -> Answer<Tool> {
    let mut written = json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
    });
    if !tool.title.is_empty() {
        written["title"] = json!(tool.title);
    }
    if let Some(annotations) = annotations(&tool.annotations) {
        written["annotations"] = annotations;
    }
    if let Some(schema) = &tool.output_schema {
        written["outputSchema"] = schema.clone();
    }
    from_json(written)
}

/// Writes the hints that say more than their absence would: every client pays for each byte.
fn annotations(hints: &Annotations) -> Option<Value> {
    let told = [
        ("readOnlyHint", hints.read_only, false),
        // Without meaning for what only reads.
        ("destructiveHint", hints.destructive || hints.read_only, true),
        ("idempotentHint", hints.idempotent && !hints.read_only, false),
        ("openWorldHint", hints.open_world, true),
    ];
    let said: serde_json::Map<_, _> = told
        .into_iter()
        .filter(|(_, value, default)| value != default)
        .map(|(name, value, _)| (name.to_owned(), json!(value)))
        .collect();
    (!said.is_empty()).then_some(Value::Object(said))
}

/// Writes what a tool gave back. A tool that does not exist is the protocol's error; everything
/// else that went wrong is for the model to read.
pub fn tool(
    outcome: Result<Output, Fault>,
    is_known: impl FnOnce() -> bool,
) -> Answer<CallToolResponse> {
    match outcome {
        Ok(output) => Ok(success(output).into()),
        Err(fault) if fault.code == Code::UnknownTool && !is_known() => {
            Err(ErrorData::invalid_params(fault.to_string(), Some(fault_json(&fault))))
        }
        Err(fault) => {
            let mut result = CallToolResult::error(vec![ContentBlock::text(words(&fault))]);
            result.meta = meta(json!({ "error": fault_json(&fault) }));
            Ok(result.into())
        }
    }
}

fn success(output: Output) -> CallToolResult {
    let pictures =
        output.images.into_iter().map(|image| ContentBlock::image(image.data, image.mime_type));
    // Nothing is an answer too, and then the text says so.
    let is_all_text = output.structured.is_null() && output.text != "null";
    let text = ContentBlock::text(output.text);
    let links = output.links.iter().map(link);
    let content = [text].into_iter().chain(pictures).chain(links).collect();
    let mut result = match output.failed {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    // Older clients take objects only. What is all in the text is not sent twice.
    result.structured_content = match output.structured {
        _ if is_all_text => None,
        object @ Value::Object(_) => Some(object),
        other => Some(json!({ "result": other })),
    };
    if let Some(source) = output.source {
        result.meta = meta(json!({
            "session": source.session, "origin": source.origin, "untrusted": true,
        }));
    }
    result
}

/// Writes where something large can be read.
fn link(link: &Link) -> ContentBlock {
    let resource = Resource::new(&link.uri, page_text::line(&link.name));
    ContentBlock::resource_link(
        resource.with_mime_type(&link.mime_type).with_size(link.bytes as u64),
    )
}

/// Says a fault to a model: what happened, what to try, and whether to try again.
fn words(fault: &Fault) -> String {
    format!("{fault} [{}, retry: {}]", fault.code, fault.retry.as_str())
}

fn fault_json(fault: &Fault) -> Value {
    json!({
        "code": fault.code.as_str(),
        "retry": fault.retry.as_str(),
        "message": fault.message,
        "hint": fault.hint,
    })
}

fn meta(value: Value) -> Option<MetaObject> {
    from_json(json!({ META: value })).ok()
}

/// Reads what we have written in MCP's own words into `rmcp`'s types.
pub fn from_json<T: serde::de::DeserializeOwned>(value: Value) -> Answer<T> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(format!("not valid MCP: {error}"), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the core list as a client gets it, without output schemas.
    const BUDGET: usize = 10_000;

    #[test]
    fn the_core_list_fits_its_budget_as_it_is_sent() {
        let listed = tools::TOOLS.iter().map(|tool| {
            let mut tool = tool.define();
            tool.input_schema = tools::schema::listed(&tool.input_schema);
            tool.output_schema = None;
            serde_json::to_string(&definition(&tool).unwrap()).unwrap().len()
        });
        let bytes: usize = listed.sum();
        println!("core tool list: {bytes} bytes");
        assert!(bytes <= BUDGET, "{bytes} bytes");
    }

    #[test]
    fn every_tool_of_our_own_is_valid_mcp() {
        for tool in tools::TOOLS {
            assert_eq!(definition(&tool.define()).unwrap().name, tool.name);
        }
    }

    #[test]
    fn what_is_large_is_linked_and_what_failed_says_so() {
        let output = Output {
            text: "see there".to_owned(),
            structured: json!({"a": 1}),
            links: vec![Link {
                uri: "tabwire://result/abc".to_owned(),
                name: "page.pdf".to_owned(),
                mime_type: "application/pdf".to_owned(),
                bytes: 7,
                content: None,
            }],
            failed: true,
            ..Output::default()
        };
        let written = serde_json::to_value(success(output)).unwrap();
        let link = json!({
            "type": "resource_link", "uri": "tabwire://result/abc", "name": "page.pdf",
            "mimeType": "application/pdf", "size": 7,
        });
        assert_eq!(written["content"][1], link);
        assert_eq!(
            (&written["isError"], &written["structuredContent"]["a"]),
            (&json!(true), &json!(1))
        );
    }
}
