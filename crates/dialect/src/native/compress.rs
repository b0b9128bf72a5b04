//! Replay pages as binary frames: each is the raw DEFLATE stream of one whole `replayPage`.
//!
//! Comes in: a page's text, or a frame from a peer that offered [`CAPABILITY`]. Goes out: the
//! other of the two. Inflating stops at [`LARGEST`], so a small frame cannot become a large
//! burden. Nothing else of the protocol is ever compressed.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use model::{CloseReason, Closing, FromBrowser};

use super::{
    decode::{self, Incoming, malformed, out_of_turn},
    wire,
};
use crate::Output;

/// What a peer offers that takes compressed pages, and may send them.
pub const CAPABILITY: &str = "deflate";
/// Pages up to this size travel as text: there is little to gain.
pub const SMALL: usize = 16 << 10;
/// The largest page there can be, inflated: as large as any other message.
pub const LARGEST: usize = 16 << 20;

/// What is made room for at a time.
const STEP: usize = 64 << 10;

/// Writes a page the way its size asks for. One that no peer would inflate stays text.
pub fn write_page(page: String) -> Output {
    match page.len() {
        0..=SMALL => Output::Write(page),
        size if size > LARGEST => Output::Write(page),
        _ => Output::WriteBytes(deflate(page.as_bytes())),
    }
}

/// Takes a replay out of a welcome where a page with it would be compressed: a welcome is text,
/// and the peer asks for the page as for any further one.
pub fn lighten(mut welcome: wire::Welcome) -> wire::Welcome {
    let size: usize = welcome.replay.iter().map(|message| message.get().len()).sum();
    if size > SMALL {
        welcome.replay.clear();
        welcome.more = true;
    }
    welcome
}

/// Reads a compressed page; an error is the reason to close.
pub fn decode_page(bytes: &[u8]) -> Result<Incoming, Closing> {
    let text = String::from_utf8(inflate(bytes)?).map_err(|error| malformed(error.utf8_error()))?;
    match decode::decode(&text)? {
        page @ Incoming::Message(FromBrowser::ReplayPage(_)) => Ok(page),
        _ => Err(out_of_turn("a binary message holds a replayPage and nothing else")),
    }
}

/// Compresses bytes.
pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut stream = Compress::new(Compression::fast(), false);
    let mut deflated = Vec::with_capacity(STEP.max(bytes.len() / 4));
    loop {
        let rest = &bytes[stream.total_in() as usize..];
        match stream.compress_vec(rest, &mut deflated, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => return deflated,
            _ => deflated.reserve(STEP),
        }
    }
}

/// Inflates one whole stream, and not more than [`LARGEST`] of it.
pub fn inflate(bytes: &[u8]) -> Result<Vec<u8>, Closing> {
    let mut stream = Decompress::new(false);
    let mut inflated = Vec::new();
    loop {
        if inflated.len() == inflated.capacity() {
            let room = inflated.len().max(STEP).min(LARGEST + 1 - inflated.len());
            inflated.reserve_exact(room);
        }
        let before = inflated.len();
        let rest = &bytes[stream.total_in() as usize..];
        let status = stream.decompress_vec(rest, &mut inflated, FlushDecompress::None);
        let status = status.map_err(|_| malformed("a binary message that does not inflate"))?;
        if inflated.len() > LARGEST {
            let message = format!("a binary message inflates to more than {LARGEST} bytes");
            return Err(Closing::new(CloseReason::TooLarge, message));
        }
        let is_used_up = stream.total_in() == bytes.len() as u64;
        match status {
            Status::StreamEnd if is_used_up => return Ok(inflated),
            Status::StreamEnd => return Err(malformed("a binary message goes on after its end")),
            _ if is_used_up && inflated.len() == before => {
                return Err(malformed("a binary message that breaks off"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that hardly compress.
    fn noise(size: usize) -> Vec<u8> {
        let mut state = 88_172_645_463_325_252_u64;
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..size).map(next).collect()
    }

    #[track_caller]
    fn check_refused(bytes: &[u8], reason: CloseReason) {
        match inflate(bytes) {
            Ok(inflated) => panic!("{} bytes came out", inflated.len()),
            Err(closing) => assert_eq!(closing.reason, reason, "{}", closing.message),
        }
    }

    #[test]
    fn what_was_deflated_inflates_to_the_same() {
        let around = |size: usize| size - 2..=size + 2;
        let sizes = (0..5).chain(around(STEP)).chain(around(2 * STEP)).chain(around(1 << 20));
        for size in sizes {
            for bytes in [vec![b'x'; size], noise(size)] {
                assert_eq!(inflate(&deflate(&bytes)), Ok(bytes), "{size} bytes");
            }
        }
    }

    #[test]
    fn the_largest_inflates_and_one_byte_more_does_not() {
        assert_eq!(inflate(&deflate(&vec![b' '; LARGEST])).unwrap().len(), LARGEST);
        check_refused(&deflate(&vec![b' '; LARGEST + 1]), CloseReason::TooLarge);
        check_refused(&deflate(&vec![b' '; 3 * LARGEST]), CloseReason::TooLarge);
    }

    #[test]
    fn what_is_not_one_whole_stream_does_not_inflate() {
        let whole = deflate(&noise(1000));
        for end in 0..whole.len() {
            check_refused(&whole[..end], CloseReason::Malformed);
        }
        check_refused(&[&whole[..], b"\0"].concat(), CloseReason::Malformed);
        check_refused(&whole.repeat(2), CloseReason::Malformed);
        check_refused(b"\xff\xff\xff\xff", CloseReason::Malformed);
        let with_zlib_head = [b"\x78\x9c", &whole[..]].concat();
        check_refused(&with_zlib_head, CloseReason::Malformed);
    }
}
