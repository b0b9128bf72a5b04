//! Tools that answer with a question and are called again with the answer (SEP-2322).
//!
//! Answers that are missing or do not fit lead to the same question again; state that is not
//! ours is an error.

#![expect(deprecated, reason = "the suite still asks for sampling and roots")]

use mcp::{Call, backend::Answer};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CreateMessageRequest, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequest, ElicitResult, InputRequest, ListRootsRequest,
    ListRootsResult, SamplingMessage,
};
use serde_json::{Value, json};

use crate::{
    Fixture,
    content::{said, text},
    question::{answer, ask, capabilities, form, later},
    tools::unknown,
};

impl Fixture {
    /// Runs a tool of the family `test_input_required_result_…`.
    pub(crate) async fn ask_for_input(
        &self,
        request: &CallToolRequestParams,
        call: &Call,
    ) -> Answer<CallToolResponse> {
        let family = "test_input_required_result_";
        match request.name.strip_prefix(family).unwrap_or_default() {
            "elicitation" => greet(request),
            "sampling" => capital(request),
            "list_roots" => roots(request),
            "request_state" | "tampered_state" => self.confirm(request, call),
            "multiple_inputs" => self.three_at_once(request, call),
            "multi_round" => self.two_rounds(request, call),
            "capabilities" => only_declared(call),
            _ => Err(unknown(&request.name)),
        }
    }

    fn confirm(&self, request: &CallToolRequestParams, call: &Call) -> Answer<CallToolResponse> {
        if let Some(state) = &request.request_state {
            let _: String = self.seal.open(state, call, &request.name)?;
            if given(request, "confirm", "ok").is_some() {
                return Ok(text("state-ok"));
            }
        }
        let state = self.seal.close(&"waiting", call, &request.name)?;
        later([("confirm", boolean("Please confirm", "ok")?)], Some(state))
    }

    fn three_at_once(
        &self,
        request: &CallToolRequestParams,
        call: &Call,
    ) -> Answer<CallToolResponse> {
        let answers = request.input_responses.as_ref();
        let greeting = answer::<CreateMessageResult>(answers, "greeting");
        let roots = answer::<ListRootsResult>(answers, "client_roots");
        if let (Some(state), Some(name), Some(_), Some(_)) =
            (&request.request_state, given(request, "user_name", "name"), greeting, roots)
        {
            let _: String = self.seal.open(state, call, &request.name)?;
            return Ok(text(format!("Hello, {name}")));
        }
        let state = self.seal.close(&"waiting", call, &request.name)?;
        let requests = [
            ("user_name", string("What is your name?", "name")?),
            ("greeting", model("Generate a greeting", 50)),
            ("client_roots", InputRequest::ListRoots(ListRootsRequest::default())),
        ];
        later(requests, Some(state))
    }

    fn two_rounds(&self, request: &CallToolRequestParams, call: &Call) -> Answer<CallToolResponse> {
        let about = request.name.as_ref();
        let name: Option<Value> = match &request.request_state {
            Some(state) => self.seal.open(state, call, about)?,
            None => None,
        };
        if let (Some(name), Some(color)) = (&name, given(request, "step2", "color")) {
            return Ok(text(format!("{name} likes {color}")));
        }
        if let Some(name) = given(request, "step1", "name") {
            let state = self.seal.close(&Some(name), call, about)?;
            let question = string("Step 2: What is your favorite color?", "color")?;
            return later([("step2", question)], Some(state));
        }
        let state = self.seal.close(&None::<Value>, call, about)?;
        later([("step1", string("Step 1: What is your name?", "name")?)], Some(state))
    }
}

fn greet(request: &CallToolRequestParams) -> Answer<CallToolResponse> {
    match given(request, "user_name", "name") {
        Some(name) => Ok(text(format!("Hello, {name}!"))),
        None => later([("user_name", string("What is your name?", "name")?)], None),
    }
}

fn capital(request: &CallToolRequestParams) -> Answer<CallToolResponse> {
    let result: Option<CreateMessageResult> =
        answer(request.input_responses.as_ref(), "capital_question");
    match result {
        Some(result) => Ok(text(said(&result))),
        None => later([("capital_question", model("What is the capital of France?", 100))], None),
    }
}

fn roots(request: &CallToolRequestParams) -> Answer<CallToolResponse> {
    let result: Option<ListRootsResult> = answer(request.input_responses.as_ref(), "client_roots");
    match result {
        Some(result) => {
            let uris: Vec<String> = result.roots.into_iter().map(|root| root.uri).collect();
            Ok(text(format!("Roots: {}", uris.join(", "))))
        }
        None => {
            let request = InputRequest::ListRoots(ListRootsRequest::default());
            later([("client_roots", request)], None)
        }
    }
}

fn only_declared(call: &Call) -> Answer<CallToolResponse> {
    let declared = capabilities(call);
    if declared.sampling.is_some() {
        return later([("model", model("Say hello", 50))], None);
    }
    if declared.elicitation.is_some() {
        return later([("user", string("What is your name?", "name")?)], None);
    }
    Ok(text("nothing can be asked"))
}

/// Returns one field of the user's answer to a form.
fn given(request: &CallToolRequestParams, key: &str, field: &str) -> Option<Value> {
    let result: ElicitResult = answer(request.input_responses.as_ref(), key)?;
    result.content?.get(field).cloned()
}

fn string(message: &str, field: &str) -> Answer<InputRequest> {
    question(message, field, "string")
}

fn boolean(message: &str, field: &str) -> Answer<InputRequest> {
    question(message, field, "boolean")
}

fn question(message: &str, field: &str, kind: &str) -> Answer<InputRequest> {
    let schema =
        json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    Ok(InputRequest::Elicitation(ElicitRequest::new(form(message, schema)?)))
}

fn model(prompt: &str, max_tokens: u32) -> InputRequest {
    let messages = vec![SamplingMessage::user_text(prompt)];
    let parameters = CreateMessageRequestParams::new(messages, max_tokens);
    InputRequest::CreateMessage(CreateMessageRequest::new(parameters))
}

/// Returns the question of the prompt that needs context.
pub(crate) fn prompt_context() -> Answer<rmcp::model::InputRequiredResult> {
    let question = string("What context should the prompt use?", "context")?;
    Ok(ask([("user_context", question)], None))
}
