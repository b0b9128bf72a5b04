//! All tests, with what they need installed first. Parts that are left out are said at the end.

use anyhow::{Result, bail};

use crate::{clients, demo, shell};

const PARTS: [&str; 5] = ["rust", "web", "hub", "clients", "demo"];

pub fn run(skip: &[String]) -> Result<()> {
    if let Some(unknown) = skip.iter().find(|part| !PARTS.contains(&part.as_str())) {
        bail!("there is no part {unknown:?}; parts are {}", PARTS.join(", "));
    }
    let wanted = |part: &str| !skip.iter().any(|skipped| skipped == part);
    shell::ensure_program("chromium", "chromium")?;
    // For the test with a wall clock that jumps.
    shell::ensure_program("faketime", "faketime")?;
    shell::install_web()?;
    shell::run("web", &["npm", "run", "--silent", "build"])?;
    if wanted("rust") {
        // All of it, so that one run tells everything that fails.
        shell::run("", &["cargo", "test", "-q", "--workspace", "--no-fail-fast"])?;
    }
    if wanted("web") {
        shell::run("web", &["npm", "test", "--silent"])?;
        shell::run("web", &["npm", "run", "--silent", "test:agreement"])?;
    }
    shell::run("", &["cargo", "build", "-q", "-p", "tabwire"])?;
    let binary = shell::root().join("target/debug/tabwire");
    if wanted("hub") {
        let binary = binary.to_string_lossy();
        let line = ["npm", "run", "--silent", "test:hub"];
        shell::run_with("web", &line, &[("TABWIRE_BIN", &binary)])?;
    }
    if wanted("clients") {
        clients::run(&binary)?;
    }
    if wanted("demo") {
        shell::say("the demo, with the viewer in a real browser");
        demo::play(&binary)?;
    }
    for part in skip {
        eprintln!("SKIPPED on request: {part}");
    }
    Ok(())
}
