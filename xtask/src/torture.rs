//! `cargo xtask torture`: the tests that kill, cut, freeze and damage, in their long form.
//!
//! The short form is part of the normal run. A failing test prints its seed; `--seed` runs it again.

use anyhow::Result;

use crate::shell;

/// The tests of the whole hub that have a long form.
const HUB: &[&str] = &["machine_", "durable_", "recovered_", "keyed_", "slow_readers", "cuts"];

pub fn run(times: u32, seed: Option<u64>) -> Result<()> {
    let times = times.to_string();
    let seed = seed.map(|seed| seed.to_string());
    let mut variables = vec![("TABWIRE_TORTURE", times.as_str())];
    if let Some(seed) = &seed {
        variables.push(("TABWIRE_SEED", seed));
    }
    shell::say("the store");
    let store = ["cargo", "test", "-q", "--release", "-p", "store", "--test", "torture"];
    shell::run_with("", &store, &variables)?;
    shell::say("the hub");
    let mut hub = vec!["cargo", "test", "-q", "-p", "tabwire", "--test", "it", "--"];
    hub.extend(HUB);
    hub.push("--nocapture");
    shell::run_with("", &hub, &variables)
}
