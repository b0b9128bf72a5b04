//! Wire protocols between the hub and browsers, one file each: machines without I/O.
//!
//! - [`machine`]: what every dialect is: `open`, `receive`, `send`, and its liveness rule;
//! - [`native`]: our own protocol `tabwire.v1`, with its messages in [`native::wire`];
//! - [`depth`]: the check that nobody nests JSON deeper than others can read.
//!
//! A dialect opens no socket, reads no clock and spawns no task: the edge owns those and does
//! what the machine's outputs say. To add one, write its file and enter it in [`DIALECTS`].

pub mod depth;
pub mod machine;
pub mod native;

pub use machine::{Dialect, Frame, Liveness, Output, Patience, PingBy};

/// One entry of the register.
pub struct DialectInfo {
    /// Its name in configuration, logs and metrics.
    pub name: &'static str,
    /// The WebSocket subprotocol that selects it, where it has one.
    pub subprotocol: Option<&'static str>,
    /// Starts the machine for one connection.
    pub start: fn(Patience) -> Box<dyn Dialect>,
}

/// Every dialect there is.
pub const DIALECTS: &[DialectInfo] = &[DialectInfo {
    name: native::NAME,
    subprotocol: Some(native::SUBPROTOCOL),
    start: |patience| Box::new(native::Native::new(patience)),
}];
