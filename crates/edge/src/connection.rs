//! One WebSocket's life: hello, then reading and writing side by side, then a clean end.
//!
//! One task per connection holds a reader and a writer. The reader passes frames to the dialect
//! and meaning to the session; the writer takes all that is ready and flushes once. The writer
//! waits for a slow peer at most the write timeout; the reader never waits for the writer except
//! when [`shared::OWN_FRAMES`] answers of the dialect itself are unwritten.

pub(crate) mod asking;
pub(crate) mod ending;
mod opening;
mod proving;
mod shared;

use std::{collections::VecDeque, time::Duration};

use dialect::{Dialect, DialectInfo, Frame, Liveness, Output};
use futures_util::{SinkExt, StreamExt, stream::SplitSink, stream::SplitStream};
use hub::{Attachment, Batch, Introduction, Outgoing};
use model::{Carriage, CloseReason, Closing, FromBrowser, Hello, InstanceId, ToBrowser};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, sleep_until, timeout},
};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::{
    Edge,
    config::Config,
    gate::{Grant, Pass},
    meter::{Allowance, Meter},
    register::Claim,
};
use ending::End;
use opening::{Opened, judge, judge_stranger, open};
use proving::Proving;
pub use proving::unpaired;
use shared::{Encoded, Shared};

/// A timer that fires this much too late means that we slept, not that the peer is dead.
const STALL: Duration = Duration::from_secs(2);

/// A peer that has been let in and has not said hello yet.
pub struct Visitor {
    /// The protocol machine.
    pub dialect: Box<dyn Dialect>,
    /// Its entry in the register.
    pub info: &'static DialectInfo,
    /// When it is asked whether it is there, and when it is given up.
    pub liveness: Liveness,
    /// The instance id from the address, where one was given.
    pub instance: Option<InstanceId>,
    /// What the gates found out.
    pub pass: Pass,
    /// The port it came on.
    pub port: u16,
}

/// What is known of a peer before its introduction.
struct Newcomer {
    info: &'static DialectInfo,
    instance: Option<InstanceId>,
    pass: Pass,
    port: u16,
}

impl Visitor {
    /// Puts the machine into its place; the rest is needed until the introduction.
    fn into_parts(self) -> (Shared, Box<Newcomer>) {
        let Self { dialect, info, liveness, instance, pass, port } = self;
        let newcomer = Newcomer { info, instance, pass, port };
        (Shared::new(dialect, liveness), Box::new(newcomer))
    }
}

pub(crate) type Socket<Io> = WebSocketStream<Meter<Io>>;
type Reading<Io> = SplitStream<Socket<Io>>;
type Writing<Io> = SplitSink<Socket<Io>, Message>;

/// Runs a connection to its end.
///
/// A task is as large as its largest phase with all that was handed to it, and ten thousand of
/// them wait: whatever is not the idle conversation is boxed, and the socket is taken apart before
/// the task begins.
pub fn run<Io>(
    edge: &Edge,
    config: &Config,
    socket: Socket<Io>,
    allowance: Allowance,
    visitor: Visitor,
) -> impl Future<Output = ()>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (mut writing, mut reading) = socket.split();
    let (shared, newcomer) = visitor.into_parts();
    async move {
        let both = (&mut reading, &mut writing);
        let admitted = Box::pin(admit(edge, config, &shared, newcomer, both)).await;
        let parting = match admitted {
            Err(end) => end.settle(edge, &allowance),
            Ok(mut admitted) => {
                allowance.raise(config.message_bytes);
                let both = (&mut reading, &mut writing);
                let end = converse(config, &shared, both, &mut admitted).await;
                end.settle(edge, &allowance)
            }
        };
        let farewell = |closing: Option<&Closing>| {
            let bye = closing.map(|closing| ToBrowser::Bye(closing.clone()));
            shared.encode(bye.into_iter().collect()).frames
        };
        Box::pin(ending::finish(&allowance, reading, writing, parting, farewell)).await;
    }
}

/// A peer that has its session.
struct Admitted {
    /// Its registration is in use for as long as it is here. Dropped first: who sees in the
    /// session that a peer is gone does not find it among the registered ones.
    _claim: Option<Claim>,
    attachment: Attachment,
    outgoing: Outgoing,
    /// What the machine said right after the introduction.
    said_already: Vec<Output>,
}

/// Waits for the introduction and gets the peer its session.
async fn admit<Io>(
    edge: &Edge,
    config: &Config,
    shared: &Shared,
    newcomer: Box<Newcomer>,
    (reading, writing): (&mut Reading<Io>, &mut Writing<Io>),
) -> Result<Admitted, End>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let Newcomer { info, instance, pass, port } = *newcomer;
    let mut proving = Proving::new(edge, &pass, instance.as_ref());
    let Opened { hello, rest: said_already } =
        open(edge, config, shared, (reading, writing), &mut proving).await?;
    let is_vouched_for = pass.is_known || proving.is_proven();
    let is_own = info.name == dialect::native::INFO.name;
    judge(&hello, instance.as_ref(), pass.grant).map_err(End::Close)?;
    if is_own && !is_vouched_for {
        judge_stranger(&hello, pass.grant).map_err(End::Close)?;
    }
    if pass.is_waiting {
        return Err(End::Close(asking::ask_for(edge, pass.origin.as_deref().unwrap_or_default())));
    }
    let origin = pass.origin.clone();
    let claim = (info.name == dialect::moonsurf::NAME)
        .then(|| edge.registrations.claim(&hello.instance, origin.as_deref(), port));
    let _claim = claim.transpose().map_err(End::Close)?;
    // What a page says of files through its carrier is nobody's word.
    let at_home = pass.is_local && proving.is_proven() && proving.carried().is_none();
    let introduction = Introduction {
        hello,
        dialect: info.name,
        origin,
        // An extension's origin says which one it is, and not that it is the one that was meant.
        unproven: !is_own && !is_vouched_for && pass.grant != Grant::Page,
        at_home,
        carried_by: None,
    };
    let introduction = match proving.carried() {
        Some(carriage) => carry(introduction, carriage),
        None => introduction,
    };
    let (outbox, outgoing) = edge.hub.outbox();
    let attachment = edge.hub.attach(introduction, outbox).await.map_err(End::Close)?;
    if proving.is_outdated() {
        return Err(End::Close(proving::outdated()));
    }
    asking::tell(edge, attachment.session());
    Ok(Admitted { _claim, attachment, outgoing, said_already })
}

/// Makes an introduction the page's own: whose socket it is counts no more.
fn carry(introduction: Introduction, carriage: &Carriage) -> Introduction {
    let instance = guard::pairing::carried::instance(carriage, &introduction.hello.instance);
    Introduction {
        hello: Hello { instance, ..introduction.hello },
        origin: Some(carriage.origin.clone()),
        carried_by: Some(carriage.carrier.clone()),
        ..introduction
    }
}

/// Reads and writes until one of the two ends.
async fn converse<Io>(
    config: &Config,
    shared: &Shared,
    (reading, writing): (&mut Reading<Io>, &mut Writing<Io>),
    admitted: &mut Admitted,
) -> End
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let Admitted { attachment, outgoing, said_already, .. } = admitted;
    // The welcome waits already, and comes before whatever the machine says by itself.
    let welcome = outgoing.next().await;
    let written = Box::pin(write_batch(config, shared, writing, attachment, Some(welcome))).await;
    if let Err(end) = written {
        return end;
    }
    if let Err(end) = carry_out(shared, std::mem::take(said_already), attachment) {
        return end;
    }
    // Both may be dropped at any point: a frame that is half written stays in the socket's
    // buffer and is completed by whoever writes next.
    tokio::select! {
        end = read_loop(shared, reading, attachment) => end,
        end = write_loop(config, shared, writing, attachment, outgoing) => end,
    }
}

async fn read_loop<Io>(shared: &Shared, reading: &mut Reading<Io>, attachment: &Attachment) -> End
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let liveness = shared.liveness;
    let mut heard = Instant::now();
    let mut asked = false;
    let timer = sleep_until(heard + liveness.ask_after);
    tokio::pin!(timer);
    loop {
        // Cancel-safe: a message is taken whole or stays in the socket's buffer; the timers keep
        // their deadlines.
        tokio::select! {
            biased;
            message = reading.next() => {
                heard = Instant::now();
                // The timer waits for an answer until then, which would be late for the next ping.
                if std::mem::take(&mut asked) {
                    timer.as_mut().reset(heard + liveness.ask_after);
                }
                if let Err(end) = take_in(shared, message, attachment) {
                    return end;
                }
                shared.wait_for_room().await;
            }
            () = shared.time_to_wake() => {
                let outputs = shared.dialect.lock().wake();
                if let Err(end) = carry_out(shared, outputs, attachment) {
                    return end;
                }
            }
            () = &mut timer => {
                let patience =
                    liveness.ask_after + if asked { liveness.dead_after } else { Duration::ZERO };
                let now = Instant::now();
                if now < heard + patience {
                    timer.as_mut().reset(heard + patience);
                } else if now > timer.deadline() + STALL || attachment.hub_slept_since(heard) {
                    (heard, asked) = (now, false);
                    timer.as_mut().reset(heard + liveness.ask_after);
                } else if asked {
                    let closing = Closing::new(CloseReason::Unresponsive, "nothing was heard");
                    return End::Close(closing);
                } else {
                    asked = true;
                    shared.ask(liveness.ping_by);
                    timer.as_mut().reset(heard + liveness.ask_after + liveness.dead_after);
                }
            }
        }
    }
}

/// Passes one message to the machine, and its meaning to the session.
fn take_in(
    shared: &Shared,
    message: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>,
    attachment: &Attachment,
) -> Result<(), End> {
    carry_out(shared, receive(shared, message)?, attachment)
}

/// Does what the machine says.
fn carry_out(shared: &Shared, outputs: Vec<Output>, attachment: &Attachment) -> Result<(), End> {
    for output in outputs {
        match output {
            Output::Deliver(message) => attachment.receive(message).map_err(End::Close)?,
            Output::Write(text) => shared.push(Message::text(text)),
            Output::WriteBytes(bytes) => shared.push(Message::binary(bytes)),
            Output::Ping => shared.push(Message::Ping(Default::default())),
            Output::WakeAfter(time) => shared.wake_after(time),
            Output::Close(closing) => return Err(End::Announced(closing)),
        }
    }
    Ok(())
}

/// Gives a message to the machine.
fn receive(
    shared: &Shared,
    message: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>,
) -> Result<Vec<Output>, End> {
    match message {
        Some(Ok(Message::Text(text))) => Ok(shared.dialect.lock().receive(Frame::Text(&text))),
        Some(Ok(Message::Binary(bytes))) => {
            Ok(shared.dialect.lock().receive(Frame::Binary(&bytes)))
        }
        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
            Ok(vec![Output::Deliver(FromBrowser::Alive)])
        }
        Some(Ok(Message::Close(_))) => Err(End::PeerClosed),
        Some(Err(error)) => Err(End::Broken(error)),
        None => Err(End::Gone),
    }
}

async fn write_loop<Io>(
    config: &Config,
    shared: &Shared,
    writing: &mut Writing<Io>,
    attachment: &Attachment,
    outgoing: &mut Outgoing,
) -> End
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    loop {
        // Cancel-safe: a batch is taken whole, a notification keeps its permit.
        let batch = tokio::select! {
            batch = outgoing.next() => Some(batch),
            () = shared.own_ready.notified() => None,
        };
        let write = write_batch(config, shared, writing, attachment, batch);
        if let Err(end) = Box::pin(write).await {
            return end;
        }
    }
}

/// Writes a batch, or only what the machine has to say; a slow peer has the write timeout.
async fn write_batch<Io>(
    config: &Config,
    shared: &Shared,
    writing: &mut Writing<Io>,
    attachment: &Attachment,
    batch: Option<Batch>,
) -> Result<(), End>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let messages = match batch {
        Some(Batch::Close(closing)) => return Err(End::Close(closing)),
        Some(Batch::Messages(messages)) => messages,
        None => VecDeque::new(),
    };
    let write = write_all(shared, writing, attachment, messages);
    timeout(config.write_timeout, write).await.unwrap_or_else(|_| {
        let message = format!("nothing was read for {:?}", config.write_timeout);
        Err(End::Close(Closing::new(CloseReason::SlowConsumer, message)))
    })
}

/// Writes everything that is ready and flushes once.
async fn write_all<Io>(
    shared: &Shared,
    writing: &mut Writing<Io>,
    attachment: &Attachment,
    messages: VecDeque<ToBrowser>,
) -> Result<(), End>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let Encoded { frames, told, closing } = shared.encode(messages);
    for frame in frames {
        writing.feed(frame).await.map_err(End::Broken)?;
    }
    if let Some(closing) = closing {
        return Err(End::Announced(closing));
    }
    writing.flush().await.map_err(End::Broken)?;
    // After the writing: what the machine says for its peer is true once the peer was asked.
    for message in told {
        attachment.receive(message).map_err(End::Close)?;
    }
    Ok(())
}
