//! The hub as AI clients meet it: MCP over HTTP beside a bare `rmcp` server, and the start of a
//! stdio client.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    Times,
    client::{App, Socket},
    report::{OverMcp, Report},
    resident,
    socket::{BYSTANDERS, Floor, SMALL},
};
use crate::{
    http::Http,
    hub_process::{self, HubProcess},
    shell,
};

const ROUNDS: usize = 3000;
const STARTS: usize = 30;
const VERSION: &str = "2026-07-28";

pub async fn measure(report: &mut Report) -> Result<()> {
    let hub = HubProcess::start("target/release/tabwire")?;
    let floor = Floor::start()?;
    let mut app = App::start(hub.port, "bench-app").await?;
    let alone = rounds(hub.port, &floor).await?;
    let (start, memory) = starts()?;
    let mut bystanders = Vec::new();
    for number in 0..BYSTANDERS {
        bystanders.push(Socket::app(hub.port, &format!("bystander-{number}")).await?);
    }
    let crowded = rounds(hub.port, &floor).await?;
    ensure!(app.is_running(), "the app stopped answering");
    report.over_mcp(&alone, &crowded);
    report.stdio(start, memory);
    Ok(())
}

async fn rounds(port: u16, floor: &Floor) -> Result<OverMcp> {
    let state = request("tools/call", Some(("app_state", json!({"session": "bench-app"}))));
    let noop = request("tools/call", Some(("noop", json!({"session": "bench-app"}))));
    let bare = request("tools/call", Some(("noop", json!({}))));
    let mut hub = Http::connect(port).await?;
    let mut rmcp = Http::connect(floor.mcp).await?;
    let mut socket = Socket::connect(floor.socket, "/", None).await?;
    let mut times: [Times; 4] = Default::default();
    let [floor_mcp, floor_socket, query, call] = &mut times;
    for _ in 0..ROUNDS {
        floor_mcp.take(rmcp.mcp("tools/call", "noop", &bare)).await?;
        floor_socket.take(socket.echo(SMALL)).await?;
        query.take(hub.mcp("tools/call", "app_state", &state)).await?;
        call.take(hub.mcp("tools/call", "noop", &noop)).await?;
    }
    Ok(OverMcp {
        floor_mcp: floor_mcp.median(),
        floor_socket: floor_socket.median(),
        query: query.median(),
        call: call.median(),
    })
}

/// Starts `tabwire stdio` again and again, and asks each for its tools.
fn starts() -> Result<(Duration, u64)> {
    let mut times = Times::default();
    let mut memory = 0;
    for _ in 0..STARTS {
        let started = Instant::now();
        let mut client = StdioClient::start()?;
        client.list_tools()?;
        times.record(started.elapsed());
        memory = memory.max(resident(client.process.id())?);
    }
    Ok((times.median(), memory))
}

struct StdioClient {
    process: Child,
}

impl StdioClient {
    fn start() -> Result<Self> {
        let process = Command::new(shell::root().join("target/release/tabwire"))
            .args(["stdio", "--data"])
            .arg(hub_process::data_folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        Ok(Self { process })
    }

    fn list_tools(&mut self) -> Result<()> {
        let input = self.process.stdin.as_mut().context("no input")?;
        writeln!(input, "{}", request("tools/list", None))?;
        let output = self.process.stdout.as_mut().context("no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        ensure!(line.contains("app_state"), "no tools: {line}");
        Ok(())
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn request(method: &str, tool: Option<(&str, Value)>) -> Value {
    let mut params = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    if let Some((name, arguments)) = tool {
        params["name"] = json!(name);
        params["arguments"] = arguments;
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}
