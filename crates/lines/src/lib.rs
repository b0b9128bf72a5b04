//! Reads lines of bounded length from a byte stream, each with its end.
//!
//! A line that is too long is dropped as it arrives, and only the id of the JSON-RPC request that
//! it was is remembered ([`id_finder`]), so that whoever sent it can be told. Cancel-safe: a
//! dropped read goes on where it stopped. What the lines say is not looked at.

pub mod id_finder;

use tokio::io::{self, AsyncBufRead, AsyncBufReadExt};

pub use id_finder::IdFinder;

/// A reader of lines up to a limit.
pub struct Lines<R> {
    source: R,
    limit: usize,
    line: Vec<u8>,
    /// Present while the rest of a line beyond the limit is being dropped.
    overlong: Option<IdFinder>,
}

/// What was read.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// One line; the last one gets the end that it may lack.
    Whole(Vec<u8>),
    /// A line beyond the limit, with the id of the request it was as it is written, if it was one.
    TooLong(Option<String>),
    /// The stream ended.
    End,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Reads from `source` lines of at most `limit` bytes, their ends apart.
    pub fn new(source: R, limit: usize) -> Self {
        Self { source, limit, line: Vec::new(), overlong: None }
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
            keep(piece, &mut self.line, &mut self.overlong, self.limit);
            self.source.consume(taken);
            if end.is_some() {
                return Ok(self.cut());
            }
        }
    }

    fn cut(&mut self) -> Line {
        if let Some(finder) = self.overlong.take() {
            return Line::TooLong(finder.found());
        }
        let mut line = std::mem::take(&mut self.line);
        line.push(b'\n');
        Line::Whole(line)
    }

    fn finish(&mut self) -> Line {
        if self.line.is_empty() && self.overlong.is_none() {
            return Line::End;
        }
        self.cut()
    }
}

fn keep(piece: &[u8], line: &mut Vec<u8>, overlong: &mut Option<IdFinder>, limit: usize) {
    if let Some(finder) = overlong {
        finder.feed(piece);
    } else if line.len() + piece.len() > limit {
        let mut finder = IdFinder::default();
        finder.feed(line);
        finder.feed(piece);
        *overlong = Some(finder);
        *line = Vec::new();
    } else {
        line.extend_from_slice(piece);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt, BufReader, duplex};

    use super::*;

    /// Reads what comes one byte at a time, so that every boundary is met.
    async fn read(input: &[u8], limit: usize) -> Vec<Line> {
        let (mut near, far) = duplex(1);
        let write = async {
            near.write_all(input).await.unwrap();
            drop(near);
        };
        let read = async {
            let mut lines = Lines::new(BufReader::new(far), limit);
            let mut found = Vec::new();
            loop {
                match lines.next().await.unwrap() {
                    Line::End => return found,
                    line => found.push(line),
                }
            }
        };
        tokio::join!(read, write).0
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn lines_come_as_they_are_and_the_last_gets_an_end() {
        let expected = [whole("one\n"), whole("\n"), whole("two\r\n"), whole("half\n")];
        assert_eq!(read(b"one\n\ntwo\r\nhalf", 10).await, expected);
    }

    #[tokio::test]
    async fn a_long_line_is_dropped_and_its_id_kept() {
        let input = b"{\"params\":\"xxxxxxxxxxxxxxxx\",\"id\":7}\nnext\n";
        let expected = [Line::TooLong(Some("7".to_owned())), whole("next\n")];
        assert_eq!(read(input, 8).await, expected);
    }
}
