//! An AI client's side: starts `tabwire stdio` as any AI client does, and speaks MCP with it.
//!
//! One call at a time; each is printed with its reply and its time. Notifications are passed over.

use std::{path::PathBuf, process::Stdio, time::Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use super::{super::stdio::own_program, say};
use crate::failure::Failure;

/// The revision that is spoken.
const REVISION: &str = "2025-11-25";
/// Characters of a reply that are printed.
const SHOWN: usize = 100;

/// A client with its relay, which ends with it.
pub struct Client {
    _relay: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

/// What a tool answered.
pub struct Answer {
    /// The result as data; `null` where there is only text.
    pub structured: Value,
    /// The picture, where it is one.
    pub picture: Option<Vec<u8>>,
    text: String,
}

impl Client {
    /// Starts the relay to the hub that keeps its data in a folder.
    pub fn start(data: PathBuf) -> Result<Self, Failure> {
        let mut command = Command::new(own_program()?);
        command.args(["stdio", "--no-start", "--data"]).arg(data);
        // Bound to nothing, whatever the user's clients are.
        command.env_remove("MCP_INSTANCE_ID");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let relay = command.process_group(0).kill_on_drop(true).spawn();
        let mut relay = relay.map_err(|error| Failure::failed(format!("no relay: {error}")))?;
        let (Some(input), Some(output)) = (relay.stdin.take(), relay.stdout.take()) else {
            return Err(Failure::failed("the relay has no input or no output"));
        };
        Ok(Self { _relay: relay, input, output: BufReader::new(output), last_id: 0 })
    }

    /// Opens the conversation.
    pub async fn open(&mut self) -> Result<(), Failure> {
        let about = json!({"name": "tabwire-demo", "version": super::super::version::VERSION});
        let hello = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": about});
        self.ask("initialize", hello).await?;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await
    }

    /// Calls a tool that must work, and prints how that went.
    pub async fn call(&mut self, tool: &str, args: Value) -> Result<Answer, Failure> {
        let begun = Instant::now();
        let params = json!({"name": tool, "arguments": args});
        let result = self.ask("tools/call", params).await?;
        let time = begun.elapsed().as_secs_f64() * 1e3;
        let answer = Answer::read(&result);
        let line = answer.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (args, line) = (args.to_string(), model::json::shorten(&line, SHOWN));
        say(&format!("{time:8.1} ms  {tool} {} -> {line}", model::json::shorten(&args, SHOWN)));
        match result["isError"] == true {
            true => Err(Failure::failed(format!("{tool} failed: {}", answer.text))),
            false => Ok(answer),
        }
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).await.map_err(Failure::failed)?;
            if read == 0 {
                return Err(Failure::failed(format!("{method}: the relay has ended")));
            }
            let mut message: Value = serde_json::from_str(&line).map_err(Failure::failed)?;
            if message["id"] != id || message.get("method").is_some() {
                continue;
            }
            if let Some(error) = message.get("error") {
                return Err(Failure::failed(format!("{method}: {}", error["message"])));
            }
            return Ok(message["result"].take());
        }
    }

    async fn send(&mut self, message: Value) -> Result<(), Failure> {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.map_err(Failure::failed)
    }
}

impl Answer {
    fn read(result: &Value) -> Self {
        let parts = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let of = |kind: &'static str, field: &'static str| {
            parts
                .iter()
                .filter(move |part| part["type"] == kind)
                .filter_map(move |it| it[field].as_str())
        };
        Self {
            structured: result["structuredContent"].clone(),
            picture: of("image", "data").next().and_then(|data| STANDARD.decode(data).ok()),
            text: of("text", "text").collect::<Vec<_>>().join("\n"),
        }
    }
}
