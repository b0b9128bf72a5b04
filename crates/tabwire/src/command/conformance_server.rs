//! `tabwire conformance-server`: the fixtures of the official MCP suite on the real server code, and
//! a WebSocket echo on the real edge. Not for users.

use std::sync::Arc;

use edge::{Edge, echo, listener};
use guard::{Tokens, own_token};
use hub::Hub;
use mcp::{Changes, Mcp, conformance::Fixture};
use store::MemoryStore;

use super::{serve::say_listening, version::VERSION};
use crate::{cli::ConformanceServer, failure::Failure, wiring};

pub fn run(options: &ConformanceServer) -> Result<(), Failure> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(serve(options))
}

async fn serve(options: &ConformanceServer) -> Result<(), Failure> {
    let port = options.port;
    let token = own_token::ensure(&options.data).map_err(Failure::usage)?;
    let allow_origin = options.allow_origin.clone();
    let config = edge::Config { port, allow_origin, ..edge::Config::default() };
    let listeners = listener::bind(&config.bind, port).map_err(Failure::failed)?;
    let store = Arc::new(MemoryStore::default());
    let hub = Hub::open(hub::Config::default(), store, VERSION).map_err(Failure::failed)?;
    let edge = Edge::new(hub, config, Tokens::default().with_own(&token), VERSION);
    let changes = Changes::default();
    let fixture = Fixture::new(changes.clone()).map_err(Failure::failed)?;
    let mcp = Mcp::new(fixture, changes, edge.stop.child_token());
    let routes = wiring::mcp_routes(&edge, mcp);
    edge.serve(listeners, &edge.router(routes.merge(echo::routes(edge.clone()))));
    say_listening(&edge)?;
    tokio::signal::ctrl_c().await?;
    edge.drain().await;
    Ok(())
}
