//! The admin API as a test uses it, with the hub's own token unless another is given. Each request has a
//! connection of its own.

use serde_json::{Value, json};

use crate::{Ask, Metrics, Response, eventually, keyring};

/// A hub's admin API.
#[derive(Clone)]
pub struct Api {
    port: u16,
    token: Option<String>,
}

impl Api {
    /// Talks to the hub on a port.
    pub fn new(port: u16) -> Self {
        Self { port, token: None }
    }

    /// Shows a token with every request.
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Sends any request.
    pub async fn send(&self, ask: Ask) -> Response {
        let ask = match self.token.clone().or_else(|| keyring::token_of(self.port)) {
            Some(token) => ask.bearer(&token),
            None => ask,
        };
        ask.send(self.port).await
    }

    /// Asks for something.
    pub async fn get(&self, path: &str) -> Response {
        self.send(Ask::get(path)).await
    }

    /// Sends something.
    pub async fn post(&self, path: &str, body: &Value) -> Response {
        self.send(Ask::post(path, body)).await
    }

    /// Lists the sessions.
    pub async fn sessions(&self) -> Vec<Value> {
        let body = self.get("/api/sessions").await.must_be(200).json();
        body["sessions"].as_array().unwrap().clone()
    }

    /// Shows one session.
    pub async fn session(&self, name: &str) -> Value {
        self.get(&format!("/api/sessions/{name}")).await.must_be(200).json()
    }

    /// Waits until a session is connected, or is not.
    pub async fn until_connected(&self, name: &str, connected: bool) {
        eventually("the session's connection changes", async || {
            (self.session(name).await["connected"] == connected).then_some(())
        })
        .await;
    }

    /// Calls a tool: `{tool, args?, session?, tab?, target?, timeoutMs?}`.
    pub async fn call(&self, body: Value) -> Response {
        self.post("/api/call", &body).await
    }

    /// Calls a tool of a session.
    pub async fn call_tool(&self, session: &str, tool: &str, args: Value) -> Response {
        self.call(json!({"session": session, "tool": tool, "args": args})).await
    }

    /// Asks for a session's state, with a query such as `forceRefresh=true`.
    pub async fn state(&self, session: &str, query: &str) -> Response {
        self.get(&format!("/api/sessions/{session}/state?{query}")).await
    }

    /// Sends a session an event; returns its number.
    pub async fn event(&self, session: &str, name: &str, data: Value) -> u64 {
        let body = json!({"session": session, "name": name, "data": data});
        let answer = self.post("/api/events", &body).await.must_be(200).json();
        answer["sequence"].as_u64().unwrap()
    }

    /// Reads one page of a session's feed.
    pub async fn feed_page(&self, session: &str, since: u64, limit: usize) -> Value {
        let path = format!("/api/sessions/{session}/feed?since={since}&limit={limit}");
        self.get(&path).await.must_be(200).json()
    }

    /// Reads a session's whole feed, page by page; fails the test where entries are missing.
    pub async fn feed(&self, session: &str) -> Vec<Value> {
        let (mut items, mut since) = (Vec::new(), 0);
        loop {
            let page = self.feed_page(session, since, 100).await;
            assert_eq!(page["missed"], 0, "the feed must be whole: {}", page["items"][0]);
            let found = page["items"].as_array().unwrap();
            if found.is_empty() {
                return items;
            }
            items.extend(found.iter().cloned());
            since = page["next"].as_u64().unwrap();
        }
    }

    /// Reads the counters.
    pub async fn metrics(&self) -> Metrics {
        Metrics::parse(&self.get("/metrics").await.must_be(200).text())
    }

    /// Waits until a counter has a value.
    pub async fn until_metric(&self, sample: &str, value: f64) {
        eventually(&format!("{sample} is {value}"), async || {
            (self.metrics().await.get(sample) == value).then_some(())
        })
        .await;
    }
}
