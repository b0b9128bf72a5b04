//! What an AI client can call: definitions, checks, and how they reach the hub.
//!
//! In reading order:
//! - [`definition`]: what a tool is, and what it gives back;
//! - [`toolbox`]: the list, and the one way in for a call;
//! - one file per tool: [`app_state`], [`browser_instance`], [`page_tools`], [`sleep`], [`wait_for`];
//! - [`apps`]: the tools that connected apps declare, by their own names;
//! - [`arguments`]: checking arguments before anything is sent.
//!
//! It knows neither MCP nor a wire format. To add a tool, write its file and enter it in [`TOOLS`].

pub mod app_state;
pub mod apps;
pub mod arguments;
pub mod browser_instance;
pub mod definition;
pub mod page_tools;
pub mod sleep;
pub mod toolbox;
pub mod wait_for;

pub use definition::{Annotations, Client, CoreTool, Definition, Output};
pub use toolbox::Toolbox;

/// Every tool of our own, by name.
pub const TOOLS: &[CoreTool] =
    &[app_state::TOOL, browser_instance::TOOL, page_tools::TOOL, sleep::TOOL, wait_for::TOOL];
