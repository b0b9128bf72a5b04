//! How a connection ends: the close handshake is finished, whoever began it.

use std::{collections::VecDeque, time::Duration};

use futures_util::{SinkExt, StreamExt};
use model::{CloseReason, Closing};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};
use tokio_tungstenite::tungstenite::{
    Error, Message,
    error::{CapacityError, ProtocolError},
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use super::{Reading, Writing};
use crate::{Edge, meter::Allowance};

/// How long a peer has to answer our close, and how long we throw away what it still sends.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long our last words may take: who is closed for being slow has to read all before them.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// A close frame has room for this many bytes of reason.
const REASON_BYTES: usize = 120;

/// Why a connection's conversation is over.
pub enum End {
    /// We close, and the peer does not know yet.
    Close(Closing),
    /// We close, and the machine has already said so.
    Announced(Closing),
    /// The peer closes.
    PeerClosed,
    /// The stream is at its end.
    Gone,
    /// The peer broke the protocol below ours, or the stream broke.
    Broken(Error),
}

/// What is left to do at the end of a connection.
pub enum Parting {
    /// Say why, in the dialect's words too unless it has already been said there, and close.
    Say {
        closing: Closing,
        is_announced: bool,
    },
    /// The peer closes and wants its answer.
    AnswerTheClose,
    Nothing,
}

impl End {
    /// Decides what is left to do, and counts a close of ours.
    ///
    /// Before the session is told: who sees there that a peer is gone finds it counted.
    pub fn settle(self, edge: &Edge, allowance: &Allowance) -> Parting {
        let (closing, is_announced) = match self {
            Self::Close(closing) => (closing, false),
            Self::Announced(closing) => (closing, true),
            Self::Broken(error) => match fault_of(&error, allowance) {
                Some(closing) => (closing, false),
                None => return Parting::Nothing,
            },
            Self::Gone => return Parting::Nothing,
            Self::PeerClosed => return Parting::AnswerTheClose,
        };
        // The message is for the peer: it may quote what the peer has sent.
        tracing::debug!(reason = closing.reason.as_str(), "closing");
        edge.hub.metrics().closed(closing.reason);
        Parting::Say { closing, is_announced }
    }
}

/// Brings a connection to a clean end; `farewell` says in the dialect's words why we close.
pub async fn finish<Io>(
    allowance: &Allowance,
    mut reading: Reading<Io>,
    mut writing: Writing<Io>,
    parting: Parting,
    farewell: impl FnOnce(Option<&Closing>) -> VecDeque<Message>,
) where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (closing, is_announced) = match parting {
        Parting::Say { closing, is_announced } => (closing, is_announced),
        Parting::AnswerTheClose => {
            // Reading on lets the library write its answer to the close.
            let _ = timeout(PATIENCE, async { while reading.next().await.is_some() {} }).await;
            return;
        }
        Parting::Nothing => return,
    };
    let last_words = farewell((!is_announced).then_some(&closing));
    let say_goodbye = async {
        for message in last_words {
            writing.feed(message).await?;
        }
        writing.feed(close_frame(&closing)).await?;
        writing.flush().await
    };
    if !matches!(timeout(LAST_WORDS, say_goodbye).await, Ok(Ok(()))) {
        return;
    }
    allowance.drain();
    let _ = timeout(PATIENCE, async {
        while let Some(Ok(message)) = reading.next().await {
            // The handshake is complete: it is for us to end the connection, and the peer waits.
            if message.is_close() {
                return;
            }
        }
        // Frames that nobody understands any more: closing on unread bytes would reset the
        // connection, and the peer might never see why. Its close is still seen among them.
        if let Ok(mut socket) = reading.reunite(writing) {
            // On the heap: an array would be part of every connection's task all its life.
            let mut waste = vec![0; 4096];
            while !allowance.has_close()
                && socket.get_mut().read(&mut waste).await.is_ok_and(|count| count > 0)
            {
            }
            let _ = socket.get_mut().shutdown().await;
        }
    })
    .await;
}

fn close_frame(closing: &Closing) -> Message {
    let mut reason = format!("{}: {}", closing.reason.as_str(), closing.message);
    while reason.len() > REASON_BYTES {
        reason.pop();
    }
    let code = CloseCode::from(closing.reason.code());
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}

/// Returns what the peer did wrong; `None` means that it is just gone.
fn fault_of(error: &Error, allowance: &Allowance) -> Option<Closing> {
    if let Some(closing) = allowance.verdict() {
        return Some(closing);
    }
    let reason = match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => CloseReason::TooLarge,
        Error::Capacity(_) | Error::Protocol(_) if is_gone(error) => return None,
        Error::Capacity(_) | Error::Protocol(_) => CloseReason::BadFrame,
        Error::Utf8(_) => CloseReason::BadText,
        _ => return None,
    };
    Some(Closing::new(reason, error.to_string()))
}

fn is_gone(error: &Error) -> bool {
    matches!(
        error,
        Error::Protocol(
            ProtocolError::ResetWithoutClosingHandshake | ProtocolError::ReceivedAfterClosing
        )
    )
}

#[cfg(test)]
mod tests {
    use tokio::{io::duplex, time::Instant};

    use super::*;
    use crate::{browser_ws::open_socket, config::Config};

    /// A masked frame of less than 126 bytes.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        [&[first, 0x80 | payload.len() as u8, 0, 0, 0, 0], payload].concat()
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_violation_the_peers_close_ends_the_connection_at_once() {
        let violations =
            [frame(0xc1, b"{}"), frame(0x83, b"{}"), frame(0x81, b"\xff"), frame(0x89, &[0; 120])];
        for violation in &violations[..3] {
            let (near, mut far) = duplex(1 << 16);
            let (socket, allowance) = open_socket(&Config::default(), near).await;
            let (writing, mut reading) = socket.split();
            // More than it could read at once follows, and then the close.
            let sent = [violation, &violations[3].repeat(50), &frame(0x88, b"\x03\xe8")[..]];
            far.write_all(&sent.concat()).await.unwrap();
            let broken = reading.next().await.unwrap().unwrap_err();
            let closing = fault_of(&broken, &allowance).unwrap();
            let parting = Parting::Say { closing, is_announced: false };
            let started = Instant::now();
            finish(&allowance, reading, writing, parting, |_| VecDeque::new()).await;
            let mut heard = Vec::new();
            far.read_to_end(&mut heard).await.unwrap();
            assert_eq!(heard[0], 0x88, "it is told why");
            assert_eq!(started.elapsed(), Duration::ZERO, "nothing was waited for: {broken}");
        }
    }
}
