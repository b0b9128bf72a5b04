//! A request that nobody answers, as a measure of time: it ends when its limit is over.
//!
//! A test begins it before what it tests, on the same hub and under the same limit. Whatever ends
//! while it is still under way has not waited for that limit, on a slow machine too. It is no
//! measure for things that have another limit than its own.

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{Api, Ask, FakeBrowser, Incoming, eventually};

/// What its app is called.
const NAME: &str = "unanswered";
/// Its only tool.
const TOOL: &str = "ponder";
/// More than any grace, and what a hub allows.
const LONG_MS: u64 = 600_000;

/// A request that is under way until its limit is over, or this is dropped.
pub struct Unanswered {
    api: Api,
    asking: JoinHandle<()>,
    app: JoinHandle<()>,
}

impl Unanswered {
    /// Calls an app that never answers; it ends with the time that calls have.
    pub async fn call(port: u16) -> Self {
        let app = FakeBrowser::with_tools(port, NAME, &[TOOL]).await;
        let body = json!({"session": NAME, "tool": TOOL});
        Self::begin(port, app, Ask::own_post("/api/call", &body)).await
    }

    /// Asks an app for its state, which never answers; it ends with the time that pages have.
    pub async fn state(port: u16) -> Self {
        let mut app = FakeBrowser::connected(port, NAME).await;
        app.publish_state("p1", 1, Value::Null).await;
        app.settle().await;
        let path = format!("/api/sessions/{NAME}/state?forceRefresh=true");
        Self::begin(port, app, Ask::own_get(&path)).await
    }

    /// Calls an app that keeps results and loses its connection; it ends with the time that such
    /// an app has for coming back.
    pub async fn away(port: u16) -> Self {
        let mut app = FakeBrowser::app(port, NAME).able("results");
        app.connect().await;
        app.offer_tools(&[TOOL]).await;
        let body = json!({"session": NAME, "tool": TOOL, "timeoutMs": LONG_MS});
        let away = Self::begin(port, app, Ask::own_post("/api/call", &body)).await;
        away.app.abort();
        away.api.until_connected(NAME, false).await;
        away
    }

    async fn begin(port: u16, mut app: FakeBrowser, ask: Ask) -> Self {
        let api = Api::new(port);
        // How it ends is of no interest: the hub is asked whether it has.
        let asking = tokio::spawn(async move { drop(ask.send(port).await) });
        let app = tokio::spawn(async move {
            while let Incoming::Message(message) = app.wait().await {
                app.do_duty(message).await;
            }
        });
        let unanswered = Self { api, asking, app };
        eventually("a request is under way", async || {
            unanswered.is_under_way().await.then_some(())
        })
        .await;
        unanswered
    }

    /// Fails the test unless the request is still under way: what has just ended did not wait.
    pub async fn must_be_under_way(&self, what: &str) {
        let waited = "what was begun before it and waits for its limit has ended already";
        assert!(self.is_under_way().await, "{what}: {waited}");
    }

    async fn is_under_way(&self) -> bool {
        self.api.session(NAME).await["callsInFlight"] == 1
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.asking.abort();
        self.app.abort();
    }
}
