//! MCP from the AI client's side, as plain JSON: what its transports and eras share.
//!
//! - [`stdio`]: a client that starts `tabwire stdio`; [`http`]: one that posts to `/mcp`;
//! - [`stream`]: answers over HTTP, whole or as events, which can be dropped in the middle;
//! - [`client`]: any of them, for tests that hold for all.
//!
//! Whatever comes in is checked to be a JSON-RPC message before a test sees it.

pub mod client;
pub mod http;
pub mod stdio;
pub mod stream;

use serde_json::{Map, Value, json};

/// The revision without a handshake.
pub const MODERN: &str = "2026-07-28";
/// Where requests of that revision say which one they follow.
pub const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Which rules a client follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Every request carries its own metadata.
    Modern,
    /// A handshake comes first, for this revision.
    Legacy(&'static str),
}

impl Era {
    /// Returns whether requests are self-contained.
    pub fn is_modern(self) -> bool {
        self == Self::Modern
    }

    /// Returns the revision.
    pub fn version(self) -> &'static str {
        match self {
            Self::Modern => MODERN,
            Self::Legacy(version) => version,
        }
    }

    /// Writes a request of this era; metadata that the parameters have already stays.
    pub fn request(self, id: u64, method: &str, params: Value, client: &str) -> Value {
        let mut params = match params {
            Value::Object(params) => params,
            Value::Null => Map::new(),
            other => panic!("parameters are an object: {other}"),
        };
        if self.is_modern() {
            let own = params.remove("_meta").unwrap_or_default();
            let mut meta = json!({
                VERSION_KEY: MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": client, "version": "1.0"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            for (key, value) in own.as_object().into_iter().flatten() {
                meta[key] = value.clone();
            }
            params.insert("_meta".to_owned(), meta);
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// Writes the parameters of the handshake.
    pub fn handshake(self, client: &str) -> Value {
        json!({
            "protocolVersion": self.version(), "capabilities": {},
            "clientInfo": {"name": client, "version": "1.0"},
        })
    }
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply(pub Value);

impl Reply {
    /// Returns the result; fails the test on an error.
    #[track_caller]
    pub fn result(self) -> Value {
        match self.0.get("result") {
            Some(result) => result.clone(),
            None => panic!("an error instead of a result: {}", self.0),
        }
    }

    /// Returns code and message of the error; fails the test on a result.
    #[track_caller]
    pub fn error(self) -> (i64, String) {
        match self.0.get("error") {
            Some(error) => {
                let message = error["message"].as_str().unwrap_or_default();
                (error["code"].as_i64().unwrap(), message.to_owned())
            }
            None => panic!("a result instead of an error: {}", self.0),
        }
    }

    /// Returns what a tool said, and whether it failed; fails the test on a protocol error.
    #[track_caller]
    pub fn told(self) -> (bool, String) {
        let result = self.result();
        (result["isError"] == true, text(&result))
    }
}

/// Returns the text of a tool's result.
#[track_caller]
pub fn text(result: &Value) -> String {
    match result["content"][0]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => panic!("no text in {result}"),
    }
}

/// Reads one message; fails the test when it is not one of JSON-RPC.
#[track_caller]
pub fn read_message(bytes: &[u8]) -> Value {
    let shown = || String::from_utf8_lossy(&bytes[..bytes.len().min(400)]).into_owned();
    let message: Value = match serde_json::from_slice(bytes) {
        Ok(message) => message,
        Err(error) => panic!("not JSON: {error}: {:?}", shown()),
    };
    if let Some(fault) = fault(&message) {
        panic!("not JSON-RPC: {fault}: {}", shown());
    }
    message
}

/// Says what is wrong with a message, if anything is.
fn fault(message: &Value) -> Option<&'static str> {
    let Some(fields) = message.as_object() else { return Some("no object") };
    if fields.get("jsonrpc") != Some(&json!("2.0")) {
        return Some("no version");
    }
    let id = fields.get("id");
    let usable = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    if let Some(method) = fields.get("method") {
        let fine = method.is_string() && id.is_none_or(usable);
        return (!fine).then_some("neither a request nor a notification");
    }
    match (fields.get("result"), fields.get("error")) {
        (Some(_), None) if id.is_some_and(usable) => None,
        (None, Some(error)) => {
            let fine = error["code"].is_i64() && error["message"].is_string();
            let addressed = id.is_none_or(|id| id.is_null() || usable(id));
            (!fine || !addressed).then_some("a broken error")
        }
        _ => Some("neither a result nor an error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_of_the_protocol_pass() {
        for (message, passes) in [
            (json!({"jsonrpc": "2.0", "id": 1, "result": {}}), true),
            (json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": ""}}), true),
            (json!({"jsonrpc": "2.0", "method": "notifications/x"}), true),
            (json!({"jsonrpc": "2.0", "id": "a", "method": "x"}), true),
            (json!({"jsonrpc": "1.0", "id": 1, "result": {}}), false),
            (json!({"jsonrpc": "2.0", "result": {}}), false),
            (json!({"jsonrpc": "2.0", "id": 1}), false),
            (json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "1", "message": ""}}), false),
            (json!([{"jsonrpc": "2.0", "id": 1, "result": {}}]), false),
        ] {
            assert_eq!(fault(&message).is_none(), passes, "{message}");
        }
    }

    #[test]
    fn a_modern_request_carries_its_metadata_and_keeps_what_it_had() {
        let request = Era::Modern.request(1, "x", json!({"_meta": {"progressToken": 7}}), "me");
        let meta = &request["params"]["_meta"];
        assert_eq!((&meta[VERSION_KEY], &meta["progressToken"]), (&json!(MODERN), &json!(7)));
        let request = Era::Legacy("2025-11-25").request(1, "x", Value::Null, "me");
        assert_eq!(request["params"], json!({}));
    }
}
