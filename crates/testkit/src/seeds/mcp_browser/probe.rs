//! What the mcp-browser extension does with every port when its user presses "Scan".

use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::{Dial, Incoming, PATIENCE};

/// What a scan found on a port.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// A server, with what it says about itself.
    Server(Value),
    /// Something that does not say who it is.
    Nothing,
    /// The server closed first: the real scan waits for ever then.
    Hangs(Incoming),
}

/// Looks whether a port has a server. The real scan gives it two seconds to say who it is; a busy
/// machine has more here.
pub async fn probe(port: u16, origin: &str) -> Found {
    let mut socket = Dial::root(port).offer_only(&[]).origin(origin).connect().await;
    let deadline = Instant::now() + PATIENCE;
    let mut asked = false;
    let found = loop {
        // Cancel-safe: messages are taken whole.
        let incoming = tokio::select! {
            incoming = socket.next() => incoming,
            () = sleep_until(deadline) => break Found::Nothing,
        };
        match incoming {
            Incoming::Message(message) => match message["type"].as_str() {
                Some("connection_ack") if !asked => {
                    asked = true;
                    socket.send(&json!({"type": "server_info"})).await;
                }
                Some("server_info_response") => break judge(message),
                _ => {}
            },
            end => return Found::Hangs(end),
        }
    };
    socket.close().await;
    found
}

/// A server without a name, or with the name of none, is not listed.
fn judge(info: Value) -> Found {
    match info["project_name"].as_str() {
        None | Some("" | "Unknown") => Found::Nothing,
        Some(_) => Found::Server(info),
    }
}
