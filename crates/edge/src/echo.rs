//! A WebSocket that sends everything back, on the real edge: for suites that test WebSocket servers.
//!
//! Same gates, limits and close handling as the sockets of browsers. Only the conformance server
//! offers it.

use std::{collections::VecDeque, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::Response,
    routing::any,
};
use futures_util::{SinkExt, StreamExt};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    Edge,
    browser_ws::{check_handshake, open_socket, switching},
    connection::ending::{End, finish},
    metrics::Counted,
    reply,
};

/// The route of this file.
pub fn routes(edge: Arc<Edge>) -> Router {
    Router::new().route("/echo", any(upgrade)).with_state(edge)
}

async fn upgrade(State(edge): State<Arc<Edge>>, mut request: Request) -> Response<Body> {
    let accept = match check_handshake(request.version(), request.headers()) {
        Ok(accept) => accept,
        Err(fault) => return reply::fault(&fault),
    };
    let upgraded = hyper::upgrade::on(&mut request);
    edge.tasks.clone().spawn(async move {
        if let Ok(upgraded) = upgraded.await {
            serve(&edge, TokioIo::new(upgraded)).await;
        }
    });
    switching(accept, None)
}

async fn serve<Io: AsyncRead + AsyncWrite + Unpin + Send>(edge: &Edge, io: Io) {
    let config = edge.config.load_full();
    let (socket, allowance) = open_socket(&config, io).await;
    let _counted = Counted::new(&edge.metrics.sockets);
    allowance.raise(config.message_bytes);
    let (mut writing, mut reading) = socket.split();
    let end = loop {
        // Cancel-safe: a message is taken whole or stays in the socket's buffer.
        let message = tokio::select! {
            () = edge.stop.cancelled() => break End::Gone,
            message = reading.next() => message,
        };
        match message {
            Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => {
                if let Err(error) = writing.send(message).await {
                    break End::Broken(error);
                }
            }
            Some(Ok(Message::Close(_))) => break End::PeerClosed,
            Some(Ok(_)) => {}
            Some(Err(error)) => break End::Broken(error),
            None => break End::Gone,
        }
    };
    let parting = end.settle(edge, &allowance);
    finish(&allowance, reading, writing, parting, |_| VecDeque::new()).await;
}
