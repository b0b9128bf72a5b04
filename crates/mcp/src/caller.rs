//! Who sent a request and what its endpoint is bound to.
//!
//! On HTTP the edge puts a [`Caller`] into the request's extensions, so it may differ from
//! request to request; on a stream it is fixed when the stream opens. Proves nothing itself.

use ::http::request::Parts;
use rmcp::model::Extensions;
use tools::Workplace;

/// The sender of a request, as far as the transport knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Whom the credentials prove the client to be; empty without credentials.
    pub principal: String,
    /// The client's own stable id, where it has one: `Tabwire-Client`, or the relay's UUID.
    pub client: Option<String>,
    /// The session that the endpoint is bound to: `/mcp/{session}` or `MCP_INSTANCE_ID`.
    pub binding: Option<String>,
    /// From where it names files; nothing that a client says over HTTP.
    pub workplace: Workplace,
}

impl Caller {
    /// Returns the caller that came with the request, else `fallback`.
    pub(crate) fn of(extensions: &Extensions, fallback: &Self) -> Self {
        extensions
            .get::<Parts>()
            .and_then(|parts| parts.extensions.get::<Self>())
            .unwrap_or(fallback)
            .clone()
    }
}
