//! The one port: sockets that accept, and HTTP on whatever is accepted.
//!
//! [`bind`] makes the sockets the way the measurements want them. [`serve_stream`] speaks HTTP on
//! any byte stream, so that tests need no socket. **Full** means: one connection more than
//! allowed is told so and closed.

use std::{
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    http::{HeaderValue, Request, Response, StatusCode, header},
};
use hyper_util::rt::{TokioIo, TokioTimer};
use model::{Code, Fault};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use tokio_util::sync::CancellationToken;

use crate::{
    Edge, framing,
    gate::{self, ListenerKind, SocketEnds},
    metrics::Counted,
    reply,
    stalled_writes::StalledWrites,
};

/// Connections that the kernel may hold until we accept them. With tokio's 128, a burst of
/// 10,000 takes 30 s instead of one.
const BACKLOG: i32 = 4096;
/// A request's head may have this many bytes.
const HEAD_BYTES: usize = 16 << 10;
/// A request may have this many headers.
const HEADERS: usize = 64;
/// After a failed accept, which is mostly a lack of file descriptors.
const BREATHER: Duration = Duration::from_millis(50);

/// Why the hub cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody else has the port.
    #[error(
        "port {port} on {address} is in use by another program; \
         stop it, or choose another port with --port"
    )]
    InUse {
        /// Where.
        address: IpAddr,
        /// Which.
        port: u16,
    },
    /// Anything else.
    #[error("cannot listen on {address} port {port}: {source}")]
    Failed {
        /// Where.
        address: IpAddr,
        /// Which.
        port: u16,
        /// Why.
        source: io::Error,
    },
}

/// Opens a listening socket on each address, all with the same port.
pub fn bind(addresses: &[IpAddr], port: u16) -> Result<Vec<TcpListener>, BindError> {
    let mut listeners = Vec::new();
    let mut port = port;
    for address in addresses {
        match listen(SocketAddr::new(*address, port)) {
            Ok(listener) => {
                port = listener.local_addr().map_or(port, |bound| bound.port());
                listeners.push(listener);
            }
            // A machine without IPv6 is served on the other loopback address.
            Err(error) if address.is_ipv6() && address.is_loopback() && is_missing(&error) => {
                tracing::debug!(%error, "no IPv6 loopback on this machine");
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(BindError::InUse { address: *address, port });
            }
            Err(source) => return Err(BindError::Failed { address: *address, port, source }),
        }
    }
    Ok(listeners)
}

fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, Unsupported};
    // EAFNOSUPPORT has no kind of its own in the standard library.
    matches!(error.kind(), AddrNotAvailable | Unsupported) || error.raw_os_error() == Some(97)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // On Unix this only lets us rebind after a restart; elsewhere it would share a live port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Accepts connections on a listener until told to stop.
pub async fn accept(
    edge: Arc<Edge>,
    router: Router,
    listener: TcpListener,
    listener_kind: ListenerKind,
    stop: CancellationToken,
) {
    loop {
        // Cancel-safe: an accepted connection is returned or stays with the kernel.
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => admit(&edge, &router, stream, peer, listener_kind),
            Err(error) => {
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(BREATHER).await;
            }
        }
    }
}

fn admit(
    edge: &Arc<Edge>,
    router: &Router,
    stream: TcpStream,
    peer: SocketAddr,
    listener_kind: ListenerKind,
) {
    // Without this a small answer waits for the peer's delayed ack: 44 ms instead of 0.3.
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else { return };
    let ends = SocketEnds {
        peer: peer.ip().to_canonical(),
        local: local.ip().to_canonical(),
        port: local.port(),
        listener_kind,
    };
    edge.metrics.accepted.inc();
    // A connection that became a WebSocket is counted there.
    let open = edge.metrics.connections.get() + edge.metrics.sockets.get();
    let counted = Counted::new(&edge.metrics.connections);
    if open >= edge.config.load().connections_max as i64 {
        edge.metrics.refused("connections");
        edge.tasks.spawn(async move {
            let _counted = counted;
            turn_away(stream).await;
        });
        return;
    }
    let (edge, router) = (edge.clone(), router.clone());
    edge.tasks.clone().spawn(async move {
        let _counted = counted;
        serve_stream(&edge, router, stream, ends).await;
    });
}

/// Speaks HTTP on a byte stream until it ends or is switched to WebSocket.
pub async fn serve_stream<Io>(edge: &Arc<Edge>, router: Router, io: Io, ends: SocketEnds)
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (io, verdict) = framing::watch(io);
    let (io, limit) = StalledWrites::limit(io, edge.config.load().write_timeout);
    let service = hyper::service::service_fn(|mut request: Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ends);
        let (edge, router) = (edge.clone(), router.clone());
        let (verdict, limit) = (verdict.clone(), limit.clone());
        async move {
            if verdict.is_ambiguous() {
                edge.metrics.refused("framing");
                return Ok::<_, Infallible>(last(reply::fault(&ambiguous())));
            }
            let is_last = framing::is_last(request.headers());
            let answer = gate::guard(&edge, router, request.map(Body::new)).await;
            let is_switched = answer.status() == StatusCode::SWITCHING_PROTOCOLS;
            if is_switched {
                limit.lift();
            }
            Ok(if is_last && !is_switched { last(answer) } else { answer })
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(edge.config.load().header_timeout)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(io), service)
        .with_upgrades();
    tokio::pin!(connection);
    // Both arms are cancel-safe: the connection is pinned outside and polled on.
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = edge.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::trace!(%error, "connection ended badly");
    }
}

fn ambiguous() -> Fault {
    let message =
        "the request tells the length of its body in two ways, or in none that is a number";
    Fault::new(Code::InvalidArgument, message)
        .hint("send either Content-Length or Transfer-Encoding, not both")
}

/// Makes an answer the last one of its connection.
fn last(mut answer: Response<Body>) -> Response<Body> {
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

async fn turn_away(mut stream: TcpStream) {
    const ANSWER: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\
        Content-Length: 0\r\nRetry-After: 1\r\n\r\n";
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(ANSWER)).await;
}
