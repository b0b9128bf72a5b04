//! An MCP client over stdio that takes the time of its answers.
//!
//! A time ends when the last byte of the answer has been read, before anything is parsed: what a
//! client makes of an answer is not the server's doing.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// How long an answer may take; the first one may have to start a browser.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a server may take to end by itself.
const PARTING: Duration = Duration::from_secs(10);

/// A server and a conversation with it.
pub struct Client {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<(Instant, Vec<u8>)>,
    last_id: u64,
}

/// The answer to a call.
pub struct Answer {
    /// The whole result.
    pub result: Value,
    /// From the first byte of the question to the last of the answer.
    pub time: Duration,
}

impl Answer {
    /// Returns what a model reads.
    pub fn text(&self) -> String {
        let parts = self.result["content"].as_array().into_iter().flatten();
        parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Returns whether the tool says that it failed.
    pub fn is_error(&self) -> bool {
        self.result["isError"] == true
    }
}

impl Client {
    /// Starts a server and shakes hands.
    pub fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process =
            command.spawn().with_context(|| format!("{command:?} cannot be started"))?;
        let input = process.stdin.take();
        let mut output = BufReader::new(process.stdout.take().context("no output")?);
        let (sender, lines) = channel();
        // It ends with the server's output, or when nobody listens any more.
        thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                let read = output.read_until(b'\n', &mut line);
                if !read.is_ok_and(|count| count > 0) {
                    return;
                }
                if sender.send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        let mut client = Self { process, input, lines, last_id: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        client.request("initialize", &hello)?;
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// Returns all tools, as they are sent.
    pub fn tools(&mut self) -> Result<Vec<Value>> {
        let mut tools = Vec::new();
        let mut params = json!({});
        loop {
            let page = self.request("tools/list", &params)?.result;
            tools.extend(page["tools"].as_array().context("no list of tools")?.iter().cloned());
            match page.get("nextCursor").filter(|cursor| !cursor.is_null()) {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return Ok(tools),
            }
        }
    }

    /// Calls a tool that must work.
    pub fn call(&mut self, tool: &str, args: &Value) -> Result<Answer> {
        let answer = self.ask(tool, args)?;
        if answer.is_error() {
            bail!("{tool}: {}", answer.text());
        }
        Ok(answer)
    }

    /// Calls a tool that may say that it failed.
    pub fn ask(&mut self, tool: &str, args: &Value) -> Result<Answer> {
        self.request("tools/call", &json!({"name": tool, "arguments": args}))
    }

    /// Ends the conversation and waits for the server's end.
    pub fn close(mut self) {
        self.input = None;
        let deadline = Instant::now() + PARTING;
        while Instant::now() < deadline && matches!(self.process.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Answer> {
        self.last_id += 1;
        let id = self.last_id;
        let question = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let begun = Instant::now();
        self.say(&question)?;
        loop {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            let (read, line) = self.lines.recv_timeout(left).with_context(|| {
                format!("{method}: no answer, {:.0} s after asking", begun.elapsed().as_secs_f64())
            })?;
            let mut message: Value =
                serde_json::from_slice(&line).context("this is not a message")?;
            if message["id"] != id || message.get("method").is_some() {
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("{method}: {error}");
            }
            return Ok(Answer { result: message["result"].take(), time: read - begun });
        }
    }

    fn say(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().context("the conversation is over")?;
        Ok(input.write_all(format!("{message}\n").as_bytes())?)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
