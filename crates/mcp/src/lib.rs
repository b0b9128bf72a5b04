//! MCP in both eras, over streams and over Streamable HTTP, on top of `rmcp`.
//!
//! In reading order:
//! - [`backend`]: what is served; the hub and the conformance fixture both implement it.
//! - [`era`], [`caller`], [`call`]: which rules a request follows, who sent it, what it may use.
//! - [`server`]: the handler that `rmcp` drives, one per connection.
//! - [`changes`], [`connection`]: how announcements reach listeners and older clients.
//! - [`roots`]: the folders that older clients announce.
//! - [`question`]: asking the user in the middle of a call, in either era.
//! - [`http`], [`sessions`]: the endpoint for `/mcp` and the sessions of older clients.
//! - [`stream`], [`client_message`]: one client on a byte stream, such as stdio, and what it says.
//! - [`hub_backend`]: the hub as a backend: tools, resources, prompts, completion.
//! - [`conformance`]: the fixture that the official suite runs against.

pub mod backend;
pub mod call;
pub mod caller;
pub mod changes;
pub mod client_message;
pub mod conformance;
mod connection;
pub mod era;
pub mod http;
pub mod hub_backend;
mod large_answers;
pub mod question;
mod roots;
pub mod server;
pub mod sessions;
mod sliced_body;
pub mod stream;

pub use backend::Backend;
pub use call::Call;
pub use caller::Caller;
pub use changes::{Change, Changes};
pub use era::Era;
pub use server::{Mcp, Server};
