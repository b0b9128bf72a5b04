//! A fake of the browsermcp-enhanced extension (seed 002), faithful down to its defects.
//!
//! It opens one socket, says hello at once, stamps its id on everything and carries out commands
//! in [`tabs`]. An older one that knows the seed's own messages only can be played as well.

pub mod tabs;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use self::tabs::{Tab, Tabs};
use super::line::{Held, Line};
use crate::{Dial, Socket, eventually};

/// Where the fake comes from, unless a test says otherwise.
pub const ORIGIN: &str = "chrome-extension://ajpnkfbmcocahlpimmkpcdhnbkelogae";
/// How often the real one pings.
const PING: Duration = Duration::from_secs(30);

/// How an instance tells its id (seed 002).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// `/session/<id>`, as the real one does.
    Path,
    /// `/?instanceId=<id>`.
    Query,
    /// The subprotocol `instance.<id>`.
    Protocol,
    /// The header `X-MCP-Instance`.
    Header,
}

/// Which generation of the extension is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generation {
    /// Commands in envelopes with `wireId`, answers as `response`.
    Envelope,
    /// The seed's own messages: `{id, type, payload}`, answered in the same shape.
    Legacy,
}

/// An extension that is not connected yet.
#[derive(Clone)]
pub struct EnhancedOptions {
    port: u16,
    instance: String,
    origin: Option<String>,
    naming: Naming,
    generation: Generation,
    able: bool,
    ping: Duration,
}

/// A connected extension.
pub struct Enhanced {
    /// Its id, which it keeps over connections.
    pub instance: String,
    /// Its socket.
    pub line: Line,
    /// How the hub answered the handshake.
    pub protocol: Option<String>,
    options: EnhancedOptions,
    mind: Arc<Mutex<Mind>>,
}

/// What lives in the worker and not in the socket.
struct Mind {
    tabs: Tabs,
    held: Held,
}

impl EnhancedOptions {
    /// An extension as it is today, with a fresh id.
    pub fn new(port: u16) -> Self {
        Self {
            port,
            instance: uuid(),
            origin: Some(ORIGIN.to_owned()),
            naming: Naming::Path,
            generation: Generation::Envelope,
            able: false,
            ping: PING,
        }
    }

    /// Has another id.
    pub fn instance(mut self, instance: &str) -> Self {
        self.instance = instance.to_owned();
        self
    }

    /// Comes from somewhere else; `None` sends no origin.
    pub fn origin(mut self, origin: Option<&str>) -> Self {
        self.origin = origin.map(str::to_owned);
        self
    }

    /// Tells its id in another way.
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Is of a later version, in which elements can be clicked and scripts run.
    pub fn able(mut self) -> Self {
        self.able = true;
        self
    }

    /// Is of the generation that the seed describes: no id in hello, `{id, type, payload}` only.
    pub fn legacy(mut self) -> Self {
        self.generation = Generation::Legacy;
        self
    }

    /// Pings at another pace.
    pub fn ping_every(mut self, ping: Duration) -> Self {
        self.ping = ping;
        self
    }

    /// Returns how it connects.
    pub fn dial(&self) -> Dial {
        let (root, id) = (Dial::root(self.port).offer_only(&[]), &self.instance);
        let dial = match self.naming {
            Naming::Path => root.path(&format!("/session/{id}")),
            Naming::Query => root.path(&format!("/?instanceId={id}")),
            Naming::Protocol => root.offer(&format!("instance.{id}")),
            Naming::Header => root.header("X-MCP-Instance", id),
        };
        match &self.origin {
            Some(origin) => dial.origin(origin),
            None => dial,
        }
    }

    /// Connects.
    pub async fn connect(self) -> Enhanced {
        let tabs = Tabs::new(&self.instance, self.able);
        let mind = Arc::new(Mutex::new(Mind { tabs, held: Held::default() }));
        Enhanced::begin(self, mind).await
    }
}

impl Enhanced {
    /// Connects an extension as it is today.
    pub async fn connect(port: u16) -> Self {
        EnhancedOptions::new(port).connect().await
    }

    async fn begin(options: EnhancedOptions, mind: Arc<Mutex<Mind>>) -> Self {
        let socket = options.dial().connect().await;
        let protocol = socket.response.header("sec-websocket-protocol").map(str::to_owned);
        let line = options.open(socket, &mind);
        Self { instance: options.instance.clone(), line, protocol, options, mind }
    }

    /// Comes back with the same id and tabs, as its worker does after a cut.
    pub async fn reconnect(&mut self) {
        let again = Self::begin(self.options.clone(), Arc::clone(&self.mind)).await;
        self.line = again.line;
    }

    /// Returns the commands that it has heard, in order.
    pub fn commands(&self) -> Vec<Value> {
        let is_command = |message: &Value| !message["wireId"].is_null() || !message["id"].is_null();
        self.line.heard().into_iter().filter(is_command).collect()
    }

    /// Returns the commands of one name.
    pub fn commands_of(&self, name: &str) -> Vec<Value> {
        let named = |message: &Value| message["name"] == name || message["type"] == name;
        self.commands().into_iter().filter(named).collect()
    }

    /// Waits until so many commands of one name have come.
    pub async fn until_commands(&self, name: &str, count: usize) -> Vec<Value> {
        eventually(&format!("{count} {name}"), async || {
            let commands = self.commands_of(name);
            (commands.len() >= count).then_some(commands)
        })
        .await
    }

    /// Returns its open tabs.
    pub fn tabs(&self) -> Vec<Tab> {
        self.mind.lock().unwrap().tabs.open.clone()
    }

    /// Lets the user open a window with one page; returns its tab.
    pub fn open_window(&self, url: &str) -> i64 {
        self.mind.lock().unwrap().tabs.open_window(url)
    }

    /// Lets the user close a tab.
    pub fn close_tab(&self, id: i64) {
        self.mind.lock().unwrap().tabs.open.retain(|tab| tab.id != id);
    }

    /// Holds back the answers to commands that mention a word.
    pub fn hold(&self, word: &str) {
        self.mind.lock().unwrap().held.hold(word);
    }

    /// Waits until so many commands are held.
    pub async fn until_held(&self, count: usize) {
        eventually("commands are held", async || {
            (self.mind.lock().unwrap().held.count() >= count).then_some(())
        })
        .await;
    }

    /// Gives the answers that were held, the newest first.
    pub fn release(&self) {
        self.mind.lock().unwrap().held.release();
    }
}

impl EnhancedOptions {
    fn open(&self, socket: Socket, mind: &Arc<Mutex<Mind>>) -> Line {
        let (mind, options) = (Arc::clone(mind), self.clone());
        let line = Line::open(socket, move |mouth, message| {
            // Locked for one message; nothing is awaited here.
            let mut mind = mind.lock().unwrap();
            let answers = options.hear(&mut mind.tabs, message);
            mind.held.answer(mouth, message, answers);
        });
        line.say(match self.generation {
            Generation::Legacy => json!({"type": "hello", "wants": "instanceId"}),
            _ => self.stamp(json!({"type": "hello", "wants": "instanceId"})),
        });
        line.repeat(self.ping, self.stamp(json!({"type": "ping"})));
        line
    }

    /// Writes its id on a message, as it does with everything.
    fn stamp(&self, mut message: Value) -> Value {
        if self.generation != Generation::Legacy {
            message["instanceId"] = json!(self.instance);
        }
        message
    }

    /// Carries out a message and returns what it says to that.
    fn hear(&self, tabs: &mut Tabs, message: &Value) -> Vec<Value> {
        let kind = message["type"].as_str().unwrap_or_default();
        match (self.generation, kind) {
            // It looks for further servers.
            (Generation::Legacy, "helloAck") => vec![json!({"type": "portListRequest"})],
            (_, "helloAck" | "pong" | "connected") => Vec::new(),
            (Generation::Envelope, _) => self.hear_envelope(tabs, message),
            (Generation::Legacy, _) => hear_legacy(tabs, message).into_iter().collect(),
        }
    }

    fn hear_envelope(&self, tabs: &mut Tabs, message: &Value) -> Vec<Value> {
        let text = |key: &str| message[key].as_str().filter(|text| !text.is_empty());
        let id = [&message["wireId"], &message["id"]].into_iter().find(|id| is_id(id));
        let name = text("name").or(text("type")).unwrap_or_default();
        let known = tabs::KNOWN.contains(&name) || self.able && tabs::LATER.contains(&name);
        if !known {
            let error = format!("Unhandled message type: {name}");
            return id
                .map(|id| self.response(id, message, "error", json!(error)))
                .into_iter()
                .collect();
        }
        let session = text("sessionId").map(str::to_owned);
        let tab = message["tabId"].is_number().then(|| message["tabId"].as_i64().unwrap());
        let (tab, outcome) = tabs.run(session.as_deref(), tab, name, &message["payload"]);
        let Some(id) = id else { return Vec::new() };
        match outcome {
            Err(error) => vec![self.response(id, message, "error", json!(error))],
            Ok(data) => {
                let debug = json!({
                    "type": "event", "name": "debug", "sessionId": session,
                    "payload": tabs.debug(session.as_deref(), name, tab),
                });
                vec![self.response(id, message, "data", data), self.stamp(debug)]
            }
        }
    }

    fn response(&self, id: &Value, to: &Value, key: &str, body: Value) -> Value {
        let mut response = json!({"wireId": id, "type": "response", key: body});
        for echoed in ["sessionId", "originId"] {
            if let Some(value) = to.get(echoed) {
                response[echoed] = value.clone();
            }
        }
        self.stamp(response)
    }
}

fn hear_legacy(tabs: &mut Tabs, message: &Value) -> Option<Value> {
    let (id, name, payload) = (&message["id"], message["type"].as_str()?, &message["payload"]);
    if !is_id(id) {
        return None;
    }
    if !tabs::KNOWN.contains(&name) {
        return Some(json!({"id": id, "error": format!("Unknown message type: {name}")}));
    }
    // Here the tab is part of what is asked.
    Some(match tabs.run(None, payload["tabId"].as_i64(), name, payload).1 {
        Ok(result) => json!({"id": id, "type": name, "payload": result}),
        Err(error) => json!({"id": id, "error": error}),
    })
}

/// An id of 0 or of no letters counts as none.
fn is_id(id: &Value) -> bool {
    id.as_str().is_some_and(|text| !text.is_empty()) || id.as_i64().is_some_and(|id| id != 0)
}

/// Makes an id as the extension does, different each time.
pub fn uuid() -> String {
    static MADE: AtomicU64 = AtomicU64::new(1);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    format!("{:08x}-51ed-4a0b-9c3d-{number:012x}", number.wrapping_mul(0x9e37_79b9) as u32)
}
