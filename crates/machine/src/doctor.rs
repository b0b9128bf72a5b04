//! Looking whether everything is in its place, and saying how to fix what is not.
//!
//! - [`hub`]: the data folder, the hub and its port; [`port_owner`]: who has the port instead;
//! - [`browser`]: browsers, the native messaging host, the extension, pairing;
//! - [`client`]: the configurations of AI clients.
//!
//! It changes nothing. The store and the hub's sessions are looked at by the command line, because
//! this room knows neither.

pub mod browser;
pub mod client;
pub mod hub;
pub mod port_owner;

use serde::Serialize;

use crate::install::Installation;

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// It works, or nobody can tell; worth knowing.
    Warning,
    /// It does not work.
    Problem,
}

/// What was found about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub check: String,
    /// Whether it works.
    pub state: Health,
    /// What was found, for people.
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// What is looked at.
#[derive(Debug, Clone)]
pub struct InspectedSetup {
    /// What should be installed.
    pub what: Installation,
    /// This program's version, with which a hub's is compared.
    pub version: String,
    /// The port that a hub would take.
    pub port: u16,
    /// Whether this program has the extension in it.
    pub has_extension: bool,
}

impl Finding {
    /// Finds that something works.
    pub fn ok(check: impl Into<String>, message: impl Into<String>) -> Self {
        let (check, message) = (check.into(), message.into());
        Self { check, state: Health::Ok, message, fix: None }
    }

    /// Finds something that works and is worth knowing.
    pub fn warning(check: &str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        let (message, fix) = (message.into(), Some(fix.into()));
        Self { check: check.to_owned(), state: Health::Warning, message, fix }
    }

    /// It does not work.
    pub fn problem(check: &str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { state: Health::Problem, ..Self::warning(check, message, fix) }
    }
}

#[cfg(test)]
mod tests;
