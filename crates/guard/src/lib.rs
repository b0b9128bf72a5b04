//! Who a peer is.
//!
//! - [`tokens`]: bearer tokens from a private file, and the principals they prove; [`own_token`]: the
//!   one of the hub's own user;
//! - [`app_origins`]: the web apps that the user lets in, where the hub is set to ask;
//! - [`secret`]: words that only the hub can make; [`page_keys`]: what pages of ours on other machines
//!   show;
//! - [`pairing`]: browsers that have a key in common with the hub, and how they get it.
//!
//! Decides from what it is given and from private files; it talks to no socket.

pub mod app_origins;
pub mod own_token;
pub mod page_keys;
pub mod pairing;
mod private_file;
pub mod secret;
pub mod tokens;

pub use app_origins::AppOrigins;
pub use page_keys::PageKeys;
pub use pairing::{EXTENSION_ID, Pairings};
pub use secret::HubSecret;
pub use tokens::{Principal, TokenError, Tokens};
