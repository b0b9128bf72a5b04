//! Decodes what a client says, or says what is wrong with what is no message.
//!
//! Takes the bytes of one line or one body. Nothing is read from a stream here.

use lines::IdFinder;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcError, RequestId};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Bytes of an id that is a text, as it is written between its quotes.
const LONGEST_ID: usize = 1024;

/// Reads a line as a message; the error is what to answer.
pub fn decode(line: &[u8]) -> Result<ClientJsonRpcMessage, JsonRpcError> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if let Some(refusal) = refusal_of_shape(line).or_else(|| refusal_of_id(line)) {
        return Err(refusal);
    }
    // Of what is no object the library would quote everything in its error.
    if !is_object(line) {
        return Err(refusal(line));
    }
    serde_json::from_slice(line).map_err(|_| refusal(line))
}

/// Refuses a message of which no tree is built: it nests too deep, or has too many values.
pub(crate) fn refusal_of_shape(message: &[u8]) -> Option<JsonRpcError> {
    let complaint = model::shape::complaint(message)?;
    // The id is found without a tree: whatever stands between is skipped.
    let mut finder = IdFinder::default();
    finder.feed(message);
    let error = ErrorData::invalid_request(format!("the message is refused: {complaint}"), None);
    Some(JsonRpcError::new(finder.found().as_deref().and_then(read_id), error))
}

/// Says what is wrong with a message that did not decode.
pub(crate) fn refusal(message: &[u8]) -> JsonRpcError {
    let Ok(raw) = serde_json::from_slice::<&RawValue>(message) else {
        return JsonRpcError::new(None, ErrorData::parse_error("not valid JSON", None));
    };
    if raw.get().starts_with('[') {
        let text = "batches are not part of MCP since 2025-06-18; send one message at a time";
        return JsonRpcError::new(None, ErrorData::invalid_request(text, None));
    }
    let text = "not a JSON-RPC 2.0 request, notification or response";
    let id = id_text(message).and_then(read_id);
    JsonRpcError::new(id, ErrorData::invalid_request(text, None))
}

/// Refuses a message whose id is none, or so long that it would cost more than the request.
pub(crate) fn refusal_of_id(message: &[u8]) -> Option<JsonRpcError> {
    let text = id_text(message)?;
    let id = read_id(text);
    if id.is_some() && text.len() <= LONGEST_ID + 2 {
        return None;
    }
    let text = "the id must be a whole number, written without point and exponent, or a text of at \
                most 1024 bytes";
    Some(JsonRpcError::new(id, ErrorData::invalid_request(text, None)))
}

/// Reads an id as it is written. A number that an answer would write in another way is none: `7.0`
/// would come back as 7, which may be the id of another request.
pub(crate) fn read_id(text: &str) -> Option<RequestId> {
    let id = serde_json::from_str(text).ok()?;
    match &id {
        RequestId::Number(number) if number.to_string() != text => None,
        _ => Some(id),
    }
}

/// Returns the id of a message as it is written; none of what is no object.
fn id_text(message: &[u8]) -> Option<&str> {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }
    let head: Head<'_> = serde_json::from_slice(is_object(message).then_some(message)?).ok()?;
    head.id.map(RawValue::get)
}

/// Whether a message may be an object of JSON.
pub(crate) fn is_object(message: &[u8]) -> bool {
    message.trim_ascii_start().starts_with(b"{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_would_come_back_in_another_form_is_refused() {
        let many = "0,".repeat(60_000);
        for id in ["7.0", "7e0", "-0", "-0.0", "1.5", "70e-1", "99999999999999999999", "[7]"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            let error = decode(line.as_bytes()).unwrap_err();
            assert_eq!((error.id, error.error.code.0), (None, -32600), "{id}");
            assert!(error.error.message.contains("whole number"), "{id}");
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","x":[{many}0]}}"#);
            assert_eq!(decode(line.as_bytes()).unwrap_err().id, None, "{id} of many values");
        }
        let long = "x".repeat(LONGEST_ID);
        for id in ["7", "-7", "0", "\"7.0\"", "9223372036854775807", &format!("\"{long}\"")] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert!(decode(line.as_bytes()).is_ok(), "{id}");
        }
    }

    #[test]
    fn a_long_id_is_refused_with_it() {
        let id = "x".repeat(LONGEST_ID + 1);
        let line = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#);
        let error = decode(line.as_bytes()).unwrap_err();
        assert_eq!((error.id, error.error.code.0), (Some(RequestId::String(id.into())), -32600));
    }

    #[test]
    fn refusals_name_the_fault() {
        let cases: [(&[u8], i32, Option<i64>); 5] = [
            (b"hello", -32700, None),
            (b"\"\xff\"", -32700, None),
            (b"[{}]", -32600, None),
            (b"{\"id\":3}", -32600, Some(3)),
            (b"12", -32600, None),
        ];
        for (message, code, id) in cases {
            let error = refusal(message);
            assert_eq!(error.error.code.0, code, "{message:?}");
            assert_eq!(error.id, id.map(RequestId::Number), "{message:?}");
        }
    }
}
