//! `tabwire`: connects AI clients to live browsers and web apps.
//!
//! - [`cli`]: the command line; [`config`]: settings from flags, environment and file;
//! - [`command`]: one file per command; [`api`]: the admin API from the outside;
//! - [`wiring`]: MCP on top of the hub; [`apps`]: manifests, read again when they change;
//!   [`kept`]: what survives, by the settings;
//! - [`folders`]: what is known of the user's folders, for uploads;
//! - [`launcher`]: browsers that are started, on top of the hub; [`extension`]: what they load;
//!   [`pages`]: what the hub serves besides;
//! - [`failure`]: errors with the exit code that fits; [`terminal`]: where commands print;
//!   [`log`]: where the hub does.
//!
//! It wires the rooms together and holds no logic of its own.

mod api;
mod apps;
mod cli;
mod command;
mod config;
mod extension;
mod failure;
mod folders;
mod hub_store;
mod launcher;
mod log;
mod pages;
mod terminal;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
