//! What happened in sessions, for clients that watch or ask later.
//!
//! Each session keeps its feed as a numbered log, to be read with a cursor; whoever watches live
//! gets every entry of every session. **Full** means: a watcher that does not keep up loses the
//! oldest entries and is told how many.

use std::sync::Arc;

use model::{Change, Json, Level, SessionId, record::LogEntry};
use serde_json::json;
use store::NewEntry;
use tokio::sync::broadcast;

/// Entries that may wait for a live watcher.
pub const WATCH_BACKLOG: usize = 4096;

/// One entry with the session it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedItem {
    /// Whose.
    pub session: SessionId,
    /// The session's readable name.
    pub name: Arc<str>,
    /// What happened.
    pub entry: LogEntry,
}

/// What a live watcher gets next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watched {
    /// Something happened.
    Item(Arc<FeedItem>),
    /// The watcher was too slow: this many entries are lost to it.
    Missed(u64),
}

/// A live watcher.
pub struct Watcher(pub(crate) broadcast::Receiver<Arc<FeedItem>>);

impl Watcher {
    /// Waits for the next entry; `None` when the hub is gone. Cancel-safe.
    pub async fn next(&mut self) -> Option<Watched> {
        match self.0.recv().await {
            Ok(item) => Some(Watched::Item(item)),
            Err(broadcast::error::RecvError::Lagged(count)) => Some(Watched::Missed(count)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// Writes a change down. States are told by version only: the cache has the value.
pub(crate) fn of_change(change: &Change, state_version: Option<u64>) -> NewEntry {
    let (name, level, body) = match change {
        Change::Event { name, level, data } => {
            return entry("event", name, *level, data.clone());
        }
        Change::State(update) => {
            let epoch = update.epoch.as_ref().map(|epoch| epoch.as_str());
            ("", Level::Info, json!({"version": state_version, "stateEpoch": epoch}))
        }
        Change::TabCreated(tab) | Change::TabUpdated(tab) => {
            ("", Level::Info, json!({"tabId": tab.id.0, "title": tab.title, "url": tab.url}))
        }
        Change::TabClosed(tab) | Change::TabFocused(tab) => {
            ("", Level::Info, json!({"tabId": tab.0}))
        }
        Change::ToolsChanged { tab, tools } => {
            let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
            ("", Level::Info, json!({"tabId": tab.map(|tab| tab.0), "tools": names}))
        }
    };
    entry(change.kind(), name, level, Json::of(&body))
}

/// Writes an entry of the hub's own down.
pub(crate) fn entry(kind: &str, name: &str, level: Level, body: Json) -> NewEntry {
    NewEntry {
        kind: kind.to_owned(),
        name: name.to_owned(),
        level: level as u8,
        body: body.as_str().to_owned(),
    }
}
