//! Numbered messages, from both ends: what a peer has sent and may be asked for, and how far it
//! has seen the hub's log.

use serde_json::{Value, json};

/// Messages in one page of a replay.
const PAGE: usize = 100;

/// A place in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Which log.
    pub epoch: String,
    /// How far.
    pub sequence: u64,
}

impl Position {
    /// Names a place.
    pub fn new(epoch: &str, sequence: u64) -> Self {
        Self { epoch: epoch.to_owned(), sequence }
    }

    /// Reads a place from the wire.
    pub fn read(value: &Value) -> Option<Self> {
        Some(Self::new(value["epoch"].as_str()?, value["sequence"].as_u64()?))
    }

    /// Writes a place for the wire.
    pub fn to_json(&self) -> Value {
        json!({"epoch": self.epoch, "sequence": self.sequence})
    }
}

/// What a peer has numbered and sent, as long as it is not acked.
#[derive(Debug, Clone)]
pub struct SentLog {
    /// Its name.
    pub epoch: String,
    newest: u64,
    kept: Vec<Value>,
    /// How far the hub says that it has received.
    pub acked: u64,
}

impl SentLog {
    /// Starts a log.
    pub fn new(epoch: &str) -> Self {
        Self { epoch: epoch.to_owned(), newest: 0, kept: Vec::new(), acked: 0 }
    }

    /// Returns the newest number.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// Numbers a message and keeps it.
    pub fn push(&mut self, mut message: Value) -> Value {
        self.newest += 1;
        message["sequence"] = json!(self.newest);
        self.kept.push(message.clone());
        message
    }

    /// Takes note of how far the hub has received; a place in another log means nothing.
    pub fn ack(&mut self, position: &Position) {
        if position.epoch == self.epoch {
            assert!(position.sequence <= self.newest, "acked what was never sent: {position:?}");
            assert!(position.sequence >= self.acked, "acks never go back: {position:?}");
            self.acked = position.sequence;
            self.kept.retain(|kept| kept["sequence"].as_u64().unwrap() > position.sequence);
        }
    }

    /// Returns what follows a number.
    pub fn after(&self, sequence: u64) -> Vec<Value> {
        let later = |kept: &&Value| kept["sequence"].as_u64().unwrap() > sequence;
        self.kept.iter().filter(later).cloned().collect()
    }

    /// Answers a request for what follows a number.
    pub fn page(&self, after: u64) -> Value {
        let mut messages = self.after(after);
        let more = messages.len() > PAGE;
        messages.truncate(PAGE);
        json!({
            "type": "replayPage", "epoch": self.epoch, "upto": after + messages.len() as u64,
            "recovered": true, "messages": messages, "more": more,
        })
    }
}

/// How far a peer has seen the hub's log, and what it has seen.
#[derive(Debug, Clone, Default)]
pub struct SeenLog {
    /// How far; none before the first welcome.
    pub position: Option<Position>,
    /// Everything that was delivered, each number once and in order.
    pub delivered: Vec<Value>,
    /// Numbers that came again.
    pub duplicates: u64,
    asked: bool,
}

impl SeenLog {
    /// Takes in a numbered message; returns whether what is missing before it must be asked for.
    pub fn offer(&mut self, message: &Value) -> bool {
        let position = self.position.as_mut().expect("numbered messages come after the welcome");
        let sequence = message["sequence"].as_u64().expect("a numbered message has its number");
        if sequence <= position.sequence {
            self.duplicates += 1;
        } else if sequence == position.sequence + 1 {
            position.sequence = sequence;
            self.asked = false;
            self.delivered.push(message.clone());
        } else if !self.asked {
            self.asked = true;
            return true;
        }
        false
    }

    /// Begins a connection; what was asked on the old one is not answered any more.
    pub fn reconnect(&mut self) {
        self.asked = false;
    }

    /// Goes on after a place, because what is before it cannot be had.
    pub fn skip_to(&mut self, position: Position) {
        self.position = Some(position);
        self.asked = false;
    }
}
