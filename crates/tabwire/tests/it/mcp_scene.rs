//! What the tests of AI clients begin with: clients over every transport, and apps worth calling.

use serde_json::{Value, json};
use testkit::{
    Era, FakeBrowser, HubProcess, McpClient, McpHttp, McpStdio, StdioOptions,
    mcp::client::{Transport, WAYS},
};

use crate::scene::PROGRAM;

/// The newest revision with a handshake.
pub const LEGACY: Era = Era::Legacy("2025-11-25");

/// Connects a client through a relay.
pub async fn stdio(hub: &HubProcess, era: Era) -> McpStdio {
    StdioOptions::of(PROGRAM, hub).connect(era).await
}

/// Connects a client that posts.
pub async fn http(hub: &HubProcess, era: Era) -> McpHttp {
    McpHttp::connected(hub.port(), era).await
}

/// Connects a client for every transport and era.
pub async fn every_way(hub: &HubProcess) -> Vec<((Transport, Era), McpClient)> {
    let mut clients = Vec::new();
    for way in WAYS {
        clients.push((way, McpClient::connect(PROGRAM, hub, way).await));
    }
    clients
}

/// Describes a tool with a schema of its own.
pub fn tool(name: &str, schema: &Value) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": schema})
}

/// Connects an app that is driven by hand, with a state and one tool.
pub async fn app(hub: &HubProcess, name: &str, state: Value) -> FakeBrowser {
    let mut app = FakeBrowser::with_tools(hub.port(), name, &["paint"]).await;
    app.publish_state("first", 1, state).await;
    app.settle().await;
    app
}

/// The tools of our own, in the order of the list.
pub const OURS: [&str; 15] = [
    "app_state",
    "batch",
    "browser_content",
    "browser_debug",
    "browser_emulate",
    "browser_execute",
    "browser_instance",
    "browser_interact",
    "browser_navigate",
    "browser_network",
    "browser_snapshot",
    "browser_tab",
    "page_tools",
    "sleep",
    "wait_for",
];
/// The one tool of a manifest that is always listed.
pub const LINK: &str = "get_browser_connection_url";

/// Returns the tools that connected apps declare.
pub fn declared(list: &Value) -> Vec<Value> {
    let tools = list["tools"].as_array().unwrap()[OURS.len()..].iter();
    tools.filter(|tool| tool["name"] != LINK).cloned().collect()
}

/// Returns the names of the tools that connected apps declare.
pub fn declared_names(list: &Value) -> Vec<String> {
    each(&declared(list).into(), "name")
}

/// Returns one field of everything in a list.
pub fn each(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    list.iter().map(|item| item[field].as_str().unwrap_or_default().to_owned()).collect()
}

/// Reads the JSON in a resource.
pub fn content(read: &Value) -> Value {
    let text = read["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {read}"));
    serde_json::from_str(text).unwrap()
}
