//! Who a peer is.
//!
//! - [`tokens`]: bearer tokens from a private file, and the principals they prove;
//! - [`pairing`]: browsers that have a key in common with the hub, and how they get it.
//!
//! Decides from what it is given and from private files; it talks to no socket.

pub mod pairing;
pub mod tokens;

pub use pairing::{EXTENSION_ID, Pairings};
pub use tokens::{Principal, TokenError, Tokens};
