//! The task in which a client lives: it reads its socket, reacts, and does what the test orders.
//!
//! What the client is like is a function from a message to [`Reaction`]s. What it hears is kept.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;
use tokio::sync::mpsc;

use crate::{Incoming, Socket, frame};

/// How long the answer to a close may take to be written.
const SOON: Duration = Duration::from_millis(50);

/// What a client does about a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Reaction {
    /// Says something.
    Say(Value),
    /// Says something that need not be JSON.
    Text(String),
    /// Is gone, without a word.
    Leave,
}

/// What a test tells a client to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Says something.
    Say(Value),
    /// Says something that need not be JSON.
    Text(String),
    /// Writes bytes below the WebSocket protocol.
    Bytes(Vec<u8>),
    /// Stops reading and writing; the connection stays open, as on a machine that sleeps.
    Freeze,
    /// Reads again.
    Thaw,
    /// Ends the connection with a close.
    Close,
    /// Is gone, without a word.
    Leave,
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The hub closed it.
    Closed(u16, String),
    /// It broke; the reason in words.
    Lost(String),
    /// The client ended it.
    Left,
}

/// What a client has heard, over all of its connections.
#[derive(Clone, Default)]
pub struct Heard(Arc<Mutex<Vec<Value>>>);

impl Heard {
    /// Returns everything, in order.
    pub fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }

    /// Returns everything of one type.
    pub fn of(&self, kind: &str) -> Vec<Value> {
        let mut found = self.all();
        found.retain(|message| message["type"] == kind);
        found
    }

    fn keep(&self, message: &Value) {
        self.0.lock().unwrap().push(message.clone());
    }
}

/// Lives on a socket until it ends.
pub async fn live(
    mut socket: Socket,
    orders: &mut mpsc::UnboundedReceiver<Order>,
    heard: &Heard,
    mut react: impl FnMut(&Value) -> Vec<Reaction>,
) -> End {
    let mut frozen = false;
    loop {
        // Cancel-safe: messages are taken whole, and an order stays in its queue until then.
        // Orders come first: a client that is told to stand still must not answer once more.
        tokio::select! {
            biased;
            order = orders.recv() => match order {
                None | Some(Order::Leave) => return End::Left,
                Some(Order::Close) => {
                    socket.close().await;
                    return End::Left;
                }
                Some(Order::Freeze) => frozen = true,
                Some(Order::Thaw) => frozen = false,
                Some(order) => if let Some(end) = obey(&mut socket, order).await {
                    return end;
                },
            },
            incoming = socket.next(), if !frozen => match incoming {
                Incoming::Message(message) => {
                    heard.keep(&message);
                    for reaction in react(&message) {
                        let order = match reaction {
                            Reaction::Say(message) => Order::Say(message),
                            Reaction::Text(text) => Order::Text(text),
                            Reaction::Leave => return End::Left,
                        };
                        if let Some(end) = obey(&mut socket, order).await {
                            return end;
                        }
                    }
                }
                Incoming::Close(code, reason) => {
                    // Reading on writes the library's answer to the close.
                    socket.recv_for(SOON).await;
                    return End::Closed(code, reason);
                }
                Incoming::Lost(reason) => return End::Lost(reason),
            },
        }
    }
}

/// Writes something; returns the end where there is nobody left to read it.
async fn obey(socket: &mut Socket, order: Order) -> Option<End> {
    match order {
        Order::Say(message) => {
            return socket.try_send(&message).await.err().map(|error| End::Lost(error.to_string()));
        }
        Order::Text(text) => socket.send_bytes(&frame::text(&text)).await,
        Order::Bytes(bytes) => socket.send_bytes(&bytes).await,
        Order::Freeze | Order::Thaw | Order::Close | Order::Leave => {}
    }
    None
}
