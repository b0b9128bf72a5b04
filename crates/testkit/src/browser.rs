//! A peer that speaks `tabwire.v1` and is driven by hand, one step at a time.
//!
//! It keeps over connections what a real one keeps: its log, how far it has seen the hub's, its
//! resume token. While a test waits for something it does its duties: it answers pings and
//! requests for replay, keeps numbered messages in order and takes note of acks. It answers no
//! call by itself. Between waits it does nothing at all, as a peer whose machine hangs.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::{
    Dial, Ending, Incoming, Position, Socket,
    log::{SeenLog, SentLog},
};

/// A browser or an app.
pub struct FakeBrowser {
    dial: Dial,
    instance: String,
    kind: &'static str,
    name: Option<String>,
    capabilities: Vec<&'static str>,
    socket: Option<Socket>,
    /// What it has numbered and sent.
    pub log: SentLog,
    /// What it has seen of the hub's log.
    pub seen: SeenLog,
    /// The newest resume token, where it has one.
    pub token: Option<String>,
    /// The newest welcome.
    pub welcome: Value,
}

impl FakeBrowser {
    /// Makes an app that names itself in the path; it is not connected yet.
    pub fn app(port: u16, instance: &str) -> Self {
        Self {
            dial: Dial::session(port, instance),
            instance: instance.to_owned(),
            kind: "app",
            name: Some(instance.to_owned()),
            capabilities: Vec::new(),
            socket: None,
            log: SentLog::new(&new_epoch()),
            seen: SeenLog::default(),
            token: None,
            welcome: Value::Null,
        }
    }

    /// Makes a browser; it is not connected yet.
    pub fn browser(port: u16, instance: &str) -> Self {
        Self { kind: "browser", ..Self::app(port, instance) }
    }

    /// Makes an app and connects it.
    pub async fn connected(port: u16, instance: &str) -> Self {
        let mut app = Self::app(port, instance);
        app.connect().await;
        app
    }

    /// Makes an app with tools and connects it.
    pub async fn with_tools(port: u16, instance: &str, tools: &[&str]) -> Self {
        let mut app = Self::connected(port, instance).await;
        app.offer_tools(tools).await;
        app
    }

    /// Calls itself something else than its instance id, or nothing.
    pub fn named(mut self, name: Option<&str>) -> Self {
        self.name = name.map(str::to_owned);
        self
    }

    /// Says that it can do something more, such as `results`.
    pub fn able(mut self, capability: &'static str) -> Self {
        self.capabilities.push(capability);
        self
    }

    /// Turns to a hub that was started again on another port; the old connection is gone.
    pub fn follow(&mut self, port: u16) {
        self.socket = None;
        self.dial = self.dial.clone().to(port);
    }

    /// Changes how it connects.
    pub fn dialled(mut self, change: impl FnOnce(Dial) -> Dial) -> Self {
        self.dial = change(self.dial);
        self
    }

    /// Returns its introduction, as it would say it now.
    pub fn hello(&self) -> Value {
        let mut hello = json!({
            "type": "hello", "instanceId": self.instance, "kind": self.kind, "version": "1.0",
            "capabilities": self.capabilities, "epoch": self.log.epoch,
        });
        if let Some(name) = &self.name {
            hello["name"] = json!(name);
        }
        if let Some(position) = &self.seen.position {
            hello["position"] = position.to_json();
        }
        if let Some(token) = &self.token {
            hello["resumeToken"] = json!(token);
        }
        hello
    }

    /// Connects and is welcomed; returns the welcome.
    pub async fn connect(&mut self) -> Value {
        match self.try_connect().await {
            Ok(welcome) => welcome,
            Err(ending) => panic!("{} was not welcomed: {ending:?}", self.instance),
        }
    }

    /// Connects; an error is how the hub closed instead of a welcome.
    pub async fn try_connect(&mut self) -> Result<Value, Ending> {
        let mut socket = self.dial.connect().await;
        socket.send(&self.hello()).await;
        self.await_welcome(socket).await
    }

    /// Connects through a network where anything may be lost; false means that it was.
    pub async fn connect_if_possible(&mut self) -> bool {
        let Ok(mut socket) = self.dial.try_connect().await else { return false };
        if socket.try_send(&self.hello()).await.is_err() {
            return false;
        }
        self.await_welcome(socket).await.is_ok()
    }

    async fn await_welcome(&mut self, mut socket: Socket) -> Result<Value, Ending> {
        match socket.recv().await {
            Incoming::Message(welcome) if welcome["type"] == "welcome" => {
                self.socket = Some(socket);
                self.take_welcome(&welcome);
                Ok(welcome)
            }
            Incoming::Message(other) => {
                let mut ending = socket.ended().await;
                ending.said.insert(0, other);
                Err(ending)
            }
            Incoming::Close(code, reason) => {
                Err(Ending { code, reason, said: Vec::new(), clean: true, by_hub: true })
            }
            Incoming::Lost(reason) => {
                Err(Ending { code: 0, reason, said: Vec::new(), clean: false, by_hub: true })
            }
        }
    }

    fn take_welcome(&mut self, welcome: &Value) {
        self.welcome = welcome.clone();
        self.token = welcome["resumeToken"].as_str().map(str::to_owned);
        self.seen.reconnect();
        let epoch = welcome["epoch"].as_str().unwrap();
        let current = Position::new(epoch, welcome["currentSequence"].as_u64().unwrap());
        if welcome["recovered"] == false || self.seen.position.is_none() {
            self.seen.skip_to(current);
        }
        for message in welcome["replay"].as_array().unwrap() {
            assert!(!self.seen.offer(message), "a replay has no gaps: {welcome}");
        }
        if let Some(received) = Position::read(&welcome["received"]) {
            self.log.ack(&received);
        }
    }

    /// Asks for the rest where a welcome was only the first page.
    pub async fn ask_for_more(&mut self) {
        if self.welcome["more"] == true {
            self.ask_again().await;
        }
    }

    /// Sends again what the hub has not received, as the newest welcome says.
    pub async fn send_again(&mut self) -> bool {
        for message in self.log.after(self.log.acked) {
            if !self.try_say(&message).await {
                return false;
            }
        }
        true
    }

    /// Sends a message that is not numbered.
    pub async fn say(&mut self, message: Value) {
        assert!(self.try_say(&message).await, "{} is not connected", self.instance);
    }

    /// Sends a message as it is; false means that the connection is gone.
    pub async fn try_say(&mut self, message: &Value) -> bool {
        match &mut self.socket {
            Some(socket) => socket.try_send(message).await.is_ok(),
            None => false,
        }
    }

    /// Numbers a message, keeps it, and sends it where there is a connection.
    pub async fn publish(&mut self, message: Value) -> u64 {
        let message = self.log.push(message);
        self.try_say(&message).await;
        self.log.newest()
    }

    /// Publishes an event.
    pub async fn publish_event(&mut self, name: &str, data: Value) -> u64 {
        self.publish(json!({"type": "event", "name": name, "level": "info", "data": data})).await
    }

    /// Publishes its whole state.
    pub async fn publish_state(&mut self, epoch: &str, version: u64, state: Value) {
        self.publish(json!({
            "type": "stateUpdate", "state": state, "stateEpoch": epoch, "version": version,
        }))
        .await;
    }

    /// Tells its tools, and waits until the hub has taken that in. A name that ends with `?` is a
    /// tool that only reads.
    pub async fn offer_tools(&mut self, tools: &[&str]) {
        self.publish(json!({"type": "toolsChanged", "tools": tool_specs(tools)})).await;
        self.settle().await;
    }

    /// Waits until the hub has taken in everything that was sent. Says nothing about what the hub
    /// has yet to send: pongs go before all that waits.
    pub async fn settle(&mut self) {
        self.say(json!({"type": "ping"})).await;
        self.until("pong").await;
    }

    /// Waits for a message that is no duty, such as a call.
    pub async fn recv(&mut self) -> Incoming {
        loop {
            let socket = self.socket.as_mut().expect("a connected peer");
            match socket.recv().await {
                Incoming::Message(message) => {
                    if let Some(message) = self.do_duty(message).await {
                        return Incoming::Message(message);
                    }
                }
                end => return end,
            }
        }
    }

    /// Waits for a message of one type, passing over all others.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            match self.recv().await {
                Incoming::Message(message) if message["type"] == kind => return message,
                Incoming::Message(_) => {}
                end => panic!("{} waits for {kind}: {end:?}", self.instance),
            }
        }
    }

    /// Waits for a call and fails the test when anything else comes. Only that the hub asks for the
    /// whole state is passed over: after a reconnect that may come at any moment.
    pub async fn call(&mut self) -> Value {
        loop {
            match self.recv().await {
                Incoming::Message(message) if message["type"] == "callTool" => return message,
                Incoming::Message(message) if message["type"] == "requestState" => {}
                other => panic!("{} waits for a call: {other:?}", self.instance),
            }
        }
    }

    /// Ends a call with a result.
    pub async fn answer(&mut self, call: &Value, result: Value) {
        self.say(json!({"type": "toolResult", "callId": call["callId"], "result": result})).await;
    }

    /// Does duties until so many events have been delivered; false means that the connection
    /// ended before.
    pub async fn until_delivered(&mut self, count: usize) -> bool {
        while self.seen.delivered.len() < count {
            let Some(socket) = &mut self.socket else { return false };
            match socket.recv().await {
                Incoming::Message(message) => drop(self.do_duty(message).await),
                _ => {
                    self.socket = None;
                    return false;
                }
            }
        }
        true
    }

    /// Waits until the hub has acked everything that was published.
    pub async fn until_acked(&mut self) {
        while self.log.acked < self.log.newest() {
            let socket = self.socket.as_mut().expect("a connected peer");
            match socket.recv().await {
                Incoming::Message(message) => drop(self.do_duty(message).await),
                end => panic!("{} waits for an ack: {end:?}", self.instance),
            }
        }
    }

    /// Tells the hub how far its log has been received.
    pub async fn ack(&mut self) {
        let position = self.seen.position.as_ref().expect("a position").to_json();
        self.say(json!({"type": "ack", "position": position})).await;
    }

    /// Asks for what follows the last place that was seen.
    pub async fn ask_again(&mut self) {
        let from = self.seen.position.as_ref().expect("a position").to_json();
        self.try_say(&json!({"type": "replayRequest", "from": from})).await;
    }

    /// Returns the socket, for what a decent peer does not do.
    pub fn socket(&mut self) -> &mut Socket {
        self.socket.as_mut().expect("a connected peer")
    }

    /// Takes the socket away, to look at how it ends.
    pub fn take_socket(&mut self) -> Socket {
        self.socket.take().expect("a connected peer")
    }

    /// Drops the connection without a word.
    pub fn vanish(&mut self) {
        self.socket = None;
    }

    /// Starts another life, as a reloaded page does: nothing is remembered but the name.
    pub fn forget(&mut self) {
        self.vanish();
        self.log = SentLog::new(&new_epoch());
        self.seen = SeenLog::default();
        self.token = None;
    }

    /// Waits for whatever comes, for as long as it takes. Cancel-safe: no duty is done here.
    pub(crate) async fn wait(&mut self) -> Incoming {
        self.socket.as_mut().expect("a connected peer").next().await
    }

    /// Does what any peer must; returns a message that is none of that.
    pub async fn do_duty(&mut self, message: Value) -> Option<Value> {
        match message["type"].as_str().unwrap_or_default() {
            "ping" => {
                self.try_say(&json!({"type": "pong"})).await;
            }
            "ack" => self.log.ack(&Position::read(&message["position"]).expect("a position")),
            "event" => {
                if self.seen.offer(&message) {
                    self.ask_again().await;
                }
            }
            "replayPage" if message["partial"] != true => self.take_page(&message).await,
            "replayRequest" => {
                let page = self.log.page(message["from"]["sequence"].as_u64().unwrap());
                self.try_say(&page).await;
            }
            _ => return Some(message),
        }
        None
    }

    async fn take_page(&mut self, page: &Value) {
        let upto = Position::new(page["epoch"].as_str().unwrap(), page["upto"].as_u64().unwrap());
        if page["recovered"] == false {
            self.seen.skip_to(upto);
            return;
        }
        for message in page["messages"].as_array().unwrap() {
            assert!(!self.seen.offer(message), "a page has no gaps: {page}");
        }
        if page["more"] == true {
            self.ask_again().await;
        } else {
            self.seen.reconnect();
        }
    }
}

/// Names a log as no other peer of this process does.
fn new_epoch() -> String {
    static LIVES: AtomicU64 = AtomicU64::new(1);
    format!("life-{}", LIVES.fetch_add(1, Ordering::Relaxed))
}

/// Describes tools for the wire. A name that ends with `?` is a tool that only reads.
pub fn tool_specs(tools: &[&str]) -> Vec<Value> {
    let spec = |name: &&str| {
        json!({
            "name": name.trim_end_matches('?'),
            "description": "Does something.",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": name.ends_with('?')},
        })
    };
    tools.iter().map(spec).collect()
}
