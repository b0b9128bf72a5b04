//! The fixture's prompts.

use mcp::backend::Answer;
use rmcp::model::{
    ContentBlock, ElicitResult, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;

use crate::{
    content::{embedded, picture},
    inputs::prompt_context,
    question::answer,
};

/// Returns all prompts, with or without the one that comes and goes.
pub(crate) fn list(extra: bool) -> Vec<Prompt> {
    let mut prompts = vec![
        define("test_simple_prompt", "One line of text", &[]),
        define("test_prompt_with_arguments", "Repeats its arguments", &["arg1", "arg2"]),
        define("test_prompt_with_embedded_resource", "Embeds a resource", &["resourceUri"]),
        define("test_prompt_with_image", "Shows a picture", &[]),
        define("test_input_required_result_prompt", "Asks for context first", &[]),
    ];
    if extra {
        prompts.push(define("test_extra_prompt", "Comes and goes", &[]));
    }
    prompts
}

/// Fills in one prompt.
pub(crate) fn get(request: &GetPromptRequestParams) -> Answer<GetPromptResponse> {
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![say("This is a simple prompt for testing.")],
        "test_extra_prompt" => vec![say("This prompt comes and goes.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument(request, "arg1")?, argument(request, "arg2")?);
            vec![say(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            show(embedded(
                &argument(request, "resourceUri")?,
                "text/plain",
                "Embedded resource content for testing.",
            )),
            say("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![show(picture()), say("Please analyze the image above.")],
        "test_input_required_result_prompt" => return with_context(request),
        name => return Err(ErrorData::invalid_params(format!("unknown prompt: {name}"), None)),
    };
    Ok(GetPromptResult::new(messages).into())
}

fn define(name: &str, about: &str, arguments: &[&str]) -> Prompt {
    let arguments: Vec<_> = arguments
        .iter()
        .map(|name| {
            PromptArgument::new(*name).with_description("Test argument").with_required(true)
        })
        .collect();
    Prompt::new(name, Some(about), (!arguments.is_empty()).then_some(arguments))
}

fn argument(request: &GetPromptRequestParams, name: &str) -> Answer<String> {
    let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
    let text = value.and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| ErrorData::invalid_params(format!("argument {name} is missing"), None))
}

fn with_context(request: &GetPromptRequestParams) -> Answer<GetPromptResponse> {
    let result: Option<ElicitResult> = answer(request.input_responses.as_ref(), "user_context");
    match result {
        Some(result) => {
            let context = result.content.unwrap_or_default();
            Ok(GetPromptResult::new(vec![say(format!("Use this context: {context}"))]).into())
        }
        None => prompt_context().map(Into::into),
    }
}

fn say(text: impl Into<String>) -> PromptMessage {
    PromptMessage::new_text(Role::User, text)
}

fn show(content: ContentBlock) -> PromptMessage {
    PromptMessage::new(Role::User, content)
}
