//! The clients of other projects, played faithfully: what they send first, what they answer and
//! what they leave out, in their own words.
//!
//! - [`hello3d`]: the page with a 3D model; [`moonsurf`]: an extension that registers first;
//! - [`enhanced`], [`mcp_browser`], [`webmcp`]: extensions, each with its browser's tabs;
//! - [`wire`]: the task that all of them live in; [`line`]: one socket of an extension in it.
//!
//! Each does by itself what the real one does, keeps what it received for the test to look at, and
//! can be told to misbehave. Reconnecting is at once, where the real ones wait some seconds.

pub mod enhanced;
pub mod hello3d;
pub mod line;
pub mod mcp_browser;
pub mod moonsurf;
pub mod webmcp;
pub mod wire;
