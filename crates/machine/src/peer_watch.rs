//! Notices that the other end of a connection is gone, and not only silent.
//!
//! A relay whose client has closed its standard input closes its half and waits for answers; one
//! that was killed, or whose client was, closes both. Reading sees the same end in both cases, and
//! sees nothing of what happens after it. This does not read or write.

use std::{io, os::fd::AsFd};

use tokio::{
    io::Interest,
    net::{UnixStream, unix::OwnedReadHalf},
};

/// Waits until the peer of a connection has closed both ways, or the connection is broken; for ever
/// where that cannot be told.
pub fn peer_gone(connection: &OwnedReadHalf) -> impl Future<Output = ()> + use<> {
    // A second handle on the socket. It has a readiness of its own, so that whoever reads and writes
    // through the first one does not miss anything.
    let stream: &UnixStream = connection.as_ref();
    let second = stream.as_fd().try_clone_to_owned();
    let second = second.and_then(|second| UnixStream::from_std(second.into()));
    async move {
        let stream = match second {
            Ok(stream) => stream,
            Err(error) => {
                tracing::debug!(%error, "a relay's end is noticed late");
                return std::future::pending().await;
            }
        };
        while let Ok(ready) = stream.ready(Interest::WRITABLE).await
            && !ready.is_write_closed()
        {
            // Marks it as not ready, so that the next wait is for something new.
            let again = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            let _ = stream.try_io(Interest::WRITABLE, again);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn who_has_said_everything_is_not_gone_until_it_closes_the_other_way_too() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let (mut reading, mut writing) = near.into_split();
        let mut gone = pin!(peer_gone(&reading));
        far.write_all(b"last words").await.unwrap();
        far.shutdown().await.unwrap();
        let mut said = String::new();
        // In this order: the end has been read, and the peer still takes an answer.
        let answered = async {
            reading.read_to_string(&mut said).await.unwrap();
            writing.write_all(b"heard").await.unwrap();
            let mut heard = [0; 5];
            far.read_exact(&mut heard).await.unwrap();
        };
        tokio::select! {
            biased;
            () = &mut gone => panic!("it still listens"),
            () = answered => {}
        }
        drop(far);
        gone.await;
    }

    #[tokio::test]
    async fn who_was_gone_before_anybody_watched_is_gone() {
        let (near, far) = UnixStream::pair().unwrap();
        drop(far);
        let (reading, _writing) = near.into_split();
        peer_gone(&reading).await;
    }
}
