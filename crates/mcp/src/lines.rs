//! Reads newline-delimited messages of bounded length from a byte stream.
//!
//! Gives out one raw line at a time; a line that is too long is dropped as it arrives, and only
//! its request id is remembered, so that somebody can be told. Also decodes a line, or says what
//! is wrong with one that is no message. Cancel-safe: a dropped read goes on where it stopped.

use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcError, RequestId};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{self, AsyncBufReadExt, AsyncRead, BufReader};

use crate::oversize::IdFinder;

/// Bytes of an id that is a text, as it is written between its quotes.
const LONGEST_ID: usize = 1024;

/// A reader of lines up to a limit.
pub struct Lines<R> {
    source: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    /// Present while the rest of a line beyond the limit is being dropped.
    oversize: Option<IdFinder>,
}

/// What was read.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// One line without its end; the last one may have had none.
    Whole(Vec<u8>),
    /// A line beyond the limit, with the id of the request it was, if it was one.
    TooLong(Option<RequestId>),
    /// The stream ended.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads from `source` lines of at most `limit` bytes.
    pub fn new(source: R, limit: usize) -> Self {
        Self { source: BufReader::new(source), limit, line: Vec::new(), oversize: None }
    }

    /// Returns the next line.
    pub async fn next(&mut self) -> io::Result<Line> {
        loop {
            let available = self.source.fill_buf().await?;
            if available.is_empty() {
                return Ok(self.finish());
            }
            // No await from here to the end of the loop, so nothing is consumed and then lost.
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let piece = &available[..end.unwrap_or(taken)];
            keep(piece, &mut self.line, &mut self.oversize, self.limit);
            self.source.consume(taken);
            if end.is_some() {
                return Ok(self.cut());
            }
        }
    }

    fn cut(&mut self) -> Line {
        if let Some(finder) = self.oversize.take() {
            return Line::TooLong(finder.found());
        }
        let mut line = std::mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Line::Whole(line)
    }

    fn finish(&mut self) -> Line {
        if self.line.is_empty() && self.oversize.is_none() {
            return Line::End;
        }
        self.cut()
    }
}

fn keep(piece: &[u8], line: &mut Vec<u8>, oversize: &mut Option<IdFinder>, limit: usize) {
    if let Some(finder) = oversize {
        finder.feed(piece);
    } else if line.len() + piece.len() > limit {
        let mut finder = IdFinder::default();
        finder.feed(line);
        finder.feed(piece);
        *oversize = Some(finder);
        *line = Vec::new();
    } else {
        line.extend_from_slice(piece);
    }
}

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
    Some(JsonRpcError::new(finder.found(), error))
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

    async fn read(input: &[u8], limit: usize) -> Vec<Line> {
        // One byte at a time, so that every boundary is met.
        let source = tokio_test_reader(input);
        let mut lines = Lines::new(source, limit);
        let mut found = Vec::new();
        loop {
            match lines.next().await.unwrap() {
                Line::End => return found,
                line => found.push(line),
            }
        }
    }

    fn tokio_test_reader(input: &[u8]) -> impl AsyncRead + Unpin {
        let (mut near, far) = tokio::io::duplex(1);
        let input = input.to_vec();
        tokio::spawn(async move {
            tokio::io::AsyncWriteExt::write_all(&mut near, &input).await.unwrap();
        });
        far
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn lines_are_cut_at_any_line_end_and_at_the_end_of_the_stream() {
        let expected = [whole("one"), whole(""), whole("two"), whole("half")];
        assert_eq!(read(b"one\n\ntwo\r\nhalf", 10).await, expected);
    }

    #[tokio::test]
    async fn a_long_line_is_dropped_and_its_id_kept() {
        let input = b"{\"params\":\"xxxxxxxxxxxxxxxx\",\"id\":7}\nnext\n";
        let expected = [Line::TooLong(Some(RequestId::Number(7))), whole("next")];
        assert_eq!(read(input, 8).await, expected);
    }

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
