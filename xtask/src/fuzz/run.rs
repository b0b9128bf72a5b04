//! One target's run: libFuzzer as a process, what it says, and what came of it.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use super::has_files;

/// Seconds after which an input counts as one that hangs. The slowest seeds take milliseconds.
const HANG: u32 = 10;
/// Mebibytes of the whole process, with the engine's corpus; what inputs take is limited in it.
const RSS: u32 = 2048;
/// Lines at the end of what was said that are shown when it fails.
const LAST: usize = 40;
/// How often is said how far it is.
const NEWS: Duration = Duration::from_secs(30);

/// What the allocator has got it keeps: mapping large pieces anew takes longer than most inputs do.
const MEMORY_STAYS: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "1073741824"), ("MALLOC_TRIM_THRESHOLD_", "1073741824")];

/// When a run ends.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Inputs.
    pub inputs: u64,
    /// Or after this time.
    pub time: Option<Duration>,
    /// The same seed gives the same inputs; none takes another every time.
    pub seed: Option<u32>,
}

/// What to run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub program: PathBuf,
    pub name: String,
    /// What was found to lead further; grows.
    pub corpus: PathBuf,
    pub seeds: PathBuf,
    /// Inputs that have failed; one more is put there.
    pub findings: PathBuf,
    pub log: PathBuf,
    pub limits: Limits,
}

/// What came of a run.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    pub inputs: u64,
    pub took: Duration,
    /// Edges of the program that were reached.
    pub edges: u64,
    /// The most memory that the process had, in mebibytes.
    pub peak: u64,
    pub passed: bool,
    /// The end of what it said.
    pub told: String,
}

impl Finished {
    /// Says it in a line.
    pub fn summary(&self) -> String {
        let Self { inputs, took, edges, peak, passed, .. } = self;
        let rate = *inputs as f64 / took.as_secs_f64().max(0.001);
        let result = if *passed { "passed" } else { "FAILED" };
        format!(
            "{inputs:>9} inputs in {:6.1} s ({rate:.0}/s), {edges} edges, {peak} MiB: {result}",
            took.as_secs_f64(),
        )
    }

    /// Takes in a line such as `#1024 pulse  cov: 1 ft: 2 corp: 3/4b exec/s: 5 rss: 6Mb`.
    fn hear(&mut self, line: &str) {
        let words: Vec<_> = line.split_whitespace().collect();
        let number = |text: &str| text.trim_end_matches("Mb").parse().ok();
        let after = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            number(words.get(at + 1)?)
        };
        if let Some(inputs) = words.first().and_then(|word| number(word.strip_prefix('#')?)) {
            self.inputs = self.inputs.max(inputs);
            self.edges = self.edges.max(after("cov:").unwrap_or(0));
            self.peak = self.peak.max(after("rss:").unwrap_or(0));
        }
        self.inputs = after("stat::number_of_executed_units:").unwrap_or(self.inputs);
        self.peak = after("stat::peak_rss_mb:").unwrap_or(self.peak);
    }
}

impl Plan {
    /// Starts the process; its scratch files go below a folder.
    pub fn start(&self, scratch: &Path) -> Result<Child> {
        let Limits { inputs, time, seed } = self.limits;
        let mut command = Command::new(&self.program);
        command.env("FUZZ_TARGET", &self.name).env("FUZZ_SCRATCH", scratch);
        command.envs(MEMORY_STAYS);
        command.arg(format!("-runs={inputs}"));
        command.args(time.map(|time| format!("-max_total_time={}", time.as_secs())));
        command.args(seed.map(|seed| format!("-seed={seed}")));
        command.arg(format!("-artifact_prefix={}/", self.findings.display()));
        command.args([format!("-timeout={HANG}"), format!("-rss_limit_mb={RSS}")]);
        command.arg("-print_final_stats=1");
        command.args([&self.corpus, &self.seeds]);
        command.args(has_files(&self.findings).then_some(&self.findings));
        // It cannot write an input into a folder that is not there.
        fs::create_dir_all(&self.findings)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().with_context(|| format!("{} cannot be started", self.program.display()))
    }

    /// Listens until it says no more; from time to time it is said how far it is.
    pub fn listen(&self, said: ChildStderr) -> Result<Finished> {
        let started = Instant::now();
        let mut log = File::create(&self.log)?;
        let (mut finished, mut last, mut news) = (Finished::default(), Vec::new(), started);
        for line in BufReader::new(said).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            writeln!(log, "{line}")?;
            finished.hear(&line);
            finished.took = started.elapsed();
            if news.elapsed() > NEWS {
                news = Instant::now();
                eprintln!("{:16} {}", self.name, finished.progress());
            }
            last.push(line);
            last.drain(..last.len().saturating_sub(LAST));
        }
        // A folder that nothing was put into is none to keep.
        let _ = fs::remove_dir(&self.findings);
        Ok(Finished { took: started.elapsed(), told: last.join("\n"), ..finished })
    }
}

impl Finished {
    fn progress(&self) -> String {
        let Self { inputs, took, edges, peak, .. } = self;
        let seconds = took.as_secs();
        format!("{inputs:>9} inputs after {seconds:4} s, {edges} edges, {peak} MiB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_engine_says_is_understood() {
        let mut finished = Finished::default();
        for line in [
            "INFO: Running with entropic power schedule (0xFF, 100).",
            "#1024\tpulse  cov: 321 ft: 987 corp: 65/4321b lim: 4096 exec/s: 512 rss: 77Mb",
            "#1500\tNEW    cov: 325 ft: 990 corp: 66/4400b lim: 4096 exec/s: 512 rss: 76Mb L: 3/9",
            "Done 2000 runs in 3 second(s)",
            "stat::number_of_executed_units: 2000",
            "stat::average_exec_per_sec:     666",
            "stat::peak_rss_mb:              80",
        ] {
            finished.hear(line);
        }
        assert_eq!((finished.inputs, finished.edges, finished.peak), (2000, 325, 80));
    }
}
