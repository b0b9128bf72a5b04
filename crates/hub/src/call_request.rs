//! Who asks, and what they want of a session.

use std::time::Duration;

use model::{CallProgress, ClientId, Effect, TabId, Work};
use tokio::sync::mpsc;

/// On whose behalf a call is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Which client.
    pub client: ClientId,
    /// Whom its credentials prove it to be.
    pub principal: String,
    /// What people call the client; none means its id.
    pub name: Option<String>,
    /// The trace that the call is part of (W3C `traceparent`); carried into the feed.
    pub trace: Option<String>,
}

/// Characters of a client's name that are shown.
const NAME: usize = 40;

impl Caller {
    /// Makes a caller that is part of no trace.
    pub fn new(client: ClientId, principal: impl Into<String>) -> Self {
        Self { client, principal: principal.into(), name: None, trace: None }
    }

    /// Gives it the name that the client calls itself; an empty one is none.
    pub fn named(mut self, name: &str) -> Self {
        let name = name.trim();
        self.name = (!name.is_empty()).then(|| model::json::cut(name, NAME));
        self
    }

    /// Returns what people call it.
    pub fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(self.client.as_str())
    }

    /// Makes it part of a trace; whatever is not a `traceparent` is left out.
    pub fn traced(mut self, traceparent: Option<&str>) -> Self {
        let fits = |text: &&str| {
            text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        };
        self.trace = traceparent.filter(fits).map(str::to_owned);
        self
    }
}

/// What a caller wants.
pub struct CallRequest {
    /// On whose behalf.
    pub caller: Caller,
    /// Where; none for apps.
    pub tab: Option<TabId>,
    /// What.
    pub work: Work,
    /// Whether it waits for others of its tab.
    pub effect: Effect,
    /// How long it may take; none means the configured time.
    pub timeout: Option<Duration>,
    /// Where progress goes.
    pub progress: Option<mpsc::Sender<CallProgress>>,
}
