//! What is written down: the only types here that can be serialised.
//!
//! A serialisable type is a promise to whoever reads it later, so these are separate from the
//! messages and carry a version. Fields are added, never given another meaning.

use serde::{Deserialize, Serialize};

/// The version of everything in this file.
pub const VERSION: u32 = 1;

/// One session, as it must be known again after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The hub's id for it.
    pub id: String,
    /// The peer's name for itself.
    pub instance: String,
    /// Its readable name, unique among the kept ones.
    pub name: String,
    /// `browser` or `app`.
    pub kind: String,
    /// The wire protocol that it spoke.
    pub dialect: String,
    /// The web origin it came from, where it has one.
    pub origin: Option<String>,
    /// SHA-256 of the resume token that is valid next, in hex.
    pub resume_digest: Option<String>,
    /// Nobody has proven that its origin is the one that was meant.
    #[serde(default)]
    pub unproven: bool,
    /// The instance that connects it on its behalf, where one does.
    #[serde(default)]
    pub carried_by: Option<String>,
    /// Its tabs, and the tools of the app and of the pages in them.
    #[serde(default)]
    pub tabs: Vec<TabRecord>,
    /// The tools, by tab; the app's own stand without one.
    #[serde(default)]
    pub tools: Vec<ToolsRecord>,
    /// Who has which of its tabs.
    #[serde(default)]
    pub holders: Vec<HolderRecord>,
    /// How many tabs its user keeps to themselves.
    #[serde(default)]
    pub hidden_tabs: u64,
    /// Since when its peer is away, in milliseconds since 1970; none while it is there.
    #[serde(default)]
    pub away_since_ms: Option<u64>,
}

/// Who has a tab; without a client it is the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderRecord {
    /// The browser's number for the tab.
    pub tab: u64,
    /// The client, or the one that offers it.
    pub client: Option<String>,
    /// What people call the client.
    pub name: Option<String>,
    /// The id or name of whom it is offered to.
    pub offered_to: Option<String>,
}

/// A tab as it was when its session was written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabRecord {
    /// The browser's number for it.
    pub id: u64,
    /// Its title; empty where none was told.
    pub title: String,
    /// Its address; empty where none was told.
    pub url: String,
    /// Whether it was in front.
    pub active: bool,
}

/// The tools of an app, or of the page in a tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolsRecord {
    /// Whose; none for the app itself.
    pub tab: Option<u64>,
    /// The whole list, in place of the one before.
    pub tools: Vec<ToolRecord>,
}

/// One tool that a peer declares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRecord {
    /// The tool's name, as its declarer has it.
    pub name: String,
    /// What it does, in the declarer's words.
    pub description: String,
    /// JSON Schema of its arguments, as text.
    pub input_schema: String,
    /// The declarer's word that it changes nothing.
    pub read_only: bool,
    /// Of a tool in a frame, where that comes from.
    #[serde(default)]
    pub origin: Option<String>,
}

/// Which of a session's logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogKind {
    /// What the hub tells the browser.
    ToBrowser,
    /// What happened in the session, for clients that ask with a cursor.
    Feed,
}

/// One message in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Its number, from 1 without holes.
    pub sequence: u64,
    /// Milliseconds since 1970, for display; age is measured by the keeper's own clock.
    pub at_ms: u64,
    /// The message type, such as `event`.
    pub kind: String,
    /// The event's name, or empty.
    pub name: String,
    /// 0 information, 1 warning, 2 error.
    pub level: u8,
    /// The payload as JSON text.
    pub body: String,
}

impl LogEntry {
    /// Returns about how many bytes it takes.
    pub fn size(&self) -> usize {
        const FIXED: usize = 48;
        FIXED + self.kind.len() + self.name.len() + self.body.len()
    }
}

/// The newest known state of a session, as it is known again after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateRecord {
    /// The life of the page that counts the versions; none where the page does not count.
    pub epoch: Option<String>,
    /// Its version; counted by the hub where the page does not.
    pub version: u64,
    /// The state is what the page had at `version`, so that the next patch fits it.
    #[serde(default)]
    pub exact: bool,
    /// All of it, as JSON text.
    pub state: String,
    /// When it was told, in milliseconds since 1970, for its age after a restart.
    pub at_ms: u64,
}

/// How a call ended, for whoever asks again with the same idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// The call that was made.
    pub call: String,
    /// A digest of what was asked, so that the same key with another question is noticed.
    pub request: String,
    /// The word of its end, such as `done`.
    pub outcome: String,
    /// The result or the fault, as JSON text.
    pub body: String,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: u64,
}

/// One line of the audit: who did what, where, and how it ended. Secrets are masked before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// When it ended, in milliseconds since 1970.
    pub at_ms: u64,
    /// The client that asked.
    pub client: String,
    /// Whom its credentials proved it to be.
    pub principal: Option<String>,
    /// The session that was meant, where one was found.
    pub session: Option<String>,
    /// The tool as the client named it.
    pub tool: String,
    /// The word of its end, such as `done`.
    pub outcome: String,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The call, where one was made.
    pub call: Option<String>,
    /// The trace that it belongs to, where the client named one.
    pub trace: Option<String>,
}
