//! The gates that every request passes, in this order, before any effect.
//!
//! - [`host`]: the request is addressed to us, and not to a name that was rebound to us;
//! - [`origin`]: a web page that asks is one that may;
//! - [`credentials`]: a client that must show a token shows a known one.
//!
//! What passed is left in the request's extensions as a [`Pass`]. Limits on size and time are
//! kept where the bytes are: in the listener and on the socket.

pub mod credentials;
pub mod host;
pub mod origin;

use std::{net::IpAddr, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderName, Response},
};
use dialect::DialectInfo;
use guard::Principal;
use model::{Code, Fault, Kind};
use tools::Workplace;
use tower::ServiceExt;

pub use origin::Grant;

use crate::{Edge, naming, reply};

/// What a request is about, as far as the gates care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Browsers and apps that speak our own protocol.
    Socket,
    /// Clients of other projects, which cannot prove what they are: browsers or apps.
    Foreign(Kind),
    /// Clients and operators: what can act, and what tells about others.
    Control,
    /// Everything else: health without details, and files that hold nothing of anybody.
    Open,
}

impl Area {
    /// Returns the area of a path on a listener.
    pub fn of(listener_kind: ListenerKind, path: &str, headers: &HeaderMap) -> Self {
        if let ListenerKind::Compat(dialect) = listener_kind {
            return Self::Foreign(dialect.kind.unwrap_or(Kind::Browser));
        }
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        match first {
            "" | "session" if naming::offers_native(headers) => Self::Socket,
            "" | "session" | "register" => Self::Foreign(Kind::Browser),
            "api" | "mcp" | "metrics" | "info" => Self::Control,
            _ => Self::Open,
        }
    }
}

/// Which listener a request came through.
#[derive(Clone, Copy)]
pub enum ListenerKind {
    /// The one port.
    Main,
    /// A port that clients of this dialect have built in.
    Compat(&'static DialectInfo),
    /// The private socket: the kernel says that our own user is at the other end.
    Private,
}

/// Both ends of the connection that a request came on.
#[derive(Clone, Copy)]
pub struct SocketEnds {
    /// Who asks.
    pub peer: IpAddr,
    /// Which of our addresses was asked.
    pub local: IpAddr,
    /// Which of our ports.
    pub port: u16,
    /// What that port is for.
    pub listener_kind: ListenerKind,
}

impl SocketEnds {
    /// Returns whether the peer is on this machine.
    pub fn is_same_machine(&self) -> bool {
        self.peer.is_loopback() || self.peer == self.local
    }
}

/// What the gates found out about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// Whom its credentials prove.
    pub principal: Principal,
    /// The web origin, where a page asks.
    pub origin: Option<String>,
    /// What that origin may be.
    pub grant: Grant,
    /// It has shown a token, or none is asked of it.
    pub is_known: bool,
    /// It is on this machine, as far as anybody can tell.
    pub is_local: bool,
    /// A page that needs its user's word, and has not got it.
    pub is_waiting: bool,
    /// How a browser or an app has addressed us, as proofs have it: `loopback:8765`.
    pub address: String,
}

impl Pass {
    /// Returns what is known of where a client over HTTP is. A folder that it might name is not
    /// believed: whoever can post could name any.
    pub fn workplace(&self) -> Workplace {
        match self.is_local {
            true => Workplace::Unknown,
            false => Workplace::Elsewhere,
        }
    }
}

/// How long a wrong token waits for its answer.
pub const WRONG_TOKEN_DELAY: Duration = Duration::from_secs(1);

/// Which gate said no, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// For counting.
    pub gate: &'static str,
    /// For reading.
    pub fault: Fault,
    /// Somebody may be guessing: the answer is not given at once.
    pub is_guess: bool,
}

impl Refused {
    fn new(gate: &'static str, fault: Fault) -> Self {
        Self { gate, fault, is_guess: false }
    }
}

/// Lets a request through to the routes, or answers for it.
///
/// Around the router and not a layer of it: nothing that is routed can be forgotten, and a layer
/// would be cloned with every route for every request.
pub async fn guard(edge: &Edge, router: Router, mut request: Request) -> Response<Body> {
    match judge(edge, &request) {
        Ok(pass) => {
            // MCP learns from here whom the credentials prove, and never from the client.
            let (principal, workplace) = (pass.principal.0.clone(), pass.workplace());
            let caller = mcp::Caller { principal, workplace, ..mcp::Caller::default() };
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(pass);
            router.oneshot(request).await.unwrap_or_else(|never| match never {})
        }
        Err(refused) => {
            edge.metrics.refused(refused.gate);
            if edge.refusal_log.allows() {
                tracing::warn!(
                    gate = refused.gate,
                    path = request.uri().path(),
                    reason = %refused.fault,
                    "request refused"
                );
            }
            if refused.is_guess {
                // Both arms are cancel-safe: one waits for time, the other for a token that stays set.
                tokio::select! {
                    () = tokio::time::sleep(WRONG_TOKEN_DELAY) => {}
                    () = edge.stop.cancelled() => {}
                }
            }
            reply::fault(&refused.fault)
        }
    }
}

/// Passes a request through all gates.
pub fn judge(edge: &Edge, request: &Request) -> Result<Pass, Refused> {
    let config = edge.config.load();
    let ends = request.extensions().get::<SocketEnds>().copied().ok_or_else(|| {
        Refused::new("peer", Fault::new(Code::Internal, "the peer's address is not known"))
    })?;
    let headers = request.headers();
    let area = Area::of(ends.listener_kind, request.uri().path(), headers);
    let hosts = edge.hosts(ends.port);
    let host = host::check(&hosts, request)?;
    let (origin, grant) = origin::check(&config, &hosts, area, headers)?;
    let is_local = ends.is_same_machine()
        && !host::is_configured(&config, host)
        && !host::is_forwarded(headers);
    let is_peer = matches!(area, Area::Socket | Area::Foreign(_));
    let shown = credentials::shown(headers)?;
    let is_key = |shown: &str| edge.page_keys.is_key(shown);
    let is_our_page =
        area == Area::Socket && grant == Grant::Page && shown.as_deref().is_some_and(is_key);
    if is_peer && !is_local && !config.remote_browsers && !is_our_page {
        let fault = Fault::new(Code::Refused, "browsers and apps connect from this machine only")
            .hint("start the hub with --remote-browsers to allow others");
        return Err(Refused::new("peer", fault));
    }
    let is_trusted =
        matches!(ends.listener_kind, ListenerKind::Private) || (config.open && is_local);
    let is_needed = match area {
        Area::Open => false,
        Area::Control => !is_trusted,
        // It may still prove that it is paired.
        Area::Socket if matches!(grant, Grant::Program | Grant::Paired) => false,
        // A web page cannot send a token with a socket; on this machine its origin is the gate.
        Area::Socket => !is_local,
        // The ports of other projects have one too.
        Area::Foreign(_) if request.uri().path() == "/health" => false,
        Area::Foreign(_) => !is_local || (grant == Grant::Program && !is_trusted),
    };
    let is_waiting = grant == Grant::Page
        && origin.as_deref().is_some_and(|origin| {
            origin::is_asked(&config, &hosts, origin) && !edge.app_origins.is_allowed(origin)
        });
    // Its key makes a page of ours an app and vouches for nothing else.
    let proven = match is_our_page {
        true => None,
        false => credentials::check(&edge.tokens.load(), is_needed, shown.as_deref())?,
    };
    Ok(Pass {
        is_known: proven.is_some() || is_trusted,
        is_waiting: is_waiting && proven.is_none() && !is_our_page,
        principal: proven.unwrap_or_else(Principal::local),
        address: if is_peer { host::address(host) } else { String::new() },
        origin,
        grant,
        is_local,
    })
}

/// Returns a header that may stand once at most.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refused> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        let fault = Fault::new(Code::InvalidArgument, format!("the header {name} stands twice"));
        return Err(Refused::new("header", fault));
    }
    first
        .map(|value| {
            value.to_str().map_err(|_| {
                let message = format!("the header {name} is not plain text");
                Refused::new("header", Fault::new(Code::InvalidArgument, message))
            })
        })
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_go_by_the_first_part_of_the_path() {
        let mut native = HeaderMap::new();
        native.insert("sec-websocket-protocol", "tabwire.v1".parse().unwrap());
        let none = HeaderMap::new();
        for path in ["/", "/session/x", "//session/x"] {
            assert_eq!(Area::of(ListenerKind::Main, path, &native), Area::Socket, "{path}");
            assert_eq!(
                Area::of(ListenerKind::Main, path, &none),
                Area::Foreign(Kind::Browser),
                "{path}"
            );
        }
        let page = ListenerKind::Compat(&dialect::hello3d::INFO);
        assert_eq!(Area::of(page, "/api/call", &native), Area::Foreign(Kind::App));
        for (path, area) in [
            ("/register", Area::Foreign(Kind::Browser)),
            ("/api", Area::Control),
            ("/api/call", Area::Control),
            ("//api/call", Area::Control),
            ("/mcp", Area::Control),
            ("/mcp/x", Area::Control),
            ("/metrics", Area::Control),
            ("/info", Area::Control),
            ("/health", Area::Open),
            ("/apix", Area::Open),
        ] {
            assert_eq!(Area::of(ListenerKind::Main, path, &none), area, "{path}");
        }
    }

    fn ends(peer: &str, local: &str) -> SocketEnds {
        let [peer, local] = [peer, local].map(|address| address.parse().unwrap());
        SocketEnds { peer, local, port: 8765, listener_kind: ListenerKind::Main }
    }

    #[test]
    fn the_same_machine_is_loopback_or_our_own_address() {
        assert!(ends("127.0.0.1", "127.0.0.1").is_same_machine());
        assert!(ends("::1", "::1").is_same_machine());
        assert!(ends("192.0.2.7", "192.0.2.7").is_same_machine());
        assert!(!ends("192.0.2.8", "192.0.2.7").is_same_machine());
    }
}
