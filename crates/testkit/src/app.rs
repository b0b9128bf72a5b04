//! An app that lives by itself: a task answers its calls by a script and does its duties.
//!
//! Everything it receives is kept for the test to look at. It ends when the handle is dropped.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep_until},
};

use crate::{FakeBrowser, Incoming};

/// How an app answers a call.
pub enum Answer {
    /// With a result, at once.
    Result(Value),
    /// With an error, at once.
    Error(&'static str, &'static str),
    /// With a result, after a while; others may pass by.
    After(Duration, Value),
    /// With the same result twice.
    Twice(Value),
    /// Not at all.
    Never,
}

/// An app with a task of its own.
pub struct FakeApp {
    /// Its id in the hub.
    pub session: String,
    /// Its name in the hub.
    pub name: String,
    received: Arc<Mutex<Vec<Value>>>,
    orders: mpsc::UnboundedSender<Value>,
    task: JoinHandle<()>,
}

impl FakeApp {
    /// Connects an app that answers every call with its arguments.
    pub async fn echo(port: u16, instance: &str, tools: &[&str]) -> Self {
        Self::start(FakeBrowser::app(port, instance), tools, |call| {
            Answer::Result(call["args"].clone())
        })
        .await
    }

    /// Connects an app whose calls a script answers, and tells its tools.
    pub async fn start(
        mut peer: FakeBrowser,
        tools: &[&str],
        script: impl FnMut(&Value) -> Answer + Send + 'static,
    ) -> Self {
        let welcome = peer.connect().await;
        peer.offer_tools(tools).await;
        let received = Arc::default();
        let (orders, ordered) = mpsc::unbounded_channel();
        let life = Life { peer, script, later: BinaryHeap::new(), received: Arc::clone(&received) };
        let text = |name: &str| welcome[name].as_str().unwrap().to_owned();
        Self {
            session: text("sessionId"),
            name: text("name"),
            received,
            orders,
            task: tokio::spawn(life.live(ordered)),
        }
    }

    /// Returns everything of one type that it has received.
    pub fn received(&self, kind: &str) -> Vec<Value> {
        let received = self.received.lock().unwrap();
        received.iter().filter(|message| message["type"] == kind).cloned().collect()
    }

    /// Publishes a numbered message.
    pub fn publish(&self, message: Value) {
        self.orders.send(message).unwrap();
    }
}

impl Drop for FakeApp {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Life<Script> {
    peer: FakeBrowser,
    script: Script,
    later: BinaryHeap<Reverse<Later>>,
    received: Arc<Mutex<Vec<Value>>>,
}

impl<Script: FnMut(&Value) -> Answer> Life<Script> {
    async fn live(mut self, mut ordered: mpsc::UnboundedReceiver<Value>) {
        loop {
            let next = self.later.peek().map(|Reverse(later)| later.at);
            let timer = sleep_until(next.unwrap_or_else(|| Instant::now() + NEVER));
            // Cancel-safe: messages are taken whole, orders and timers stay.
            tokio::select! {
                incoming = self.peer.wait() => match incoming {
                    Incoming::Message(message) => self.take(message).await,
                    _ => return,
                },
                Some(message) = ordered.recv() => {
                    self.peer.publish(message).await;
                }
                () = timer => {
                    if let Some(Reverse(later)) = self.later.pop() {
                        self.peer.try_say(&later.message).await;
                    }
                }
            }
        }
    }

    async fn take(&mut self, message: Value) {
        if message["type"] == "event" {
            self.received.lock().unwrap().push(message.clone());
        }
        let Some(message) = self.peer.do_duty(message).await else { return };
        self.received.lock().unwrap().push(message.clone());
        match message["type"].as_str().unwrap_or_default() {
            "callTool" => self.answer(&message).await,
            "requestState" => {
                let id = &message["requestId"];
                self.say(json!({"type": "stateError", "requestId": id, "error": "no state"})).await;
            }
            _ => {}
        }
    }

    async fn answer(&mut self, call: &Value) {
        let id = &call["callId"];
        let done = |result: Value| json!({"type": "toolResult", "callId": id, "result": result});
        match (self.script)(call) {
            Answer::Result(result) => self.say(done(result)).await,
            Answer::Twice(result) => {
                self.say(done(result.clone())).await;
                self.say(done(result)).await;
            }
            Answer::After(delay, result) => {
                let later = Later { at: Instant::now() + delay, message: done(result) };
                self.later.push(Reverse(later));
            }
            Answer::Error(code, message) => {
                let error = json!({"code": code, "message": message});
                self.say(json!({"type": "toolResult", "callId": id, "error": error})).await;
            }
            Answer::Never => {}
        }
    }

    async fn say(&mut self, message: Value) {
        self.peer.try_say(&message).await;
    }
}

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3600);

struct Later {
    at: Instant,
    message: Value,
}

impl PartialEq for Later {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Later {}

impl PartialOrd for Later {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Later {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}
