//! What a relay must know of a request before it carries it: whether it may be repeated, how long
//! it may take, and whether a new hub must hear of it later.

use std::{borrow::Cow, time::Duration};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{answer::Shape, envelope::Id};

/// The longest time that a request can ask for.
const LONGEST: Duration = Duration::from_secs(3600);
/// From this revision on results say what they are.
const MODERN: &str = "2026-07-28";

/// Requests that change nothing outside of the stream that they come on.
const READS: &[&str] = &[
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "tools/list",
    // What a hub refuses without looking at it.
    "",
];

/// What may be done with a request when its hub dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Runs a tool, once at most.
    Tool,
    /// Only asks.
    Read,
    /// Is not answered before the end.
    Listen,
    /// May do anything.
    Unknown,
}

/// What stays of a request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Memory {
    /// The handshake.
    Initialize,
    /// How much is logged.
    Level,
    /// A resource is watched.
    Subscribe(String),
    /// It is not any more.
    Unsubscribe(String),
}

/// A request as the books know it.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) kind: Kind,
    pub(super) memory: Option<Memory>,
    /// How long it may take; `None` is for ever.
    pub(super) limit: Option<Duration>,
    modern: bool,
}

impl Request {
    /// Looks at a request; one without a time of its own may take `usual`.
    pub(super) fn new(method: &str, params: Option<&RawValue>, usual: Duration) -> Self {
        let kind = match method {
            "tools/call" => Kind::Tool,
            "subscriptions/listen" => Kind::Listen,
            method if READS.contains(&method) => Kind::Read,
            _ => Kind::Unknown,
        };
        let params: Params = params.map_or_else(Params::default, |params| parse(params.get()));
        let uri = || params.uri.as_ref().map(|uri| uri.to_string());
        let memory = match method {
            "initialize" => Some(Memory::Initialize),
            "logging/setLevel" => Some(Memory::Level),
            "resources/subscribe" => uri().map(Memory::Subscribe),
            "resources/unsubscribe" => uri().map(Memory::Unsubscribe),
            _ => None,
        };
        let meta: Meta = params.meta.map_or_else(Meta::default, |meta| parse(meta.get()));
        let limit = match kind {
            Kind::Listen => None,
            Kind::Tool => Some(params.wanted_time(&meta).max(usual)),
            Kind::Read | Kind::Unknown => Some(usual),
        };
        let modern = meta.version.is_some_and(|version| version.as_ref() >= MODERN);
        Self { kind, memory, limit, modern }
    }

    /// Returns how a fault is said to whoever asked.
    pub(super) fn shape(&self) -> Shape {
        match (self.kind, self.modern) {
            (Kind::Tool, true) => Shape::ModernTool,
            (Kind::Tool, false) => Shape::Tool,
            _ => Shape::Error,
        }
    }
}

impl Kind {
    /// Returns whether it may be sent to a second hub after a first one may have seen it.
    pub(super) fn is_repeatable(self) -> bool {
        matches!(self, Self::Read | Self::Listen)
    }
}

/// Returns which request a cancellation means, and where that stands.
pub(super) fn requested_id(params: Option<&RawValue>) -> Option<(Id, &RawValue)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    let cancelled: Cancelled = serde_json::from_str(params?.get()).ok()?;
    Some((serde_json::from_str(cancelled.request_id.get()).ok()?, cancelled.request_id))
}

/// The parameters that count; what is not as it should be counts as missing.
#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'a, str>>,
    #[serde(default, rename = "timeoutMs")]
    timeout_ms: Option<f64>,
}

#[derive(Default, Deserialize)]
struct Arguments {
    #[serde(default, rename = "timeoutMs")]
    timeout_ms: Option<f64>,
}

impl Params<'_> {
    fn wanted_time(&self, meta: &Meta) -> Duration {
        let arguments: Arguments =
            self.arguments.map_or_else(Arguments::default, |arguments| parse(arguments.get()));
        let longer = arguments.timeout_ms.into_iter().chain(meta.timeout_ms).fold(0.0, f64::max);
        Duration::from_secs_f64((longer / 1000.0).min(LONGEST.as_secs_f64()))
    }
}

fn parse<'a, T: Default + Deserialize<'a>>(text: &'a str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_secs(30);

    fn request(method: &str, params: &str) -> Request {
        let params = serde_json::from_str(params).unwrap();
        Request::new(method, Some(params), USUAL)
    }

    #[test]
    fn only_what_is_known_to_read_may_be_repeated() {
        for (method, expected) in [
            ("tools/call", Kind::Tool),
            ("tools/list", Kind::Read),
            ("resources/read", Kind::Read),
            ("subscriptions/listen", Kind::Listen),
            ("tasks/cancel", Kind::Unknown),
            ("tools/Call", Kind::Unknown),
        ] {
            assert_eq!(request(method, "{}").kind, expected, "{method}");
        }
    }

    #[test]
    fn a_tool_may_take_the_time_it_asks_for() {
        for (params, seconds) in [
            ("{}", 30),
            (r#"{"arguments":{"timeoutMs":300000}}"#, 300),
            (r#"{"arguments":{"timeoutMs":5}}"#, 30),
            (r#"{"arguments":{"timeoutMs":"x"}}"#, 30),
            (r#"{"arguments":[1]}"#, 30),
            (r#"{"arguments":{"timeoutMs":-1},"_meta":{"timeoutMs":90000}}"#, 90),
            (r#"{"arguments":{"timeoutMs":1e300}}"#, 3600),
            ("[]", 30),
            ("5", 30),
        ] {
            let limit = request("tools/call", params).limit;
            assert_eq!(limit, Some(Duration::from_secs(seconds)), "{params}");
        }
        assert_eq!(request("subscriptions/listen", "{}").limit, None);
    }

    #[test]
    fn what_stays_is_read_off() {
        let memory = |method: &str| request(method, r#"{"uri":"a:\u002f\/b"}"#).memory;
        assert_eq!(memory("initialize"), Some(Memory::Initialize));
        assert_eq!(memory("resources/subscribe"), Some(Memory::Subscribe("a://b".to_owned())));
        assert_eq!(memory("resources/unsubscribe"), Some(Memory::Unsubscribe("a://b".to_owned())));
        assert_eq!(memory("tools/list"), None);
        assert_eq!(request("resources/subscribe", "{}").memory, None);
    }

    #[test]
    fn the_era_decides_how_a_fault_looks() {
        let version = |version: &str| {
            format!(r#"{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}"}}}}"#)
        };
        let shape = |params: &str| request("tools/call", params).shape();
        assert_eq!(shape(&version("2026-07-28")), Shape::ModernTool);
        assert_eq!(shape(&version("2025-11-25")), Shape::Tool);
        assert_eq!(shape("{}"), Shape::Tool);
        assert_eq!(request("tools/list", &version("2026-07-28")).shape(), Shape::Error);
    }

    #[test]
    fn a_cancellation_names_its_request() {
        let read = |text: &str| {
            let params: &RawValue = serde_json::from_str(text).unwrap();
            requested_id(Some(params)).map(|(id, _)| id)
        };
        assert_eq!(read(r#"{"requestId":7}"#), Some(Id::Number(7)));
        assert_eq!(read(r#"{"reason":"x","requestId":"a"}"#), Some(Id::Text("a".to_owned())));
        assert_eq!(read(r#"{"requestId":{}}"#), None);
        assert_eq!(read("{}"), None);
    }
}
