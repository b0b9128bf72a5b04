//! All tests, with what they need installed first, and the time that each part took. Parts that are
//! left out are said at the end.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use crate::{clients, demo, fuzz, shell};

/// Runs a part with the built program.
type Part = fn(&Path) -> Result<()>;

/// What is run, in this order. Each needs what [`prepare`] has built.
const PARTS: &[(&str, Part)] = &[
    ("rust", |_| {
        // All of it, so that one run tells everything that fails. Most tests wait more than they
        // work, so there are two at a time per core.
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let threads = format!("--test-threads={}", 2 * cores);
        let line = ["cargo", "test", "-q", "--workspace", "--no-fail-fast", "--", &threads];
        shell::run("", &line)
    }),
    ("fuzz", |_| fuzz::run_short()),
    ("web", |_| shell::run("web", &["npm", "test", "--silent"])),
    ("agreement", |_| shell::run("web", &["npm", "run", "--silent", "test:agreement"])),
    ("hub", |binary| {
        let line = ["npm", "run", "--silent", "test:hub"];
        shell::run_with("web", &line, &[("TABWIRE_BIN", &binary.to_string_lossy())])
    }),
    ("clients", clients::run),
    ("demo", |binary| {
        shell::say("the demo, with the viewer in a real browser");
        demo::play(binary)
    }),
];

pub fn run(skip: &[String]) -> Result<()> {
    if let Some(unknown) =
        skip.iter().find(|skipped| !PARTS.iter().any(|(part, _)| part == skipped))
    {
        let parts: Vec<_> = PARTS.iter().map(|(part, _)| *part).collect();
        bail!("there is no part {unknown:?}; parts are {}", parts.join(", "));
    }
    let mut times = Vec::new();
    timed(&mut times, "install and build", prepare)?;
    let binary = shell::root().join("target/debug/tabwire");
    let wanted = PARTS.iter().filter(|(part, _)| !skip.iter().any(|skipped| skipped == part));
    let outcome: Result<()> =
        wanted.into_iter().try_for_each(|(part, work)| timed(&mut times, part, || work(&binary)));
    shell::say("time per part");
    for (part, took) in &times {
        eprintln!("{part:20} {:6.1} s", took.as_secs_f64());
    }
    for part in skip {
        eprintln!("SKIPPED on request: {part}");
    }
    outcome
}

fn timed(
    times: &mut Vec<(&'static str, Duration)>,
    part: &'static str,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let started = Instant::now();
    let outcome = work();
    times.push((part, started.elapsed()));
    outcome
}

fn prepare() -> Result<()> {
    shell::ensure_program("chromium", "chromium")?;
    // For the test with a wall clock that jumps.
    shell::ensure_program("faketime", "faketime")?;
    shell::install_web()?;
    shell::run("web", &["npm", "run", "--silent", "build"])?;
    shell::run("", &["cargo", "test", "-q", "--workspace", "--no-run"])?;
    shell::run("", &["cargo", "build", "-q", "-p", "tabwire", "-p", "conformance"])
}
