//! Dialect `native`: our own protocol `tabwire.v1`, JSON text frames with a `type`.
//!
//! - [`wire`]: the messages as they stand on the wire, the source of all other forms;
//! - [`decode`] and [`encode`]: between wire messages and the model's;
//! - [`compress`]: large replay pages as binary frames, for peers that can inflate them.
//!
//! The machine answers pings by itself and insists on `hello` first. A frame that cannot be
//! read costs its sender the connection, with a `bye` that says why; an answer that cannot be
//! read ends its call at once instead of letting it wait.

pub mod compress;
pub mod decode;
pub mod encode;
pub mod wire;

use std::time::Duration;

use model::{Closing, FromBrowser, Hello, InstanceId, Kind, ToBrowser};
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
    stage: Stage,
    /// The peer offered [`compress::CAPABILITY`].
    deflates: bool,
    heartbeat: Duration,
}

/// How far the introduction is.
enum Stage {
    /// No frame has come yet.
    Silent,
    /// Whoever this is wants proof and will give proof.
    Greeted(InstanceId, Kind),
    /// `hello` was taken; all other messages may come.
    Introduced,
}

impl Dialect for Native {
    fn open(&mut self) -> Vec<Output> {
        Vec::new()
    }

    fn receive(&mut self, frame: Frame<'_>) -> Vec<Output> {
        let decoded = match frame {
            Frame::Text(text) => decode::decode(text),
            Frame::Binary(bytes) if self.deflates => compress::decode_page(bytes),
            Frame::Binary(_) => Err(decode::malformed(
                "binary messages are for peers that offer the capability deflate",
            )),
        };
        match decoded {
            Ok(decode::Incoming::Ping) => {
                let mut outputs = write(&wire::ToBrowser::Pong(wire::Pong {}));
                outputs.push(Output::Deliver(FromBrowser::Alive));
                outputs
            }
            Ok(decode::Incoming::Prove(body)) => self.prove(*body),
            Ok(decode::Incoming::Message(message)) => self.take_turn(message),
            Err(closing) => refuse(closing),
        }
    }

    fn send(&mut self, message: ToBrowser) -> Vec<Output> {
        match message {
            ToBrowser::Bye(closing) => refuse(closing),
            message => match encode::encode(message, self.heartbeat) {
                None => Vec::new(),
                Some(wire::ToBrowser::Welcome(welcome)) if self.deflates => {
                    write(&wire::ToBrowser::Welcome(compress::lighten(welcome)))
                }
                Some(page @ wire::ToBrowser::ReplayPage(_)) if self.deflates => {
                    vec![compress::write_page(to_text(&page))]
                }
                Some(wire) => write(&wire),
            },
        }
    }
}

impl Native {
    /// Starts the machine.
    pub fn new(start: &Start) -> Self {
        Self { stage: Stage::Silent, deflates: false, heartbeat: start.liveness.ask_after }
    }

    /// Lets `hello` be the first message and the only one of its kind.
    fn take_turn(&mut self, message: FromBrowser) -> Vec<Output> {
        match (&message, &self.stage) {
            (FromBrowser::Hello(hello), Stage::Silent) => self.introduced(hello),
            (FromBrowser::Greeting(greeting), Stage::Silent) => {
                self.stage = Stage::Greeted(greeting.instance.clone(), greeting.kind);
            }
            (FromBrowser::Hello(_) | FromBrowser::Greeting(_), _) => {
                return refuse(decode::out_of_turn("hello was already said"));
            }
            (_, Stage::Silent) => {
                return refuse(decode::out_of_turn("the first message is hello"));
            }
            (_, Stage::Greeted(..)) => return refuse(decode::out_of_turn("prove comes first")),
            (_, Stage::Introduced) => {}
        }
        vec![Output::Deliver(message)]
    }

    /// Takes the rest of an introduction; whether the proof is right is not for us to say.
    fn prove(&mut self, body: wire::Prove) -> Vec<Output> {
        let Stage::Greeted(instance, kind) = &self.stage else {
            return refuse(decode::out_of_turn("prove without a challenge"));
        };
        let proof = body.proof.clone();
        match decode::introduce(instance.clone(), *kind, body) {
            Ok(hello) => {
                self.introduced(&hello);
                vec![Output::Deliver(FromBrowser::Proof { proof, hello: hello.into() })]
            }
            Err(closing) => refuse(closing),
        }
    }

    fn introduced(&mut self, hello: &Hello) {
        self.stage = Stage::Introduced;
        self.deflates = hello.capabilities.iter().any(|name| name == compress::CAPABILITY);
    }
}

fn write(message: &impl Serialize) -> Vec<Output> {
    vec![Output::Write(to_text(message))]
}

fn to_text(message: &impl Serialize) -> String {
    serde_json::to_string(message).expect("wire messages have string keys only")
}

fn refuse(closing: Closing) -> Vec<Output> {
    let mut outputs = write(&encode::bye(&closing));
    outputs.push(Output::Close(closing));
    outputs
}

#[cfg(test)]
mod tests;
