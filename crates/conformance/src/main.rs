//! Serves the fixture of the official MCP suite on the real server code.
//!
//! Says on its first line where it listens, as a hub does, and ends on Ctrl-C.

use std::{io::Write, path::PathBuf, sync::Arc};

use anyhow::Context;
use clap::Parser;
use conformance::Fixture;
use edge::{Edge, Ports};
use guard::{HubSecret, Tokens, own_token};
use hub::Hub;
use mcp::{Changes, Mcp, http};
use store::MemoryStore;
use tools::{Toolbox, ToolboxSettings};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What `cargo xtask test` says.
#[derive(Parser)]
struct Options {
    /// The folder in which the token is that clients must show; it is made where there is none.
    #[arg(long)]
    data: PathBuf,
    /// Web origins that may use it.
    #[arg(long)]
    allow_origin: Vec<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Options { data, allow_origin } = Options::parse();
    let token = own_token::ensure(&data)?;
    let config = edge::Config { port: 0, allow_origin, ..edge::Config::default() };
    let (ports, sockets) = Ports::open(&config)?;
    let hub = Hub::open(hub::Config::default(), Arc::<MemoryStore>::default(), VERSION)?;
    let toolbox = Toolbox::new(hub, None, HubSecret::of(&token), ToolboxSettings::default());
    let edge = Edge::open(toolbox, config, Tokens::default().with_own(&token), &data, ports)?;
    let changes = Changes::default();
    let fixture = Fixture::new(changes.clone()).context("no random bytes")?;
    let mcp = Mcp::new(fixture, changes, edge.stop.child_token());
    let routes = http::routes(mcp, &http::Config::default());
    edge.serve(sockets, &edge.router(routes, |_, _| None));
    let mut out = std::io::stdout();
    writeln!(out, "{}", serde_json::json!({"event": "listening", "port": edge.ports.main}))?;
    out.flush()?;
    tokio::signal::ctrl_c().await?;
    edge.drain().await;
    Ok(())
}
