//! A client over any transport, for tests that hold for all of them.

use serde_json::Value;

use super::{
    Era, Reply,
    http::McpHttp,
    stdio::{McpStdio, StdioOptions},
};
use crate::HubProcess;

/// How a client reaches the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Through a relay that it starts.
    Stdio,
    /// By posting.
    Http,
}

/// Every way of speaking MCP that is not only a matter of the revision.
pub const WAYS: [(Transport, Era); 4] = [
    (Transport::Stdio, Era::Modern),
    (Transport::Http, Era::Modern),
    (Transport::Stdio, Era::Legacy("2025-11-25")),
    (Transport::Http, Era::Legacy("2025-11-25")),
];

/// A client over one of the transports.
pub enum McpClient {
    /// Through a relay that it started.
    Stdio(Box<McpStdio>),
    /// By posting.
    Http(McpHttp),
}

impl McpClient {
    /// Connects a client to a hub.
    pub async fn connect(program: &str, hub: &HubProcess, way: (Transport, Era)) -> Self {
        Self::connect_by(StdioOptions::of(program, hub), hub.port(), way).await
    }

    /// Connects a client to the hub on a port, or through this relay.
    pub async fn connect_by(relay: StdioOptions, port: u16, (by, era): (Transport, Era)) -> Self {
        match by {
            Transport::Stdio => Self::Stdio(Box::new(relay.connect(era).await)),
            Transport::Http => Self::Http(McpHttp::connected(port, era).await),
        }
    }

    /// Returns the process of its relay.
    pub fn relay(&self) -> Option<u32> {
        match self {
            Self::Stdio(client) => Some(client.pid()),
            Self::Http(_) => None,
        }
    }

    /// Sends a request and waits for its answer.
    pub async fn request(&mut self, method: &str, params: Value) -> Reply {
        match self {
            Self::Stdio(client) => client.request(method, params).await,
            Self::Http(client) => client.request(method, params).await,
        }
    }

    /// Calls a tool and waits for its answer.
    pub async fn call(&mut self, tool: &str, args: Value) -> Reply {
        match self {
            Self::Stdio(client) => client.call(tool, args).await,
            Self::Http(client) => client.call(tool, args).await,
        }
    }
}
