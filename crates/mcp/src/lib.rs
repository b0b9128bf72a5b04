//! MCP in both eras, over streams and over Streamable HTTP, on top of `rmcp`.
//!
//! In reading order:
//! - [`backend`]: what is served; the hub implements it, and so does the fixture of the official suite.
//! - [`era`], [`caller`], [`call`]: which rules a request follows, who sent it, what it may use.
//! - [`server`]: the handler that `rmcp` drives, one per connection.
//! - [`changes`], [`connection`]: how announcements reach listeners and older clients.
//! - [`roots`]: the folders that older clients announce.
//! - [`http`], [`sessions`]: the endpoint for `/mcp` and the sessions of older clients.
//! - [`stream`], [`client_message`]: one client on a byte stream, such as stdio, and what it says.
//! - [`hub_backend`]: the hub as a backend: tools, resources, prompts, completion.

pub mod backend;
pub mod call;
pub mod caller;
pub mod changes;
pub mod client_message;
mod connection;
pub mod era;
pub mod http;
pub mod hub_backend;
mod large_answers;
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
