//! One hub per machine: how programs of the same user find it and talk to it.
//!
//! - [`private`]: the socket that only its owner can use, and the hello on it;
//! - [`discovery`]: the file that other tools look for;
//! - [`relay`]: what `tabwire stdio` does: lines from one side to the other.
//!
//! It carries lines and knows neither MCP nor sessions.

pub mod discovery;
pub mod private;
pub mod relay;

pub use discovery::{DiscoveryError, DiscoveryFile};
pub use private::{JoinHello, Joined, PrivateSocket, SocketError};
pub use relay::{RelayError, relay};
