//! App manifests over a real hub, with pages that are tasks and no sockets.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod cases;
mod commands;
mod files;
mod getters;
mod page;
mod pages;
