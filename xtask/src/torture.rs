//! `cargo xtask torture`: the tests that kill, cut, freeze and damage, in their long form.
//!
//! The short form is part of the normal run. A failing test prints its seed; `--seed` runs it again.

use anyhow::Result;

use crate::shell;

/// The tests of the whole hub that have a long form.
const HUB: &[&str] = &["machine_", "durable_", "recovered_", "keyed_", "slow_readers", "cuts"];

pub fn run(times: u32, seed: Option<u64>) -> Result<()> {
    // The store's tests count in tenths of their long form.
    let (of_store, of_hub) = ((times * 10).to_string(), times.to_string());
    let seed = seed.map(|seed| seed.to_string());
    let variables = |times| {
        let seed = seed.as_deref().map(|seed| ("TABWIRE_SEED", seed));
        [("TABWIRE_TORTURE", times)].into_iter().chain(seed).collect::<Vec<_>>()
    };
    shell::say("the store");
    let store = ["cargo", "test", "-q", "--release", "-p", "store", "--test", "torture"];
    shell::run_with("", &store, &variables(of_store.as_str()))?;
    shell::say("the hub");
    let mut hub = vec!["cargo", "test", "-q", "-p", "tabwire", "--test", "it", "--"];
    hub.extend(HUB);
    hub.push("--nocapture");
    shell::run_with("", &hub, &variables(of_hub.as_str()))
}
