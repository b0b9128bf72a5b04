//! What the tests of other projects' extensions begin with: a hub that lets them in, and AI
//! clients that say whether a call worked.

use serde_json::Value;
use testkit::{
    HubProcess, McpHttp, eventually,
    seeds::{enhanced, mcp_browser, webmcp},
};

use crate::scene::hub;

/// A silent browser is given up soon, and a living one has more time to answer than a busy
/// machine needs.
pub const LIVELY: &[&str] = &["--ping-after", "200ms", "--dead-after", "4s"];
/// Longer than a browser may be silent by [`LIVELY`].
const STAY_MS: u64 = 5000;

/// Gives a socket that is asked whether it lives all the time that it needs, unless a test has a
/// limit of its own.
pub fn unhurried(flags: &[&str]) -> &'static [&'static str] {
    match flags.contains(&"--takeover-probe") {
        true => &[],
        false => &["--takeover-probe", "20s"],
    }
}

/// Starts a hub that lets these extensions in, each by its own id.
pub async fn hub_for_extensions(flags: &[&str]) -> HubProcess {
    let origins = [enhanced::ORIGIN, mcp_browser::ORIGIN, webmcp::ORIGIN].join(",");
    let usual = ["--compat", "mcp_browser=0", "--allow-origin", &origins];
    hub(&[&usual[..], unhurried(flags), flags].concat()).await
}

/// Makes an AI client with a name of its own: two of them are two clients.
pub fn client(hub: &HubProcess, name: &str) -> McpHttp {
    McpHttp::modern(hub.port()).named(name)
}

/// Calls a tool that must work; returns its structured result.
pub async fn done(client: &McpHttp, tool: &str, args: Value) -> Value {
    let result = client.call(tool, args.clone()).await.result();
    assert_ne!(result["isError"], true, "{tool} {args}: {result}");
    result["structuredContent"].clone()
}

/// Calls a tool that must fail, as errors are told to a model; returns its words.
pub async fn failed(client: &McpHttp, tool: &str, args: Value) -> String {
    let (failed, said) = client.call(tool, args.clone()).await.told();
    assert!(failed, "{tool} {args} must fail: {said}");
    said
}

/// Waits until a session is there and connected; returns it.
pub async fn session(hub: &HubProcess, name: &str) -> Value {
    eventually(&format!("session {name} is connected"), async || {
        let sessions = hub.api().sessions().await;
        sessions.into_iter().find(|one| one["name"] == name && one["connected"] == true)
    })
    .await
}

/// Waits until a session has been connected without a break for longer than [`LIVELY`] lets a
/// silent one be.
pub async fn stays(hub: &HubProcess, name: &str) {
    let session = eventually(&format!("{name} stays"), async || {
        let session = hub.api().session(name).await;
        assert_eq!(session["connected"], true, "{session}");
        (session["sinceMs"].as_u64().unwrap() > STAY_MS).then_some(session)
    })
    .await;
    assert_eq!(session["connections"], 1, "{session}");
}

/// Waits until the hub has said all of this on standard error; returns what it has said.
pub async fn until_said(hub: &HubProcess, parts: &[&str]) -> String {
    eventually(&format!("the hub says {parts:?}"), async || {
        let said = hub.stderr();
        parts.iter().all(|part| said.contains(part)).then_some(said)
    })
    .await
}

/// Returns the names of all sessions, in order.
pub async fn names(hub: &HubProcess) -> Vec<String> {
    let sessions = hub.api().sessions().await;
    let mut names: Vec<_> =
        sessions.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect();
    names.sort_unstable();
    names
}

/// Returns what the feed of a session has of one kind.
pub async fn feed_of(hub: &HubProcess, name: &str, kind: &str) -> Vec<Value> {
    let feed = hub.api().feed(name).await;
    feed.into_iter().filter(|item| item["kind"] == kind).collect()
}
