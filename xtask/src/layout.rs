//! `cargo xtask layout`: writes `crates/tabwire/relay.ld`, the functions that a relay runs.
//!
//! A relay is run under valgrind, which tells what was executed; the linker then lays those
//! functions side by side (`crates/tabwire/build.rs`). They are told by name without the hash that
//! the compiler adds, so the file outlives most changes; do this again when the memory of a relay
//! in docs/benchmarks.md has grown.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::{
    hub_process::{HubProcess, data_folder},
    shell,
};

const PROGRAM: &str = "target/release/tabwire";
const SCRIPT: &str = "crates/tabwire/relay.ld";
/// A name that more functions share than this is left out: most of them are not the relay's.
const SHARED: usize = 20;

pub fn run() -> Result<()> {
    shell::ensure_program("valgrind", "valgrind")?;
    shell::ensure_program("nm", "binutils")?;
    // With names, and otherwise as it is used.
    let names = ["--config", "profile.release.strip=false"];
    shell::run("", &[&["cargo", "build", "--release", "-p", "tabwire"], &names[..]].concat())?;
    let all = shell::output("", &["nm", "--defined-only", PROGRAM])?;
    let mut sharing: HashMap<String, usize> = HashMap::new();
    for name in all.lines().filter_map(|line| line.split(' ').next_back()) {
        *sharing.entry(pattern(name)).or_default() += 1;
    }
    let run: BTreeSet<String> = executed()?.iter().map(|name| pattern(name)).collect();
    // Only what is in the program: the rest is the libraries'.
    let own = run.into_iter().filter(|name| sharing.get(name).is_some_and(|it| *it <= SHARED));
    let script = script(own);
    ensure!(script.lines().count() > 100, "a relay runs more functions than these:\n{script}");
    fs::write(shell::root().join(SCRIPT), script)?;
    eprintln!("wrote {SCRIPT}");
    Ok(())
}

/// Runs a relay until it has told its tools, and returns the functions that it has run.
fn executed() -> Result<BTreeSet<String>> {
    let _hub = HubProcess::start(PROGRAM)?;
    let record = data_folder().join("relay.callgrind");
    let mut relay = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--demangle=no"])
        .arg(format!("--callgrind-out-file={}", record.display()))
        .arg(shell::root().join(PROGRAM))
        .args(["stdio", "--data"])
        .arg(data_folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("valgrind cannot be started")?;
    let mut input = relay.stdin.take().context("no input")?;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "layout", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta},
    });
    writeln!(input, "{list}")?;
    let mut answer = String::new();
    BufReader::new(relay.stdout.take().context("no output")?).read_line(&mut answer)?;
    // The end of its input is the end of a relay, and only then is the record written.
    drop(input);
    ensure!(relay.wait()?.success() && answer.contains("app_state"), "no tools: {answer}");
    Ok(functions(&fs::read_to_string(record)?))
}

/// Reads the functions that were run out of callgrind's record, those of libraries among them. A
/// name is written out where it comes first, `(7) main`, and is `(7)` from then on.
fn functions(record: &str) -> BTreeSet<String> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut found = BTreeSet::new();
    for line in record.lines() {
        let Some((kind @ ("fn" | "cfn"), value)) = line.split_once('=') else { continue };
        let Some((number, name)) = value.split_once(')') else { continue };
        if !name.is_empty() {
            names.insert(number, name.trim_start());
        }
        if kind == "fn" {
            let name = names.get(number).copied().unwrap_or_default();
            // What calls itself is numbered: `name'2`.
            found.insert(name.split('\'').next().unwrap_or_default().to_owned());
        }
    }
    found
}

/// Replaces what changes from build to build in a function's name: the hash at the end of one
/// scheme, the marks of crates inside the other.
fn pattern(name: &str) -> String {
    if let Some(at) = name.rfind("17h").filter(|_| name.starts_with("_ZN")) {
        return format!("{}*", &name[..at + 3]);
    }
    if !name.starts_with("_R") {
        return name.to_owned();
    }
    let mut parts = name.split('.').next().unwrap_or_default().split("Cs");
    let mut pattern = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_mark = |mark: &str| mark.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match part.split_once('_').filter(|(mark, _)| is_mark(mark)) {
            Some((_, rest)) => pattern += &format!("Cs*_{rest}"),
            None => pattern += &format!("Cs{part}"),
        }
    }
    pattern + if name.contains('.') { ".*" } else { "" }
}

fn script(names: impl Iterator<Item = String>) -> String {
    // The star stands for `unlikely.`, where the compiler puts what it takes to be rare.
    let lines: String = names.map(|name| format!("    *(.text.*{name})\n")).collect();
    format!(
        "/* The functions that a relay runs, side by side: see build.rs.\n   \
         Written by `cargo xtask layout`; do not edit. */\n\
         SECTIONS {{\n  .text.relay : {{\n{lines}  }}\n}}\nINSERT BEFORE .text;\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_from_build_to_build_is_left_open() {
        for (name, expected) in [
            ("_ZN7machine5relay5relay17h0123456789abcdefE", "_ZN7machine5relay5relay17h*"),
            ("_RNvNtCsjrHSEGnQ3l9_3std2io5stdin", "_RNvNtCs*_3std2io5stdin"),
            ("_RNvNtCsaa_3std2ioCsbb_4core.llvm.77", "_RNvNtCs*_3std2ioCs*_4core.*"),
            ("main", "main"),
        ] {
            assert_eq!(pattern(name), expected);
        }
    }

    #[test]
    fn a_function_is_read_by_the_number_that_its_name_was_given() {
        let record = "ob=(1) /x/tabwire\nfn=(2) main\n0 4\ncfn=(1) run\ncalls=1 0\n0 3\n\
                      fn=(3) again'2\n0 1\ncfn=(4) only_called\nfn=(1)\n0 3\n";
        let found = functions(record);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["again", "main", "run"]);
    }
}
