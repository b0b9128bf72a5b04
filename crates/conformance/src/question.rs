//! Asks the user through the client in the middle of a call, whichever era the client is of.
//!
//! Older clients are sent a request and answer on the spot. Newer ones get a result that asks, and
//! call again with the answer and the state that went with the question; that state comes back
//! from outside, so a [`Seal`] proves that it is ours, for this principal and this request.

use std::time::Duration;

use mcp::{Call, Era, backend::Answer};
use rmcp::{
    model::{
        CallToolResponse, ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams,
        ElicitResult, ErrorData, InputRequest, InputRequests, InputRequiredResult, InputResponses,
        RequestStateCodec, RequestStateError, SealOptions, ServerRequest,
    },
    service::{PeerRequestOptions, ServiceError},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// How long a person may think before the question lapses.
const PATIENCE: Duration = Duration::from_secs(600);

/// What came of a question.
pub(crate) enum Asked {
    /// The user's answer.
    Answered(ElicitResult),
    /// To be returned as it is; the client will call again.
    Later(InputRequiredResult),
}

impl From<InputRequiredResult> for Asked {
    fn from(result: InputRequiredResult) -> Self {
        Self::Later(result)
    }
}

/// Builds a form from its JSON Schema.
pub(crate) fn form(message: impl Into<String>, schema: Value) -> Answer<ElicitRequestParams> {
    let requested_schema = serde_json::from_value(schema)
        .map_err(|error| ErrorData::internal_error(format!("form schema: {error}"), None))?;
    let message = message.into();
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Returns the client's answer to `key`; one that does not fit counts as missing.
pub(crate) fn answer<T: DeserializeOwned>(
    answers: Option<&InputResponses>,
    key: &str,
) -> Option<T> {
    T::deserialize(answers?.get(key)?).ok()
}

/// Builds the result that asks for `requests`, with the state to send back if there is one.
pub(crate) fn ask<const N: usize>(
    requests: [(&str, InputRequest); N],
    state: Option<String>,
) -> InputRequiredResult {
    let requests = requests.map(|(key, request)| (key.to_owned(), request));
    InputRequiredResult::new(Some(InputRequests::from(requests)), state)
}

/// Shortens returning a question from a tool.
pub(crate) fn later<const N: usize>(
    requests: [(&str, InputRequest); N],
    state: Option<String>,
) -> Answer<CallToolResponse> {
    Ok(ask(requests, state).into())
}

/// Shows a form to the user, or returns the question that the client will come back with.
pub(crate) async fn ask_user(
    call: &Call,
    key: &str,
    form: ElicitRequestParams,
    answers: Option<&InputResponses>,
) -> Answer<Asked> {
    require(call, ClientCapabilities::builder().enable_elicitation().build())?;
    if call.era() == Era::Modern {
        return Ok(match answer(answers, key) {
            Some(result) => Asked::Answered(result),
            None => ask([(key, InputRequest::Elicitation(ElicitRequest::new(form)))], None).into(),
        });
    }
    match send_request(call, ServerRequest::ElicitRequest(ElicitRequest::new(form))).await? {
        ClientResult::ElicitResult(result) => Ok(Asked::Answered(result)),
        _ => Err(ErrorData::invalid_request("the client answered something else", None)),
    }
}

/// Sends a request to an older client on the stream of this call and waits for the answer.
///
/// Await it in the handler's own task: `rmcp` finds the right stream by a task-local.
pub(crate) async fn send_request(call: &Call, request: ServerRequest) -> Answer<ClientResult> {
    if call.era() == Era::Modern {
        return Err(ErrorData::internal_error("newer clients take no requests", None));
    }
    let options = PeerRequestOptions::with_timeout(PATIENCE);
    let peer = &call.context.peer;
    let handle = peer.send_request_with_option(request, options).await.map_err(unanswered)?;
    handle.await_response().await.map_err(unanswered)
}

/// Returns what the client said it can do; nothing, if it said nothing.
pub(crate) fn capabilities(call: &Call) -> ClientCapabilities {
    call.context.client_capabilities().unwrap_or_default()
}

/// Fails unless the client declared everything in `needed` that is one of the three capabilities a
/// server may ask something of.
pub(crate) fn require(call: &Call, needed: ClientCapabilities) -> Answer<()> {
    let declared = capabilities(call);
    let missing = (needed.elicitation.is_some() && declared.elicitation.is_none())
        || (needed.sampling.is_some() && declared.sampling.is_none())
        || (needed.roots.is_some() && declared.roots.is_none());
    if missing {
        return Err(ErrorData::missing_required_client_capability(needed));
    }
    Ok(())
}

fn unanswered(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(format!("no answer from the client: {other}"), None),
    }
}

/// Signs state that travels through the client. Dies with the process, and with it every question.
pub(crate) struct Seal {
    codec: RequestStateCodec,
}

impl Seal {
    /// Draws a fresh key.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut key = [0; RequestStateCodec::MIN_KEY_LENGTH];
        getrandom::fill(&mut key)?;
        Ok(Self { codec: RequestStateCodec::new_unchecked(key) })
    }

    /// Seals `state` for the caller; `about` names the request, arguments included.
    pub(crate) fn close(&self, state: &impl Serialize, call: &Call, about: &str) -> Answer<String> {
        let context = context(call, about);
        let options = SealOptions::new().associated_data(context.as_bytes()).ttl(PATIENCE);
        self.codec.seal_json_with(state, &options).map_err(refuse)
    }

    /// Opens what [`Seal::close`] made for the same caller and request.
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        state: &str,
        call: &Call,
        about: &str,
    ) -> Answer<T> {
        self.codec.open_json_with(state, context(call, about).as_bytes()).map_err(refuse)
    }
}

fn context(call: &Call, about: &str) -> String {
    format!("{}\0{about}", call.caller().principal)
}

fn refuse(error: RequestStateError) -> ErrorData {
    ErrorData::invalid_params(format!("requestState: {error}"), None)
}
