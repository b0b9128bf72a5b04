//! The whole hub from the outside: a real process, peers that speak the protocol, nothing else.
//!
//! - calls: [`load`], [`routing`], [`endings`], [`lanes`];
//! - state: [`state`], [`versions`];
//! - recovery: [`replay`], [`inbox`], [`cuts`], [`takeover`];
//! - who gets in: [`gates`], [`naming`], [`tokens`];
//! - what nobody should send: [`frames`], [`messages`], [`greed`], [`silence`], [`limits`];
//! - operators: [`commands`], [`serving`], [`stopping`], [`metrics`], [`openapi`];
//! - the house itself: [`rooms`].
//!
//! Limits are set short through flags, and conditions are looked at until they hold.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod commands;
mod cuts;
mod endings;
mod frames;
mod gates;
mod greed;
mod inbox;
mod lanes;
mod limits;
mod load;
mod messages;
mod metrics;
mod naming;
mod openapi;
mod replay;
mod rooms;
mod routing;
mod scene;
mod serving;
mod silence;
mod state;
mod stopping;
mod takeover;
mod tokens;
mod versions;
