//! Other people's programs against ours: the official MCP suite, SDKs and inspector.
//!
//! They need Node 22, which comes as an npm package with them (`web/clients`).

use std::path::Path;

use anyhow::Result;
use testkit::TokenProxy;

use crate::{
    hub_process::{HubProcess, data_folder},
    shell,
};

const NODE: &str = "node_modules/.bin/node";
const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
/// Both eras, each with every scenario that the suite scores for it. What the suite runs besides,
/// extensions that we do not offer such as tasks, it reports as not scored.
const REQUIREMENTS: [&str; 2] = ["2026-07-28", "2025-11-25"];

/// Runs everything with a built program.
pub fn run(binary: &Path) -> Result<()> {
    // Not `npm ci`: the inspector's bundler has optional parts for platforms that a registry need
    // not hold, and a lock file without them counts as out of step.
    let install = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    shell::fetch("web/clients", &install, &[])?;
    let text = binary.to_string_lossy();
    let line = [NODE, "--test", "--test-reporter=spec", "test/*.test.mjs"];
    shell::run_with("web/clients", &line, &[("TABWIRE_BIN", &text)])?;
    for revision in REQUIREMENTS {
        conformance(&binary.with_file_name("conformance"), revision)?;
    }
    Ok(())
}

fn conformance(server: &Path, revision: &str) -> Result<()> {
    let data = data_folder();
    std::fs::create_dir_all(&data)?;
    // The suite cannot send a header, so somebody else shows the token. It wants a web page of its
    // server's own origin to be let in, which the hub does only where its operator says so.
    let proxy = TokenProxy::bind()?;
    let origin = format!("http://127.0.0.1:{}", proxy.port);
    let server = server.to_string_lossy();
    let server = HubProcess::spawn(&server, &["--allow-origin", &origin], &data)?;
    proxy.serve(server.port);
    let url = format!("{origin}/mcp");
    let results = shell::root().join(format!("target/conformance-{revision}"));
    let results = results.to_string_lossy();
    let line = [NODE, SUITE, "server", "--url", &url, "--requirements", revision, "-o", &results];
    shell::run("web/clients", &line)
}
