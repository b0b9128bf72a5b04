//! An AI client that starts `tabwire stdio` and talks to it line by line.
//!
//! Nothing is read before the test asks for it, so that a client which does not read can be
//! played too. Messages that came while another one was waited for are kept in order.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
};

use super::{Era, Reply, read_message};
use crate::{
    HubProcess, PATIENCE, Place, eventually,
    hub_process::{Captured, collect, isolate},
    within,
};

/// What a client calls itself unless a test says otherwise.
const NAME: &str = "testkit";

/// How a relay is to be started.
pub struct StdioOptions {
    program: String,
    data: PathBuf,
    starts: bool,
    folder: Option<PathBuf>,
    args: Vec<String>,
    environment: Vec<(String, String)>,
}

impl StdioOptions {
    /// Joins the hub that keeps its data in a folder.
    pub fn new(program: &str, data: &Path) -> Self {
        Self {
            program: program.to_owned(),
            data: data.to_owned(),
            starts: false,
            folder: None,
            args: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// Joins a running hub.
    pub fn of(program: &str, hub: &HubProcess) -> Self {
        Self::new(program, &data_of(hub))
    }

    /// Starts a hub in the background where none runs, which is not done otherwise.
    pub fn starting(mut self) -> Self {
        self.starts = true;
        self
    }

    /// Starts it in a folder, as a client does that works there; else it is one of its own.
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Adds flags.
    pub fn flags(mut self, flags: &[&str]) -> Self {
        self.args.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    /// Sets a variable of the environment, which is empty otherwise.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets several variables.
    pub fn variables(self, variables: &[(&str, String)]) -> Self {
        variables.iter().fold(self, |options, (name, value)| options.variable(name, value))
    }

    /// Starts the relay; nothing has been said yet.
    pub fn start(self) -> McpStdio {
        let place = Place::create();
        let mut command = Command::new(&self.program);
        isolate(&mut command, &place);
        command.current_dir(self.folder.as_deref().unwrap_or(place.path()));
        command.args(["stdio", "--data"]).arg(&self.data).args(&self.args);
        if !self.starts {
            command.arg("--no-start");
        }
        command.envs(self.environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap().into();
        let output = child.stdout.take().unwrap().into();
        let stderr = collect(child.stderr.take().unwrap());
        McpStdio {
            input: Some(pipe::Sender::from_owned_fd(input).unwrap()),
            output: pipe::Receiver::from_owned_fd(output).unwrap(),
            child,
            unread: Vec::new(),
            waiting: VecDeque::new(),
            stderr,
            era: Era::Modern,
            name: NAME.to_owned(),
            capabilities: json!({}),
            last_id: 0,
            patience: PATIENCE,
            _place: place,
        }
    }

    /// Starts the relay and opens the conversation as the era wants it.
    pub async fn connect(self, era: Era) -> McpStdio {
        let mut client = self.start();
        client.open(era).await;
        client
    }
}

/// A client with its relay. The relay is killed at the latest when this is dropped.
pub struct McpStdio {
    child: Child,
    input: Option<pipe::Sender>,
    output: pipe::Receiver,
    unread: Vec<u8>,
    waiting: VecDeque<Value>,
    stderr: Captured,
    era: Era,
    name: String,
    capabilities: Value,
    last_id: u64,
    patience: Duration,
    _place: Place,
}

/// How a relay ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it had still to say, in order.
    pub messages: Vec<Value>,
    /// What it complained about.
    pub stderr: String,
}

impl McpStdio {
    /// Opens the conversation: a handshake where the era has one. Returns its result.
    pub async fn open(&mut self, era: Era) -> Value {
        self.era = era;
        if era.is_modern() {
            return Value::Null;
        }
        let mut handshake = era.handshake(&self.name);
        handshake["capabilities"] = self.capabilities.clone();
        let result = self.request("initialize", handshake).await.result();
        self.notify("notifications/initialized", json!({})).await;
        result
    }

    /// Calls itself something else; said with the handshake or with every request.
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    /// Says with the handshake that it can do something.
    pub fn able(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Waits longer than usual for whatever is to come.
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Writes bytes as they are.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        self.try_send_bytes(bytes).await.unwrap();
    }

    /// Writes bytes; an error means that the relay does not read any more.
    pub async fn try_send_bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let input = self.input.as_mut().expect("standard input is open");
        within(PATIENCE, "writing to the relay", input.write_all(bytes)).await
    }

    /// Writes one line.
    pub async fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    /// Writes a message.
    pub async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    /// Returns the next request without sending it.
    pub fn message(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        self.era.request(self.last_id, method, params, &self.name)
    }

    /// Sends a request and does not wait; returns its id.
    pub async fn ask(&mut self, method: &str, params: Value) -> u64 {
        let message = self.message(method, params);
        self.send(&message).await;
        self.last_id
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Sends a request and waits for its answer.
    pub async fn request(&mut self, method: &str, params: Value) -> Reply {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool and waits for its answer.
    pub async fn call(&mut self, tool: &str, args: Value) -> Reply {
        self.request("tools/call", json!({"name": tool, "arguments": args})).await
    }

    /// Waits for the answer to a request.
    pub async fn answer(&mut self, id: u64) -> Reply {
        let answers = |message: &Value| message.get("method").is_none() && message["id"] == id;
        Reply(self.until(&format!("the answer to {id}"), answers).await)
    }

    /// Waits for a notification.
    pub async fn notification(&mut self, method: &str) -> Value {
        self.until(method, |message| message["method"] == method).await
    }

    /// Waits for a message, keeping all others.
    pub async fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(found) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(found).unwrap();
        }
        loop {
            match self.read().await {
                Some(message) if wanted(&message) => return message,
                Some(message) => self.waiting.push_back(message),
                None => panic!("{what}: the relay's output ended; it said: {}", self.stderr()),
            }
        }
    }

    /// Waits for whatever comes next; `None` is the end of the relay's output.
    pub async fn recv(&mut self) -> Option<Value> {
        match self.waiting.pop_front() {
            Some(message) => Some(message),
            None => self.read().await,
        }
    }

    /// Returns the notifications that have come and were not asked for yet.
    pub fn notifications(&self, method: &str) -> Vec<Value> {
        self.kept().filter(|message| message["method"] == method).cloned().collect()
    }

    /// Returns everything that has come and was not asked for yet.
    pub fn kept(&self) -> impl Iterator<Item = &Value> {
        self.waiting.iter()
    }

    /// Takes standard input away, to be written while the test does something else.
    pub fn take_input(&mut self) -> pipe::Sender {
        self.input.take().expect("standard input is open")
    }

    /// Ends standard input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Ends standard input and waits for the relay's end.
    pub async fn finish(mut self) -> Ended {
        self.close_input();
        self.ended().await
    }

    /// Waits for the relay's end, reading everything it says.
    pub async fn ended(mut self) -> Ended {
        let mut messages: Vec<_> = self.waiting.drain(..).collect();
        while let Some(message) = self.read().await {
            messages.push(message);
        }
        let status = eventually("the relay ends", async || self.child.try_wait().unwrap()).await;
        let stderr = eventually("its errors end", async || self.stderr.finished()).await;
        Ended { status, messages, stderr }
    }

    /// Returns the relay's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Goes away without a word, as a client does that was killed: both its pipes close, and the
    /// relay is left to notice.
    pub fn vanish(&mut self) {
        self.close_input();
        self.output = pipe::pipe().unwrap().1;
    }

    /// Returns whether the relay has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Kills the relay, as a client does that has no time.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Returns what the relay has complained about so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Returns how much memory the relay holds, in KiB.
    pub fn memory_kib(&self) -> u64 {
        crate::kernel::memory_kib(self.pid(), "VmRSS:")
    }

    /// Reads one line, which must be a message.
    async fn read(&mut self) -> Option<Value> {
        let end = loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                break end;
            }
            let more = self.output.read_buf(&mut self.unread);
            if within(self.patience, "something from the relay", more).await.unwrap() == 0 {
                let rest = String::from_utf8_lossy(&self.unread);
                assert!(rest.is_empty(), "half a line at the end: {rest}");
                return None;
            }
        };
        let line: Vec<_> = self.unread.drain(..=end).collect();
        Some(read_message(&line[..end]))
    }
}

impl Drop for McpStdio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- a relay said:\n{}---", self.stderr.text());
        }
    }
}

/// Returns the folder in which a hub keeps its data, where no flag says otherwise.
pub fn data_of(hub: &HubProcess) -> PathBuf {
    hub.place().path().join("data/tabwire")
}
