//! Tools that ask the client something: sampling and forms, as the older era knows them.
//!
//! Forms go through [`ask_user`], which works in both eras; sampling is for older clients only.

#![expect(deprecated, reason = "the suite tests sampling of the older era")]

use mcp::{Call, backend::Answer};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientResult,
    CreateMessageRequest, CreateMessageRequestParams, ErrorData, SamplingMessage, ServerRequest,
};
use serde_json::{Value, json};

use crate::{
    Fixture,
    content::{said, text},
    question::{Asked, ask_user, form, require, send_request},
    tools::unknown,
};

impl Fixture {
    /// Runs a tool that needs the client's help.
    pub(crate) async fn ask_client(
        &self,
        request: &CallToolRequestParams,
        call: &Call,
    ) -> Answer<CallToolResponse> {
        match request.name.as_ref() {
            "test_sampling" => sample(&argument(request, "prompt")?, call).await,
            "test_elicitation" => {
                elicit(&argument(request, "message")?, account(), request, call).await
            }
            "test_elicitation_sep1034_defaults" => {
                elicit("Please check these values", defaults(), request, call).await
            }
            "test_elicitation_sep1330_enums" => {
                elicit("Please choose", choices(), request, call).await
            }
            "test_streaming_elicitation" => {
                call.progress(1.0, Some(2.0), None).await;
                elicit("Please go on", account(), request, call).await
            }
            name => Err(unknown(name)),
        }
    }
}

fn argument(request: &CallToolRequestParams, name: &str) -> Answer<String> {
    let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
    let text = value.and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| ErrorData::invalid_params(format!("argument {name} is missing"), None))
}

async fn sample(prompt: &str, call: &Call) -> Answer<CallToolResponse> {
    require(call, ClientCapabilities::builder().enable_sampling().build())?;
    let parameters = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    let request = ServerRequest::CreateMessageRequest(CreateMessageRequest::new(parameters));
    let ClientResult::CreateMessageResult(result) = send_request(call, request).await? else {
        return Err(ErrorData::invalid_request("the client answered something else", None));
    };
    Ok(text(format!("LLM response: {}", said(&result))))
}

async fn elicit(
    message: &str,
    schema: Value,
    request: &CallToolRequestParams,
    call: &Call,
) -> Answer<CallToolResponse> {
    let form = form(message, schema)?;
    Ok(match ask_user(call, "form", form, request.input_responses.as_ref()).await? {
        Asked::Later(question) => question.into(),
        Asked::Answered(answer) => {
            let content = answer.content.unwrap_or_default();
            let action = format!("{:?}", answer.action).to_lowercase();
            text(format!("Elicitation completed: action={action}, content={content}"))
        }
    })
}

fn account() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    json!({"type": "object", "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": true},
    }})
}

fn choices() -> Value {
    let titled = json!([
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]);
    let plain = json!(["option1", "option2", "option3"]);
    json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }})
}
