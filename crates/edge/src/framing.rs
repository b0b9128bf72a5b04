//! Watches the heads of requests for a body whose end is told in two ways.
//!
//! `Content-Length` beside `Transfer-Encoding` is how requests are smuggled past a proxy. The HTTP
//! library prefers one and forgets the other before anybody sees it, so heads are looked at here, on
//! their way in. Nothing is changed or kept: [`Verdict`] only remembers that such a head came by, and
//! [`listener`](crate::listener) answers for it. What follows a head with `Transfer-Encoding` or `Upgrade`
//! is not looked at; such a connection carries no request after it ([`is_last`]).

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use axum::http::{HeaderMap, header};
use tokio::io::AsyncRead;
use tokio_util::io::InspectReader;

/// Bytes of a line that are looked at: a name and the longest number.
const LINE_BYTES: usize = 40;

/// Whether a head came by that tells two ends. Clones share it.
#[derive(Clone, Default)]
pub struct Verdict(Arc<AtomicBool>);

impl Verdict {
    /// Returns whether such a head came by.
    pub fn is_ambiguous(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Looks at the heads of what is read from a byte stream.
pub fn watch<Io: AsyncRead>(io: Io) -> (InspectReader<Io, impl FnMut(&[u8])>, Verdict) {
    let verdict = Verdict::default();
    let (mut scan, told) = (Scan::default(), verdict.clone());
    let look = move |bytes: &[u8]| {
        if scan.walk(bytes) {
            told.0.store(true, Ordering::Relaxed);
        }
    };
    (InspectReader::new(io, look), verdict)
}

/// Returns whether a request must be the last one of its connection, unless it is switched.
pub fn is_last(headers: &HeaderMap) -> bool {
    headers.contains_key(header::TRANSFER_ENCODING) || headers.contains_key(header::UPGRADE)
}

/// Where in a request the stream is.
struct Scan {
    part: Part,
    line: [u8; LINE_BYTES],
    /// How long the line is, which may be more than is kept.
    length: usize,
    head: Head,
}

enum Part {
    Head,
    Body(u64),
    Unwatched,
}

/// What is known of the head that is being read.
#[derive(Default, Clone, Copy)]
struct Head {
    has_begun: bool,
    body: Option<u64>,
    has_encoding: bool,
    has_upgrade: bool,
}

impl Default for Scan {
    fn default() -> Self {
        Self { part: Part::Head, line: [0; LINE_BYTES], length: 0, head: Head::default() }
    }
}

impl Scan {
    /// Walks over bytes that came in; returns whether one of their heads tells two ends.
    fn walk(&mut self, mut bytes: &[u8]) -> bool {
        let mut is_ambiguous = false;
        while let Some(byte) = bytes.first() {
            match &mut self.part {
                Part::Unwatched => break,
                Part::Body(left) => {
                    let step = (*left).min(bytes.len() as u64);
                    *left -= step;
                    if *left == 0 {
                        self.part = Part::Head;
                    }
                    bytes = &bytes[step as usize..];
                }
                Part::Head => {
                    bytes = &bytes[1..];
                    if *byte == b'\n' {
                        is_ambiguous |= self.end_line();
                    } else {
                        if let Some(place) = self.line.get_mut(self.length) {
                            *place = byte.to_ascii_lowercase();
                        }
                        self.length += 1;
                    }
                }
            }
        }
        is_ambiguous
    }

    /// Takes note of a line; returns whether two ends are told with it.
    fn end_line(&mut self) -> bool {
        let length = std::mem::take(&mut self.length);
        let kept = &self.line[..length.min(LINE_BYTES)];
        let line = kept.strip_suffix(b"\r").unwrap_or(kept);
        if line.is_empty() {
            self.end_head();
            return false;
        }
        self.head.has_begun = true;
        self.head.has_encoding |= line.starts_with(b"transfer-encoding:");
        self.head.has_upgrade |= line.starts_with(b"upgrade:");
        let mut is_readable = true;
        if let Some(number) = line.strip_prefix(b"content-length:") {
            let number = std::str::from_utf8(number).ok().and_then(|text| text.trim().parse().ok());
            is_readable = length <= LINE_BYTES && number.is_some();
            self.head.body = Some(number.unwrap_or(0));
        }
        !is_readable || (self.head.has_encoding && self.head.body.is_some())
    }

    fn end_head(&mut self) {
        // Empty lines before a request are no head.
        if !self.head.has_begun {
            return;
        }
        let head = std::mem::take(&mut self.head);
        self.part = match head {
            Head { has_encoding: true, .. } | Head { has_upgrade: true, .. } => Part::Unwatched,
            Head { body: Some(length @ 1..), .. } => Part::Body(length),
            _ => Part::Head,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks requests cut into pieces of every size, and expects the same each time.
    #[track_caller]
    fn check(requests: &str, expected: bool) {
        for piece in [1, 2, 3, 7, requests.len()] {
            let mut scan = Scan::default();
            let found = requests
                .as_bytes()
                .chunks(piece)
                .fold(false, |found, part| found | scan.walk(part));
            assert_eq!(found, expected, "in pieces of {piece}: {requests}");
        }
    }

    #[test]
    fn a_body_with_two_ends_is_noticed_in_any_order_and_spelling() {
        for (first, second) in [
            ("Content-Length: 5", "Transfer-Encoding: chunked"),
            ("transfer-encoding:chunked", "CONTENT-LENGTH:5"),
            ("Transfer-Encoding: gzip, chunked", "Content-Length: 0"),
        ] {
            check(&format!("POST / HTTP/1.1\r\n{first}\r\nHost: a\r\n{second}\r\n\r\n"), true);
            check(&format!("POST / HTTP/1.1\n{first}\n{second}\n\n"), true);
            let after = "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc\r\n";
            check(&format!("{after}POST / HTTP/1.1\r\n{first}\r\n{second}\r\n\r\n"), true);
        }
    }

    #[test]
    fn one_end_is_fine_and_bodies_are_not_looked_at() {
        check("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", false);
        check("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false);
        let body = "x: y\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n";
        let long = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        check(&format!("{long}{long}"), false);
        check(&format!("{long}{body}"), true);
    }

    #[test]
    fn a_length_that_cannot_be_read_is_none() {
        check("POST / HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\n", true);
        check(&format!("POST / HTTP/1.1\r\nContent-Length: {}5\r\n\r\n", " ".repeat(30)), true);
    }

    #[test]
    fn what_follows_a_switch_is_not_looked_at() {
        let frames = "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n";
        check(&format!("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n{frames}"), false);
    }
}
