//! One WebSocket, from the peer's side: messages as JSON, anything else as bytes, and a close look
//! at how it ends.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Error, Message},
};

use crate::{PATIENCE, Response, within};

/// How long the hub is given to end the connection by itself, where nobody asks for more.
const SOON: Duration = Duration::from_millis(50);

/// An open socket.
pub struct Socket {
    stream: WebSocketStream<TcpStream>,
    /// How the hub answered the handshake.
    pub response: Response,
}

/// What came in.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A message.
    Message(Value),
    /// The hub's close frame.
    Close(u16, String),
    /// The connection broke without one; the reason in words.
    Lost(String),
}

/// How a socket ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    /// The code in the close frame; 0 where there was none.
    pub code: u16,
    /// The words in the close frame, or why there was none.
    pub reason: String,
    /// What the hub said before, in order.
    pub said: Vec<Value>,
    /// Nothing was lost: the stream ended after the close handshake and was not reset.
    pub clean: bool,
    /// The hub ended the connection by itself after the handshake, before the peer had to.
    pub by_hub: bool,
}

impl Ending {
    /// Returns the `bye` that came before the close.
    pub fn bye(&self) -> Option<&Value> {
        self.said.iter().rfind(|message| message["type"] == "bye")
    }
}

impl Socket {
    pub(crate) fn new(stream: WebSocketStream<TcpStream>, response: Response) -> Self {
        Self { stream, response }
    }

    /// Sends a message.
    pub async fn send(&mut self, message: &Value) {
        self.try_send(message).await.unwrap();
    }

    /// Sends a message; an error means that the connection is gone.
    pub async fn try_send(&mut self, message: &Value) -> Result<(), Error> {
        self.stream.send(Message::text(message.to_string())).await
    }

    /// Sends any text as a message.
    pub async fn send_text(&mut self, text: &str) {
        self.stream.send(Message::text(text)).await.unwrap();
    }

    /// Writes bytes below the WebSocket protocol. An error is passed over: a hub that has had
    /// enough need not read the rest.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let _ = within(PATIENCE, "writing bytes", self.stream.get_mut().write_all(bytes)).await;
    }

    /// Ends the conversation with the close handshake.
    pub async fn close(mut self) {
        let _ = self.stream.close(None).await;
        let _ = timeout(PATIENCE, async { while self.stream.next().await.is_some() {} }).await;
    }

    /// Waits for what comes next.
    pub async fn recv(&mut self) -> Incoming {
        within(PATIENCE, "something from the hub", self.next()).await
    }

    /// Waits for what comes next, at most so long.
    pub async fn recv_for(&mut self, limit: Duration) -> Option<Incoming> {
        timeout(limit, self.next()).await.ok()
    }

    /// Waits for a message of one type, passing over all others.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            match self.recv().await {
                Incoming::Message(message) if message["type"] == kind => return message,
                Incoming::Message(_) => {}
                other => panic!("waiting for {kind}: {other:?}"),
            }
        }
    }

    /// Waits for the end and looks at it closely.
    pub async fn ended(self) -> Ending {
        self.ended_within(SOON).await
    }

    /// Waits for the end; after the close handshake the hub has so long to end the connection,
    /// then the peer does.
    pub async fn ended_within(mut self, limit: Duration) -> Ending {
        let mut said = Vec::new();
        let (code, reason) = loop {
            match self.recv().await {
                Incoming::Message(message) => said.push(message),
                Incoming::Close(code, reason) => break (code, reason),
                Incoming::Lost(why) => {
                    return Ending { code: 0, reason: why, said, clean: false, by_hub: true };
                }
            }
        };
        // Reading on writes the library's answer to the close and waits for the end.
        let (clean, by_hub) = match timeout(limit, self.stream.next()).await {
            Ok(end) => (end.is_none(), true),
            Err(_) => {
                let _ = self.stream.get_mut().shutdown().await;
                let end = within(PATIENCE, "the connection's end", self.stream.next()).await;
                (end.is_none(), false)
            }
        };
        Ending { code, reason, said, clean, by_hub }
    }

    /// Fails the test unless the hub closes cleanly with this code; returns how.
    pub async fn must_close(self, code: u16) -> Ending {
        let ending = self.ended().await;
        assert_eq!(ending.code, code, "{ending:?}");
        assert!(ending.clean, "the close must not be lost: {ending:?}");
        ending
    }

    /// Waits for what comes next, for as long as it takes. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Incoming {
        loop {
            return match self.stream.next().await {
                Some(Ok(Message::Text(text))) => match serde_json::from_str(&text) {
                    Ok(message) => Incoming::Message(message),
                    Err(error) => panic!("the hub sent what is not JSON: {error}: {text}"),
                },
                Some(Ok(Message::Close(Some(frame)))) => {
                    Incoming::Close(frame.code.into(), frame.reason.to_string())
                }
                Some(Ok(Message::Close(None))) => Incoming::Close(1005, String::new()),
                Some(Ok(Message::Binary(bytes))) => {
                    panic!("the hub sent {} binary bytes", bytes.len())
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Err(error)) => Incoming::Lost(error.to_string()),
                None => Incoming::Lost("the stream is at its end".to_owned()),
            };
        }
    }
}
