//! Lines of an AI client on a byte stream, in pieces of any size, and the messages they are.
//!
//! Whether lines are short enough or not, they end in the same places; and the id that is found in
//! one that is too long is the id it has.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use lines::{Line, Lines};
use mcp::client_message::decode;
use serde_json::Value;
use tokio::io::{AsyncRead, BufReader, ReadBuf};

/// The longest line that is kept.
const LIMIT: usize = 1 << 20;

/// Reads all lines twice: with room for each, and with room for none.
pub fn run(input: &[u8]) {
    let Some((piece, input)) = input.split_first() else { return };
    let piece = usize::from(*piece % 64) + 1;
    let whole = read(Pieces { input, piece }, LIMIT);
    let dropped = read(Pieces { input, piece }, 0);
    assert_eq!(whole.len(), dropped.len(), "the same lines");
    for (whole, dropped) in whole.iter().zip(&dropped) {
        let Line::Whole(line) = whole else { continue };
        let _ = decode(line);
        if let Line::TooLong(Some(found)) = dropped
            && let Ok(value) = serde_json::from_slice::<Value>(line)
            && let Ok(found) = serde_json::from_str::<Value>(found)
            && (found.is_i64() || found.is_string())
        {
            assert_eq!(value.get("id"), Some(&found), "in {value}");
        }
    }
}

fn read(source: Pieces<'_>, limit: usize) -> Vec<Line> {
    let mut lines = Lines::new(BufReader::new(source), limit);
    let mut found = Vec::new();
    loop {
        let next = std::pin::pin!(lines.next());
        match next.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(Line::End)) => return found,
            Poll::Ready(Ok(line)) => found.push(line),
            Poll::Ready(Err(error)) => panic!("memory cannot fail: {error}"),
            Poll::Pending => panic!("memory does not wait"),
        }
    }
}

/// Gives out an input a piece at a time.
struct Pieces<'a> {
    input: &'a [u8],
    piece: usize,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (now, later) = self.input.split_at(self.piece.min(self.input.len()));
        into.put_slice(now);
        self.input = later;
        Poll::Ready(Ok(()))
    }
}
