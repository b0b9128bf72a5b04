//! An AI client that posts to `/mcp`, in either era. Each request has a connection of its own.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde_json::{Value, json};

use super::{Era, Reply, stream::McpStream};
use crate::{Ask, PATIENCE, Response, keyring};

/// What a client calls itself unless a test says otherwise.
const NAME: &str = "testkit";
/// What every client must say that it takes.
pub const ACCEPT: &str = "application/json, text/event-stream";

/// A client. Requests may be under way at the same time.
pub struct McpHttp {
    port: u16,
    path: String,
    headers: Vec<(String, String)>,
    era: Era,
    name: String,
    /// The session that the handshake opened.
    pub session: Option<String>,
    last_id: AtomicU64,
    patience: Duration,
}

impl McpHttp {
    /// Makes a client of the hub on a port; nothing has been said yet.
    pub fn new(port: u16, era: Era) -> Self {
        Self {
            port,
            path: "/mcp".to_owned(),
            headers: Vec::new(),
            era,
            name: NAME.to_owned(),
            session: None,
            last_id: AtomicU64::new(0),
            patience: PATIENCE,
        }
    }

    /// Makes a client of the newest revision.
    pub fn modern(port: u16) -> Self {
        Self::new(port, Era::Modern)
    }

    /// Makes a client and opens the conversation as the era wants it.
    pub async fn connected(port: u16, era: Era) -> Self {
        let mut client = Self::new(port, era);
        client.open().await;
        client
    }

    /// Posts to another path.
    pub fn path(mut self, path: &str) -> Self {
        self.path = path.to_owned();
        self
    }

    /// Sends a header with every request.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Calls itself something else.
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    /// Waits longer than usual for answers.
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Opens the conversation: a handshake where the era has one. Returns its result.
    pub async fn open(&mut self) -> Value {
        if self.era.is_modern() {
            return Value::Null;
        }
        let message = self.message("initialize", self.era.handshake(&self.name));
        let mut stream = self.post(&message).await;
        assert_eq!(stream.head.status, 200, "{:?}", stream.head);
        self.session = stream.head.header("mcp-session-id").map(str::to_owned);
        assert!(self.session.is_some(), "a handshake opens a session: {:?}", stream.head);
        let answer = stream.next().await.expect("an answer");
        self.notify("notifications/initialized", json!({})).await.must_be(202);
        Reply(answer).result()
    }

    /// Returns the next request without sending it.
    pub fn message(&self, method: &str, params: Value) -> Value {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        self.era.request(id, method, params, &self.name)
    }

    /// Returns the request over HTTP that carries a message, with the headers that the era wants.
    pub fn ask(&self, message: &Value) -> Ask {
        let mut ask = self.with_headers(Ask::post(&self.path, message));
        if self.era.is_modern() {
            ask = ask.header("Mcp-Method", message["method"].as_str().unwrap_or_default());
            let params = &message["params"];
            if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
                ask = ask.header("Mcp-Name", name);
            }
        }
        ask
    }

    /// Sends a message and waits for the head of the answer.
    pub async fn post(&self, message: &Value) -> McpStream {
        McpStream::open(self.port, &self.ask(message), self.patience).await
    }

    /// Sends a request and leaves its answer on the stream.
    pub async fn stream(&self, method: &str, params: Value) -> McpStream {
        self.post(&self.message(method, params)).await
    }

    /// Sends a request and waits for its answer.
    pub async fn request(&self, method: &str, params: Value) -> Reply {
        self.exchange(method, params).await.0
    }

    /// Sends a request and waits for its answer; returns what came before it too.
    pub async fn exchange(&self, method: &str, params: Value) -> (Reply, Vec<Value>) {
        let message = self.message(method, params);
        let mut stream = self.post(&message).await;
        let mut before = Vec::new();
        loop {
            match stream.next().await {
                Some(answer) if answer.get("method").is_none() => {
                    assert_eq!(answer["id"], message["id"], "the answer to another request");
                    return (Reply(answer), before);
                }
                Some(other) => before.push(other),
                None => panic!("{method} was not answered: {:?}", stream.head),
            }
        }
    }

    /// Calls a tool and waits for its answer.
    pub async fn call(&self, tool: &str, args: Value) -> Reply {
        self.request("tools/call", json!({"name": tool, "arguments": args})).await
    }

    /// Sends a notification; returns how that was taken.
    pub async fn notify(&self, method: &str, params: Value) -> Response {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.post(&message).await.rest().await
    }

    /// Opens the stream on which an older client hears of changes.
    pub async fn listen(&self) -> McpStream {
        let ask = self.with_headers(Ask::get(&self.path));
        McpStream::open(self.port, &ask, self.patience).await
    }

    /// Comes back for what follows an event on a stream that was lost.
    pub async fn resume(&self, event: &str) -> McpStream {
        let ask = self.with_headers(Ask::get(&self.path)).header("Last-Event-ID", event);
        McpStream::open(self.port, &ask, self.patience).await
    }

    /// Ends the session of an older client.
    pub async fn delete(&self) -> Response {
        let ask = self.with_headers(Ask::new("DELETE", &self.path));
        McpStream::open(self.port, &ask, self.patience).await.rest().await
    }

    fn with_headers(&self, mut ask: Ask) -> Ask {
        ask = ask.header("Accept", ACCEPT);
        // Before the handshake is over, an older client does not send its revision.
        if self.era.is_modern() || self.session.is_some() {
            ask = ask.header("MCP-Protocol-Version", self.era.version());
        }
        if let Some(session) = &self.session {
            ask = ask.header("Mcp-Session-Id", session);
        }
        for (name, value) in &self.headers {
            ask = ask.header(name, value);
        }
        let says_who = self.headers.iter().any(|(name, _)| name == "Authorization");
        match keyring::token_of(self.port).filter(|_| !says_who) {
            Some(token) => ask.bearer(&token),
            None => ask,
        }
    }
}
