//! Serves one client on a byte stream: standard input and output, or a relay's socket.
//!
//! `rmcp`'s own line transport ignores broken lines, forgets requests whose ids are in use, and
//! takes in requests without end while their answers are not read. This one answers each fault,
//! stops reading while answers pile up, and ends when a peer talks nothing but nonsense.

mod admission;
mod transport;

use std::time::Duration;

use bytes::Bytes;
use rmcp::{
    service::{ServerInitializeError, serve_server_with_ct},
    transport::TransportAdapterIdentity,
};
use tokio::{
    io::{self, AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, mpsc},
    time,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use self::transport::LineTransport;
use crate::{Backend, Caller, Mcp};

/// Limits of one stream.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the longest line; a longer one is refused by its id.
    pub line: usize,
    /// The most requests without an answer.
    pub open: usize,
    /// How long a client with so many may wait for one of them to end; then more are refused.
    pub patience: Duration,
    /// The most answers that wait to be written before reading pauses.
    pub unwritten: usize,
    /// Faults in a row after which the stream ends.
    pub faults: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: 16 << 20,
            open: 256,
            patience: Duration::from_secs(5),
            unwritten: 64,
            faults: 100,
        }
    }
}

/// A line to be written, with the room that it holds until then.
struct OutgoingLine {
    bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

/// How a stream ended.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The client's first message could not be answered.
    #[error("the stream could not be opened")]
    Open(#[source] Box<ServerInitializeError>),
    /// The task that serves the stream failed.
    #[error("the stream failed")]
    Failed(#[source] tokio::task::JoinError),
}

/// Serves one client until its input ends or the server stops. What was asked before the end is
/// answered, unless nobody would read it: then `gone` ends.
pub async fn serve<B: Backend>(
    mcp: &Mcp<B>,
    caller: Caller,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    limits: Limits,
    gone: impl Future<Output = ()>,
) -> Result<(), StreamError> {
    // Full means that the client does not read: senders wait, and so does reading.
    let (outbox, queue) = mpsc::channel(limits.unwritten);
    let writer = AbortOnDropHandle::new(tokio::spawn(write(queue, output)));
    let given_up = CancellationToken::new();
    let conversation = converse(mcp, caller, input, outbox, (limits, given_up.clone()));
    let watching = async {
        gone.await;
        given_up.cancel();
        std::future::pending().await
    };
    // Both arms are cancel-safe: the conversation is over when it returns, and watching never does.
    let outcome = tokio::select! {
        outcome = conversation => outcome,
        never = watching => never,
    };
    // What is left is written now, or by a client that does not read never.
    if time::timeout(limits.patience, writer).await.is_err() {
        tracing::debug!("the last answers were not read");
    }
    outcome
}

async fn converse<B: Backend>(
    mcp: &Mcp<B>,
    caller: Caller,
    input: impl AsyncRead + Unpin + Send + 'static,
    outbox: mpsc::Sender<OutgoingLine>,
    (limits, gone): (Limits, CancellationToken),
) -> Result<(), StreamError> {
    let mut server = mcp.connection(caller);
    server.connection.gone = gone;
    let transport = LineTransport::new(input, outbox, limits, server.connection.ended.clone());
    let stop = mcp.stop().child_token();
    let running =
        serve_server_with_ct::<_, _, _, TransportAdapterIdentity>(server, transport, stop).await;
    match running {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(StreamError::Failed),
        // A client that leaves without a word, or is not let finish its first, is no fault.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(StreamError::Open(Box::new(error))),
    }
}

/// Writes lines, flushing when there is nothing more to write.
async fn write(mut queue: mpsc::Receiver<OutgoingLine>, mut output: impl AsyncWrite + Unpin) {
    while let Some(line) = queue.recv().await {
        if let Err(error) = write_ready(line, &mut queue, &mut output).await {
            tracing::debug!(%error, "output failed");
            return;
        }
    }
    if let Err(error) = output.shutdown().await {
        tracing::debug!(%error, "output not closed");
    }
}

async fn write_ready(
    first: OutgoingLine,
    queue: &mut mpsc::Receiver<OutgoingLine>,
    output: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    output.write_all(&first.bytes).await?;
    drop(first);
    while let Ok(line) = queue.try_recv() {
        output.write_all(&line.bytes).await?;
    }
    output.flush().await
}
