//! Running other programs: what is run is shown, and a failure names it.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};

/// How often something that others offer is tried to be had, and the time in between.
const ATTEMPTS: usize = 4;
const PAUSE: Duration = Duration::from_secs(15);

/// Returns the repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Prints what is being done, on standard error like everything that is not a result.
pub fn say(what: &str) {
    eprintln!("\n== {what}");
}

/// Starts a command line in a folder of the repository; the first word is the program.
pub fn command(folder: &str, line: &[&str]) -> Command {
    let mut command = Command::new(line[0]);
    command.args(&line[1..]).current_dir(root().join(folder));
    command
}

/// Runs a command line and fails when it does.
pub fn run(folder: &str, line: &[&str]) -> Result<()> {
    run_with(folder, line, &[])
}

/// Runs a command line with variables set.
pub fn run_with(folder: &str, line: &[&str], variables: &[(&str, &str)]) -> Result<()> {
    say(&line.join(" "));
    let status = command(folder, line)
        .envs(variables.iter().copied())
        .status()
        .with_context(|| format!("{} cannot be started", line[0]))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line.join(" "));
    }
    Ok(())
}

/// Runs a command line that gets something from elsewhere. Networks fail now and then, and so do
/// package managers while another one is at work, as on a machine that was started just now.
pub fn fetch(folder: &str, line: &[&str], variables: &[(&str, &str)]) -> Result<()> {
    for _ in 1..ATTEMPTS {
        match run_with(folder, line, variables) {
            Ok(()) => return Ok(()),
            Err(error) => say(&format!("{error:#}; once more in {}s", PAUSE.as_secs())),
        }
        thread::sleep(PAUSE);
    }
    run_with(folder, line, variables)
}

/// Runs a command line and returns what it prints.
pub fn output(folder: &str, line: &[&str]) -> Result<String> {
    let output = command(folder, line)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{} cannot be started", line[0]))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", line.join(" "), output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns whether a program is there.
pub fn exists(program: &str) -> bool {
    let found = |folder: PathBuf| folder.join(program).is_file();
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(found))
}

/// Installs Debian packages that provide a program, unless it is there.
pub fn ensure_program(program: &str, package: &str) -> Result<()> {
    if exists(program) {
        return Ok(());
    }
    say(&format!("installing {package}"));
    let sudo: &[&str] = if exists("sudo") { &["sudo"] } else { &[] };
    let apt = |words: &[&str]| {
        let line = [sudo, &["apt-get"], words].concat();
        fetch("", &line, &[("DEBIAN_FRONTEND", "noninteractive")])
    };
    apt(&["update", "-qq"])?;
    apt(&["install", "-y", "-qq", "--no-install-recommends", package])
        .with_context(|| format!("{program} is needed; install it by hand"))
}

/// Installs a cargo tool in this very version, unless it is there.
pub fn ensure_cargo_tool(program: &str, version: &str) -> Result<()> {
    // Cargo knows what it has installed, and then needs neither time nor network. Not optimised,
    // because on a fresh machine nearly all the time goes into building.
    let package = format!("{program}@{version}");
    run("", &["cargo", "install", "--locked", "--quiet", "--debug", &package])
}

/// Returns the path of a tool that PyPI has built already, and installs it unless it is there.
///
/// It goes into a folder of its own: Debian's Python lets nothing else be installed beside its own
/// packages, and has no virtual environments without a further package.
pub fn python_tool(program: &str, version: &str) -> Result<String> {
    let folder = format!("target/tools/{program}-{version}");
    let path = root().join(&folder).join("bin").join(program);
    if !path.is_file() {
        ensure_program("pip3", "python3-pip")?;
        let package = format!("{program}=={version}");
        let pip = ["pip3", "install", "--quiet", "--no-deps", "--only-binary", ":all:"];
        let line = [&pip[..], &["--upgrade", "--target", &folder, &package]].concat();
        let quiet = [("PIP_DISABLE_PIP_VERSION_CHECK", "1"), ("PIP_ROOT_USER_ACTION", "ignore")];
        fetch("", &line, &quiet)?;
    }
    Ok(path.to_string_lossy().into_owned())
}

/// Installs the packages of the web side, as the lock file says.
pub fn install_web() -> Result<()> {
    ensure_program("npm", "npm")?;
    fetch("web", &["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], &[])
}
