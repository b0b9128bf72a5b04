//! The fixture's tools: their definitions, and the ones that need no answer from the client.

#![expect(deprecated, reason = "the suite tests logging and sampling of the older era")]

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::request::Parts;
use mcp::{Call, Change, backend::Answer};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    ErrorData, LoggingLevel, Tool, object,
};
use serde_json::{Value, json};
use tokio::time;

use crate::{
    Fixture,
    content::{WAV, embedded, failure, picture, success, text},
    question::require,
};

/// Tools without arguments, in the order in which they are listed.
const PLAIN: &[(&str, &str)] = &[
    ("test_simple_text", "Returns one line of text"),
    ("test_image_content", "Returns a picture"),
    ("test_audio_content", "Returns a sound"),
    ("test_embedded_resource", "Returns an embedded resource"),
    ("test_multiple_content_types", "Returns text, a picture and a resource"),
    ("test_tool_with_logging", "Sends three log messages"),
    ("test_error_handling", "Always fails"),
    ("test_tool_with_progress", "Reports progress three times"),
    ("test_elicitation_sep1034_defaults", "Asks with default values"),
    ("test_elicitation_sep1330_enums", "Asks with every kind of choice"),
    ("test_reconnection", "Closes its stream before it answers"),
    ("test_missing_capability", "Needs sampling"),
    ("test_streaming_elicitation", "Reports progress, then asks"),
    ("test_logging_tool", "Logs if the request allows it"),
    ("test_trigger_tool_change", "Changes the list of tools"),
    ("test_trigger_prompt_change", "Changes the list of prompts"),
    ("test_trigger_resource_update", "Changes the watched resource"),
    ("test_input_required_result_elicitation", "Asks for a name"),
    ("test_input_required_result_sampling", "Asks the client's model"),
    ("test_input_required_result_list_roots", "Asks for the client's roots"),
    ("test_input_required_result_request_state", "Asks and expects its state back"),
    ("test_input_required_result_multiple_inputs", "Asks three things at once"),
    ("test_input_required_result_multi_round", "Asks twice"),
    ("test_input_required_result_tampered_state", "Asks and checks its state"),
    ("test_input_required_result_capabilities", "Asks only what the client can answer"),
    ("test_wait_for_cancel", "Waits until it is cancelled"),
    ("test_caller", "Says who calls"),
];

/// All tools that are always there.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let plain = PLAIN.iter().map(|(name, about)| define(name, about, json!({"type": "object"})));
    let special = [
        define("test_sampling", "Asks the client's model", one_string("prompt")),
        define("test_elicitation", "Asks the user", one_string("message")),
        define("test_header_parameter", "Takes an argument from a header", header_schema()),
        define("json_schema_2020_12_tool", "Has a rich schema", rich_schema()),
    ];
    plain.chain(special).collect()
});

/// Returns the definition of one tool.
pub(crate) fn find(name: &str) -> Option<Tool> {
    TOOLS.iter().find(|tool| tool.name == name).cloned()
}

impl Fixture {
    /// Returns all tools, always in the same order.
    pub(crate) fn list_tools(&self) -> Vec<Tool> {
        let mut tools = TOOLS.clone();
        if self.extra_tool.load(Ordering::Acquire) {
            tools.push(define("test_extra_tool", "Comes and goes", json!({"type": "object"})));
        }
        tools
    }

    /// Runs a tool that does not belong to the input-required family.
    pub(crate) async fn run_tool(
        &self,
        request: &CallToolRequestParams,
        call: &Call,
    ) -> Answer<CallToolResponse> {
        Ok(match request.name.as_ref() {
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => success(vec![picture()]),
            "test_audio_content" => success(vec![ContentBlock::audio(WAV, "audio/wav")]),
            "test_embedded_resource" => success(vec![embedded(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            )]),
            "test_multiple_content_types" => mixed(),
            "test_tool_with_logging" | "test_logging_tool" => log_three_times(call).await,
            "test_error_handling" => {
                failure("This tool intentionally returns an error for testing")
            }
            "test_tool_with_progress" => report_progress(call).await,
            "test_reconnection" => reconnect(call).await,
            "test_missing_capability" => return need_sampling(call),
            "test_trigger_tool_change" => self.trigger(&self.extra_tool, Change::Tools),
            "test_trigger_prompt_change" => self.trigger(&self.extra_prompt, Change::Prompts),
            "test_trigger_resource_update" => self.touch("test://watched-resource"),
            "test_wait_for_cancel" => self.wait(call).await,
            "test_caller" => describe(call, self.cancelled.load(Ordering::Acquire)),
            "test_extra_tool" | "test_header_parameter" | "json_schema_2020_12_tool" => {
                text("done")
            }
            _ => return self.ask_client(request, call).await,
        })
    }

    fn trigger(&self, flag: &AtomicBool, change: Change) -> CallToolResponse {
        self.toggle(flag, &change);
        text("changed")
    }

    async fn wait(&self, call: &Call) -> CallToolResponse {
        call.cancelled().cancelled().await;
        self.cancelled.fetch_add(1, Ordering::AcqRel);
        text("cancelled")
    }

    fn touch(&self, uri: &str) -> CallToolResponse {
        self.changes.announce(&Change::Resource(uri.to_owned()));
        text("touched")
    }
}

/// The error for a name that is not in the list.
pub(crate) fn unknown(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("unknown tool: {name}"), None)
}

fn define(name: &'static str, about: &'static str, schema: Value) -> Tool {
    Tool::new(name, about, object(schema))
}

fn one_string(name: &str) -> Value {
    json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})
}

fn header_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    })
}

fn rich_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

fn mixed() -> CallToolResponse {
    let json = r#"{"test":"data","value":123}"#;
    success(vec![
        ContentBlock::text("Multiple content types test:"),
        picture(),
        embedded("test://mixed-content-resource", "application/json", json),
    ])
}

async fn log_three_times(call: &Call) -> CallToolResponse {
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        call.log(LoggingLevel::Info, message).await;
        pause().await;
    }
    text("logged")
}

async fn report_progress(call: &Call) -> CallToolResponse {
    for progress in [0.0, 50.0, 100.0] {
        call.progress(progress, Some(100.0), None).await;
        pause().await;
    }
    text("finished")
}

/// Lets the client come back for the answer (SEP-1699), where there is a stream to come back to.
async fn reconnect(call: &Call) -> CallToolResponse {
    if let Some(stream) = call.post_stream() {
        match stream.close(Duration::from_millis(100)).await {
            Ok(()) => pause().await,
            Err(error) => return failure(format!("the stream cannot be closed: {error}")),
        }
    }
    text("back again")
}

fn need_sampling(call: &Call) -> Answer<CallToolResponse> {
    require(call, ClientCapabilities::builder().enable_sampling().build())?;
    Ok(text("sampling is declared"))
}

fn describe(call: &Call, cancelled: usize) -> CallToolResponse {
    let caller = call.caller();
    let headers = call.context.extensions.get::<Parts>().map(|parts| &parts.headers);
    CallToolResult::structured(json!({
        "era": format!("{:?}", call.era()),
        "principal": caller.principal,
        "client": caller.client,
        "binding": caller.binding,
        "name": call.client().map(|client| client.name),
        "userAgent": headers.and_then(|headers| headers.get("user-agent")?.to_str().ok()),
        "cancelled": cancelled,
    }))
    .into()
}

async fn pause() {
    time::sleep(Duration::from_millis(50)).await;
}
