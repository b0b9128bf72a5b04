//! The hub over its port, beside servers that only answer. One of each in turn: a virtual machine
//! wakes a sleeping process in 20 or in 80 µs depending on where it slept, and in long runs of one
//! kind that would be all one measures.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    Times,
    client::{App, Socket},
    report::{OverSocket, Report},
};
use crate::{http::Http, hub_process::HubProcess, shell};

const ROUNDS: usize = 4000;
pub const BYSTANDERS: usize = 1000;
/// About as long as a small tool call.
pub const SMALL: &str = r#"{"type":"callTool","callId":"c0123456789abcdef-12345","target":"app","toolName":"noop","args":{},"deadlineMs":30000}"#;

pub async fn measure(report: &mut Report) -> Result<()> {
    let hub = HubProcess::start("target/release/tabwire")?;
    let floor = Floor::start()?;
    let mut app = App::start(hub.port, "bench-app").await?;
    let alone = rounds(hub.port, &floor).await?;
    let mut bystanders = Vec::new();
    for number in 0..BYSTANDERS {
        bystanders.push(Socket::app(hub.port, &format!("bystander-{number}")).await?);
    }
    let crowded = rounds(hub.port, &floor).await?;
    ensure!(app.is_running(), "the app stopped answering");
    report.over_socket(alone, crowded);
    Ok(())
}

async fn rounds(port: u16, floor: &Floor) -> Result<OverSocket> {
    let call = json!({"tool": "noop", "session": "bench-app"});
    let mut hub = Http::connect(port).await?;
    let mut http = Http::connect(floor.http).await?;
    let mut socket = Socket::connect(floor.socket, "/", None).await?;
    let mut times: [Times; 4] = Default::default();
    let [floor_http, floor_socket, query, round_trip] = &mut times;
    for _ in 0..ROUNDS {
        floor_http.take(http.post("/", &call)).await?;
        floor_socket.take(socket.echo(SMALL)).await?;
        query.take(hub.get("/api/sessions/bench-app/state")).await?;
        round_trip.take(hub.post("/api/call", &call)).await?;
    }
    Ok(OverSocket {
        floor_http: floor_http.median(),
        floor_socket: floor_socket.median(),
        query: query.median(),
        call: round_trip.median(),
        call_p99: round_trip.percentile(0.99),
    })
}

/// The floor's process.
pub struct Floor {
    process: Child,
    pub http: u16,
    pub socket: u16,
    pub mcp: u16,
}

impl Floor {
    pub fn start() -> Result<Self> {
        let mut process = Command::new(shell::root().join("target/release/xtask"))
            .arg("bench-floor")
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let out = process.stdout.take().context("the floor has no output")?;
        BufReader::new(out).read_line(&mut line)?;
        let ports: Value = serde_json::from_str(&line)?;
        let port = |name: &str| ports[name].as_u64().and_then(|port| port.try_into().ok());
        Ok(Self {
            process,
            http: port("http").context("no port for HTTP")?,
            socket: port("socket").context("no port for WebSocket")?,
            mcp: port("mcp").context("no port for MCP")?,
        })
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
