//! The hub's settings. Every field is a flag, an environment variable and a key of the file.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the hub may hold and how long it waits. All of it can change while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// How long a tool call may take unless the call says otherwise.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub call_timeout: Duration,
    /// The longest time that a call may ask for.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub call_timeout_max: Duration,
    /// How long a page may take to tell its state.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub state_timeout: Duration,
    /// How long calls under way wait for a browser that lost its connection and keeps results.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub resume_grace: Duration,
    /// Calls under way in one session, at most 1024; one more is answered with `busy`. Above 256 a
    /// browser that reconnects may have forgotten how the oldest ended (`outcome_unknown`).
    pub calls_per_session: usize,
    /// Calls under way in all sessions; one more is answered with `busy`.
    pub calls_total: usize,
    /// Sessions that are kept, connected or not; one more is refused.
    pub sessions_max: usize,
    /// Sessions that apps of one web origin may have; one more takes the place of the one that has been
    /// away for longest, or is refused.
    pub origin_sessions: usize,
    /// Bytes that the apps of one web origin may hold together, in logs, states and tools; what does
    /// not fit is refused.
    pub origin_bytes: usize,
    /// How long the tools of an app that is away stay in the list.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub app_tools_kept: Duration,
    /// How long a session whose browser is away is kept, over restarts of the hub too; after a start
    /// a browser always has five minutes (or this, if it is less) to come back.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub session_retention: Duration,
    /// Messages kept for replay, per session and direction.
    pub replay_messages: usize,
    /// Bytes kept for replay, per session and direction.
    pub replay_bytes: usize,
    /// How long messages are kept for replay.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub replay_age: Duration,
    /// How long a socket has to answer a ping before another may take its place.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub takeover_probe: Duration,
    /// Messages that may wait for one browser to read; one more closes its socket.
    pub outbox_messages: usize,
    /// Bytes that may wait for one browser to read; one more closes its socket.
    pub outbox_bytes: usize,
    /// How long a tab stays reserved for a call that its client gave up and its browser has
    /// not answered.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub abandoned_grace: Duration,
    /// How long a tab stays a client's own without being used.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub tab_lease: Duration,
    /// Refuses everything that acts; what only reads goes on.
    pub read_only: bool,
}

/// Limits that are part of the protocol and not settings; repeated in `docs/protocol.md`.
pub mod limits {
    /// What `calls_per_session` may be at most: a connection remembers no more calls.
    pub const CALLS_PER_SESSION: usize = 1024;
    /// Tools of one app or page.
    pub const TOOLS: usize = 256;
    /// Tabs of one browser.
    pub const TABS: usize = 1000;
    /// Bytes of a tool's name.
    pub const TOOL_NAME: usize = 128;
    /// Bytes of a tool's description.
    pub const TOOL_DESCRIPTION: usize = 4096;
    /// Bytes of a tool's schema.
    pub const TOOL_SCHEMA: usize = 65536;
    /// Bytes of all tools of one session together.
    pub const TOOL_BYTES: usize = 4 << 20;
    /// Bytes of an app's state.
    pub const STATE: usize = 4 << 20;
    /// Values in a state, or in a patch, for the patch to be applied; else the whole is asked for.
    pub const PATCH_VALUES: usize = 50_000;
    /// What one patch may cost: bytes that are copied and places in lists that are moved.
    pub const PATCH_WORK: usize = 16 << 20;
    /// Messages in one page of a replay.
    pub const PAGE: usize = 100;
}

impl Default for Config {
    fn default() -> Self {
        Self {
            call_timeout: Duration::from_secs(30),
            call_timeout_max: Duration::from_secs(600),
            state_timeout: Duration::from_secs(2),
            resume_grace: Duration::from_secs(5),
            calls_per_session: 256,
            calls_total: 20_000,
            sessions_max: 20_000,
            origin_sessions: 16,
            origin_bytes: 32 << 20,
            app_tools_kept: Duration::from_secs(120),
            session_retention: Duration::from_secs(24 * 3600),
            replay_messages: 1000,
            replay_bytes: 8 << 20,
            replay_age: Duration::from_secs(15 * 60),
            takeover_probe: Duration::from_secs(2),
            outbox_messages: 1024,
            outbox_bytes: 1 << 20,
            abandoned_grace: Duration::from_secs(5),
            tab_lease: Duration::from_secs(30 * 60),
            read_only: false,
        }
    }
}
