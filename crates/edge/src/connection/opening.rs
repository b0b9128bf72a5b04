//! How a connection begins: the machine and the peer talk until the peer has introduced itself.

use std::collections::VecDeque;

use dialect::Output;
use futures_util::{SinkExt, StreamExt};
use model::{CloseReason, Closing, FromBrowser, Hello, InstanceId};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_tungstenite::tungstenite::Message;

use super::{Reading, Writing, ending::End, proving::Proving, receive, shared::Shared};
use crate::{Edge, config::Config, gate::Grant};

/// A peer that has introduced itself, and what the machine said after that.
pub struct Opened {
    pub hello: Hello,
    pub rest: Vec<Output>,
}

/// Waits for the introduction, and for the proof where one is due.
pub async fn open<Io>(
    edge: &Edge,
    config: &Config,
    shared: &Shared,
    (reading, writing): (&mut Reading<Io>, &mut Writing<Io>),
    proving: &mut Proving<'_>,
) -> Result<Opened, End>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let greeting = async {
        let outputs = shared.dialect.lock().open();
        if let Some(opened) = greet(shared, writing, proving, outputs).await? {
            return Ok(opened);
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
            if let Some(opened) = greet(shared, writing, proving, outputs).await? {
                return Ok(opened);
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
    shared: &Shared,
    writing: &mut Writing<Io>,
    proving: &mut Proving<'_>,
    outputs: Vec<Output>,
) -> Result<Option<Opened>, End>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let mut outputs = VecDeque::from(outputs);
    while let Some(output) = outputs.pop_front() {
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
                proving.hello().map_err(End::Close)?;
                return Ok(Some(Opened { hello: *hello, rest: outputs.into() }));
            }
            Output::Deliver(FromBrowser::Greeting(greeting)) => {
                let challenge = proving.greeting(greeting).await.map_err(End::Close)?;
                outputs.extend(shared.dialect.lock().send(challenge));
            }
            Output::Deliver(FromBrowser::Proof { proof, hello }) => {
                let hello = proving.proof(proof, *hello).await.map_err(End::Close)?;
                return Ok(Some(Opened { hello, rest: outputs.into() }));
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
    if guard::pairing::carried::is_reserved(&hello.instance) {
        return Err(Closing::new(
            CloseReason::Refused,
            "instance ids that begin like this are for pages that an extension carries",
        ));
    }
    if hello.kind == model::Kind::Browser && !grant.may_be_browser() {
        return Err(Closing::new(CloseReason::Refused, "a web page cannot be a browser"));
    }
    Ok(())
}

/// Checks an introduction in our own protocol by whom nobody vouches for: a page may be an app, and
/// everybody else has to show a token or to prove that it is paired.
pub fn judge_stranger(hello: &Hello, grant: Grant) -> Result<(), Closing> {
    let problem = match (hello.kind, grant) {
        (model::Kind::App, Grant::Page | Grant::Configured) => return Ok(()),
        (model::Kind::App, _) => "a program that is no web page needs a token",
        (model::Kind::Browser, _) => "a browser needs a token, or proves that it is paired",
    };
    let message = format!("{problem}; `tabwire token` prints one, `tabwire pair` pairs");
    Err(Closing::new(CloseReason::Refused, message))
}
