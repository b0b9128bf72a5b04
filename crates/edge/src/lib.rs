//! The one port: listener, gates, WebSocket endpoint, admin API.
//!
//! In reading order:
//! - [`edge`]: the parts together, from start to drain;
//! - [`listener`]: sockets, and HTTP on what they accept;
//! - [`gate`]: what every request passes before any effect;
//! - [`naming`]: who a connecting peer is and what it speaks;
//! - [`ports`]: where it listens; [`compat`]: extra ports for clients of other projects;
//!   [`register`]: how some of those begin;
//! - [`framing`]: heads that tell two ends; [`stalled_writes`]: answers that nobody reads;
//! - [`browser_ws`]: the upgrade; [`connection`]: one socket's life; [`meter`]: its limits;
//! - [`status`]: health, metrics, info; [`admin`]: the API of command line and dashboard;
//! - [`pages`]: the pages that come with the program;
//! - [`reply`]: answers over HTTP; [`metrics`]: what is counted; [`config`]: the settings.
//!
//! It keeps nothing that outlives a connection: that is the hub's.

pub mod admin;
pub mod browser_ws;
pub mod compat;
pub mod config;
pub mod connection;
pub mod edge;
pub mod framing;
pub mod gate;
pub mod listener;
pub mod meter;
pub mod metrics;
pub mod naming;
pub mod pages;
pub mod ports;
pub mod register;
pub mod reply;
pub mod stalled_writes;
pub mod status;

pub use crate::{config::Config, edge::Edge, listener::BindError, ports::Ports};
