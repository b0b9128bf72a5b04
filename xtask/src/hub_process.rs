//! A hub as a child process, for the chores that measure and test one.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::shell;

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
        Self::spawn(binary, &["serve", "--port", "0", "--log-level", "warn"], &data)
    }

    /// Starts a command that says on which port it listens, with a data folder.
    pub fn spawn(binary: &str, line: &[&str], data: &Path) -> Result<Self> {
        let mut process = Command::new(shell::root().join(binary))
            .args(line)
            .arg("--data")
            .arg(data)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{binary} cannot be started"))?;
        let mut line = String::new();
        let out = process.stdout.take().context("the hub has no output")?;
        BufReader::new(out).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line).context("the hub did not start")?;
        let port = ready["port"].as_u64().context("the hub named no port")?.try_into()?;
        testkit::keyring::note(port, data);
        Ok(Self { process, port })
    }
}

impl Drop for HubProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
