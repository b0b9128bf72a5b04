//! Native messaging: how a browser's extension asks a program of its user on this machine.
//!
//! A message is a length of four bytes in the machine's own order, then JSON. The browser starts
//! the program and talks to it over standard input and output until it closes its end. Here are
//! the framing and the messages; what is answered is decided elsewhere.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

/// Bytes of a request; a longer one ends the conversation.
pub const REQUEST_BYTES: usize = 64 << 10;
/// Bytes of an answer; browsers take no more.
pub const ANSWER_BYTES: usize = 1 << 20;

/// What the extension asks.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Request {
    /// Where is the hub, and what is my key?
    #[serde(rename_all = "camelCase")]
    Hello {
        /// The extension's name for itself.
        instance_id: String,
        /// What browser it is in, for people.
        #[serde(default)]
        browser: Option<String>,
    },
}

/// What it is told. It has a secret in it, so it cannot be printed.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Answer {
    /// Where the hub is, and the key to prove oneself with.
    Hub {
        /// Where the hub is, or was last.
        port: u16,
        /// The key, in base64url.
        key: String,
        /// What the session shall be called.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Whether the hub is there now.
        running: bool,
        /// The hub has started the browser: nothing in it is its user's own.
        launched: bool,
    },
    /// The extension gets no key.
    Refused {
        /// Why, and what to do.
        message: String,
    },
}

impl Answer {
    /// Makes a refusal.
    pub fn refused(message: impl ToString) -> Self {
        Self::Refused { message: message.to_string() }
    }
}

/// Answers requests one by one until the other end is closed.
pub fn serve(
    mut reading: impl Read,
    mut writing: impl Write,
    mut answer: impl FnMut(Request) -> Answer,
) -> io::Result<()> {
    while let Some(length) = read_length(&mut reading)? {
        if length > REQUEST_BYTES {
            let message = format!("a request has at most {REQUEST_BYTES} bytes");
            write(&mut writing, &Answer::refused(&message))?;
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let mut text = vec![0; length];
        reading.read_exact(&mut text)?;
        let answer = match serde_json::from_slice(&text) {
            Ok(request) => answer(request),
            Err(error) => Answer::refused(format!("the request is not understood: {error}")),
        };
        write(&mut writing, &answer)?;
    }
    Ok(())
}

/// Reads a length; `None` means that the other end is closed, as it should be: between messages.
fn read_length(reading: &mut impl Read) -> io::Result<Option<usize>> {
    let mut bytes = [0; 4];
    let mut count = 0;
    while count < bytes.len() {
        match reading.read(&mut bytes[count..]) {
            Ok(0) if count == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(usize::try_from(u32::from_ne_bytes(bytes)).ok())
}

fn write(writing: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let text = serde_json::to_vec(answer)?;
    let length = u32::try_from(text.len()).ok().filter(|_| text.len() <= ANSWER_BYTES);
    let length = length.ok_or_else(|| io::Error::other("the answer is too long for a browser"))?;
    writing.write_all(&length.to_ne_bytes())?;
    writing.write_all(&text)?;
    writing.flush()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn frame(text: &[u8]) -> Vec<u8> {
        let length = u32::try_from(text.len()).unwrap();
        [&length.to_ne_bytes(), text].concat()
    }

    fn answers(mut bytes: &[u8]) -> Vec<Value> {
        let mut found = Vec::new();
        while let Some((length, rest)) = bytes.split_first_chunk() {
            let (text, rest) = rest.split_at(u32::from_ne_bytes(*length) as usize);
            found.push(serde_json::from_slice(text).unwrap());
            bytes = rest;
        }
        found
    }

    fn talk(input: &[u8]) -> (io::Result<()>, Vec<Value>) {
        let mut output = Vec::new();
        let served = serve(input, &mut output, |request| {
            let Request::Hello { instance_id, .. } = request;
            let (key, name) = ("secret".to_owned(), Some(instance_id));
            Answer::Hub { port: 8765, key, name, running: true, launched: false }
        });
        (served, answers(&output))
    }

    #[test]
    fn several_requests_are_answered_until_the_end() {
        let hello = br#"{"type":"hello","instanceId":"a","browser":"Chrome","more":1}"#;
        let nonsense = frame(b"{\"type\":\"telepathy\"}");
        let input = [frame(hello), nonsense, frame(b"nonsense"), frame(hello)].concat();
        let (served, found) = talk(&input);
        served.unwrap();
        let hub = json!({
            "type": "hub", "port": 8765, "key": "secret", "name": "a", "running": true,
            "launched": false,
        });
        assert_eq!((&found[0], &found[3], found.len()), (&hub, &hub, 4));
        assert!(found[1..3].iter().all(|answer| answer["type"] == "refused"), "{found:?}");
        assert!(talk(b"").0.is_ok());
    }

    #[test]
    fn a_request_that_is_too_long_or_cut_off_ends_it() {
        let long = frame(&vec![b' '; REQUEST_BYTES + 1]);
        let (served, found) = talk(&long);
        assert!(served.is_err());
        assert_eq!(found[0]["type"], "refused");
        assert_eq!(found.len(), 1);
        for cut in [&long[..3], &long[..4], &frame(b"{}")[..5]] {
            assert!(talk(cut).0.is_err(), "{}", cut.len());
        }
    }

    #[test]
    fn an_answer_that_is_too_long_is_not_sent() {
        let mut output = Vec::new();
        let answer = Answer::refused("x".repeat(ANSWER_BYTES));
        assert!(write(&mut output, &answer).is_err());
        assert_eq!(output, b"");
    }
}
