//! The table: printed, and written to `docs/benchmarks.md`.

use std::{fmt::Write, time::Duration};

use anyhow::Result;

use super::document;

const HEAD: &str = "\
# Benchmarks

Written by `cargo xtask bench`. Hub, floor and load generator are three processes on one machine, measured in
the same run, one request of each kind in turn. Ratios are the result; absolute times depend on the machine and on
what else it does. Round trips are measured with all processes on one core, because waking a process on another core takes a
virtual machine longer than everything that is compared here.
The floor is an HTTP server that gives the same answer to everything and a WebSocket server that sends everything back, on
the same libraries and socket options as the hub. Times are medians unless they say otherwise. A table is one run: ratios of
round trips differ by about 0.05 between runs of the same program, and a call over HTTP was seen between 1.15 and 1.34 on different machines.

| What | Measured | Floor | Ratio | Budget |
| --- | ---: | ---: | ---: | ---: |
";

/// Everything that was measured.
#[derive(Default)]
pub struct Report {
    rows: String,
}

/// One run over the port.
pub struct OverSocket {
    pub floor_http: Duration,
    pub floor_socket: Duration,
    pub query: Duration,
    pub call: Duration,
    pub call_p99: Duration,
}

/// One run over MCP.
pub struct OverMcp {
    pub floor_mcp: Duration,
    pub floor_socket: Duration,
    pub query: Duration,
    pub call: Duration,
}

/// Coming back, and keeping.
pub struct Recovery {
    /// One session that missed 100 messages, and one that missed 1000.
    pub few: Duration,
    pub many: Duration,
    /// A thousand sessions that missed 100 each.
    pub all: Duration,
    /// A call with a store in memory and on disk.
    pub in_memory: Duration,
    pub on_disk: Duration,
    /// Messages per second that reach the disk, one by one and 64 at a time.
    pub single: f64,
    pub batched: f64,
}

/// Many connections.
pub struct Crowd {
    pub connections: usize,
    pub bare_time: Duration,
    pub time: Duration,
    pub slowest: Duration,
    pub at_rest: u64,
    pub each: u64,
}

impl Report {
    pub fn inside(&mut self, call: Duration, query: Duration) {
        self.row("call and answer inside the hub, no socket", &micros(call), "", None, "");
        self.row("cached state inside the hub", &micros(query), "", None, "");
    }

    pub fn over_socket(&mut self, alone: OverSocket, crowded: OverSocket) {
        self.row(
            "cached state over HTTP",
            &micros(alone.query),
            &micros(alone.floor_http),
            Some(ratio(alone.query, alone.floor_http)),
            "≤ 1.3",
        );
        let floor = alone.floor_http + alone.floor_socket;
        self.row(
            "call over HTTP to a browser socket that answers at once",
            &micros(alone.call),
            &format!("{} = HTTP + echo", micros(floor)),
            Some(ratio(alone.call, floor)),
            "≤ 1.3",
        );
        self.row("the same, 99th percentile", &micros(alone.call_p99), "", None, "");
        let floor = crowded.floor_http + crowded.floor_socket;
        self.row(
            "the same call with 1,000 bystanders",
            &micros(crowded.call),
            &format!("{} = HTTP + echo", micros(floor)),
            Some(ratio(crowded.call, floor)),
            "flat",
        );
    }

    pub fn over_mcp(&mut self, alone: &OverMcp, crowded: &OverMcp) {
        self.row(
            "MCP over HTTP: cached state (`app_state`)",
            &micros(alone.query),
            &format!("{} = no-op tool of a bare rmcp server", micros(alone.floor_mcp)),
            Some(ratio(alone.query, alone.floor_mcp)),
            "≤ 1.3",
        );
        for (what, run, budget) in [
            ("MCP over HTTP: an app's tool, to its socket and back", alone, "≤ 1.3"),
            ("the same with 1,000 bystanders", crowded, "flat"),
        ] {
            let floor = run.floor_mcp + run.floor_socket;
            let shown = format!("{} = no-op tool + echo", micros(floor));
            self.row(what, &micros(run.call), &shown, Some(ratio(run.call, floor)), budget);
        }
    }

    pub fn stdio(&mut self, start: Duration, memory: u64) {
        let start = format!("{:.1} ms", start.as_secs_f64() * 1e3);
        self.row("start of `tabwire stdio` to its first `tools/list`", &start, "", None, "≤ 15 ms");
        let memory = format!("{:.1} MB", memory as f64 / 1e6);
        self.row("memory of a `tabwire stdio`", &memory, "", None, "≤ 6 MB");
    }

    pub fn recovery(&mut self, recovery: Recovery) {
        let millis = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        self.row(
            "coming back after 100 missed messages",
            &millis(recovery.few),
            "",
            None,
            "≤ 20 ms",
        );
        self.row(
            "the same after 1,000, in ten pages",
            &millis(recovery.many),
            "",
            None,
            "≤ 150 ms",
        );
        self.row(
            "1,000 sessions coming back at once, 100 missed each",
            &format!("{:.2} s", recovery.all.as_secs_f64()),
            "",
            None,
            "≤ 2 s",
        );
        self.row(
            "a call over HTTP with everything kept on disk",
            &micros(recovery.on_disk),
            &format!("{} in memory", micros(recovery.in_memory)),
            Some(ratio(recovery.on_disk, recovery.in_memory)),
            "",
        );
        let rate =
            format!("{:.0} per s, {:.0} with 64 at a time", recovery.single, recovery.batched);
        self.row("messages that reach the disk", &rate, "", None, "");
    }

    pub fn crowd(&mut self, crowd: Crowd) {
        let count = crowd.connections;
        self.row(
            &format!("{count} connects, each with hello and welcome"),
            &format!("{:.2} s", crowd.time.as_secs_f64()),
            &format!("{:.2} s without hello", crowd.bare_time.as_secs_f64()),
            Some(ratio(crowd.time, crowd.bare_time)),
            "≤ 2 s",
        );
        let slowest = format!("{:.0} ms", crowd.slowest.as_secs_f64() * 1e3);
        self.row("the slowest of them (a lost SYN costs 1,000 ms)", &slowest, "", None, "");
        let megabytes = crowd.at_rest as f64 / 1e6;
        self.row("memory of the hub at rest", &format!("{megabytes:.1} MB"), "", None, "≤ 15 MB");
        let kilobytes = crowd.each as f64 / 1e3;
        let name = format!("memory per idle connection at {count}");
        self.row(&name, &format!("{kilobytes:.1} KB"), "", None, "≤ 10 KB");
    }

    /// Returns what was measured so far.
    pub fn rows(&self) -> &str {
        &self.rows
    }

    fn row(&mut self, what: &str, measured: &str, floor: &str, ratio: Option<f64>, budget: &str) {
        let ratio = ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        let _ = writeln!(self.rows, "| {what} | {measured} | {floor} | {ratio} | {budget} |");
    }
}

/// Prints the table and writes the document's opening.
pub fn publish(rows: &str, dry_run: bool) -> Result<()> {
    document::publish(&format!("{HEAD}{rows}"), dry_run)
}

fn micros(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}

fn ratio(measured: Duration, floor: Duration) -> f64 {
    measured.as_secs_f64() / floor.as_secs_f64()
}
