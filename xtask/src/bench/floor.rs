//! The floor: a process with an HTTP server that answers the same to everything, a WebSocket server
//! that sends everything back, and a bare MCP server. Same libraries and socket options as the hub.

use std::{convert::Infallible, io::Write};

use anyhow::Result;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    task::JoinSet,
};
use tokio_tungstenite::{accept_async_with_config, tungstenite::protocol::WebSocketConfig};

use super::bare_mcp::BareMcp;

/// Runs until killed; the first line of output names both ports.
pub fn run() -> Result<()> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let (http, socket, mcp) = (listen()?, listen()?, listen()?);
        let ports = serde_json::json!({
            "http": http.local_addr()?.port(),
            "socket": socket.local_addr()?.port(),
            "mcp": mcp.local_addr()?.port(),
        });
        let mut out = std::io::stdout();
        writeln!(out, "{ports}")?;
        out.flush()?;
        let mut serving = JoinSet::new();
        serving.spawn(accept(http, |stream| async move {
            let io = TokioIo::new(stream);
            let server = hyper::server::conn::http1::Builder::new();
            let _ = server.serve_connection(io, service_fn(same_answer)).await;
        }));
        serving.spawn(accept(socket, echo));
        let bare = BareMcp::new();
        serving.spawn(accept(mcp, move |stream| {
            let bare = bare.clone();
            async move {
                let answer = service_fn(move |request| bare.clone().answer(request));
                let server = hyper::server::conn::http1::Builder::new();
                let _ = server.serve_connection(TokioIo::new(stream), answer).await;
            }
        }));
        while serving.join_next().await.is_some() {}
        Ok(())
    })
}

fn listen() -> Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind("127.0.0.1:0".parse()?)?;
    Ok(socket.listen(4096)?)
}

async fn accept<F, Fut>(listener: TcpListener, serve: F)
where
    F: Fn(TcpStream) -> Fut,
    Fut: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        connections.spawn(serve(stream));
        while connections.try_join_next().is_some() {}
    }
}

async fn same_answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let _ = request.into_body().collect().await;
    let mut response = Response::new(Full::new(Bytes::from_static(br#"{"result":null}"#)));
    let kind = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert("content-type", kind);
    Ok(response)
}

async fn echo(stream: TcpStream) {
    let small = WebSocketConfig::default().read_buffer_size(1024).write_buffer_size(16 << 10);
    let Ok(socket) = accept_async_with_config(stream, Some(small)).await else { return };
    let (mut writing, mut reading) = socket.split();
    while let Some(Ok(message)) = reading.next().await {
        if writing.send(message).await.is_err() {
            return;
        }
    }
}
