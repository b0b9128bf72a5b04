//! The load generator's sockets: a bare WebSocket, and an app that answers at once.

use anyhow::{Context, Result, bail};
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpStream, task::JoinSet};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{Message, client::IntoClientRequest, protocol::WebSocketConfig},
};

/// A bare WebSocket.
pub struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    pub async fn connect(port: u16, path: &str, subprotocol: Option<&str>) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let mut request = format!("ws://127.0.0.1:{port}{path}").into_client_request()?;
        if let Some(name) = subprotocol {
            request.headers_mut().insert("sec-websocket-protocol", name.parse()?);
        }
        if let Some(token) = testkit::keyring::token_of(port) {
            request.headers_mut().insert("authorization", format!("Bearer {token}").parse()?);
        }
        let small = WebSocketConfig::default().read_buffer_size(1024).write_buffer_size(0);
        let (socket, _) = client_async_with_config(request, stream, Some(small)).await?;
        Ok(Self(socket))
    }

    pub async fn send(&mut self, text: String) -> Result<()> {
        Ok(self.0.send(Message::text(text)).await?)
    }

    pub async fn receive(&mut self) -> Result<String> {
        loop {
            match self.0.next().await.context("the socket ended")?? {
                Message::Text(text) => return Ok(text.as_str().to_owned()),
                Message::Close(frame) => bail!("closed: {frame:?}"),
                _ => {}
            }
        }
    }

    pub async fn echo(&mut self, text: &str) -> Result<()> {
        self.send(text.to_owned()).await?;
        self.receive().await?;
        Ok(())
    }

    /// Connects to a hub as an app, from a position in its log; returns the welcome too.
    pub async fn hello(
        port: u16,
        instance: &str,
        position: Option<&Value>,
    ) -> Result<(Self, Value)> {
        let path = format!("/session/{instance}");
        let mut socket = Self::connect(port, &path, Some("tabwire.v1")).await?;
        let mut hello = json!({
            "type": "hello", "instanceId": instance, "kind": "app", "name": instance,
            "capabilities": [], "epoch": "bench",
        });
        if let Some(position) = position {
            hello["position"] = position.clone();
        }
        socket.send(hello.to_string()).await?;
        let welcome = socket.receive_type("welcome").await?;
        Ok((socket, welcome))
    }

    /// Waits for a message of one type, passing over all others.
    pub async fn receive_type(&mut self, kind: &str) -> Result<Value> {
        loop {
            let message: Value = serde_json::from_str(&self.receive().await?)?;
            if message["type"] == kind {
                return Ok(message);
            }
        }
    }

    /// Connects to a hub as an app and waits for the welcome.
    pub async fn app(port: u16, instance: &str) -> Result<Self> {
        let mut socket =
            Self::connect(port, &format!("/session/{instance}"), Some("tabwire.v1")).await?;
        let hello = json!({
            "type": "hello", "instanceId": instance, "kind": "app", "name": instance,
            "capabilities": [], "epoch": "bench",
        });
        socket.send(hello.to_string()).await?;
        let welcome = socket.receive().await?;
        if !welcome.contains("\"welcome\"") {
            bail!("no welcome: {welcome}");
        }
        Ok(socket)
    }
}

/// What an app reads of a message, and no more: the floor reads nothing.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    call_id: Option<&'a str>,
}

fn answer(call: &str) -> String {
    format!(r#"{{"type":"toolResult","callId":"{call}","result":null}}"#)
}

/// An app with a state and a tool that answers at once, for as long as this lives.
pub struct App(JoinSet<Result<()>>);

impl App {
    pub async fn start(port: u16, instance: &str) -> Result<Self> {
        let mut socket = Socket::app(port, instance).await?;
        let tools = json!({"type": "toolsChanged", "sequence": 1, "tools": [{"name": "noop"}]});
        socket.send(tools.to_string()).await?;
        let state = json!({
            "type": "stateUpdate", "sequence": 2, "stateEpoch": "p", "version": 1,
            "state": {"colour": "#cc0000", "size": 3},
        });
        socket.send(state.to_string()).await?;
        // The ack comes after both have been taken in.
        while !socket.receive().await?.contains("\"ack\"") {}
        let mut answering = JoinSet::new();
        answering.spawn(async move {
            loop {
                let text = socket.receive().await?;
                let message: Told = serde_json::from_str(&text)?;
                match (message.kind, message.call_id) {
                    ("callTool", Some(id)) => socket.send(answer(id)).await?,
                    ("ping", _) => socket.send(r#"{"type":"pong"}"#.to_owned()).await?,
                    _ => {}
                }
            }
        });
        Ok(Self(answering))
    }

    /// Returns whether it is still answering.
    pub fn is_running(&mut self) -> bool {
        self.0.try_join_next().is_none()
    }
}
