//! The demo from a checkout: builds everything, then is `tabwire demo`.

use std::{
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use clap::Args;

use crate::shell;

#[derive(Args)]
pub struct Options {
    /// Without a window, also where there is a display.
    #[arg(long)]
    headless: bool,
    /// Leave everything running until Ctrl-C, also without a display.
    #[arg(long)]
    stay: bool,
    /// Build the program for development: sooner there, and slower.
    #[arg(long)]
    dev: bool,
}

/// Builds everything and plays the demo.
pub fn run(options: &Options) -> Result<()> {
    shell::ensure_program("chromium", "chromium")?;
    shell::install_web()?;
    shell::run("web", &["npm", "run", "--silent", "build"])?;
    let release: &[&str] = if options.dev { &[] } else { &["--release"] };
    if !options.dev {
        shell::say("the first release build takes some minutes; `--dev` has it sooner");
    }
    shell::run("", &[&["cargo", "build", "-p", "tabwire"], release].concat())?;
    let mut command = command(&program(!options.dev));
    command.args(options.headless.then_some("--headless"));
    command.args(options.stay.then_some("--stay"));
    shell::say("tabwire demo");
    // In place of this process: Ctrl-C is the demo's, which cleans up and says when it is done.
    Err(command.exec()).context("the demo cannot be started")
}

/// Plays the demo with a built program, as a test; the picture is left in the target folder.
pub fn play(program: &Path) -> Result<()> {
    let status = command(program).arg("--headless").current_dir(target()).status()?;
    anyhow::ensure!(status.success(), "`tabwire demo` failed ({status})");
    Ok(())
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("demo");
    command
}

/// Where cargo puts what it builds.
fn target() -> PathBuf {
    let folder = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    shell::root().join(folder)
}

fn program(is_release: bool) -> PathBuf {
    target().join(if is_release { "release" } else { "debug" }).join("tabwire")
}
