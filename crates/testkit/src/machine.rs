//! A data folder whose hub runs in the background, started by relays and known by its record.
//!
//! Whatever hub is still there when this is dropped is ended, frozen or not. Relays must be gone
//! by then, because they would start the next one; so make this first.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::atomic::{AtomicU16, Ordering},
};

use serde_json::Value;

use crate::{
    Api, Commands, Place, Signal, StdioOptions, command::Finished, eventually,
    hub_process::send_signal, keyring,
};

/// How long a hub stays that nobody uses: longer than any test needs from the end of its last relay
/// to whatever it does with the hub next. Dropping the machine ends it before.
const IDLE_EXIT: &str = "2m";
/// Ports that the system gives to nobody by itself.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

/// The hub of one data folder, whoever that is at the moment.
pub struct Machine {
    program: String,
    port: u16,
    data: PathBuf,
    place: Place,
}

impl Machine {
    /// Makes a machine without a hub; the data folder does not exist yet.
    pub fn new(program: &str) -> Self {
        let place = Place::create();
        let data = place.path().join("d");
        let port = free_port();
        keyring::note(port, &data);
        Self { program: program.to_owned(), port, data, place }
    }

    /// Returns the data folder.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the port of every hub that is started here.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the admin API of the hub.
    pub fn api(&self) -> Api {
        Api::new(self.port)
    }

    /// Returns a relay that joins the hub or starts it.
    pub fn relay(&self) -> StdioOptions {
        self.relay_with(&["--idle-exit", IDLE_EXIT])
    }

    /// Returns such a relay with flags of its own.
    pub fn relay_with(&self, flags: &[&str]) -> StdioOptions {
        let port = self.port.to_string();
        StdioOptions::new(&self.program, &self.data)
            .starting()
            .flags(&["--port", &port])
            .flags(flags)
    }

    /// Runs a command for the data folder to its end.
    pub async fn run(&self, args: &[&str]) -> Finished {
        let data = self.data.to_str().unwrap();
        Commands::new(&self.program, &self.place).variable("TABWIRE_DATA", data).run(args).await
    }

    /// Returns what `tabwire status` says to programs.
    pub async fn status(&self) -> Value {
        self.run(&["status", "--json"]).await.json()
    }

    /// Waits until a hub answers, and returns what it says.
    pub async fn running(&self) -> Value {
        eventually("a hub runs", async || {
            let status = self.status().await;
            (status["state"] == "running").then_some(status)
        })
        .await
    }

    /// Returns what the newest hub has written down about itself.
    pub fn record(&self) -> Value {
        serde_json::from_slice(&fs::read(self.data.join("hub.json")).unwrap()).unwrap()
    }

    /// Returns the process of the newest hub.
    pub fn pid(&self) -> u32 {
        self.record()["pid"].as_u64().unwrap() as u32
    }

    /// Returns all processes that are a hub of the data folder, or want to be.
    pub fn hubs(&self) -> Vec<u32> {
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| self.is_hub(*pid)).collect()
    }

    /// Kills the hub, and returns once it is gone.
    pub async fn kill_hub(&self) {
        let pid = self.pid();
        send_signal(pid, Signal::Kill);
        gone(pid).await;
    }

    /// Makes the hub stand still, and returns once it does.
    pub async fn freeze_hub(&self) {
        freeze(self.pid()).await;
    }

    /// Lets a frozen hub go on.
    pub fn thaw_hub(&self) {
        thaw(self.pid());
    }

    fn is_hub(&self, pid: u32) -> bool {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        let serves = words.by_ref().any(|word| word == b"serve");
        serves && words.any(|word| word == self.data.as_os_str().as_encoded_bytes())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for pid in self.hubs() {
            let script = format!("kill -KILL {pid}");
            let _ = Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status();
        }
        if std::thread::panicking() {
            let said = fs::read_to_string(self.data.join("hub.log")).unwrap_or_default();
            eprintln!("--- hubs in the background said:\n{said}---");
        }
    }
}

/// Makes a process stand still, and returns once it does.
pub async fn freeze(pid: u32) {
    send_signal(pid, Signal::Stop);
    eventually("the process stands still", async || (state(pid) == Some('T')).then_some(())).await;
}

/// Lets a frozen process go on.
pub fn thaw(pid: u32) {
    send_signal(pid, Signal::Continue);
}

/// Waits until a process has ended.
pub async fn gone(pid: u32) {
    eventually("the process ends", async || (!is_alive(pid)).then_some(())).await;
}

/// Returns whether a process is alive, if only in part: its first thread can end before the
/// others, and its files are open until the last has.
pub fn is_alive(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    threads > 1 || !matches!(state(pid), None | Some('Z' | 'X'))
}

/// Returns how a process is, in the kernel's letters.
fn state(pid: u32) -> Option<char> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.chars().next()
}

/// Finds a port that is free and stays so, as far as this process and the system decide it.
pub fn free_port() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let width = PORTS.end - PORTS.start;
    let first = (process::id().wrapping_mul(97) % u32::from(width)) as u16;
    loop {
        let next = TAKEN.fetch_add(1, Ordering::Relaxed);
        assert!(next < width, "no port is free");
        let port = PORTS.start + (first + next) % width;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
