//! How a connecting peer says who it is and which protocol it speaks.
//!
//! Four ways to give the instance id: path, query, subprotocol, header. All are accepted; two
//! that contradict each other are an error. The protocol follows from the listener, the offered
//! subprotocols and the naming, never from the first frame.

use std::collections::HashSet;

use axum::http::{HeaderMap, Uri, header};
use dialect::{DialectInfo, enhanced, moonsurf, native, webmcp};
use model::{Code, Fault, InstanceId};

use crate::gate::ListenerKind;

/// The header that may carry an instance id or a client's binding.
pub const INSTANCE_HEADER: &str = "x-mcp-instance";

/// How the subprotocol begins that carries a token.
pub const BEARER: &str = "bearer.";

/// What is known of a peer before it has said anything.
pub struct Naming {
    /// Its instance id, where one was given.
    pub instance: Option<InstanceId>,
    /// The protocol it speaks.
    pub dialect: &'static DialectInfo,
    /// The subprotocol to confirm.
    pub subprotocol: Option<String>,
}

/// Reads who a peer is and what it speaks; `registered` tells whether a `moonsurf` client of
/// this origin is expected on the main port.
pub fn read(
    uri: &Uri,
    headers: &HeaderMap,
    listener_kind: ListenerKind,
    registered: impl FnOnce() -> bool,
) -> Result<Naming, Fault> {
    let offered: Vec<_> = offered(headers).filter(|name| !name.starts_with(BEARER)).collect();
    let query = uri.query().unwrap_or_default().split('&');
    let header = headers.get_all(INSTANCE_HEADER).iter();
    let subprotocol = offered.iter().filter_map(|name| name.strip_prefix("instance."));
    // Instance ids need no percent-encoding; one that has any is refused as an id.
    let ways = path_instance(uri)
        .map(|text| ("path", text))
        .into_iter()
        .chain(query.filter_map(|pair| Some(("query", pair.strip_prefix("instanceId=")?))))
        .chain(subprotocol.map(|text| ("subprotocol", text)))
        .chain(header.map(|value| ("header", value.to_str().unwrap_or_default())));
    let mut found: Option<(&str, InstanceId)> = None;
    for (way, text) in ways {
        let instance = InstanceId::parse(text)
            .map_err(|error| Fault::new(Code::InvalidArgument, format!("{way}: {error}")))?;
        match &found {
            Some((first, known)) if *known != instance => {
                return Err(Fault::new(
                    Code::InvalidArgument,
                    format!("the instance id in the {first} and the one in the {way} differ"),
                ));
            }
            _ => found = Some((way, instance)),
        }
    }
    let instance = found.map(|(_, instance)| instance);
    let speaks_native = offered.contains(&native::SUBPROTOCOL);
    let is_unknown = !speaks_native && offered.iter().any(|name| is_own(name));
    let dialect = match listener_kind {
        ListenerKind::Compat(dialect) if !is_unknown => dialect,
        _ if speaks_native => &native::INFO,
        _ if instance.is_some() && !is_unknown => &enhanced::INFO,
        _ if !offered.is_empty() => {
            return Err(Fault::new(
                Code::InvalidArgument,
                "no protocol was offered that this hub speaks",
            )
            .hint(format!("offer the subprotocol {}", native::SUBPROTOCOL)));
        }
        _ if registered() => &moonsurf::INFO,
        _ => &webmcp::INFO,
    };
    let named = || offered.iter().find(|name| name.starts_with("instance.")).copied();
    let subprotocol = dialect.subprotocol.or_else(named).map(str::to_owned);
    Ok(Naming { instance, dialect, subprotocol })
}

/// Returns whether a peer offers to speak our own protocol.
pub fn offers_native(headers: &HeaderMap) -> bool {
    offered(headers).any(|name| name == native::SUBPROTOCOL)
}

/// Returns whether a subprotocol is a version of our own protocol, known or not.
fn is_own(name: &str) -> bool {
    name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("tabwire."))
}

/// Returns whether the offered subprotocols are as RFC 6455 wants them: tokens, each of them once.
pub fn are_subprotocols(headers: &HeaderMap) -> bool {
    let is_token = |name: &str| {
        let mark = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || mark(byte))
    };
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let mut known = HashSet::new();
    values.map(|value| value.to_str().unwrap_or_default()).all(|value| {
        value.split(',').map(str::trim).all(|name| is_token(name) && known.insert(name))
    })
}

/// Returns the subprotocols that a peer offers.
pub fn offered(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(header::SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

fn path_instance(uri: &Uri) -> Option<&str> {
    uri.path().strip_prefix("/session/").filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, headers: &[(&str, &str)], expected: Result<Option<&str>, &str>) {
        let uri: Uri = uri.parse().unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                axum::http::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                value.parse().unwrap(),
            );
        }
        match (read(&uri, &map, ListenerKind::Main, || false), expected) {
            (Ok(naming), Ok(expected)) => {
                assert_eq!(naming.instance.as_ref().map(InstanceId::as_str), expected, "{uri}");
                assert_eq!(naming.dialect.name, "native");
            }
            (Err(fault), Err(part)) => assert!(fault.message.contains(part), "{fault}"),
            (found, _) => panic!("{uri} {headers:?}: {:?}", found.map(|naming| naming.instance)),
        }
    }

    const NATIVE: (&str, &str) = ("sec-websocket-protocol", "tabwire.v1");

    #[test]
    fn all_four_ways_name_the_instance() {
        check("/session/abc", &[NATIVE], Ok(Some("abc")));
        check("/?instanceId=abc", &[NATIVE], Ok(Some("abc")));
        check("/?x=1&instanceId=abc", &[NATIVE], Ok(Some("abc")));
        check("/", &[("sec-websocket-protocol", "tabwire.v1, instance.abc")], Ok(Some("abc")));
        check("/", &[NATIVE, ("x-mcp-instance", "abc")], Ok(Some("abc")));
        check("/", &[NATIVE], Ok(None));
        let all =
            [("sec-websocket-protocol", "instance.abc,tabwire.v1"), ("x-mcp-instance", "abc")];
        check("/session/abc?instanceId=abc", &all, Ok(Some("abc")));
    }

    #[test]
    fn contradicting_and_odd_ids_are_refused() {
        check(
            "/session/abc?instanceId=xyz",
            &[NATIVE],
            Err("path and the one in the query differ"),
        );
        check("/session/abc", &[NATIVE, ("x-mcp-instance", "xyz")], Err("header differ"));
        check("/session/a%20b", &[NATIVE], Err("path:"));
        check("/session/a/b", &[NATIVE], Err("path:"));
        check("/?instanceId=", &[NATIVE], Err("query:"));
    }

    #[test]
    fn an_unknown_protocol_is_refused_with_the_known_ones() {
        check("/", &[("sec-websocket-protocol", "graphql-ws")], Err("no protocol"));
    }

    #[track_caller]
    fn check_dialect(
        uri: &str,
        header: Option<(&'static str, &str)>,
        listener_kind: ListenerKind,
        expected: [&str; 2],
    ) {
        let mut map = HeaderMap::new();
        if let Some((name, value)) = header {
            map.insert(name, value.parse().unwrap());
        }
        let [dialect, confirmed] = expected;
        let naming =
            read(&uri.parse().unwrap(), &map, listener_kind, || uri.contains("registered"))
                .unwrap();
        assert_eq!(naming.dialect.name, dialect, "{uri} {header:?}");
        assert_eq!(naming.subprotocol.unwrap_or_default(), confirmed, "{uri} {header:?}");
    }

    #[test]
    fn the_dialect_follows_from_listener_path_and_naming() {
        let protocol = |value| Some(("sec-websocket-protocol", value));
        let main = ListenerKind::Main;
        check_dialect("/", None, main, ["webmcp", ""]);
        check_dialect("/?registered", None, main, ["moonsurf", ""]);
        check_dialect("/session/abc", None, main, ["enhanced", ""]);
        check_dialect("/?instanceId=abc", None, main, ["enhanced", ""]);
        check_dialect("/", Some(("x-mcp-instance", "abc")), main, ["enhanced", ""]);
        check_dialect("/", protocol("instance.abc"), main, ["enhanced", "instance.abc"]);
        check_dialect("/session/abc", protocol("tabwire.v1"), main, ["native", "tabwire.v1"]);
        check_dialect("/", protocol("instance.a, tabwire.v1"), main, ["native", "tabwire.v1"]);
        check_dialect("/", None, ListenerKind::Compat(&dialect::hello3d::INFO), ["hello3d", ""]);
    }
}
