//! Who a client is.
//!
//! - [`tokens`]: bearer tokens from a private file, and the principals they prove.
//!
//! Decides from what it is given and from files that the operator wrote; it talks to no socket.

pub mod tokens;

pub use tokens::{Principal, TokenError, Tokens};
