//! A fake of the mcp-browser extension (seed 003), faithful down to its defects.
//!
//! - [`probe`]: what its scan does with every port;
//! - [`sequence`]: its rules about numbers; [`page`]: its commands in the one tab it controls.
//!
//! A connection is ready after an ack that answers its `connection_init`, not before.

pub mod page;
pub mod probe;
pub mod sequence;

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::time::sleep;

use self::{
    page::{Page, Tab},
    sequence::{Counter, Verdict},
};
use super::line::{Held, Line, Mouth};
use crate::{Dial, Incoming, eventually};

/// Where the fake comes from, unless a test says otherwise.
pub const ORIGIN: &str = "chrome-extension://gfkhpkcbdnmnblgmaeiohgpikmbjnljo";
/// Its version, unless a test says otherwise.
pub const VERSION: &str = "2.2.63";
/// How often the real one sends a heartbeat, and how long it waits for a pong.
const HEARTBEAT: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(25));
/// Batches that it keeps until it is ready.
const QUEUE: usize = 500;

/// An extension that is not connected yet.
#[derive(Clone)]
pub struct McpBrowserOptions {
    port: u16,
    origin: Option<String>,
    version: String,
    label: String,
    sequence: Option<u64>,
    heartbeat: (Duration, Duration),
    tab: Option<Tab>,
}

/// A connected extension.
pub struct McpBrowser {
    /// Its socket.
    pub line: Line,
    options: McpBrowserOptions,
    mind: Arc<Mutex<Mind>>,
}

/// What lives in the worker.
struct Mind {
    version: String,
    counter: Counter,
    page: Page,
    held: Held,
    ready: bool,
    queue: Vec<Value>,
    last_pong: Instant,
    /// The newest ack.
    ack: Value,
    /// Messages with a number that it processed, and those that acks brought.
    delivered: Vec<Value>,
    replayed: Vec<Value>,
    notifications: Vec<String>,
    /// The port is remembered as a server's.
    known: bool,
    /// So many numbered messages are lost on the way.
    losing: usize,
}

impl McpBrowserOptions {
    /// An extension whose user has pressed "Connect" for a tab.
    pub fn new(port: u16) -> Self {
        Self {
            port,
            origin: Some(ORIGIN.to_owned()),
            version: VERSION.to_owned(),
            label: "mcp-browser".to_owned(),
            sequence: Some(0),
            heartbeat: HEARTBEAT,
            tab: Some(Tab::new(4711, "https://start.example/")),
        }
    }

    /// Comes from somewhere else; `None` sends no origin.
    pub fn origin(mut self, origin: Option<&str>) -> Self {
        self.origin = origin.map(str::to_owned);
        self
    }

    /// Has another version.
    pub fn version(mut self, version: &str) -> Self {
        self.version = version.to_owned();
        self
    }

    /// Marks its pages, so that two of them can be told apart.
    pub fn label(mut self, label: &str) -> Self {
        self.label = label.to_owned();
        self
    }

    /// Remembers a number from an earlier connection; `None` leaves it out of its introduction.
    pub fn sequence(mut self, sequence: Option<u64>) -> Self {
        self.sequence = sequence;
        self
    }

    /// Sends heartbeats at another pace and waits for pongs as long as this.
    pub fn heartbeat(mut self, every: Duration, limit: Duration) -> Self {
        self.heartbeat = (every, limit);
        self
    }

    /// Controls no tab.
    pub fn without_tab(mut self) -> Self {
        self.tab = None;
        self
    }

    /// Returns how it connects.
    pub fn dial(&self) -> Dial {
        let dial = Dial::root(self.port).offer_only(&[]);
        match &self.origin {
            Some(origin) => dial.origin(origin),
            None => dial,
        }
    }

    /// Connects and introduces itself.
    pub async fn begin(self) -> McpBrowser {
        let mind = Arc::new(Mutex::new(Mind {
            version: self.version.clone(),
            counter: Counter::new(self.sequence.unwrap_or(0)),
            page: Page::new(&self.label, self.tab.clone()),
            held: Held::default(),
            ready: false,
            queue: Vec::new(),
            last_pong: Instant::now(),
            ack: Value::Null,
            delivered: Vec::new(),
            replayed: Vec::new(),
            notifications: Vec::new(),
            known: false,
            losing: 0,
        }));
        let line = self.open(&mind).await;
        McpBrowser { line, options: self, mind }
    }

    /// Connects and waits until it is ready.
    pub async fn connect(self) -> McpBrowser {
        let browser = self.begin().await;
        browser.until_ready().await;
        browser
    }

    async fn open(&self, mind: &Arc<Mutex<Mind>>) -> Line {
        let mut socket = self.dial().connect().await;
        // Its handler is installed after the introduction is sent, so what the server says at
        // once is lost.
        match socket.recv().await {
            Incoming::Message(first) => assert_eq!(first["type"], "connection_ack", "{first}"),
            end => panic!("the server must speak first: {end:?}"),
        }
        let listener = Arc::clone(mind);
        let line = Line::open(socket, move |mouth, message| {
            // Locked for one message; nothing is awaited here.
            listener.lock().unwrap().hear(mouth, message);
        });
        let mut init = json!({
            "type": "connection_init", "extensionVersion": self.version,
            "capabilities": ["console_capture", "dom_interaction"],
        });
        if self.sequence.is_some() {
            init["lastSequence"] = json!(mind.lock().unwrap().counter.last);
        }
        line.say(init);
        self.beat(line.mouth(), Arc::clone(mind));
        line
    }

    /// Sends heartbeats once it is ready, and closes when their answers stay away.
    fn beat(&self, mouth: Mouth, mind: Arc<Mutex<Mind>>) {
        let (every, limit) = self.heartbeat;
        tokio::spawn(async move {
            loop {
                sleep(every).await;
                let (ready, silence) = {
                    let mind = mind.lock().unwrap();
                    (mind.ready, mind.last_pong.elapsed())
                };
                if !ready {
                    continue;
                }
                if silence > limit {
                    return mouth.close();
                }
                if !mouth.say(json!({"type": "heartbeat", "timestamp": 1_765_000_000_000_u64})) {
                    return;
                }
            }
        });
    }
}

impl McpBrowser {
    /// Connects an extension with a tab and waits until it is ready.
    pub async fn connect(port: u16) -> Self {
        McpBrowserOptions::new(port).connect().await
    }

    /// Waits until it is ready.
    pub async fn until_ready(&self) {
        eventually("the extension is ready", async || {
            self.mind.lock().unwrap().ready.then_some(())
        })
        .await;
    }

    /// Drops the connection without a word; it goes on in its worker.
    pub async fn vanish(&mut self) {
        self.line.order(super::wire::Order::Leave);
        self.line.ended().await;
    }

    /// Comes back. The real one has forgotten its tab and its number by then; a number that is
    /// kept is what the seed describes.
    pub async fn reconnect(&mut self, keep_number: bool) {
        {
            let mut mind = self.mind.lock().unwrap();
            mind.ready = false;
            mind.last_pong = Instant::now();
            mind.page.tab = None;
            if !keep_number {
                mind.counter = Counter::new(0);
            }
        }
        self.line = self.options.open(&self.mind).await;
        self.until_ready().await;
    }

    /// Lets the user press "Connect" for a tab.
    pub fn assign(&self, tab: Tab) {
        self.with(|mind| mind.page.tab = Some(tab));
    }

    /// Returns the tab that it controls.
    pub fn tab(&self) -> Option<Tab> {
        self.with(|mind| mind.page.tab.clone())
    }

    /// Changes its page.
    pub fn change(&self, change: impl FnOnce(&mut Page)) {
        self.with(|mind| change(&mut mind.page));
    }

    /// Returns its counter.
    pub fn sequence(&self) -> u64 {
        self.with(|mind| mind.counter.last)
    }

    /// Returns the newest ack.
    pub fn ack(&self) -> Value {
        self.with(|mind| mind.ack.clone())
    }

    /// Returns the numbered messages that it processed.
    pub fn delivered(&self) -> Vec<Value> {
        self.with(|mind| mind.delivered.clone())
    }

    /// Returns what acks and recoveries brought.
    pub fn replayed(&self) -> Vec<Value> {
        self.with(|mind| mind.replayed.clone())
    }

    /// Returns what the user was bothered with.
    pub fn notifications(&self) -> Vec<String> {
        self.with(|mind| mind.notifications.clone())
    }

    /// Returns whether it will come back to this port by itself.
    pub fn knows_the_port(&self) -> bool {
        self.with(|mind| mind.known)
    }

    /// Loses the next numbered messages, as a worker does that is being restarted.
    pub fn lose(&self, count: usize) {
        self.with(|mind| mind.losing = count);
    }

    /// Holds back the answers to commands that mention a word.
    pub fn hold(&self, word: &str) {
        self.with(|mind| mind.held.hold(word));
    }

    /// Gives the answers that were held.
    pub fn release(&self) {
        self.with(|mind| mind.held.release());
    }

    /// Sends lines of the page's console: level and text.
    pub fn log(&self, lines: &[(&str, &str)]) {
        let batch = self.with(|mind| mind.page.batch(lines));
        self.send_batch(batch);
    }

    /// Sends a batch, or keeps it until it is ready.
    pub fn send_batch(&self, batch: Value) {
        let ready = self.with(|mind| {
            if !mind.ready && mind.queue.len() < QUEUE {
                mind.queue.push(batch.clone());
            }
            mind.ready
        });
        if ready {
            self.line.say(batch);
        }
    }

    /// Returns a batch without sending it.
    pub fn batch(&self, lines: &[(&str, &str)]) -> Value {
        self.with(|mind| mind.page.batch(lines))
    }

    fn with<T>(&self, look: impl FnOnce(&mut Mind) -> T) -> T {
        look(&mut self.mind.lock().unwrap())
    }
}

impl Mind {
    fn hear(&mut self, mouth: &Mouth, message: &Value) {
        match message["type"].as_str().unwrap_or_default() {
            "connection_ack" => return self.take_ack(mouth, message),
            "pong" => return self.last_pong = Instant::now(),
            "connection_rejected" => {
                self.notifications.push(message["message"].to_string());
                return mouth.close();
            }
            "gap_recovery_response" => {
                self.replayed.extend(message["messages"].as_array().into_iter().flatten().cloned());
                return self.counter.recovered(message["messages"].as_array());
            }
            _ => {}
        }
        if let Some(sequence) = message.get("sequence") {
            if self.losing > 0 {
                self.losing -= 1;
                return;
            }
            match self.counter.check(sequence.as_u64().expect("numbers are numbers")) {
                Verdict::Process => self.delivered.push(message.clone()),
                Verdict::Drop => return,
                Verdict::Ask(from, to) => {
                    let kind = "gap_recovery";
                    mouth.say(json!({"type": kind, "fromSequence": from, "toSequence": to}));
                    return;
                }
            }
        }
        if message["type"] == "disconnect" {
            return mouth.close();
        }
        let answers = self.page.hear(message);
        self.held.answer(mouth, message, answers);
    }

    fn take_ack(&mut self, mouth: &Mouth, ack: &Value) {
        if ack["serverVersion"].as_str().is_some_and(|version| version != self.version) {
            self.notifications.push("Extension Reload Required".to_owned());
        }
        self.known |= ack["project_id"].as_str().is_some_and(|id| !id.is_empty());
        for missed in ack["replay"].as_array().into_iter().flatten() {
            self.counter.raise(missed["sequence"].as_u64().unwrap_or(0));
            self.replayed.push(missed.clone());
        }
        if let Some(current) = ack.get("currentSequence") {
            self.counter.last = current.as_u64().unwrap_or(0);
        }
        self.ack = ack.clone();
        self.last_pong = Instant::now();
        self.ready = true;
        for batch in self.queue.drain(..) {
            mouth.say(batch);
        }
    }
}
