//! The frames of ripulio/browser-mcp's extension, as they stand on the wire.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::foreign::tabs::WireTab;

/// The browser with all of its tabs.
#[derive(Deserialize)]
pub struct Connected {
    /// Its name and version.
    #[serde(default)]
    pub browser: Value,
    /// Each counts for itself.
    #[serde(default)]
    pub tabs: Option<Box<RawValue>>,
}

/// A tab that was created or is another now.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AboutTab {
    /// As it is now.
    pub tab: WireTab,
    /// The call that opened it, where one did.
    #[serde(default)]
    pub request_id: Value,
}

/// A tab that was closed, focused, or whose tools are told.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AboutTabId {
    /// The browser's number for it.
    pub tab_id: u64,
    /// The call that opened it, where one did.
    #[serde(default)]
    pub request_id: Value,
    /// The call that asked.
    #[serde(default)]
    pub call_id: Value,
    /// Whatever the page wrote.
    #[serde(default)]
    pub tools: Option<Box<RawValue>>,
}

/// What came of a tool.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call that asked.
    #[serde(default)]
    pub call_id: Value,
    /// Absent or `null` where there is none.
    #[serde(default)]
    pub result: Option<Box<RawValue>>,
    /// Absent, `null` or empty where there is none.
    #[serde(default)]
    pub error: Value,
}

/// The one message of ours with a payload that is only carried.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallTool<'a> {
    /// Always `callTool`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What we call ourselves.
    pub session_id: &'static str,
    /// The call that asked.
    pub call_id: String,
    /// The browser's number for it.
    pub tab_id: u64,
    /// The page's name for it.
    pub tool_name: &'a str,
    /// Carried as they came.
    pub args: &'a RawValue,
}
