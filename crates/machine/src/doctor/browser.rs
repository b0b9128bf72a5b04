//! Looks at what browsers need: a manifest, the script that it names, the extension, a key.

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::Value;
use tokio::{process::Command, time};

use super::{Finding, InspectedSetup};
use crate::{
    install::{EXTENSION, browsers, file_change::look, native_host, surroundings::is_program},
    record::read_private,
};

/// How long the script may take to answer.
const ANSWER: Duration = Duration::from_secs(10);
/// A longer file of keys is not ours.
const LONGEST: u64 = 16 * 1024 * 1024;
const INSTALL: &str = "tabwire install";

/// Looks which browsers there are.
pub fn browsers(setup: &InspectedSetup) -> Finding {
    let found = browsers::chosen(&setup.what.here, &[]);
    let titles: Vec<_> = found.iter().map(|browser| browser.title).collect();
    match titles.is_empty() {
        true => Finding::warning(
            "browsers",
            "no browser that we know was found",
            "install Chrome, Chromium, Edge or Brave; or name one: tabwire install --browser chrome",
        ),
        false => Finding::ok("browsers", titles.join(", ")),
    }
}

/// Looks at the native messaging host: one finding per browser, and one for the script.
pub async fn native_host(setup: &InspectedSetup) -> Vec<Finding> {
    let script = native_host::script_path(&setup.what.data);
    let mut findings = Vec::new();
    for browser in browsers::chosen(&setup.what.here, &[]) {
        for folder in browser.manifest_folders(&setup.what.here) {
            let path = folder.join(native_host::manifest_name());
            let check = format!("native-host:{}", browser.name);
            findings.push(match manifest(&path, &script) {
                Ok(()) => Finding::ok(check, format!("{} is in place", path.display())),
                Err(message) => Finding::problem(&check, message, INSTALL),
            });
        }
    }
    if !findings.is_empty() {
        findings.push(self::script(setup, &script).await);
    }
    findings
}

fn manifest(path: &Path, script: &Path) -> Result<(), String> {
    let shown = path.display();
    let file = look(path).map_err(|error| error.to_string())?;
    let text = file.text.ok_or_else(|| format!("{shown} is missing"))?;
    let named = native_host::read_manifest(&text).map_err(|error| format!("{shown}: {error}"))?;
    match named == script {
        true => Ok(()),
        false => Err(format!("{shown} names another program: {}", named.display())),
    }
}

/// Looks at the script, and whether what it starts answers. Asking for a version changes nothing.
async fn script(setup: &InspectedSetup, script: &Path) -> Finding {
    let (check, shown) = ("native-host", script.display());
    let text = look(script).ok().and_then(|file| file.text);
    if !text.is_some_and(|text| native_host::is_our_script(&text)) {
        return Finding::problem(check, format!("{shown} is missing or not ours"), INSTALL);
    }
    if !is_program(script) {
        let fix = format!("chmod 700 {shown}");
        return Finding::problem(check, format!("{shown} cannot be run"), fix);
    }
    let mut command = Command::new(script);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    match time::timeout(ANSWER, command.output()).await {
        Ok(Ok(output)) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            match said.split_whitespace().last() == Some(&setup.version) {
                true => Finding::ok(check, format!("{shown} starts this version")),
                false => Finding::problem(
                    check,
                    format!("{shown} starts {said:?}, this is version {}", setup.version),
                    INSTALL,
                ),
            }
        }
        Ok(Ok(output)) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().next().unwrap_or_default().to_owned();
            Finding::problem(check, format!("{shown} does not work: {said}"), INSTALL)
        }
        Ok(Err(error)) => {
            Finding::problem(check, format!("{shown} cannot be run: {error}"), INSTALL)
        }
        Err(_) => Finding::problem(check, format!("{shown} does not answer"), INSTALL),
    }
}

/// Looks whether the extension is unpacked, in this version.
pub fn extension(setup: &InspectedSetup) -> Finding {
    let (check, folder) = ("extension", setup.what.data.join(EXTENSION));
    let shown = folder.display();
    let text = look(&folder.join("manifest.json")).ok().and_then(|file| file.text);
    let Some(text) = text else {
        let message = format!("it is not in {shown}");
        // No problem by itself: a browser that the hub starts gets it unpacked.
        return match setup.has_extension {
            true => Finding::warning(check, message, INSTALL),
            false => Finding::warning(check, message, "this program has no extension in it"),
        };
    };
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    match manifest["version"].as_str() {
        Some(version) if version == setup.version => {
            Finding::ok(check, format!("version {version} is in {shown}"))
        }
        Some(version) => Finding::problem(
            check,
            format!("version {version} is in {shown}, this program is {}", setup.version),
            "tabwire install, then reload it on the browser's page of extensions",
        ),
        None => Finding::problem(check, format!("{shown}/manifest.json is damaged"), INSTALL),
    }
}

/// Looks whether a browser was paired.
pub fn paired(data: &Path) -> Finding {
    let (check, path) = ("paired", data.join("pairing.json"));
    let fix = "load the extension; it pairs by itself, or with a code: tabwire pair";
    let text = match read_private(&path, LONGEST) {
        Ok(None) => return Finding::warning(check, "no browser is paired yet", fix),
        Ok(Some(text)) => text,
        Err(error) => {
            let message = format!("{} cannot be used: {error}", path.display());
            return Finding::problem(check, message, format!("chmod 600 {}", path.display()));
        }
    };
    let pairing: Value = serde_json::from_slice(&text).unwrap_or_default();
    match pairing["instances"].as_object().map(serde_json::Map::len) {
        None => Finding::problem(
            check,
            format!("{} is damaged", path.display()),
            // Removing it would let browsers in again that were unpaired.
            "tabwire pair, which sets it aside",
        ),
        Some(0) => Finding::warning(check, "no browser is paired yet", fix),
        Some(1) => Finding::ok(check, "one browser is paired"),
        Some(count) => Finding::ok(check, format!("{count} browsers are paired")),
    }
}
