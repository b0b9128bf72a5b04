//! What tests are made of: a real hub process, fake peers on both sides, and a bad network.
//!
//! - [`wait`]: deadlines, and conditions that are looked at until they hold; [`unanswered`] and
//!   [`kernel`]: what to compare with where a number of seconds would say nothing;
//! - [`rng`]: chance that can be repeated; [`clock`]: time that is set; [`torture`]: how hard tests
//!   try; [`place`]: folders that leave nothing behind;
//! - [`hub_process`]: the real program as a child, on a port of its own; [`command`]: its commands;
//!   [`machine`]: a hub in the background, over its deaths;
//! - [`http`]: requests down to their bytes; [`api`]: the admin API; [`metrics`]: its counters;
//! - [`dial`] and [`socket`]: a WebSocket down to its frames; [`frame`]: frames built by hand;
//! - [`browser`]: a peer that speaks `tabwire.v1` and is driven by hand, with its numbered log in
//!   [`log`]; [`app`]: one that answers by a script; [`executor`]: what it has run;
//! - [`extension`]: our extension, which proves itself;
//! - [`keyring`]: the tokens of hubs that were started; [`token_proxy`]: shows them for others;
//! - [`mcp`]: AI clients in both eras, over HTTP and through a relay;
//! - [`seeds`]: the clients of other projects; [`site`]: pages for real browsers; [`tasks`]: what
//!   is to be done in them, scripted;
//! - [`cutter`]: a proxy that cuts, delays, splits and freezes.
//!
//! The protocol is spoken as plain JSON and not through `dialect`, so that the tests do not share
//! its mistakes. A failure is a panic. Nothing here is used outside tests, but for
//! chores that measure.

#![allow(clippy::unwrap_used, reason = "a kit for tests fails by panicking")]

pub mod api;
pub mod app;
pub mod browser;
pub mod clock;
pub mod command;
pub mod cutter;
pub mod dial;
pub mod executor;
pub mod extension;
pub mod frame;
pub mod http;
pub mod hub_process;
pub mod kernel;
pub mod keyring;
pub mod log;
pub mod machine;
pub mod mcp;
pub mod metrics;
pub mod place;
pub mod rng;
pub mod seeds;
pub mod site;
pub mod socket;
pub mod tasks;
pub mod token_proxy;
pub mod torture;
pub mod unanswered;
pub mod wait;

pub use api::Api;
pub use app::{Answer, FakeApp};
pub use browser::FakeBrowser;
pub use clock::FakeClock;
pub use command::{Commands, Running};
pub use cutter::Cutter;
pub use dial::Dial;
pub use executor::Executor;
pub use extension::{EXTENSION, FakeExtension};
pub use http::{Ask, Http, Response};
pub use hub_process::{HubOptions, HubProcess, Signal};
pub use log::Position;
pub use machine::Machine;
pub use mcp::{
    Era, client::McpClient, http::McpHttp, stdio::McpStdio, stdio::StdioOptions, stream::McpStream,
};
pub use metrics::Metrics;
pub use place::Place;
pub use rng::Rng;
pub use site::Site;
pub use socket::{Ending, Incoming, Socket};
pub use token_proxy::TokenProxy;
pub use torture::{rounds, strict};
pub use unanswered::Unanswered;
pub use wait::{PATIENCE, eventually, within};
