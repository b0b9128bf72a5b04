//! The demo: a hub, a page in a real browser, and `tabwire call` painting it.
//!
//! It fails when the page does not do what it is told, so that the tests can play it too.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{chrome::Chrome, pages::Pages, shell};

const PAGE: &str = "examples/colour/index.html";

pub fn run(stay: bool) -> Result<()> {
    shell::ensure_program("chromium", "chromium")?;
    shell::install_web()?;
    shell::run("web", &["npm", "run", "--silent", "build"])?;
    // Not for speed: a release build takes minutes, and the demo is about what happens.
    shell::run("", &["cargo", "build", "-p", "tabwire"])?;
    let binary = "target/debug/tabwire";
    let stage = play(binary, &shell::root().join("demo-colour.png"))?;
    eprintln!("\nCall it yourself while the hub runs:");
    eprintln!("  {binary} call change_colour '{{\"colour\":\"teal\"}}' --port {}", stage.port);
    if stay {
        eprintln!("\nHub and page stay until Ctrl-C.");
        stage.runtime.block_on(tokio::signal::ctrl_c())?;
    } else {
        eprintln!("\nEverything is stopped now; `cargo xtask demo --stay` keeps it running.");
    }
    Ok(())
}

/// What is running; it ends when this is dropped.
pub struct Stage {
    /// The hub's port.
    pub port: u16,
    runtime: tokio::runtime::Runtime,
    _chrome: Chrome,
    _pages: Pages,
    _hub: HubProcess,
}

/// Plays the whole demo with a built program and saves the picture.
pub fn play(binary: &str, picture: &Path) -> Result<Stage> {
    let runtime = tokio::runtime::Runtime::new()?;
    let hub = HubProcess::start(binary)?;
    let port = hub.port;
    eprintln!("hub        http://127.0.0.1:{port}");
    let pages = runtime.block_on(Pages::start(shell::root()))?;
    let url = format!("http://127.0.0.1:{}/{PAGE}?port={port}", pages.port);
    eprintln!("page       {url}");
    let chrome = runtime.block_on(Chrome::open(&url))?;
    let tabwire = |line: &[&str]| tabwire(binary, port, line);
    eventually("the page to connect", || {
        let sessions = tabwire(&["sessions", "--json"])?;
        let offers =
            |session: &Value| session["tools"].as_array().is_some_and(|all| !all.is_empty());
        Ok(sessions.as_array().is_some_and(|all| all.iter().any(offers)))
    })?;
    let before = tabwire(&["call", "get_colour", "--json"])?;
    ensure!(before["result"]["colour"] == "#808080", "the page starts grey, not {before}");
    tabwire(&["call", "change_colour", r##"{"colour":"#cc3366"}"##, "--json"])?;
    eventually("the page to push its new state", || {
        let session = tabwire(&["sessions", "colour", "--json"])?;
        let state = &session["state"];
        Ok(state["source"] == "cache" && state["value"]["colour"] == "#cc3366")
    })?;
    let refused = tabwire(&["call", "change_colour", r#"{"colour":"loud"}"#, "--json"]);
    ensure!(refused.is_err(), "a colour that is none must be refused");
    runtime.block_on(chrome.photograph(picture))?;
    eprintln!("picture    {}", picture.display());
    Ok(Stage { port, runtime, _chrome: chrome, _pages: pages, _hub: hub })
}

/// Runs the command line and shows what it does.
fn tabwire(binary: &str, port: u16, line: &[&str]) -> Result<Value> {
    let started = Instant::now();
    let output = Command::new(shell::root().join(binary))
        .args(line)
        .args(["--port", &port.to_string()])
        .output()?;
    let shown = line.iter().filter(|word| **word != "--json").copied().collect::<Vec<_>>();
    eprintln!("{:7.1} ms  tabwire {}", started.elapsed().as_secs_f64() * 1e3, shown.join(" "));
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn eventually(what: &str, mut done: impl FnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline {
        if done()? {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    bail!("waited 30 s for {what}")
}

/// The data folder of the hubs that this process starts, one after the other.
pub fn data_folder() -> PathBuf {
    std::env::temp_dir().join(format!("tabwire-xtask-{}", std::process::id()))
}

/// A hub on a free port; it ends when this is dropped.
pub struct HubProcess {
    /// Its process.
    pub process: Child,
    /// Where it listens.
    pub port: u16,
}

impl HubProcess {
    /// Starts a hub with its defaults and a data folder of its own.
    pub fn start(binary: &str) -> Result<Self> {
        let data = data_folder();
        // Each begins with nothing, though all of them keep what they have in one place.
        let _ = std::fs::remove_dir_all(&data);
        let data = data.to_string_lossy();
        Self::spawn(binary, &["serve", "--port", "0", "--log-level", "warn", "--data", &data])
    }

    /// Starts a command that says on which port it listens.
    pub fn spawn(binary: &str, line: &[&str]) -> Result<Self> {
        let mut process = Command::new(shell::root().join(binary))
            .args(line)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{binary} cannot be started"))?;
        let mut line = String::new();
        let out = process.stdout.take().context("the hub has no output")?;
        BufReader::new(out).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line).context("the hub did not start")?;
        let port = ready["port"].as_u64().context("the hub named no port")?;
        Ok(Self { process, port: port.try_into()? })
    }
}

impl Drop for HubProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
