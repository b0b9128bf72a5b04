//! What every dialect is: a small machine, one per connection, that turns frames into meaning.
//!
//! Comes in: frames from the peer, messages from the hub. Goes out: a list of [`Output`]s for
//! the edge to carry out, in order. It does not know whether anything was really written.

use std::time::Duration;

use model::{Closing, FromBrowser, InstanceId, Kind, ToBrowser};

/// One entry of the register of dialects.
pub struct DialectInfo {
    /// Its name in configuration, logs and metrics.
    pub name: &'static str,
    /// Whose clients speak it, for people.
    pub serves: &'static str,
    /// The WebSocket subprotocol that selects it, where it has one.
    pub subprotocol: Option<&'static str>,
    /// What its peers are; none where they say so themselves.
    pub kind: Option<Kind>,
    /// The port that its clients have built in, where that is not ours.
    pub compat_port: Option<u16>,
    /// When a silent peer is asked and given up, unless the operator wants otherwise.
    pub liveness: Liveness,
    /// Starts the machine for one connection.
    pub start: fn(&Start) -> Box<dyn Dialect>,
}

/// What is known when a connection begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The instance id from the address, where one was given.
    pub instance: Option<InstanceId>,
    /// The hub's version, for peers that are told.
    pub version: &'static str,
    /// When a silent peer is asked and given up.
    pub liveness: Liveness,
}

/// One whole message from the peer.
#[derive(Debug, Clone, Copy)]
pub enum Frame<'a> {
    /// A text message.
    Text(&'a str),
    /// A binary message.
    Binary(&'a [u8]),
}

/// What the edge has to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Write this text message.
    Write(String),
    /// Write this binary message.
    WriteBytes(Vec<u8>),
    /// Write a protocol-level ping.
    Ping,
    /// Give this to the hub.
    Deliver(FromBrowser),
    /// Call [`Dialect::wake`] after this long; a newer wish replaces an older one.
    WakeAfter(Duration),
    /// Write what has been put out so far, then close.
    Close(Closing),
}

/// By what a silent peer is asked whether it is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PingBy {
    /// A message of the dialect, which also keeps an extension's worker alive.
    Message,
    /// A WebSocket ping, for clients that know no other.
    Protocol,
}

/// When a silent peer is asked, and when it is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Liveness {
    /// Ask after this long without a message from the peer.
    pub ask_after: Duration,
    /// Give up after this long more.
    pub dead_after: Duration,
    /// Whether a ping is a control frame or a message.
    pub ping_by: PingBy,
}

/// What the operator wants instead of a dialect's own liveness rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Patience {
    /// Instead of its `ask_after`.
    pub ask_after: Option<Duration>,
    /// Instead of its `dead_after`.
    pub dead_after: Option<Duration>,
}

impl Liveness {
    /// Returns the rule with what the operator wants.
    pub fn with(self, patience: Patience) -> Self {
        Self {
            ask_after: patience.ask_after.unwrap_or(self.ask_after),
            dead_after: patience.dead_after.unwrap_or(self.dead_after),
            ..self
        }
    }
}

/// One connection's protocol.
pub trait Dialect: Send {
    /// Speaks first, where the protocol wants that.
    fn open(&mut self) -> Vec<Output>;

    /// Reads one message from the peer.
    fn receive(&mut self, frame: Frame<'_>) -> Vec<Output>;

    /// Says something to the peer.
    fn send(&mut self, message: ToBrowser) -> Vec<Output>;

    /// Does what it wanted to do later.
    fn wake(&mut self) -> Vec<Output> {
        Vec::new()
    }
}
