//! Moonsurf's extension: it registers over HTTP, connects to the port that it is given, says
//! hello and does what it is told, one id per call.
//!
//! After every end of its connection it registers anew, because the server forgets it. Its
//! keepalive is `{"type":"ping"}`, for which it wants no answer; protocol pings are answered by the
//! WebSocket library. [`browser`] is what it drives.

pub mod browser;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinHandle};

use self::browser::Browser;
use super::wire::{End, Heard, Order, Reaction, live};
use crate::{Ask, Dial, PATIENCE, Response, eventually, within};

/// The extension's origin, unless a test wants another.
pub const ORIGIN: &str = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";
/// What it calls its browser.
pub const USER_AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64) Chrome/131.0.0.0";

/// What a server told a browser that has registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// Its name until its connection ends.
    pub instance: String,
    /// Where to connect to.
    pub port: u16,
    /// The same as an address.
    pub url: String,
}

impl Registration {
    /// Registers at a port.
    pub async fn at(door: u16, origin: &str) -> Self {
        Self::read(&ask(origin).send(door).await.must_be(200))
    }

    /// Reads the answer to a registration.
    #[track_caller]
    pub fn read(response: &Response) -> Self {
        let body = response.json();
        let text = |name: &str| body[name].as_str().unwrap_or_else(|| panic!("{body}")).to_owned();
        let port = body["port"].as_u64().unwrap_or_else(|| panic!("{body}"));
        Self { instance: text("instanceId"), port: port as u16, url: text("websocketUrl") }
    }

    /// Returns how the extension dials the port that it was given.
    pub fn dial(&self, origin: &str) -> Dial {
        Dial::root(self.port).offer_only(&[]).origin(origin)
    }

    /// Writes the first message.
    pub fn hello(&self) -> Value {
        json!({"type": "hello", "instanceId": self.instance})
    }
}

/// Returns the request that registers a browser.
pub fn ask(origin: &str) -> Ask {
    let body = json!({"userAgent": USER_AGENT, "windowId": 123});
    Ask::post("/register", &body).header("Origin", origin)
}

/// How an extension answers calls.
#[derive(Debug, Clone, PartialEq)]
pub enum Manner {
    /// At once.
    Answer,
    /// When the test lets it.
    Hold,
    /// Not at all.
    Ignore,
    /// With these texts, in which `$id` stands for the call's id.
    Garble(&'static [&'static str]),
    /// It is gone.
    Leave,
}

/// What the extension's own code does, without a connection.
#[derive(Debug)]
pub struct Extension {
    /// What it drives.
    pub browser: Browser,
    /// How it answers.
    pub manner: Manner,
    held: Vec<Value>,
}

impl Default for Extension {
    fn default() -> Self {
        Self { browser: Browser::default(), manner: Manner::Answer, held: Vec::new() }
    }
}

impl Extension {
    /// Takes a message; only calls are answered.
    pub fn take(&mut self, message: &Value) -> Vec<Reaction> {
        if message["type"] != "tool_call" {
            return Vec::new();
        }
        match self.manner.clone() {
            Manner::Answer => vec![Reaction::Say(self.run(message))],
            Manner::Hold => {
                let answer = self.run(message);
                self.held.push(answer);
                Vec::new()
            }
            Manner::Ignore => Vec::new(),
            Manner::Garble(texts) => {
                let id = message["id"].as_str().unwrap_or_default();
                texts.iter().map(|text| Reaction::Text(text.replace("$id", id))).collect()
            }
            Manner::Leave => vec![Reaction::Leave],
        }
    }

    fn run(&mut self, call: &Value) -> Value {
        let id = &call["id"];
        match self.browser.run(call["name"].as_str().unwrap_or_default(), &call["args"]) {
            Ok(result) => json!({"type": "tool_result", "id": id, "result": result}),
            Err((code, message)) => {
                let error = json!({"code": code, "message": message});
                json!({"type": "tool_error", "id": id, "error": error})
            }
        }
    }
}

/// An extension with its connections. It leaves when this is dropped.
pub struct Moonsurf {
    inside: Arc<Mutex<Extension>>,
    heard: Heard,
    registered: Arc<Mutex<Vec<Registration>>>,
    ended: Arc<Mutex<Vec<End>>>,
    orders: mpsc::UnboundedSender<Order>,
    task: JoinHandle<()>,
}

impl Moonsurf {
    /// Starts an extension that registers at a port, and waits for its welcome.
    pub async fn start(door: u16) -> Self {
        Self::start_as(door, ORIGIN).await
    }

    /// Starts an extension of another origin.
    pub async fn start_as(door: u16, origin: &str) -> Self {
        let (orders, ordered) = mpsc::unbounded_channel();
        let life = Life {
            door,
            origin: origin.to_owned(),
            inside: Arc::default(),
            heard: Heard::default(),
            registered: Arc::default(),
            ended: Arc::default(),
        };
        let extension = Self {
            inside: Arc::clone(&life.inside),
            heard: life.heard.clone(),
            registered: Arc::clone(&life.registered),
            ended: Arc::clone(&life.ended),
            orders,
            task: tokio::spawn(life.live(ordered)),
        };
        extension.until("welcome", 1).await;
        extension
    }

    /// Returns how it has registered last.
    pub fn registration(&self) -> Registration {
        self.registered.lock().unwrap().last().unwrap().clone()
    }

    /// Returns how often it has registered.
    pub fn registrations(&self) -> usize {
        self.registered.lock().unwrap().len()
    }

    /// Returns how its connections have ended, in order.
    pub fn endings(&self) -> Vec<End> {
        self.ended.lock().unwrap().clone()
    }

    /// Looks at the extension, or changes how it behaves.
    pub fn with<T>(&self, change: impl FnOnce(&mut Extension) -> T) -> T {
        change(&mut self.inside.lock().unwrap())
    }

    /// Sets how it answers.
    pub fn behave(&self, manner: Manner) {
        self.with(|inside| inside.manner = manner);
    }

    /// Lets it say what it held back, and answer at once from now on.
    pub fn release(&self) {
        self.behave(Manner::Answer);
        for message in self.with(|inside| std::mem::take(&mut inside.held)) {
            self.order(Order::Say(message));
        }
    }

    /// Tells it to do something.
    pub fn order(&self, order: Order) {
        self.orders.send(order).unwrap();
    }

    /// Returns everything that it has heard, in order.
    pub fn everything(&self) -> Vec<Value> {
        self.heard.all()
    }

    /// Returns everything of one type that it has heard.
    pub fn heard(&self, kind: &str) -> Vec<Value> {
        self.heard.of(kind)
    }

    /// Returns name and arguments of the calls that it has heard.
    pub fn calls(&self) -> Vec<(String, Value)> {
        let name = |call: &Value| call["name"].as_str().unwrap_or_default().to_owned();
        let calls = self.heard("tool_call");
        calls.iter().map(|call| (name(call), call["args"].clone())).collect()
    }

    /// Waits until it has heard so many of a type; returns all of these.
    pub async fn until(&self, kind: &str, count: usize) -> Vec<Value> {
        eventually(&format!("{count} times {kind}"), async || {
            Some(self.heard(kind)).filter(|heard| heard.len() >= count)
        })
        .await
    }

    /// Closes its browser: the connection ends and it does not come back.
    pub async fn quit(mut self) {
        self.behave(Manner::Ignore);
        // The queue's end is what a client leaves for good at.
        drop(std::mem::replace(&mut self.orders, mpsc::unbounded_channel().0));
        within(PATIENCE, "the extension ends", &mut self.task).await.unwrap();
    }
}

impl Drop for Moonsurf {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Life {
    door: u16,
    origin: String,
    inside: Arc<Mutex<Extension>>,
    heard: Heard,
    registered: Arc<Mutex<Vec<Registration>>>,
    ended: Arc<Mutex<Vec<End>>>,
}

impl Life {
    /// Registers, connects and lives, again and again until the test is done with it.
    async fn live(self, mut orders: mpsc::UnboundedReceiver<Order>) {
        while !orders.is_closed() {
            let registration = Registration::at(self.door, &self.origin).await;
            let mut socket = registration.dial(&self.origin).connect().await;
            socket.send(&registration.hello()).await;
            self.registered.lock().unwrap().push(registration);
            let react = |message: &Value| self.inside.lock().unwrap().take(message);
            let end = live(socket, &mut orders, &self.heard, react).await;
            self.ended.lock().unwrap().push(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_answered_under_their_id_and_nothing_else_is() {
        let mut extension = Extension::default();
        let call = |selector: &str| {
            json!({
                "type": "tool_call", "id": "call_1", "name": "browser_mouse_click",
                "args": {"selector": selector},
            })
        };
        let result = json!({"clicked": true, "selector": "#button"});
        let answer = json!({"type": "tool_result", "id": "call_1", "result": result});
        assert_eq!(extension.take(&call("#button")), [Reaction::Say(answer)]);
        let message = "No element matches selector: #nonexistent";
        let error = json!({"code": "ELEMENT_NOT_FOUND", "message": message});
        let answer = json!({"type": "tool_error", "id": "call_1", "error": error});
        assert_eq!(extension.take(&call("#nonexistent")), [Reaction::Say(answer)]);
        assert_eq!(extension.take(&json!({"type": "welcome"})), []);
        assert_eq!(extension.browser.deeds, ["click #button"]);
    }
}
