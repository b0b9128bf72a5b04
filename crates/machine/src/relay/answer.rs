//! What a relay says in the place of a hub that cannot: the same shapes, honest words.

use model::{Code, Fault};
use serde_json::{Value, json};

use super::envelope::Id;

/// JSON-RPC's code for a message that is not a request.
const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC's first code for faults of a server.
const SERVER_FAULT: i32 = -32000;

/// How an answer looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The protocol's error.
    Error,
    /// The result of a tool, for a model to read.
    Tool,
    /// The same for clients from 2026-07-28 on.
    ModernTool,
}

/// Says that a request has failed.
pub(super) fn fault(id: &Id, fault: &Fault, shape: Shape) -> Vec<u8> {
    let details = json!({
        "code": fault.code.as_str(),
        "retry": fault.retry.as_str(),
        "message": fault.message,
        "hint": fault.hint,
    });
    let words = format!("{fault} [{}, retry: {}]", fault.code, fault.retry.as_str());
    if shape == Shape::Error {
        return error(Some(id), SERVER_FAULT, &words, Some(&details));
    }
    let mut result = json!({
        "content": [{"type": "text", "text": words}],
        "isError": true,
        "_meta": {"tabwire": {"error": details}},
    });
    if shape == Shape::ModernTool {
        result["resultType"] = json!("complete");
    }
    line(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// Refuses a line that is no request for a hub.
pub(super) fn refusal(id: Option<&Id>, words: &str) -> Vec<u8> {
    error(id, INVALID_REQUEST, words, None)
}

/// Withdraws a request, of a client or of a hub.
pub(super) fn cancelled(id: &Id, reason: &str) -> Vec<u8> {
    let params = json!({"requestId": id, "reason": reason});
    line(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
}

/// It was written to a hub that died.
pub(super) fn outcome_unknown() -> Fault {
    let text = "the hub ended before it answered; whether the call was carried out is not known";
    Fault::new(Code::OutcomeUnknown, text).hint("look before repeating it")
}

/// It only asked, and the hub died.
pub(super) fn unanswered() -> Fault {
    Fault::new(Code::NotDelivered, "the hub ended before it answered").hint("ask again")
}

/// It never reached a hub.
pub(super) fn not_delivered(trouble: Option<&str>) -> Fault {
    let text = match trouble {
        Some(trouble) => format!("it was not sent, because no hub could be reached: {trouble}"),
        None => "it was not sent, because no hub could be reached".to_owned(),
    };
    Fault::new(Code::NotDelivered, text).hint("nothing happened; it can be repeated")
}

/// It was written to a hub that stands still.
pub(super) fn hub_unresponsive() -> Fault {
    let text = "the hub runs but does not answer; whether the request was carried out is not known";
    let hint = "look before repeating it; `tabwire stop --force` ends a hub that stays frozen";
    Fault::new(Code::HubUnresponsive, text).hint(hint)
}

fn error(id: Option<&Id>, code: i32, words: &str, data: Option<&Value>) -> Vec<u8> {
    let mut error = json!({"code": code, "message": words});
    if let Some(data) = data {
        error["data"] = data.clone();
    }
    line(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &[u8]) -> Value {
        serde_json::from_slice(line).unwrap()
    }

    #[test]
    fn faults_look_like_the_hubs_own() {
        let id = Id::Number(7);
        let tool = read(&fault(&id, &outcome_unknown(), Shape::Tool));
        assert_eq!((&tool["id"], &tool["result"]["isError"]), (&json!(7), &json!(true)));
        let text = tool["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.ends_with("look before repeating it [outcome_unknown, retry: check]"));
        assert_eq!(tool["result"]["_meta"]["tabwire"]["error"]["code"], "outcome_unknown");
        assert!(tool["result"].get("resultType").is_none());
        let modern = read(&fault(&id, &outcome_unknown(), Shape::ModernTool));
        assert_eq!(modern["result"]["resultType"], "complete");
        let other = read(&fault(&id, &not_delivered(Some("gone")), Shape::Error));
        assert_eq!(other["error"]["code"], SERVER_FAULT);
        assert_eq!(other["error"]["data"]["retry"], "now");
        assert!(other["error"]["message"].as_str().unwrap().contains("gone"));
    }

    #[test]
    fn every_answer_is_one_line() {
        let id = Id::Text("a\nb".to_owned());
        let lines = [
            fault(&id, &not_delivered(Some("two\nlines")), Shape::Tool),
            refusal(None, "no"),
            cancelled(&id, "gone"),
        ];
        for line in lines {
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        }
        assert_eq!(read(&refusal(None, "no"))["id"], Value::Null);
    }
}
