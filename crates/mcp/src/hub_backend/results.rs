//! Tools and what they give back, as MCP says it.

use model::{Code, Fault};
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData, MetaObject, Tool};
use serde_json::{Value, json};
use tools::{Definition, Output};

use crate::backend::Answer;

/// The key of `_meta` under which we tell whose words a result holds, or why a call failed.
const META: &str = "tabwire";

/// Writes a tool's definition.
pub fn definition(tool: &Definition) -> Answer<Tool> {
    let mut written = json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": {
            "readOnlyHint": tool.annotations.read_only,
            "destructiveHint": tool.annotations.destructive,
            "idempotentHint": tool.annotations.idempotent,
            "openWorldHint": tool.annotations.open_world,
        },
    });
    if let Some(schema) = &tool.output_schema {
        written["outputSchema"] = schema.clone();
    }
    from_json(written)
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
    let mut result = CallToolResult::success(vec![ContentBlock::text(output.text)]);
    // Older clients take objects only.
    result.structured_content = Some(match output.structured {
        object @ Value::Object(_) => object,
        other => json!({ "result": other }),
    });
    if let Some(source) = output.source {
        result.meta = meta(json!({
            "session": source.session, "origin": source.origin, "untrusted": true,
        }));
    }
    result
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
