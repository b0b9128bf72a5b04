//! SocketEnds a connection whose peer reads nothing of what it is sent.
//!
//! HTTP has no time limit for that, and an answer that is not read holds its memory and its room
//! among large answers. Whatever is read, however little, begins the time anew. A connection that is
//! switched to WebSocket has limits of its own ([`connection`](crate::connection)).

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// A byte stream on which a write that cannot go on fails after a while.
pub struct StalledWrites<Io> {
    io: Io,
    limit: Duration,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
    lifted: LiftedLimit,
}

/// Whether the limit of a stream holds no more. Clones share it.
#[derive(Clone, Default)]
pub struct LiftedLimit(Arc<AtomicBool>);

impl LiftedLimit {
    /// Says that others watch over writes from now on.
    pub fn lift(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<Io> StalledWrites<Io> {
    /// Limits how long nothing is read, until that is lifted.
    pub fn limit(io: Io, limit: Duration) -> (Self, LiftedLimit) {
        let lifted = LiftedLimit::default();
        (Self { io, limit, stalled: None, lifted: lifted.clone() }, lifted)
    }

    fn watch<T>(
        &mut self,
        task: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() || self.lifted.0.load(Ordering::Relaxed) {
            self.stalled = None;
            return written;
        }
        let limit = self.limit;
        ready!(self.stalled.get_or_insert_with(|| Box::pin(sleep(limit))).as_mut().poll(task));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for StalledWrites<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(task, into)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for StalledWrites<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(task, bytes);
        self.watch(task, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(task, parts);
        self.watch(task, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(task)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, duplex},
        time::Instant,
    };

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_write_fails_once_nothing_was_read_for_the_whole_time() {
        let (near, mut far) = duplex(4);
        let (mut near, _) = StalledWrites::limit(near, LIMIT);
        let begun = Instant::now();
        let reader = tokio::spawn(async move {
            for _ in 0..3 {
                tokio::time::sleep(LIMIT * 3 / 4).await;
                far.read_u8().await.unwrap();
            }
            far
        });
        let error = near.write_all(&[7; 100]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed(), LIMIT * 9 / 4 + LIMIT, "what was read began the time anew");
        drop(reader.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_nothing_is_written_stays() {
        let (near, mut far) = duplex(4);
        let (mut near, limit) = StalledWrites::limit(near, LIMIT);
        near.write_all(b"abcd").await.unwrap();
        let later = tokio::time::timeout(LIMIT * 5, near.read_u8()).await;
        assert!(later.is_err(), "it waits for the peer");
        far.write_u8(1).await.unwrap();
        assert_eq!(near.read_u8().await.unwrap(), 1);
        limit.lift();
        let later = tokio::time::timeout(LIMIT * 5, near.write_u8(5)).await;
        assert!(later.is_err(), "others watch over it");
    }
}
