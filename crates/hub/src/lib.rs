//! The middle of the house: sessions, routing, calls, state cache, replay.
//!
//! In reading order:
//! - [`hub`]: the handle, and the task that does what is due;
//! - [`session`]: one browser's presence, with how it attaches, hears and works;
//! - [`routing`]: which session a call goes to; `offering`: who declares a tool; [`query`]: asking for a state;
//! - [`calls`]: one end each; [`state`]: the cache; [`replay`]: both ends of a numbered log;
//! - [`catalog`]: tabs and tools; [`tabs`]: whose tab is whose; [`names`]: readable names; [`feed`]: what happened;
//! - [`outbox`]: the queue to a socket; `pulse`: whether we slept; [`once`]: calls with a key;
//!   `known_clients`: who has called; `origins`: what apps of one origin hold together;
//! - [`agenda`]: what is due; `closing`: how it ends; [`metrics`]: what is counted;
//! - [`config`]: the settings.
//!
//! It knows no wire format, no MCP and no socket.

mod agenda;
pub mod call_request;
pub mod calls;
pub mod catalog;
mod closing;
pub mod config;
pub mod feed;
pub mod hub;
mod known_clients;
pub mod metrics;
pub mod names;
mod offering;
pub mod once;
mod origins;
pub mod outbox;
mod pulse;
pub mod query;
mod registry;
pub mod replay;
pub mod routing;
mod services;
pub mod session;
pub mod state;
pub mod tabs;

pub use store::{AuditLine, Health};

pub use crate::{
    call_request::{CallRequest, Caller},
    config::Config,
    hub::Hub,
    outbox::{Batch, Outbox, Outgoing},
    query::{Source, StateAnswer, StateQuery},
    routing::Route,
    services::AppAnswer,
    session::{Attachment, Introduction, Session, SessionInfo},
};
