//! Counts WebSocket frames as they come in, before anything is kept of them.
//!
//! The WebSocket library has one size limit for a connection's whole life and none on the number
//! of fragments. This reader looks at frame heads only: a message that is announced larger than
//! what its sender may send now, or that comes in too many pieces, ends the reading, and the
//! verdict says why. So does a peer that goes on pinging and reads no answer: the library would keep
//! all of them. It does not judge anything else about a frame.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use model::{CloseReason, Closing};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The limits of one connection, and what became of them. Clones share them.
#[derive(Clone)]
pub struct Allowance(Arc<Shared>);

struct Shared {
    message_bytes: AtomicUsize,
    fragments: usize,
    verdict: AtomicU8,
    has_close: AtomicBool,
}

/// Pings that a peer may send while it reads nothing. One more ends the connection.
pub const UNREAD_PINGS: usize = 1024;

const FINE: u8 = 0;
const TOO_LARGE: u8 = 1;
const TOO_MANY: u8 = 2;
const UNREAD: u8 = 3;
/// Nothing is judged any more: the connection only drains.
const DRAINING: u8 = 4;

impl Allowance {
    /// Sets the limits to begin with.
    pub fn new(message_bytes: usize, fragments: usize) -> Self {
        Self(Arc::new(Shared {
            message_bytes: AtomicUsize::new(message_bytes),
            fragments,
            verdict: AtomicU8::new(FINE),
            has_close: AtomicBool::new(false),
        }))
    }

    /// Lets larger messages through from now on.
    pub fn raise(&self, message_bytes: usize) {
        self.0.message_bytes.store(message_bytes, Ordering::Relaxed);
    }

    /// Stops judging, so that what is still on its way can be read and thrown away.
    pub fn drain(&self) {
        self.0.verdict.store(DRAINING, Ordering::Relaxed);
    }

    /// Returns whether the peer has sent a close, also one that is not read as such any more.
    pub fn has_close(&self) -> bool {
        self.0.has_close.load(Ordering::Relaxed)
    }

    /// Returns why reading ended, if it was for one of the limits.
    pub fn verdict(&self) -> Option<Closing> {
        let (reason, message) = match self.0.verdict.load(Ordering::Relaxed) {
            TOO_LARGE => (CloseReason::TooLarge, "the message is over the limit"),
            TOO_MANY => (CloseReason::TooManyFragments, "the message has too many fragments"),
            UNREAD => (CloseReason::SlowConsumer, "too many pings, and no answer is read"),
            _ => return None,
        };
        Some(Closing::new(reason, message))
    }
}

/// A byte stream whose incoming frames are counted.
pub struct Meter<Io> {
    io: Io,
    allowance: Allowance,
    scan: Scan,
}

impl<Io> Meter<Io> {
    /// Begins counting.
    pub fn new(io: Io, allowance: Allowance) -> Self {
        Self { io, allowance, scan: Scan::default() }
    }
}

/// Where in a frame the stream is.
#[derive(Default)]
struct Scan {
    head: [u8; 10],
    have: usize,
    /// Bytes of mask and payload that are still to come.
    skip: u64,
    message_bytes: u64,
    fragments: usize,
    /// Pings since something was written.
    pings: usize,
}

impl Scan {
    /// Walks over all bytes that came in; an error is the first verdict.
    fn walk(&mut self, mut bytes: &[u8], allowance: &Allowance) -> Result<(), u8> {
        let mut walked = Ok(());
        while !bytes.is_empty() {
            if self.skip > 0 {
                let step = self.skip.min(bytes.len() as u64);
                self.skip -= step;
                bytes = &bytes[step as usize..];
                continue;
            }
            self.head[self.have] = bytes[0];
            self.have += 1;
            bytes = &bytes[1..];
            if let Some(length) = self.length() {
                let masked = self.head[1] & 0x80 != 0;
                self.skip = length.saturating_add(if masked { 4 } else { 0 });
                self.have = 0;
                walked = walked.and(self.count(length, allowance));
            }
        }
        walked
    }

    /// Returns the payload's length once the head is complete.
    fn length(&self) -> Option<u64> {
        if self.have < 2 {
            return None;
        }
        match (self.head[1] & 0x7f, self.have) {
            (126, 4) => Some(u64::from(u16::from_be_bytes([self.head[2], self.head[3]]))),
            (127, 10) => {
                let mut length = [0; 8];
                length.copy_from_slice(&self.head[2..10]);
                Some(u64::from_be_bytes(length))
            }
            (126 | 127, _) => None,
            (short, _) => Some(u64::from(short)),
        }
    }

    fn count(&mut self, length: u64, allowance: &Allowance) -> Result<(), u8> {
        let (opcode, is_final) = (self.head[0] & 0x0f, self.head[0] & 0x80 != 0);
        if opcode >= 8 {
            if opcode == 8 {
                allowance.0.has_close.store(true, Ordering::Relaxed);
            }
            self.pings += usize::from(opcode == 9);
            return if self.pings > UNREAD_PINGS { Err(UNREAD) } else { Ok(()) };
        }
        if opcode != 0 {
            (self.message_bytes, self.fragments) = (0, 0);
        }
        self.message_bytes = self.message_bytes.saturating_add(length);
        self.fragments += 1;
        if self.message_bytes > allowance.0.message_bytes.load(Ordering::Relaxed) as u64 {
            return Err(TOO_LARGE);
        }
        if self.fragments > allowance.0.fragments {
            return Err(TOO_MANY);
        }
        if is_final {
            (self.message_bytes, self.fragments) = (0, 0);
        }
        Ok(())
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for Meter<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.io).poll_read(context, buffer);
        let Self { allowance, scan, .. } = &mut *self;
        if !matches!(polled, Poll::Ready(Ok(()))) {
            return polled;
        }
        let walked = scan.walk(&buffer.filled()[before..], allowance);
        let walked = match allowance.0.verdict.load(Ordering::Relaxed) {
            FINE => walked,
            DRAINING => Ok(()),
            spoken => Err(spoken),
        };
        if let Err(verdict) = walked {
            allowance.0.verdict.store(verdict, Ordering::Relaxed);
            return Poll::Ready(Err(io::Error::other("a message over the limits")));
        }
        polled
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Meter<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.io).poll_write(context, bytes);
        if matches!(polled, Poll::Ready(Ok(_))) {
            self.scan.pings = 0;
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A masked frame's head and as much payload as asked for.
    fn frame(opcode: u8, is_final: bool, length: usize) -> Vec<u8> {
        let mut bytes = vec![opcode | if is_final { 0x80 } else { 0 }];
        match length {
            0..126 => bytes.push(0x80 | length as u8),
            126..65536 => {
                bytes.push(0x80 | 126);
                bytes.extend((length as u16).to_be_bytes());
            }
            _ => {
                bytes.push(0x80 | 127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend([0; 4]);
        bytes.extend(vec![b'x'; length]);
        bytes
    }

    /// Walks frames cut into pieces of every size, and expects the same verdict each time.
    #[track_caller]
    fn check(frames: &[Vec<u8>], expected: Result<(), u8>) {
        let bytes = frames.concat();
        for piece in [1, 2, 3, 7, 1024, bytes.len()] {
            let allowance = Allowance::new(1000, 3);
            let mut scan = Scan::default();
            let walked = bytes.chunks(piece).try_for_each(|part| scan.walk(part, &allowance));
            assert_eq!(walked, expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn sizes_are_judged_by_message() {
        check(&[frame(1, true, 1000), frame(1, true, 1000)], Ok(()));
        check(&[frame(1, true, 1001)], Err(TOO_LARGE));
        check(&[frame(1, true, 70_000)], Err(TOO_LARGE));
        check(&[frame(1, false, 600), frame(0, true, 400)], Ok(()));
        check(&[frame(1, false, 600), frame(0, true, 401)], Err(TOO_LARGE));
    }

    #[test]
    fn fragments_are_counted_and_control_frames_are_not() {
        let (first, next, last) = (frame(1, false, 1), frame(0, false, 0), frame(0, true, 0));
        check(&[first.clone(), next.clone(), last.clone(), first.clone(), last.clone()], Ok(()));
        check(&[first.clone(), next.clone(), next.clone(), next.clone()], Err(TOO_MANY));
        let pings = vec![frame(9, true, 5); 10];
        check(&[&[first, next][..], &pings, &[last]].concat(), Ok(()));
    }

    #[test]
    fn pings_are_counted_until_something_is_written() {
        let allowance = Allowance::new(1000, 3);
        let mut scan = Scan::default();
        let pings = frame(9, true, 5).repeat(UNREAD_PINGS);
        assert_eq!(scan.walk(&pings, &allowance), Ok(()));
        scan.pings = 0;
        assert_eq!(scan.walk(&pings, &allowance), Ok(()));
        assert_eq!(scan.walk(&frame(9, true, 0), &allowance), Err(UNREAD));
    }

    #[test]
    fn a_close_behind_a_violation_is_seen() {
        let allowance = Allowance::new(1000, 3);
        let frames = [frame(1, true, 1001), frame(8, true, 2)].concat();
        assert_eq!(Scan::default().walk(&frames[..frames.len() - 8], &allowance), Err(TOO_LARGE));
        assert!(!allowance.has_close(), "its bytes have not come yet");
        assert_eq!(Scan::default().walk(&frames, &allowance), Err(TOO_LARGE));
        assert!(allowance.has_close());
    }

    #[test]
    fn an_announced_size_is_refused_before_its_bytes_come() {
        let allowance = Allowance::new(1000, 3);
        let head = &frame(2, true, 5_000_000)[..14];
        assert_eq!(Scan::default().walk(head, &allowance), Err(TOO_LARGE));
        allowance.raise(16 << 20);
        assert_eq!(Scan::default().walk(head, &allowance), Ok(()));
    }
}
