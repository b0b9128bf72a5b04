//! What the client is to hear, until it is written to standard output.

use std::collections::VecDeque;

use tokio::io::{self, AsyncWrite, AsyncWriteExt};

/// While more bytes wait than this, hubs are not listened to.
const HEARING: usize = 1 << 20;
/// While more bytes wait than this, the client is not listened to either.
const LISTENING: usize = 4 << 20;

/// Lines that wait for the client to read.
#[derive(Default)]
pub(super) struct Outbox {
    lines: VecDeque<Vec<u8>>,
    /// How much of the first line is written.
    written: usize,
    bytes: usize,
    unflushed: bool,
}

impl Outbox {
    pub(super) fn push(&mut self, line: Vec<u8>) {
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    /// Returns whether lines of a hub can be taken.
    pub(super) fn has_room(&self) -> bool {
        self.bytes < HEARING
    }

    /// Returns whether the client can be listened to, whose lines may cost an answer each.
    pub(super) fn has_room_for_answers(&self) -> bool {
        self.bytes < LISTENING
    }

    /// Returns whether everything is written.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && !self.unflushed
    }

    /// Writes some more, flushing when there is nothing more to write; waits for ever if there is
    /// nothing to do. Cancel-safe: what was written is counted without another await.
    pub(super) async fn advance(
        &mut self,
        output: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<()> {
        let Some(line) = self.lines.front() else {
            if !self.unflushed {
                std::future::pending::<()>().await;
            }
            output.flush().await?;
            self.unflushed = false;
            return Ok(());
        };
        let count = output.write(&line[self.written..]).await?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.unflushed = true;
        self.written += count;
        if self.written == line.len() {
            self.bytes -= line.len();
            self.lines.pop_front();
            self.written = 0;
        }
        Ok(())
    }
}

impl Extend<Vec<u8>> for Outbox {
    fn extend<T: IntoIterator<Item = Vec<u8>>>(&mut self, lines: T) {
        lines.into_iter().for_each(|line| self.push(line));
    }
}
