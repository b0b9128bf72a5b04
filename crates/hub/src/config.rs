//! The hub's settings. Every field is a flag, an environment variable and a key of the file.

use std::time::Duration;

model::settings! {
    /// What the hub may hold and how long it waits. All of it can change while it runs.
    pub struct Config {
        /// How long a tool call may take unless the call says otherwise.
        call_timeout: Duration = Duration::from_secs(30),
        /// The longest time that a call may ask for.
        call_timeout_max: Duration = Duration::from_secs(600),
        /// How long a page may take to tell its state.
        state_timeout: Duration = Duration::from_secs(2),
        /// How long calls under way wait for a browser that lost its connection and keeps results.
        resume_grace: Duration = Duration::from_secs(5),
        /// Calls under way in one session, at most 1024; one more is answered with `busy`. Above 256 a
        /// browser that reconnects may have forgotten how the oldest ended (`outcome_unknown`).
        calls_per_session: usize = 256,
        /// Calls under way in all sessions; one more is answered with `busy`.
        calls_total: usize = 20_000,
        /// Sessions that are kept, connected or not; one more is refused.
        sessions_max: usize = 20_000,
        /// Sessions that apps of one web origin may have; one more takes the place of the one that has been
        /// away for longest, or is refused.
        origin_sessions: usize = 16,
        /// Bytes that the apps of one web origin may hold together, in logs, states and tools; what does
        /// not fit is refused.
        origin_bytes: usize = 32 << 20,
        /// How long the tools of an app that is away stay in the list.
        app_tools_kept: Duration = Duration::from_secs(120),
        /// How long a session whose browser is away is kept, over restarts of the hub too; after a start
        /// a browser always has five minutes (or this, if it is less) to come back.
        session_retention: Duration = Duration::from_secs(24 * 3600),
        /// Messages kept for replay, per session and direction.
        replay_messages: usize = 1000,
        /// Bytes kept for replay, per session and direction.
        replay_bytes: usize = 8 << 20,
        /// How long messages are kept for replay.
        replay_age: Duration = Duration::from_secs(15 * 60),
        /// How long a socket has to answer a ping before another may take its place.
        takeover_probe: Duration = Duration::from_secs(2),
        /// Messages that may wait for one browser to read; one more closes its socket.
        outbox_messages: usize = 1024,
        /// Bytes that may wait for one browser to read; one more closes its socket.
        outbox_bytes: usize = 1 << 20,
        /// How long a tab stays reserved for a call that its client gave up and its browser has
        /// not answered.
        abandoned_grace: Duration = Duration::from_secs(5),
        /// How long a tab stays a client's own without being used.
        tab_lease: Duration = Duration::from_secs(30 * 60),
        /// Refuses everything that acts; what only reads goes on.
        read_only: bool = false,
    }
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
