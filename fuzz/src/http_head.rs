//! The head of an HTTP request through the gates, the handshake and the naming.
//!
//! The first byte says which listener_kind it comes through, from where, and how strict the hub is; the rest
//! is the head, parsed by hyper's own parser. Nothing that controls passes without being known, and no
//! head that tells two ends of its body passes unseen.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::Path,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, Waker},
};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderName, HeaderValue, Method, Uri, Version, header},
};
use edge::{
    Config, Edge, Ports, browser_ws, framing,
    gate::{Area, Grant, ListenerKind, SocketEnds, judge},
    naming,
};
use guard::{HubSecret, Tokens};
use hub::Hub;
use store::MemoryStore;
use tokio::io::{AsyncRead, ReadBuf};
use tools::{Toolbox, ToolboxSettings};

/// The token of the hub's own user.
const TOKEN: &str = "a-token-of-sixteen-letters";
/// As many as the hub takes.
const HEADERS: usize = 64;

/// Passes a request through everything that looks at its head.
pub fn run(input: &[u8]) {
    let Some((kind, head)) = input.split_first() else { return };
    let Some(mut request) = parse(head) else { return };
    let tells = |name| request.headers().contains_key(name);
    if tells(header::CONTENT_LENGTH) && tells(header::TRANSFER_ENCODING) {
        assert!(is_ambiguous(head), "a body with two ends");
    }
    let ends = ends(*kind);
    request.extensions_mut().insert(ends);
    let edge = if kind & 8 == 0 { strict() } else { lenient() };
    if let Ok(pass) = judge(edge, &request) {
        let area = Area::of(ends.listener_kind, request.uri().path(), request.headers());
        if area == Area::Control {
            assert!(pass.is_known, "control without being known");
            assert!(matches!(pass.grant, Grant::Program | Grant::Configured), "{:?}", pass.grant);
        }
        assert!(pass.origin.is_some() || pass.grant == Grant::Program);
        let hosts = request.headers().get_all(header::HOST).iter().count();
        assert_eq!(hosts, 1, "a request names one host");
    }
    if browser_ws::check_handshake(request.version(), request.headers()).is_ok() {
        assert_eq!(request.version(), Version::HTTP_11, "a handshake over an older HTTP");
    }
    let _ = naming::read(request.uri(), request.headers(), ends.listener_kind, || kind & 16 == 0);
}

/// Lets the head pass by as the listener does.
fn is_ambiguous(head: &[u8]) -> bool {
    let (mut watched, verdict) = framing::watch(head);
    let mut bytes = [0; 64];
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let mut buffer = ReadBuf::new(&mut bytes);
        let read = Pin::new(&mut watched).poll_read(&mut context, &mut buffer);
        assert!(matches!(read, Poll::Ready(Ok(()))), "bytes in memory are always there");
        if buffer.filled().is_empty() {
            return verdict.is_ambiguous();
        }
    }
}

fn parse(head: &[u8]) -> Option<Request> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    parsed.parse(head).ok().filter(httparse::Status::is_complete)?;
    let mut request = Request::new(Body::empty());
    *request.method_mut() = Method::from_bytes(parsed.method?.as_bytes()).ok()?;
    *request.uri_mut() = Uri::try_from(parsed.path?).ok()?;
    *request.version_mut() = if parsed.version? == 1 { Version::HTTP_11 } else { Version::HTTP_10 };
    for header in parsed.headers {
        let name = HeaderName::from_bytes(header.name.as_bytes()).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(header.value).ok()?);
    }
    Some(request)
}

fn ends(kind: u8) -> SocketEnds {
    let listener_kind = match kind & 3 {
        0 => ListenerKind::Main,
        1 => ListenerKind::Private,
        2 => ListenerKind::Compat(&dialect::hello3d::INFO),
        _ => ListenerKind::Compat(&dialect::mcp_browser::INFO),
    };
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let peer = if kind & 4 == 0 { local } else { IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)) };
    SocketEnds { peer, local, port: 8765, listener_kind }
}

/// A hub that lets in as little as it can.
fn strict() -> &'static Edge {
    static EDGE: OnceLock<Arc<Edge>> = OnceLock::new();
    EDGE.get_or_init(|| open(Config { open: false, ..Config::default() }))
}

/// A hub that lets in as much as it can.
fn lenient() -> &'static Edge {
    static EDGE: OnceLock<Arc<Edge>> = OnceLock::new();
    EDGE.get_or_init(|| {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        open(Config {
            open: true,
            remote_browsers: true,
            allow_host: texts(&["hub.example"]),
            allow_origin: texts(&["https://app.example", "chrome-extension://*"]),
            app_origins: texts(&["ask", "http://localhost:3000"]),
            ..Config::default()
        })
    })
}

fn open(config: Config) -> Arc<Edge> {
    let store = Arc::new(MemoryStore::default());
    let hub = Hub::open(hub::Config::default(), store, "0.0.0").expect("an empty store opens");
    let toolbox = Toolbox::new(hub, None, HubSecret::of(TOKEN), ToolboxSettings::default());
    let tokens = Tokens::default().with_own(TOKEN);
    let ports = Ports { main: 8765, ..Ports::default() };
    Edge::open(toolbox, config, tokens, Path::new("/nowhere"), ports)
        .expect("no folder is no fault")
}
