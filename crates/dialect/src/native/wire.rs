//! The messages of `tabwire.v1` as they stand on the wire.
//!
//! This file is the one source of the protocol's types: the TypeScript side and the checks it
//! makes are generated from it (`cargo xtask gen`), and `docs/protocol.md` is tested against it.
//! Field names are the wire's. Unknown fields are ignored, unknown types refused, and a field
//! that stands twice is an error.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// Fields that are absent rather than `null` when there is nothing to say.
macro_rules! body {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
    };
}

/// One direction's messages: an enum to write, and a decoder that goes by `type`.
///
/// Not a derived decoder: a tagged enum buffers its content, which opaque payloads do not
/// survive, and it accepts a `type` that stands twice.
macro_rules! messages {
    ($(#[$doc:meta])* $name:ident { $($tag:literal => $body:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Serialize, JsonSchema)]
        #[serde(tag = "type")]
        pub enum $name {
            $(#[doc = concat!("`", $tag, "`")] #[serde(rename = $tag)] $body($body),)*
        }

        impl $name {
            /// Every message type of this direction.
            pub const TYPES: &[&str] = &[$($tag),*];

            /// Reads the message whose `type` is `kind`; `None` means there is no such type.
            pub fn decode(kind: &str, text: &str) -> Option<Result<Self, serde_json::Error>> {
                Some(match kind {
                    $($tag => serde_json::from_str(text).map(Self::$body),)*
                    _ => return None,
                })
            }
        }
    };
}

messages! {
    /// What a browser or app sends.
    FromBrowser {
        "hello" => Hello,
        "prove" => Prove,
        "toolResult" => ToolResult,
        "toolProgress" => ToolProgress,
        "callStatus" => CallStatus,
        "stateResponse" => StateResponse,
        "stateError" => StateError,
        "stateUpdate" => StateUpdate,
        "tabCreated" => TabCreated,
        "tabUpdated" => TabUpdated,
        "tabClosed" => TabClosed,
        "tabFocused" => TabFocused,
        "toolsChanged" => ToolsChanged,
        "toolsDiscovered" => ToolsDiscovered,
        "event" => Event,
        "replayRequest" => ReplayRequest,
        "replayPage" => ReplayPage,
        "ping" => Ping,
        "pong" => Pong,
        "ack" => Ack,
        "bye" => Bye,
    }
}

messages! {
    /// What the hub sends.
    ToBrowser {
        "challenge" => Challenge,
        "welcome" => Welcome,
        "callTool" => CallTool,
        "cancel" => Cancel,
        "callQuery" => CallQuery,
        "requestState" => RequestState,
        "openTab" => OpenTab,
        "closeTab" => CloseTab,
        "focusTab" => FocusTab,
        "discoverTools" => DiscoverTools,
        "event" => Event,
        "replayRequest" => ReplayRequest,
        "replayPage" => ReplayPage,
        "ping" => Ping,
        "pong" => Pong,
        "ack" => Ack,
        "bye" => Bye,
    }
}

/// Keeps a `null` that was sent apart from a field that was not.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Deserialize::deserialize(from).map(Some)
}

/// What kind of peer this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A browser, with tabs and commands.
    Browser,
    /// One page with state and tools of its own.
    App,
}

/// Whose tool is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// A command of the browser itself.
    Command,
    /// A tool of the connected app.
    App,
    /// A tool that the page in a tab declares.
    Page,
}

/// How bad an event is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// Worth knowing, and nothing to do.
    #[default]
    Info,
    /// Something is odd, and went on.
    Warning,
    /// Something failed; replay can bring these first.
    Error,
}

/// Why a log cannot continue from a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusedResume {
    /// Messages in between were dropped because there were too many.
    Gap,
    /// Messages in between were dropped because they were too old.
    Expired,
    /// The position is in another log.
    EpochChanged,
    /// The position is beyond the newest message.
    FutureSequence,
}

/// What an executor knows of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CallState {
    /// Never received, or forgotten.
    Unknown,
    /// Received and not finished; its end will be told.
    Running,
    /// Finished; `result` or `error` is the end.
    Ended,
}

body! {
    /// A place in a log: everything up to `sequence` has been seen.
    Position {
        /// The log that the number belongs to.
        epoch: String,
        /// How far; 0 is before the first message.
        sequence: u64,
    }
}

body! {
    /// An error, as the executor tells it.
    CallError {
        /// For branching, such as `ELEMENT_NOT_FOUND`.
        code: String,
        /// For reading: what failed, and what to try.
        message: String,
    }
}

body! {
    /// One tab of a browser.
    Tab {
        /// The browser's number for it.
        id: u64,
        /// May be empty while loading.
        #[serde(default)]
        title: String,
        /// May be empty while loading.
        #[serde(default)]
        url: String,
        /// Whether it is in front.
        #[serde(default)]
        active: bool,
    }
}

body! {
    /// A tool that an app or a page declares.
    ToolSpec {
        /// 1 to 128 of letters, digits, `_ . -`.
        name: String,
        /// What it does, in the declarer's words; may be empty.
        #[serde(default)]
        description: String,
        /// JSON Schema of its arguments; absent means no arguments are described.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_schema: Option<Box<RawValue>>,
        /// Hints about what it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        annotations: Option<ToolAnnotations>,
        /// Of a tool in a frame of a page, the frame's origin; absent means the page itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<String>,
    }
}

body! {
    /// What a tool says of itself; hints only, never trusted.
    ToolAnnotations {
        /// Whether it changes nothing, by its own word.
        #[serde(default)]
        read_only_hint: bool,
    }
}

body! {
    /// The introduction, always the first message.
    Hello {
        /// Its own name for itself.
        instance_id: String,
        /// Whether it has tabs or is one page.
        kind: Kind,
        /// What people call it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its version, for display.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// What it can do beyond the minimum.
        #[serde(default)]
        capabilities: Vec<String>,
        /// The commands that a browser can do; empty means that it does not say.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commands: Vec<String>,
        /// The log in which it numbers what it sends; absent where there is a `nonce`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<String>,
        /// How far it has seen the hub's log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<Position>,
        /// From the last `welcome`; valid once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume_token: Option<String>,
        /// Asks the hub to prove itself first; all else then comes with `prove`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nonce: Option<String>,
        /// Where it dialled, such as `loopback:8765`; the proofs are bound to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        /// The proof is made with a pairing code, which becomes a key.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pairing: bool,
        /// The paired instance that connects this app on its behalf, and whose key the proofs need.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carrier: Option<String>,
        /// The web origin of a carried app, as its carrier attests it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<String>,
    }
}

body! {
    /// The hub's proof, and what it wants proven: the answer to a `hello` with a `nonce`.
    Challenge {
        /// Random, 32 bytes in base64url.
        nonce: String,
        /// That the hub knows the key.
        proof: String,
    }
}

body! {
    /// The rest of the introduction, for a hub that has proven itself.
    Prove {
        /// That the peer knows the key.
        proof: String,
        /// What people call it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its version, for display.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// What it can do beyond the minimum.
        #[serde(default)]
        capabilities: Vec<String>,
        /// The commands that a browser can do; empty means that it does not say.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commands: Vec<String>,
        /// The log in which it numbers what it sends.
        epoch: String,
        /// How far it has seen the hub's log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<Position>,
        /// From the last `welcome`; valid once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume_token: Option<String>,
    }
}

body! {
    /// The hub's answer to `hello`.
    Welcome {
        /// The session it has from now on.
        session_id: String,
        /// The session's readable name.
        name: String,
        /// The hub's version, for display.
        server_version: String,
        /// The hub asks after this much silence.
        heartbeat_ms: u64,
        /// The hub's log for this session.
        epoch: String,
        /// The newest number in it.
        current_sequence: u64,
        /// How far the hub has seen the peer's log; what follows must be sent again.
        received: Position,
        /// Whether the log continues from `hello.position`.
        recovered: bool,
        /// Why it does not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<RefusedResume>,
        /// The first page of what was missed, oldest first.
        #[schemars(with = "Vec<Event>")]
        replay: Vec<Box<RawValue>>,
        /// Further pages must be asked for.
        more: bool,
        /// To be presented at the next hello.
        resume_token: String,
    }
}

body! {
    /// On whose behalf something is done.
    CallingClient {
        /// The same for all calls of one client.
        id: String,
        /// What people call it.
        name: String,
    }
}

body! {
    /// Run a tool or command.
    CallTool {
        /// The hub's id; the executor never runs the same id twice.
        call_id: String,
        /// Whether a command, the app's tool or a page's is meant.
        target: Target,
        /// In which tab; absent for apps.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tab_id: Option<u64>,
        /// The tool's or command's name, as its declarer has it.
        tool_name: String,
        /// The arguments, as an object.
        args: Box<RawValue>,
        /// Remaining time; a call without any left is refused.
        deadline_ms: u64,
        /// The AI client on whose behalf it runs; absent where none is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<CallingClient>,
    }
}

body! {
    /// The end of a call: `result` or `error`.
    ToolResult {
        /// The id from `callTool`, or from the tab command that has ended.
        call_id: String,
        /// What came out; `null` is a result too.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        result: Option<Box<RawValue>>,
        /// Why it failed; absent where there is a result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<CallError>,
    }
}

body! {
    /// How far a call is.
    ToolProgress {
        /// The id from `callTool`.
        call_id: String,
        /// Grows with each report.
        progress: f64,
        /// What it grows towards.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// What is being done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    }
}

body! {
    /// Stop a call; it still ends with `toolResult`.
    Cancel {
        /// The id from `callTool`.
        call_id: String,
    }
}

body! {
    /// What became of a call?
    CallQuery {
        /// The id that the hub lost sight of.
        call_id: String,
    }
}

body! {
    /// The answer to `callQuery`.
    CallStatus {
        /// The id from `callQuery`.
        call_id: String,
        /// Whether it is unknown, running or ended.
        state: CallState,
        /// The result, when it ended well.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        result: Option<Box<RawValue>>,
        /// The error, when it ended badly.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<CallError>,
    }
}

body! {
    /// Tell the current state.
    RequestState {
        /// Comes back in the answer.
        request_id: String,
        /// Look, do not answer from a cache.
        force_refresh: bool,
    }
}

body! {
    /// The state that was asked for.
    StateResponse {
        /// The id from `requestState`.
        request_id: String,
        /// The whole state.
        state: Box<RawValue>,
        /// The page's life that counts the versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state_epoch: Option<String>,
        /// The version of the state; absent where versions are not counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
    }
}

body! {
    /// The state could not be told.
    StateError {
        /// The id from `requestState`.
        request_id: String,
        /// Why not, for reading.
        error: String,
    }
}

body! {
    /// A new state: `state` or `patch`. Numbered.
    StateUpdate {
        /// The number in the sender's log.
        sequence: u64,
        /// The whole state; absent where there is a `patch`.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        state: Option<Box<RawValue>>,
        /// A JSON Patch (RFC 6902) against the version before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch: Option<Box<RawValue>>,
        /// The page's life that counts the versions.
        state_epoch: String,
        /// Grows by one with each update.
        version: u64,
    }
}

body! {
    /// A tab exists now. Numbered.
    TabCreated {
        /// The number in the sender's log.
        sequence: u64,
        /// The new tab.
        tab: Tab,
    }
}

body! {
    /// A tab changed. Numbered.
    TabUpdated {
        /// The number in the sender's log.
        sequence: u64,
        /// The tab as it is now.
        tab: Tab,
    }
}

body! {
    /// A tab is gone. Numbered.
    TabClosed {
        /// The number in the sender's log.
        sequence: u64,
        /// The browser's number for it.
        tab_id: u64,
    }
}

body! {
    /// A tab is in front now. Numbered.
    TabFocused {
        /// The number in the sender's log.
        sequence: u64,
        /// The browser's number for it.
        tab_id: u64,
    }
}

body! {
    /// All tools of the app, or of the page in a tab, as they are now. Numbered.
    ToolsChanged {
        /// The number in the sender's log.
        sequence: u64,
        /// Absent: the app's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tab_id: Option<u64>,
        /// The whole list, in place of the one before.
        tools: Vec<ToolSpec>,
    }
}

body! {
    /// Open a tab; ends with `toolResult`.
    OpenTab {
        /// The hub's id for this call.
        call_id: String,
        /// The address to load.
        url: String,
        /// Whether to bring it to the front.
        focus: bool,
        /// Remaining time; a call without any left is refused.
        deadline_ms: u64,
    }
}

body! {
    /// Close a tab; ends with `toolResult`.
    CloseTab {
        /// The hub's id for this call.
        call_id: String,
        /// The browser's number for it.
        tab_id: u64,
        /// Remaining time; a call without any left is refused.
        deadline_ms: u64,
    }
}

body! {
    /// Bring a tab to the front; ends with `toolResult`.
    FocusTab {
        /// The hub's id for this call.
        call_id: String,
        /// The browser's number for it.
        tab_id: u64,
        /// Remaining time; a call without any left is refused.
        deadline_ms: u64,
    }
}

body! {
    /// List the tools of the page in a tab; ends with `toolsDiscovered`, or with `toolResult`
    /// and an error.
    DiscoverTools {
        /// The hub's id for this call.
        call_id: String,
        /// Which tab; absent: the app's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tab_id: Option<u64>,
        /// Remaining time; a call without any left is refused.
        deadline_ms: u64,
    }
}

body! {
    /// The tools that were asked for.
    ToolsDiscovered {
        /// The id from `discoverTools`.
        call_id: String,
        /// The tab of the page; absent: the app's own tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tab_id: Option<u64>,
        /// The whole list, in place of the one before.
        tools: Vec<ToolSpec>,
    }
}

body! {
    /// Something else that happened. Numbered.
    Event {
        /// The number in the sender's log.
        sequence: u64,
        /// Such as `console`, `dialog`, `toolActivity`.
        name: String,
        /// How bad it is.
        #[serde(default)]
        level: Level,
        /// Any JSON that the name calls for.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        data: Option<Box<RawValue>>,
    }
}

body! {
    /// Send again what follows a position.
    ReplayRequest {
        /// The last place that was seen.
        from: Position,
        /// Only these message types or event names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        types: Vec<String>,
        /// Errors before the rest.
        #[serde(default)]
        errors_first: bool,
    }
}

body! {
    /// A page of what was missed.
    ReplayPage {
        /// The sender's log, to which the numbers belong.
        epoch: String,
        /// This page, with all before it, reaches up to this number.
        upto: u64,
        /// Whether the log continues from the position that was asked for.
        recovered: bool,
        /// Why it does not; then there are no messages and a full sync is due.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<RefusedResume>,
        /// Numbered messages, oldest first.
        messages: Vec<Box<RawValue>>,
        /// There are further pages.
        more: bool,
        /// A selection or another order: it does not move the receiver's position.
        #[serde(default)]
        partial: bool,
    }
}

body! {
    /// Asks for a `pong`; any message is a sign of life too.
    Ping {}
}

body! {
    /// The answer to `ping`.
    Pong {}
}

body! {
    /// Everything up to here has been received and kept.
    Ack {
        /// The newest message that is safe.
        position: Position,
    }
}

body! {
    /// The sender ends the connection; the close frame follows.
    Bye {
        /// Why, for branching: a code of the table of close codes.
        code: String,
        /// Whether connecting again makes sense.
        retry: bool,
        /// Why, for reading.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    }
}
