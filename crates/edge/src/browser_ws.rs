//! The WebSocket endpoint of browsers and apps: the handshake, then a task per connection.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Version, header},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dialect::{Patience, Start};
use hyper_util::rt::TokioIo;
use model::{Code, Fault};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::derive_accept_key,
        protocol::{Role, WebSocketConfig},
    },
};
use tracing::Instrument;

use crate::{
    Edge,
    config::Config,
    connection::{self, Socket, Visitor},
    gate::{Pass, SocketEnds},
    meter::{Allowance, Meter},
    metrics::Counted,
    naming, reply, status,
};

/// The smallest read buffer that does not cost much: the library's own is 128 KiB per socket.
const READ_BUFFER: usize = 1024;
/// Frames are collected up to here and written at once. Grows only when used.
const WRITE_BUFFER: usize = 16 << 10;

/// Answers an upgrade request and starts the connection.
pub async fn upgrade(State(edge): State<Arc<Edge>>, mut request: Request) -> Response<Body> {
    if request.method() != Method::GET {
        edge.metrics.refused("upgrade");
        return status::wrong_method().await;
    }
    match prepare(&edge, &mut request) {
        Ok(response) => response,
        Err(fault) => {
            edge.metrics.refused("upgrade");
            reply::fault(&fault)
        }
    }
}

fn prepare(edge: &Arc<Edge>, request: &mut Request) -> Result<Response<Body>, Fault> {
    let accept = check_handshake(request.version(), request.headers())?;
    let ends = request.extensions().get::<SocketEnds>().copied();
    let pass = request.extensions().get::<Pass>().cloned();
    let (Some(ends), Some(pass)) = (ends, pass) else {
        return Err(Fault::new(Code::Internal, "the request did not pass the gates"));
    };
    let naming = naming::read(request.uri(), request.headers(), ends.listener_kind, || {
        edge.registrations.expects(pass.origin.as_deref(), ends.port)
    })?;
    if edge.is_draining() {
        return Err(Fault::new(Code::ShuttingDown, "the hub is shutting down"));
    }
    let config = edge.config.load();
    let upgraded = hyper::upgrade::on(request);
    let patience = Patience { ask_after: config.ping_after, dead_after: config.dead_after };
    let liveness = naming.dialect.liveness.with(patience);
    let start = Start { instance: naming.instance.clone(), version: edge.hub.version(), liveness };
    // Boxed: whatever is handed to a task stays part of it to the end.
    let visitor = Box::new(Visitor {
        dialect: (naming.dialect.start)(&start),
        info: naming.dialect,
        liveness,
        instance: naming.instance,
        pass,
        port: ends.port,
    });
    let span = tracing::info_span!("connection", dialect = naming.dialect.name);
    let task_edge = edge.clone();
    edge.tasks.spawn(
        async move {
            match upgraded.await {
                Ok(upgraded) => serve(task_edge, TokioIo::new(upgraded), visitor).await,
                Err(error) => tracing::debug!(%error, "the peer left during the handshake"),
            }
        }
        .instrument(span),
    );
    Ok(switching(accept, naming.subprotocol))
}

/// Runs one connection over any byte stream that has been switched to WebSocket.
pub async fn serve<Io>(edge: Arc<Edge>, io: Io, visitor: Box<Visitor>)
where
    Io: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send,
{
    let config = edge.config.load_full();
    let (socket, allowance) = open_socket(&config, io).await;
    let _counted = Counted::new(&edge.metrics.sockets);
    connection::run(&edge, &config, socket, allowance, *visitor).await;
}

/// Puts WebSocket with our limits on a byte stream; little may be sent until they are raised.
pub(crate) async fn open_socket<Io>(config: &Config, io: Io) -> (Socket<Io>, Allowance)
where
    Io: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send,
{
    let allowance = Allowance::new(config.message_bytes_before_hello, config.fragments_max);
    let limits = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(Some(config.message_bytes))
        .max_frame_size(Some(config.message_bytes));
    let metered = Meter::new(io, allowance.clone());
    let socket = WebSocketStream::from_raw_socket(metered, Role::Server, Some(limits)).await;
    (socket, allowance)
}

/// Checks a handshake as RFC 6455 wants it, and returns the answer to its key.
pub fn check_handshake(version: Version, headers: &HeaderMap) -> Result<String, Fault> {
    let has = |name: header::HeaderName, wanted: &str| {
        headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(wanted)))
    };
    let bad = |message: &str| Fault::new(Code::InvalidArgument, message);
    if !has(header::CONNECTION, "upgrade") || !has(header::UPGRADE, "websocket") {
        return Err(bad("this is a WebSocket address")
            .hint("connect with a WebSocket and the subprotocol tabwire.v1"));
    }
    if version != Version::HTTP_11 {
        return Err(bad("a WebSocket needs HTTP/1.1"));
    }
    let is_empty = headers.get(header::CONTENT_LENGTH).is_none_or(|length| length == "0");
    if !is_empty || headers.contains_key(header::TRANSFER_ENCODING) {
        return Err(bad("a handshake has no body"));
    }
    let only = |name: header::HeaderName| {
        let mut values = headers.get_all(name).iter();
        values.next().filter(|_| values.next().is_none())
    };
    if only(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(bad("only WebSocket version 13 is spoken here"));
    }
    let key = only(header::SEC_WEBSOCKET_KEY).filter(|key| is_key(key.as_bytes()));
    let key = key.ok_or_else(|| bad("one Sec-WebSocket-Key is needed: 16 bytes in base64"))?;
    if !naming::are_subprotocols(headers) {
        return Err(bad("Sec-WebSocket-Protocol is a list of different names"));
    }
    Ok(derive_accept_key(key.as_bytes()))
}

/// Returns whether a handshake's key is what it must be: 16 bytes in base64.
fn is_key(key: &[u8]) -> bool {
    BASE64_STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 16)
}

pub(crate) fn switching(accept: String, subprotocol: Option<String>) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(accept) = HeaderValue::from_str(&accept) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    }
    if let Some(name) = subprotocol.and_then(|name| HeaderValue::from_str(&name).ok()) {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, name);
    }
    response
}
