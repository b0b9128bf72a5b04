//! Dialect `native`: our own protocol `tabwire.v1`, JSON text frames with a `type`.
//!
//! - [`wire`]: the messages as they stand on the wire, the source of all other forms;
//! - [`decode`] and [`encode`]: between wire messages and the model's.
//!
//! The machine answers pings by itself and insists on `hello` first. A frame that cannot be
//! read costs its sender the connection, with a `bye` that says why; an answer that cannot be
//! read ends its call at once instead of letting it wait.

pub mod decode;
pub mod encode;
pub mod wire;

use std::time::Duration;

use model::{Closing, FromBrowser, ToBrowser};
use serde::Serialize;

use crate::{Dialect, DialectInfo, Frame, Liveness, Output, PingBy, Start};

/// Its name in configuration, logs and metrics.
pub const NAME: &str = "native";
/// The WebSocket subprotocol that selects it.
pub const SUBPROTOCOL: &str = "tabwire.v1";

/// Its entry in the register.
pub const INFO: DialectInfo = DialectInfo {
    name: NAME,
    serves: "our own SDK and extension",
    subprotocol: Some(SUBPROTOCOL),
    kind: None,
    compat_port: None,
    liveness: LIVENESS,
    start: |start| Box::new(Native::new(start)),
};

/// A Chrome worker dies after 30 s without messages, so the hub asks well before that.
const LIVENESS: Liveness = Liveness {
    ask_after: Duration::from_secs(20),
    dead_after: Duration::from_secs(10),
    ping_by: PingBy::Message,
};

/// One connection's machine.
pub struct Native {
    introduced: bool,
    heartbeat: Duration,
}

impl Dialect for Native {
    fn open(&mut self) -> Vec<Output> {
        Vec::new()
    }

    fn receive(&mut self, frame: Frame<'_>) -> Vec<Output> {
        let text = match frame {
            Frame::Text(text) => text,
            Frame::Binary(_) => {
                return refuse(decode::malformed("binary messages are not part of tabwire.v1"));
            }
        };
        match decode::decode(text) {
            Ok(decode::Incoming::Ping) => {
                let mut outputs = write(&wire::ToBrowser::Pong(wire::Pong {}));
                outputs.push(Output::Deliver(FromBrowser::Alive));
                outputs
            }
            Ok(decode::Incoming::Message(message)) => self.take_turn(message),
            Err(closing) => refuse(closing),
        }
    }

    fn send(&mut self, message: ToBrowser) -> Vec<Output> {
        match message {
            ToBrowser::Bye(closing) => refuse(closing),
            message => {
                encode::encode(message, self.heartbeat).map_or_else(Vec::new, |wire| write(&wire))
            }
        }
    }
}

impl Native {
    /// Starts the machine.
    pub fn new(start: &Start) -> Self {
        Self { introduced: false, heartbeat: start.liveness.ask_after }
    }

    /// Lets `hello` be the first message and the only one of its kind.
    fn take_turn(&mut self, message: FromBrowser) -> Vec<Output> {
        let is_hello = matches!(message, FromBrowser::Hello(_));
        match (is_hello, self.introduced) {
            (true, false) => self.introduced = true,
            (true, true) => return refuse(decode::out_of_turn("hello was already said")),
            (false, false) => return refuse(decode::out_of_turn("the first message is hello")),
            (false, true) => {}
        }
        vec![Output::Deliver(message)]
    }
}

fn write(message: &impl Serialize) -> Vec<Output> {
    let text = serde_json::to_string(message).expect("wire messages have string keys only");
    vec![Output::Write(text)]
}

fn refuse(closing: Closing) -> Vec<Output> {
    let mut outputs = write(&encode::bye(&closing));
    outputs.push(Output::Close(closing));
    outputs
}

#[cfg(test)]
mod tests;
