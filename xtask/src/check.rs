//! What CI runs beside the tests: format, lint, types, spelling, generated files, dependencies and
//! commit messages.

mod commits;

use anyhow::Result;

use crate::{generate, shell};

pub fn run() -> Result<()> {
    commits::run()?;
    shell::run("", &["cargo", "fmt", "--all", "--check"])?;
    shell::run("fuzz", &["cargo", "fmt", "--check"])?;
    shell::run("", &[&shell::python_tool("typos", "1.51.1")?])?;
    let clippy = ["cargo", "clippy", "-q", "--workspace", "--all-targets", "--", "-D", "warnings"];
    shell::run("", &clippy)?;
    // A workspace of its own, with what is built already.
    let line = ["cargo", "clippy", "-q", "--locked", "--target-dir", "../target", "--"];
    shell::run("fuzz", &[&line[..], &["-D", "warnings"]].concat())?;
    shell::say("generated files");
    generate::run(true)?;
    shell::ensure_cargo_tool("cargo-machete", "0.9.2")?;
    shell::run("", &["cargo-machete"])?;
    shell::ensure_cargo_tool("cargo-deny", "0.20.2")?;
    shell::run("", &["cargo-deny", "--locked", "check", "licenses", "bans", "sources"])?;
    shell::install_web()?;
    shell::run("web", &["npm", "run", "--silent", "check"])
}
