//! From `tabwire.v1` frames to the model's messages.
//!
//! Two passes over the text: the first reads only `type` and the ids, so that an answer whose
//! body is wrong can still end its call; the second reads the message itself, payloads opaque.

use model::{
    CallId, CallProgress, Carriage, Change, CloseReason, Closing, Code, Epoch, ExecutorStatus,
    Fault, FromBrowser, Greeting, InstanceId, Json, NumberedChange, Position, Reply, Sequence,
    StateBody, TabId, Target,
    json::{cut, shorten},
    page_text, shape,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire;

/// Capabilities that are taken note of; more are ignored.
const CAPABILITIES: usize = 32;
/// Commands that are taken note of; more are ignored.
const COMMANDS: usize = 256;
/// Characters of a nonce: 32 bytes in base64url without padding.
const NONCE: usize = 43;
/// Characters of a web origin.
const ORIGIN: usize = 300;
/// Characters of texts that are only shown.
const SHORT: usize = 64;
/// Characters of a tab's title, and of its address.
const TITLE: usize = 1000;
const URL: usize = 8192;

/// What a frame means to the machine.
#[derive(Debug)]
pub enum Incoming {
    /// The peer asks whether we are there.
    Ping,
    /// The rest of an introduction, for whoever greeted.
    Prove(Box<wire::Prove>),
    /// Anything that concerns the hub.
    Message(FromBrowser),
}

/// What can be known of a frame before its type is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(default, borrow)]
    call_id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    request_id: Option<&'a RawValue>,
}

/// Reads one frame; an error is the reason to close.
pub fn decode(text: &str) -> Result<Incoming, Closing> {
    if shape::too_deep(text) {
        return Err(malformed(format!("nested deeper than {} levels", shape::DEEPEST)));
    }
    let head: Head<'_> = serde_json::from_str(text).map_err(malformed)?;
    match wire::FromBrowser::decode(&head.kind, text) {
        None => Err(out_of_turn(format!(
            "there is no message type {:?} in tabwire.v1 from this side",
            shorten(&head.kind, 40)
        ))),
        Some(Ok(wire::FromBrowser::Ping(_))) => Ok(Incoming::Ping),
        Some(Ok(wire::FromBrowser::Prove(body))) => Ok(Incoming::Prove(body.into())),
        Some(Ok(message)) => convert(message).map(Incoming::Message),
        Some(Err(error)) => match answered_call(&head) {
            Some(call) => Ok(Incoming::Message(failed(call, &head.kind, &error))),
            None => Err(malformed(error)),
        },
    }
}

/// Makes the close for a frame that is not what its type says.
pub fn malformed(why: impl ToString) -> Closing {
    Closing::new(CloseReason::Malformed, why.to_string())
}

/// Makes the close for a message that has no place here.
pub fn out_of_turn(why: impl Into<String>) -> Closing {
    Closing::new(CloseReason::ProtocolError, why)
}

fn answered_call(head: &Head<'_>) -> Option<CallId> {
    let id = match &*head.kind {
        "toolResult" | "toolsDiscovered" => head.call_id?,
        "stateResponse" | "stateError" => head.request_id?,
        _ => return None,
    };
    serde_json::from_str::<String>(id.get()).ok()?.parse().ok()
}

fn failed(call: CallId, kind: &str, error: &serde_json::Error) -> FromBrowser {
    let fault = Fault::malformed(&format!("the browser's {kind}"), error)
        .hint("the app answers in a way that it should not; look at its console");
    FromBrowser::Ended { call, outcome: Err(fault) }
}

fn convert(message: wire::FromBrowser) -> Result<FromBrowser, Closing> {
    use wire::FromBrowser as Wire;
    Ok(match message {
        Wire::Hello(body) => hello(body)?,
        // Only the machine knows who greeted before.
        Wire::Prove(_) => return Err(out_of_turn("prove without a challenge")),
        Wire::ToolResult(body) => tool_result(body),
        Wire::ToolProgress(body) => match body.call_id.parse() {
            Ok(call) => FromBrowser::Progress {
                call,
                progress: CallProgress {
                    progress: body.progress,
                    total: body.total,
                    message: body.message,
                },
            },
            Err(_) => FromBrowser::Stray,
        },
        Wire::CallStatus(body) => call_status(body),
        Wire::StateResponse(body) => state_response(body)?,
        Wire::StateError(body) => {
            let words = shorten(&body.error, 500);
            let message =
                format!("the page could not tell its state: {}", page_text::exact(&words));
            ended(&body.request_id, Err(Fault::new(Code::StateUnavailable, message)))
        }
        Wire::ToolsDiscovered(body) => {
            let tools = body.tools.into_iter().map(tool_spec).collect();
            ended(&body.call_id, Ok(Reply::Tools(tools)))
        }
        Wire::ReplayRequest(body) => FromBrowser::ReplayRequest(model::ReplayRequest {
            from: position(body.from)?,
            types: body.types,
            errors_first: body.errors_first,
        }),
        Wire::ReplayPage(body) => FromBrowser::ReplayPage(replay_page(body)?),
        Wire::Pong(_) | Wire::Ping(_) => FromBrowser::Alive,
        Wire::Ack(body) => FromBrowser::Ack(position(body.position)?),
        Wire::Bye(body) => FromBrowser::Bye { message: body.message.unwrap_or(body.code) },
        Wire::StateUpdate(_)
        | Wire::TabCreated(_)
        | Wire::TabUpdated(_)
        | Wire::TabClosed(_)
        | Wire::TabFocused(_)
        | Wire::ToolsChanged(_)
        | Wire::Event(_) => FromBrowser::Changed(numbered(message)?),
    })
}

fn hello(body: wire::Hello) -> Result<FromBrowser, Closing> {
    let instance = InstanceId::parse(&body.instance_id).map_err(malformed)?;
    let kind = match body.kind {
        wire::Kind::Browser => model::Kind::Browser,
        wire::Kind::App => model::Kind::App,
    };
    let carried = carriage(&body)?;
    if let Some(nonce) = body.nonce {
        let nonce = nonce_of(nonce)?;
        let (pairing, address) = (body.pairing, body.address);
        let greeting = Greeting { instance, kind, nonce, address, pairing, carried };
        return Ok(FromBrowser::Greeting(greeting));
    }
    if carried.is_some() {
        return Err(Closing::new(CloseReason::Refused, "who carries a page proves itself"));
    }
    let Some(epoch) = body.epoch else { return Err(malformed("missing field `epoch`")) };
    let proven = wire::Prove {
        proof: String::new(),
        name: body.name,
        version: body.version,
        capabilities: body.capabilities,
        commands: body.commands,
        epoch,
        position: body.position,
        resume_token: body.resume_token,
    };
    Ok(FromBrowser::Hello(introduce(instance, kind, proven)?.into()))
}

/// Completes an introduction with who greeted.
pub fn introduce(
    instance: InstanceId,
    kind: model::Kind,
    body: wire::Prove,
) -> Result<model::Hello, Closing> {
    let words = |names: Vec<String>, most: usize| {
        names.iter().take(most).map(|name| cut(name, SHORT)).collect()
    };
    Ok(model::Hello {
        instance,
        kind,
        name: body.name,
        version: body.version.map(|version| cut(&version, SHORT)),
        capabilities: words(body.capabilities, CAPABILITIES),
        epoch: Some(epoch(&body.epoch)?),
        position: body.position.map(position).transpose()?,
        resume_token: body.resume_token,
        tabs: Vec::new(),
        traits: model::PeerTraits {
            commands: words(body.commands, COMMANDS),
            ..model::PeerTraits::default()
        },
    })
}

/// Reads on whose behalf somebody connects.
fn carriage(body: &wire::Hello) -> Result<Option<Carriage>, Closing> {
    let Some(carrier) = &body.carrier else { return Ok(None) };
    let carrier = InstanceId::parse(carrier).map_err(malformed)?;
    if body.kind != wire::Kind::App || body.pairing {
        return Err(malformed("what is carried is an app, by somebody who is paired already"));
    }
    match body.origin.as_deref().filter(|origin| is_page_origin(origin)) {
        Some(origin) => Ok(Some(Carriage { carrier, origin: origin.to_owned() })),
        None => Err(malformed("a carried app has the origin of a web page")),
    }
}

/// An origin is a line of proofs and tells sessions apart, so it has one spelling: the browser's.
fn is_page_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-_:[]".contains(&byte);
    text.len() <= ORIGIN && host.is_some_and(|host| !host.is_empty() && host.bytes().all(plain))
}

/// A nonce is echoed into proofs, so it is plain and of one length.
fn nonce_of(text: String) -> Result<String, Closing> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    match text.len() == NONCE && text.bytes().all(plain) {
        true => Ok(text),
        false => Err(malformed("a nonce is 32 bytes in base64url: 43 characters")),
    }
}

fn tool_result(body: wire::ToolResult) -> FromBrowser {
    let outcome = match (body.result, body.error) {
        (_, Some(error)) => Err(executor_fault(error)),
        (Some(result), None) => Ok(Reply::Result(result.into())),
        (None, None) => Err(Fault::new(
            Code::MalformedReply,
            "the browser's toolResult has neither result nor error",
        )),
    };
    ended(&body.call_id, outcome)
}

fn ended(call_id: &str, outcome: Result<Reply, Fault>) -> FromBrowser {
    match call_id.parse() {
        Ok(call) => FromBrowser::Ended { call, outcome },
        Err(_) => FromBrowser::Stray,
    }
}

fn executor_fault(error: wire::CallError) -> Fault {
    Fault::told(&error.code, &error.message)
}

fn call_status(body: wire::CallStatus) -> FromBrowser {
    let Ok(call) = body.call_id.parse() else { return FromBrowser::Stray };
    let status = match (body.state, body.result, body.error) {
        (wire::CallState::Running, ..) => ExecutorStatus::Running,
        (wire::CallState::Ended, _, Some(error)) => {
            ExecutorStatus::Ended(Err(executor_fault(error)))
        }
        (wire::CallState::Ended, Some(result), None) => ExecutorStatus::Ended(Ok(result.into())),
        (wire::CallState::Ended, None, None) | (wire::CallState::Unknown, ..) => {
            ExecutorStatus::Unknown
        }
    };
    FromBrowser::Status { call, status }
}

fn state_response(body: wire::StateResponse) -> Result<FromBrowser, Closing> {
    let update = model::StateUpdate {
        body: StateBody::Whole(body.state.into()),
        epoch: body.state_epoch.as_deref().map(epoch).transpose()?,
        version: body.version,
    };
    Ok(ended(&body.request_id, Ok(Reply::State(update))))
}

/// Reads a numbered message, also from within a replay page.
fn numbered(message: wire::FromBrowser) -> Result<NumberedChange, Closing> {
    use wire::FromBrowser as Wire;
    let (sequence, change) = match message {
        Wire::StateUpdate(body) => (body.sequence, Change::State(state_update(&body)?)),
        Wire::TabCreated(body) => (body.sequence, Change::TabCreated(tab(body.tab))),
        Wire::TabUpdated(body) => (body.sequence, Change::TabUpdated(tab(body.tab))),
        Wire::TabClosed(body) => (body.sequence, Change::TabClosed(TabId(body.tab_id))),
        Wire::TabFocused(body) => (body.sequence, Change::TabFocused(TabId(body.tab_id))),
        Wire::ToolsChanged(body) => (
            body.sequence,
            Change::ToolsChanged {
                tab: body.tab_id.map(TabId),
                tools: body.tools.into_iter().map(tool_spec).collect(),
            },
        ),
        Wire::Event(body) => (body.sequence, event(body)),
        _ => return Err(out_of_turn("a replay page holds numbered messages only")),
    };
    if sequence == 0 {
        return Err(malformed("numbers start at 1"));
    }
    Ok(NumberedChange { sequence: Some(Sequence(sequence)), change })
}

fn event(body: wire::Event) -> Change {
    let level = match body.level {
        wire::Level::Info => model::Level::Info,
        wire::Level::Warning => model::Level::Warning,
        wire::Level::Error => model::Level::Error,
    };
    let data = body.data.map_or_else(Json::null, Json::from);
    Change::Event { name: cut(&body.name, 128), level, data }
}

fn state_update(body: &wire::StateUpdate) -> Result<model::StateUpdate, Closing> {
    let content = match (&body.state, &body.patch) {
        (Some(state), None) => StateBody::Whole(state.clone().into()),
        (None, Some(patch)) => StateBody::Patch(patch.clone().into()),
        _ => return Err(malformed("a stateUpdate has either state or patch")),
    };
    let epoch = Some(epoch(&body.state_epoch)?);
    Ok(model::StateUpdate { body: content, epoch, version: Some(body.version) })
}

fn replay_page(body: wire::ReplayPage) -> Result<model::ReplayPage, Closing> {
    let messages = body.messages.iter().map(|raw| {
        let head: Head<'_> = serde_json::from_str(raw.get()).map_err(malformed)?;
        match wire::FromBrowser::decode(&head.kind, raw.get()) {
            Some(message) => numbered(message.map_err(malformed)?),
            None => Err(out_of_turn("a replay page holds numbered messages only")),
        }
    });
    Ok(model::ReplayPage {
        upto: Position { epoch: epoch(&body.epoch)?, sequence: Sequence(body.upto) },
        messages: messages.collect::<Result<_, _>>()?,
        more: body.more,
        partial: body.partial,
        refused: match (body.recovered, body.reason) {
            (true, _) => None,
            (false, reason) => Some(match reason {
                Some(wire::RefusedResume::Expired) => model::RefusedResume::Expired,
                Some(wire::RefusedResume::EpochChanged) => model::RefusedResume::EpochChanged,
                Some(wire::RefusedResume::FutureSequence) => model::RefusedResume::FutureSequence,
                Some(wire::RefusedResume::Gap) | None => model::RefusedResume::Gap,
            }),
        },
    })
}

fn tab(body: wire::Tab) -> model::Tab {
    model::Tab {
        id: TabId(body.id),
        title: cut(&body.title, TITLE),
        url: cut(&body.url, URL),
        active: body.active,
    }
}

fn tool_spec(body: wire::ToolSpec) -> model::ToolSpec {
    model::ToolSpec {
        name: body.name,
        description: body.description,
        input_schema: body.input_schema.map_or_else(any_arguments, Json::from),
        read_only: body.annotations.is_some_and(|annotations| annotations.read_only_hint),
        // Cut, it is nobody's: that is never trusted.
        origin: body.origin.map(|origin| cut(&origin, URL)),
    }
}

fn any_arguments() -> Json {
    Json::of(&serde_json::json!({"type": "object"}))
}

fn position(body: wire::Position) -> Result<Position, Closing> {
    Ok(Position { epoch: epoch(&body.epoch)?, sequence: Sequence(body.sequence) })
}

fn epoch(text: &str) -> Result<Epoch, Closing> {
    Epoch::parse(text).map_err(|error| malformed(format!("epoch: {error}")))
}

impl From<model::Target> for wire::Target {
    fn from(target: Target) -> Self {
        match target {
            Target::Command => Self::Command,
            Target::App => Self::App,
            Target::Page => Self::Page,
        }
    }
}
