//! What the hub promises over reconnects, restarts and a store that refuses, without a socket.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod keys;
mod reconnects;
mod refused;
mod restored;
mod scene;
