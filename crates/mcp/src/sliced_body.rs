//! An HTTP body in small parts, each given out when there is room to write it.
//!
//! The HTTP library takes over a part at once, however slowly it is read, so one large part would
//! not be waited for. What is held for the answer is held until its last part is given out.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};

/// Bytes of a part.
const PART: usize = 64 << 10;

/// A body, what is left of its latest part, and what is held for it.
pub(crate) struct SlicedBody<B, H> {
    body: B,
    left: Bytes,
    _held: H,
}

impl<B, H> SlicedBody<B, H> {
    /// Slices a body, and holds something until it is given out or dropped.
    pub(crate) fn new(body: B, held: H) -> Self {
        Self { body, left: Bytes::new(), _held: held }
    }
}

impl<B: Body<Data = Bytes> + Unpin, H: Unpin> Body for SlicedBody<B, H> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if !self.left.has_remaining() {
            match ready!(Pin::new(&mut self.body).poll_frame(task)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.left = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                ended => return Poll::Ready(ended),
            }
        }
        let part = self.left.len().min(PART);
        Poll::Ready(Some(Ok(Frame::data(self.left.split_to(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let left = self.left.len() as u64;
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + left);
        }
        hint.set_lower(hint.lower() + left);
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full};

    use super::*;

    #[tokio::test]
    async fn a_large_part_comes_in_small_ones_and_is_the_same() {
        let whole = Bytes::from_iter((0..3 * PART + 5).map(|at| at as u8));
        let mut body = SlicedBody::new(Full::new(whole.clone()), ());
        assert_eq!(body.size_hint().exact(), Some(whole.len() as u64));
        let mut parts = Vec::new();
        while let Some(frame) = body.frame().await {
            parts.push(frame.unwrap().into_data().unwrap());
            let given: usize = parts.iter().map(Bytes::len).sum();
            assert_eq!(body.size_hint().exact(), Some((whole.len() - given) as u64));
        }
        assert_eq!(parts.iter().map(Bytes::len).collect::<Vec<_>>(), [PART, PART, PART, 5]);
        assert_eq!(parts.concat(), whole);
        assert!(body.is_end_stream());
    }
}
