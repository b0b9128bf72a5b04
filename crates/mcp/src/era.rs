//! Which rules a request follows: with a handshake, or self-contained.
//!
//! Decided for every request anew, because one HTTP endpoint serves both and a client on a
//! stream may probe before it settles. Keeps nothing.

use rmcp::{RoleServer, service::RequestContext};

/// The two families of protocol revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Up to 2025-11-25: `initialize`, sessions, requests in both directions.
    Legacy,
    /// From 2026-07-28: every request carries its own metadata, the server only answers.
    Modern,
}

impl Era {
    /// Returns the era of one request; without any version it is a legacy request.
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        match context.protocol_version() {
            Some(version) if !version.has_initialize() => Self::Modern,
            _ => Self::Legacy,
        }
    }
}
