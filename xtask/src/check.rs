//! What CI runs beside the tests: format, lint, types, generated files, unused dependencies.

use anyhow::Result;

use crate::{generate, shell};

pub fn run() -> Result<()> {
    shell::run("", &["cargo", "fmt", "--all", "--check"])?;
    let clippy = ["cargo", "clippy", "-q", "--workspace", "--all-targets", "--", "-D", "warnings"];
    shell::run("", &clippy)?;
    shell::say("generated files");
    generate::run(true)?;
    shell::ensure_cargo_tool("cargo-machete")?;
    shell::run("", &["cargo-machete"])?;
    shell::install_web()?;
    shell::run("web", &["npm", "run", "--silent", "check"])
}
