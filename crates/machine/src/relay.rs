//! The relay: what an AI client starts as its MCP server.
//!
//! It joins the running hub over the private socket, says one hello, and then carries bytes both
//! ways without looking at them. It ends when its standard input ends, after what the hub still
//! has to say, and it writes nothing of its own to standard output.

use std::{io, path::Path, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::UnixStream,
};

use crate::private::{FILE, JoinHello};

/// How long the hub may take to answer what was asked before standard input ended.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Bytes that are carried at once.
const CHUNK: usize = 16 << 10;

/// Why a relay ended before its client did.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// No hub answers.
    #[error("no hub runs for the data folder {0}; start one with `tabwire serve`")]
    NoHub(String),
    /// The hub went away.
    #[error("the hub ended the connection")]
    HubGone,
    /// The client's side broke.
    #[error("standard input or output broke: {0}")]
    Broken(#[from] io::Error),
}

/// Joins the hub of a data folder and carries lines until `input` ends.
pub async fn relay<In, Out>(
    folder: &Path,
    hello: &JoinHello,
    mut input: In,
    mut output: Out,
) -> Result<(), RelayError>
where
    In: AsyncRead + Unpin,
    Out: AsyncWrite + Unpin,
{
    let stream = UnixStream::connect(folder.join(FILE))
        .await
        .map_err(|_| RelayError::NoHub(folder.display().to_string()))?;
    let (mut from_hub, mut to_hub) = stream.into_split();
    let mut line = serde_json::to_vec(hello).map_err(io::Error::from)?;
    line.push(b'\n');
    to_hub.write_all(&line).await.map_err(|_| RelayError::HubGone)?;
    let asking = async {
        let carried = carry(&mut input, &mut to_hub, RelayError::Broken, |_| RelayError::HubGone);
        let carried = carried.await;
        let _ = to_hub.shutdown().await;
        carried
    };
    let answering = carry(&mut from_hub, &mut output, |_| RelayError::HubGone, RelayError::Broken);
    tokio::pin!(asking, answering);
    // Both are polled on after the first has ended; what was read stays with its side until it
    // is written.
    tokio::select! {
        asked = &mut asking => {
            let _ = tokio::time::timeout(LAST_WORDS, &mut answering).await;
            asked
        }
        answered = &mut answering => answered.and(Err(RelayError::HubGone)),
    }
}

/// Carries bytes until the source ends; an error says which side broke.
async fn carry<From, To>(
    from: &mut From,
    to: &mut To,
    not_read: impl Fn(io::Error) -> RelayError,
    not_written: impl Fn(io::Error) -> RelayError,
) -> Result<(), RelayError>
where
    From: AsyncRead + Unpin,
    To: AsyncWrite + Unpin,
{
    let mut bytes = vec![0; CHUNK];
    loop {
        let count = from.read(&mut bytes).await.map_err(&not_read)?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(&bytes[..count]).await.map_err(&not_written)?;
        to.flush().await.map_err(&not_written)?;
    }
}
