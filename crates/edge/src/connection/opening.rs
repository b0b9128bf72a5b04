//! How a connection begins: the machine and the peer talk until the peer has introduced itself.

use dialect::Output;
use futures_util::{SinkExt, StreamExt};
use model::{CloseReason, Closing, FromBrowser, Hello, InstanceId};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_tungstenite::tungstenite::Message;

use super::{Reading, Writing, ending::End, receive, shared::Shared};
use crate::{Edge, config::Config, gate::Grant};

/// Waits for the introduction.
pub async fn open<Io>(
    edge: &Edge,
    config: &Config,
    shared: &Shared,
    reading: &mut Reading<Io>,
    writing: &mut Writing<Io>,
) -> Result<(Hello, Vec<Output>), End>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let greeting = async {
        let outputs = shared.dialect.lock().open();
        if let Some(hello) = greet(writing, outputs).await? {
            return Ok(hello);
        }
        loop {
            // Cancel-safe: a message is taken whole or stays in the socket's buffer.
            let message = tokio::select! {
                () = edge.stop.cancelled() => {
                    let closing = Closing::new(CloseReason::Restarting, "the hub is shutting down");
                    return Err(End::Close(closing));
                }
                message = reading.next() => message,
            };
            let outputs = receive(shared, message)?;
            if let Some(hello) = greet(writing, outputs).await? {
                return Ok(hello);
            }
        }
    };
    timeout(config.hello_timeout, greeting).await.unwrap_or_else(|_| {
        let message = format!("no hello within {:?}", config.hello_timeout);
        let closing = Closing::new(CloseReason::HelloTimeout, message);
        Err(End::Close(closing))
    })
}

/// Carries out what the machine says before there is a session, up to the introduction; what
/// it says after that is for the session.
async fn greet<Io>(
    writing: &mut Writing<Io>,
    outputs: Vec<Output>,
) -> Result<Option<(Hello, Vec<Output>)>, End>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let mut outputs = outputs.into_iter();
    while let Some(output) = outputs.next() {
        match output {
            Output::Write(text) => writing.send(Message::text(text)).await.map_err(End::Broken)?,
            Output::WriteBytes(bytes) => {
                writing.send(Message::binary(bytes)).await.map_err(End::Broken)?
            }
            Output::Ping => {
                writing.send(Message::Ping(Default::default())).await.map_err(End::Broken)?
            }
            Output::Close(closing) => return Err(End::Announced(closing)),
            Output::Deliver(FromBrowser::Hello(hello)) => {
                return Ok(Some((*hello, outputs.collect())));
            }
            // Signs of life before the introduction change nothing, and nobody waits for more.
            Output::Deliver(_) | Output::WakeAfter(_) => {}
        }
    }
    Ok(None)
}

/// Checks an introduction against what the gates found out.
pub fn judge(hello: &Hello, instance: Option<&InstanceId>, grant: Grant) -> Result<(), Closing> {
    if instance.is_some_and(|given| *given != hello.instance) {
        return Err(Closing::new(
            CloseReason::ProtocolError,
            "the instance id in hello and the one in the address differ",
        ));
    }
    if hello.kind == model::Kind::Browser && !grant.may_be_browser() {
        return Err(Closing::new(CloseReason::Refused, "a web page cannot be a browser"));
    }
    Ok(())
}
