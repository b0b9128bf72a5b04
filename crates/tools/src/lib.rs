//! What an AI client can call: definitions, checks, and how they reach the hub.
//!
//! In reading order:
//! - [`definition`]: what a tool is, and what it gives back;
//! - [`toolbox`]: the list, and the one way in for a call;
//! - one file per tool: [`app_state`], [`batch`], [`browser_instance`], [`page_tools`], [`sleep`],
//!   [`wait_for`];
//! - those whose `action` picks a command of the browser: [`browser_content`], [`browser_debug`],
//!   [`browser_emulate`], [`browser_execute`], [`browser_interact`], [`browser_navigate`],
//!   [`browser_network`], [`browser_snapshot`], [`browser_tab`];
//! - what those share: [`action`], their tables and checks; [`commands`], running one;
//! - [`answer`]: what a browser answered, made readable; [`address`]: where it may be sent;
//! - [`downloads`]: what browsers have downloaded, read by the hub itself; [`uploads`]: files that
//!   are put into pages; [`timings`]: how fast a page was, in lines;
//! - [`launching`]: browsers that are started and closed for `browser_instance`;
//! - [`discovery`]: the tools that pages declare, and asking for them; [`direct_pages`]: those that
//!   stand in the list themselves;
//! - [`schema`]: what of a tool is listed and what is only accepted;
//! - [`selection`]: which tools a hub offers; [`shelf`]: results that are too large for an answer;
//!   [`recording`]: calls that are noted to be made again;
//! - [`examples`]: a call of each action, for the documents;
//! - [`originals`]: names of other servers for the same things;
//! - [`apps`]: the tools that connected apps declare, by their own names;
//! - [`list_room`]: which of them are listed when not all can be;
//! - [`manifest`]: tools of apps that cannot be changed, from TOML files;
//! - [`keyed`]: calls with an idempotency key; [`arguments`]: checking arguments before anything is sent;
//!   [`config`]: the settings.
//!
//! It knows neither MCP nor a wire format. To add a tool, write its file and enter it in [`TOOLS`].

pub mod action;
pub mod address;
pub mod answer;
pub mod app_state;
pub mod apps;
pub mod arguments;
pub mod batch;
pub mod browser_content;
pub mod browser_debug;
pub mod browser_emulate;
pub mod browser_execute;
pub mod browser_instance;
pub mod browser_interact;
pub mod browser_navigate;
pub mod browser_network;
pub mod browser_snapshot;
pub mod browser_tab;
pub mod command_arguments;
mod command_results;
pub mod commands;
pub mod config;
pub mod definition;
pub mod direct_pages;
pub mod discovery;
pub mod downloads;
pub mod examples;
pub mod keyed;
pub mod launching;
pub mod list_room;
pub mod manifest;
pub mod originals;
pub mod page_tools;
pub mod recording;
pub mod schema;
pub mod selection;
pub mod shelf;
pub mod sleep;
pub mod toolbox;
pub mod uploads;
pub mod wait_for;

use action::Action;
use command_arguments::Argument;
pub use config::Config;
pub use definition::{
    Annotations, Client, Contract, CoreTool, Definition, Image, Link, Output, Workplace,
};
pub use toolbox::{Toolbox, ToolboxSettings};
pub use uploads::UploadFolders;

/// Every tool of our own, by name.
pub const TOOLS: &[CoreTool] = &[
    app_state::TOOL,
    batch::TOOL,
    browser_content::TOOL,
    browser_debug::TOOL,
    browser_emulate::TOOL,
    browser_execute::TOOL,
    browser_instance::TOOL,
    browser_interact::TOOL,
    browser_navigate::TOOL,
    browser_network::TOOL,
    browser_snapshot::TOOL,
    browser_tab::TOOL,
    page_tools::TOOL,
    sleep::TOOL,
    wait_for::TOOL,
];

/// Every command of browsers, with the arguments of its tool.
pub fn commands() -> impl Iterator<Item = (&'static [Argument], &'static Action)> {
    let of_tools = TOOLS.iter().flat_map(|tool| match tool.contract {
        Contract::Commands { arguments, actions, .. } => {
            actions.iter().map(|action| (arguments, action)).collect()
        }
        Contract::Own(_) => Vec::new(),
    });
    of_tools.chain([(uploads::PART_ARGUMENTS, &uploads::PART_ROW)])
}
