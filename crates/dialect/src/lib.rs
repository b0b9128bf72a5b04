//! Wire protocols between the hub and browsers, one file each: machines without I/O.
//!
//! - [`machine`]: what every dialect is: `open`, `receive`, `send`, and its liveness rule;
//! - [`native`]: our own protocol `tabwire.v1`, with its messages in [`native::wire`];
//! - [`hello3d`]: a 3D page; [`moonsurf`], [`enhanced`], [`mcp_browser`], [`webmcp`]: extensions
//!   that were made for other servers, each as its unmodified client speaks;
//! - [`foreign`]: what those five share.
//!
//! A dialect opens no socket, reads no clock and spawns no task: the edge owns those and does
//! what the machine's outputs say. To add one, write its file and enter it in [`DIALECTS`].

pub mod enhanced;
pub mod foreign;
pub mod hello3d;
pub mod machine;
pub mod mcp_browser;
pub mod moonsurf;
pub mod native;
pub mod webmcp;

pub use machine::{Dialect, DialectInfo, Frame, Liveness, Output, Patience, PingBy, Start};

/// Every dialect there is.
pub const DIALECTS: &[DialectInfo] =
    &[native::INFO, hello3d::INFO, moonsurf::INFO, enhanced::INFO, mcp_browser::INFO, webmcp::INFO];

/// Finds a dialect by its name.
pub fn find(name: &str) -> Option<&'static DialectInfo> {
    DIALECTS.iter().find(|info| info.name == name)
}
