//! Fuzzing with libFuzzer on stable Rust: the crate in `fuzz/`, built with instruments.
//!
//! - this file: the build, the targets, and the short form that is part of the tests;
//! - [`run`]: one target's run; [`crew`]: several targets, as many at a time as there are cores.
//!
//! The compiler puts the counters in by itself; sanitizers need a nightly compiler, and are for
//! memory errors that Rust without `unsafe` does not have.

pub mod crew;
pub mod run;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::shell;
use run::{Finished, Limits, Plan};

/// Where everything is that fuzzing makes: the build, the grown corpus, what was said.
const PLACE: &str = "target/fuzz";
/// What the compiler is told: count edges, and tell what is compared with what.
const FLAGS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
];
/// The one seed of chance in short runs, so that they are the same every time.
const SEED: u32 = 1;

/// The program with all targets in it.
pub struct Engine {
    program: PathBuf,
    /// All there are.
    pub targets: Vec<Target>,
}

/// What can be fuzzed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Inputs of a short run.
    pub short: u64,
}

impl Engine {
    /// Builds it.
    pub fn build() -> Result<Self> {
        // libFuzzer is written in C++, and comes as source.
        shell::ensure_program("g++", "g++")?;
        let place = shell::root().join(PLACE);
        // Named, so that what runs while building is built without the flags.
        let host = shell::output("", &["rustc", "--print", "host-tuple"])?.trim().to_owned();
        let folder = place.to_string_lossy().into_owned();
        let line = ["cargo", "build", "-q", "--release", "--target", &host];
        let line = [&line[..], &["--target-dir", &folder]].concat();
        shell::run_with("fuzz", &line, &[("RUSTFLAGS", &FLAGS.join(" "))])?;
        let program = place.join(host).join("release/fuzz");
        // libFuzzer complains of sanitizers that are not there.
        let listed = Command::new(&program).stderr(Stdio::null()).output()?;
        let listed = String::from_utf8(listed.stdout)?;
        let targets = listed.lines().map(Target::read).collect::<Result<Vec<_>>>()?;
        check_register(&targets)?;
        Ok(Self { program, targets })
    }

    /// Returns what a run of a target begins with, and where it writes.
    fn plan(&self, target: &Target, corpus: &str, limits: Limits) -> Result<Plan> {
        let folder = |path: String| {
            let path = shell::root().join(path);
            fs::create_dir_all(&path).with_context(|| path.display().to_string()).map(|()| path)
        };
        let name = &target.name;
        Ok(Plan {
            program: self.program.clone(),
            name: name.clone(),
            corpus: folder(format!("{PLACE}/{corpus}/{name}"))?,
            seeds: folder(format!("fuzz/seeds/{name}"))?,
            findings: shell::root().join(format!("fuzz/findings/{name}")),
            log: folder(format!("{PLACE}/logs"))?.join(format!("{name}.log")),
            limits,
        })
    }
}

impl Target {
    fn read(line: &str) -> Result<Self> {
        let (name, short) = line.split_once(' ').context("a target and a number")?;
        Ok(Self { name: name.to_owned(), short: short.parse()? })
    }
}

/// The short form: all seeds and findings, and then the same inputs every time.
pub fn run_short() -> Result<()> {
    let engine = Engine::build()?;
    shell::say("fuzzing, the short form");
    // What an earlier run has found would make this one another.
    let _ = fs::remove_dir_all(shell::root().join(PLACE).join("short"));
    let plan = |target: &Target| {
        engine.plan(target, "short", Limits { inputs: target.short, seed: Some(SEED), time: None })
    };
    let plans = engine.targets.iter().map(plan).collect::<Result<Vec<_>>>()?;
    let mut failed = Vec::new();
    crew::run(plans, |plan, finished| {
        eprintln!("{:16} {}", plan.name, finished.summary());
        if !finished.passed {
            eprintln!("{}", finished.told);
            failed.push(plan.name.clone());
        }
        Ok(())
    })?;
    match failed.is_empty() {
        true => Ok(()),
        false => bail!("failed: {}; the inputs are in fuzz/findings", failed.join(", ")),
    }
}

/// Runs targets for long, each until its limits; `note` gets what came of each.
pub fn run_long(
    engine: &Engine,
    targets: &[Target],
    limits: Limits,
    note: impl FnMut(&Plan, &Finished) -> Result<()>,
) -> Result<()> {
    let plan = |target| engine.plan(target, "corpus", limits);
    crew::run(targets.iter().map(plan).collect::<Result<_>>()?, note)
}

/// Every dialect has a target, every target has seeds, and what has no target is there by mistake.
fn check_register(targets: &[Target]) -> Result<()> {
    let names = |folder: &str| -> Result<Vec<String>> {
        let Ok(entries) = fs::read_dir(shell::root().join(folder)) else { return Ok(Vec::new()) };
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    };
    let is_target = |name: &String| targets.iter().any(|target| target.name == *name);
    if let Some(bare) = dialect::DIALECTS.iter().find(|info| !is_target(&info.name.to_owned())) {
        bail!("the dialect {} has no target in fuzz/src/lib.rs", bare.name);
    }
    let seeds = names("fuzz/seeds")?;
    if let Some(bare) = targets.iter().find(|target| !seeds.contains(&target.name)) {
        bail!("the target {} has no seeds in fuzz/seeds", bare.name);
    }
    match seeds.iter().chain(&names("fuzz/findings")?).find(|name| !is_target(name)) {
        Some(stray) => bail!("fuzz/seeds or fuzz/findings has {stray:?}, and no target has"),
        None => Ok(()),
    }
}

/// Returns whether there is anything in a folder.
fn has_files(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}
