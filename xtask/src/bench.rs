//! Numbers: the hub beside the floor in the same run, told as ratios.
//!
//! - [`floor`]: a process that does nothing but answer, with [`bare_mcp`];
//! - [`client`]: the load generator's connections; [`inside`]: the hub without sockets;
//! - [`socket`]: the hub over its port; [`mcp`]: as AI clients meet it; [`crowd`]: ten thousand
//!   connections; [`recovery`]: coming back, and what keeping things costs;
//! - [`browser`]: a real browser, beside other servers for AI clients; [`tasks`]: what a whole task
//!   costs in it;
//! - [`report`]: the table of all but the last two; [`document`]: `docs/benchmarks.md`.
//!
//! Hub, floor and load generator are three processes, all built for release.

mod bare_mcp;
pub mod browser;
mod client;
mod crowd;
mod document;
pub mod floor;
mod inside;
mod mcp;
mod recovery;
mod report;
mod socket;
pub mod tasks;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use anyhow::Result;
use clap::Args;

use crate::shell;

/// What the measuring half needs to know.
#[derive(Args)]
pub struct Options {
    /// How many idle connections; none means that round trips are measured.
    #[arg(long)]
    pub crowd: Option<usize>,
}

/// Builds everything for speed and measures in processes built the same way.
///
/// Round trips are measured with all processes on one core: across cores a virtual machine takes
/// 20 or 80 µs to wake a process, whatever the process does, and that would drown the rest.
pub fn start(connections: usize, dry_run: bool) -> Result<()> {
    shell::run("", &["cargo", "build", "--release", "-q", "-p", "tabwire", "-p", "xtask"])?;
    shell::ensure_program("taskset", "util-linux")?;
    let measure = "target/release/xtask";
    shell::say("round trips");
    let mut rows = shell::output("", &["taskset", "-c", "0", measure, "bench-run"])?;
    shell::say("a crowd");
    let count = connections.to_string();
    rows += &shell::output("", &[measure, "bench-run", "--crowd", &count])?;
    report::publish(&rows, dry_run)
}

/// Measures one part and prints its rows.
pub fn run(options: &Options) -> Result<()> {
    // One thread for the load generator, so that waking its own threads is not measured.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut report = report::Report::default();
    runtime.block_on(async {
        if let Some(connections) = options.crowd {
            return crowd::measure(&mut report, connections).await;
        }
        inside::measure(&mut report).await?;
        socket::measure(&mut report).await?;
        mcp::measure(&mut report).await?;
        recovery::measure(&mut report).await
    })?;
    std::io::stdout().write_all(report.rows().as_bytes())?;
    Ok(())
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

    /// Takes note of a time.
    pub fn record(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// Returns the time that a share of all stays below.
    pub fn percentile(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        sorted.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
    }

    /// Returns the middle.
    pub fn median(&self) -> Duration {
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
