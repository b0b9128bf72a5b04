//! Numbers: the hub beside the floor in the same run, told as ratios.
//!
//! - [`floor`]: a process that does nothing but answer, over HTTP and WebSocket;
//! - [`client`]: the load generator's connections; [`inside`]: the hub without sockets;
//! - [`socket`]: the hub over its port; [`crowd`]: ten thousand connections;
//! - [`report`]: the table that is printed and written to `docs/benchmarks.md`.
//!
//! Hub, floor and load generator are three processes, all built for release.

mod client;
mod crowd;
pub mod floor;
mod inside;
mod report;
mod socket;

use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;

use crate::shell;

/// What the measuring half needs to know.
#[derive(Args)]
pub struct Options {
    /// How many idle connections.
    #[arg(long)]
    pub connections: usize,
    /// Leave docs/benchmarks.md alone.
    #[arg(long)]
    pub dry_run: bool,
}

/// Builds everything for speed and measures in a process built the same way.
pub fn start(connections: usize, dry_run: bool) -> Result<()> {
    shell::run("", &["cargo", "build", "--release", "-q", "-p", "tabwire", "-p", "xtask"])?;
    let count = connections.to_string();
    let mut line = vec!["target/release/xtask", "bench-run", "--connections", &count];
    if dry_run {
        line.push("--dry-run");
    }
    shell::run("", &line)
}

/// Measures everything and tells it.
pub fn run(options: &Options) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut report = report::Report::default();
    let connections = options.connections;
    // On a worker of the runtime, as in the hub: waking across threads would be measured else.
    let measured = runtime.spawn(async move {
        inside::measure(&mut report).await?;
        socket::measure(&mut report).await?;
        crowd::measure(&mut report, connections).await?;
        Ok::<_, anyhow::Error>(report)
    });
    runtime.block_on(measured)??.publish(options.dry_run)
}

/// Times of one kind of work.
#[derive(Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// Times one piece of work.
    pub async fn take<T>(&mut self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let started = Instant::now();
        let done = work.await?;
        self.0.push(started.elapsed());
        Ok(done)
    }

    /// Returns the time that a share of all stays below.
    pub fn percentile(&mut self, share: f64) -> Duration {
        self.0.sort_unstable();
        let last = self.0.len().saturating_sub(1);
        self.0.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
    }

    /// Returns the middle.
    pub fn median(&mut self) -> Duration {
        self.percentile(0.5)
    }
}

/// Returns the resident memory of a process in bytes.
pub fn resident(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap_or("0").parse()?;
    Ok(kilobytes * 1024)
}
