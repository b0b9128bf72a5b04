//! One WebSocket's life: hello, then reading and writing side by side, then a clean end.
//!
//! One task per connection holds a reader and a writer. The reader passes frames to the dialect
//! and meaning to the session; the writer takes all that is ready and flushes once. The writer
//! waits for a slow peer at most the write timeout; the reader never waits for the writer except
//! when [`OWN_FRAMES`] answers of the dialect itself are unwritten.

pub(crate) mod ending;

use std::{collections::VecDeque, time::Duration};

use dialect::{Dialect, Frame, Output, PingBy};
use futures_util::{SinkExt, StreamExt, stream::SplitSink, stream::SplitStream};
use hub::{Attachment, Batch, Introduction, Outgoing};
use model::{CloseReason, Closing, FromBrowser, Hello, InstanceId, ToBrowser};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Notify,
    time::{Instant, sleep_until, timeout},
};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::{
    Edge,
    config::Config,
    gate::Grant,
    meter::{Allowance, Meter},
};
use ending::End;

/// Answers of the dialect itself, such as pongs, that may wait to be written.
const OWN_FRAMES: usize = 256;
/// A timer that fires this much too late means that we slept, not that the peer is dead.
const STALL: Duration = Duration::from_secs(2);

/// A peer that has been let in and has not said hello yet.
pub struct Visitor {
    /// The protocol machine.
    pub dialect: Box<dyn Dialect>,
    /// Its name.
    pub dialect_name: &'static str,
    /// The instance id from the address, where one was given.
    pub instance: Option<InstanceId>,
    /// The web origin, where a page asks.
    pub origin: Option<String>,
    /// What that origin may be.
    pub grant: Grant,
}

pub(crate) type Socket<Io> = WebSocketStream<Meter<Io>>;
type Reading<Io> = SplitStream<Socket<Io>>;
type Writing<Io> = SplitSink<Socket<Io>, Message>;

/// What reader and writer of one connection share.
struct Shared {
    // Blocking mutexes: held for one step of the machine or queue, never across an await.
    dialect: Mutex<Box<dyn Dialect>>,
    own: Mutex<VecDeque<Message>>,
    own_ready: Notify,
    own_taken: Notify,
}

/// Runs a connection to its end.
pub async fn run<Io>(
    edge: &Edge,
    config: &Config,
    socket: Socket<Io>,
    allowance: Allowance,
    visitor: Visitor,
) where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (mut writing, mut reading) = socket.split();
    let Visitor { dialect, dialect_name, instance, origin, grant } = visitor;
    let shared = Shared {
        dialect: Mutex::new(dialect),
        own: Mutex::default(),
        own_ready: Notify::new(),
        own_taken: Notify::new(),
    };
    // Boxed, like all that is not the idle conversation: a task is as large as its largest
    // phase, and ten thousand of them wait.
    let opened = Box::pin(open(edge, config, &shared, &mut reading, &mut writing)).await;
    let end = match opened {
        Err(end) => end,
        Ok(hello) => match judge(&hello, instance.as_ref(), grant) {
            Err(closing) => End::Close(closing),
            Ok(()) => {
                let introduction = Introduction { hello, dialect: dialect_name, origin };
                let (outbox, outgoing) = edge.hub.outbox();
                match Box::pin(edge.hub.attach(introduction, outbox)).await {
                    Err(closing) => End::Close(closing),
                    Ok(attachment) => {
                        allowance.raise(config.message_bytes);
                        let both = (&mut reading, &mut writing);
                        converse(config, &shared, both, &attachment, outgoing).await
                    }
                }
            }
        },
    };
    let farewell = |closing: Option<&Closing>| {
        let bye = closing.map(|closing| ToBrowser::Bye(closing.clone()));
        shared.encode(bye.into_iter().collect()).0
    };
    Box::pin(ending::finish(edge, &allowance, reading, writing, end, farewell)).await;
}

/// Waits for the introduction.
async fn open<Io>(
    edge: &Edge,
    config: &Config,
    shared: &Shared,
    reading: &mut Reading<Io>,
    writing: &mut Writing<Io>,
) -> Result<Hello, End>
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

/// Carries out what the machine says before there is a session.
async fn greet<Io>(writing: &mut Writing<Io>, outputs: Vec<Output>) -> Result<Option<Hello>, End>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    for output in outputs {
        match output {
            Output::Write(text) => writing.send(Message::text(text)).await.map_err(End::Broken)?,
            Output::Ping => {
                writing.send(Message::Ping(Default::default())).await.map_err(End::Broken)?
            }
            Output::Close(closing) => return Err(End::Announced(closing)),
            Output::Deliver(FromBrowser::Hello(hello)) => return Ok(Some(hello)),
            // Signs of life before the introduction change nothing.
            Output::Deliver(_) => {}
        }
    }
    Ok(None)
}

/// Checks an introduction against what the gates found out.
fn judge(hello: &Hello, instance: Option<&InstanceId>, grant: Grant) -> Result<(), Closing> {
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

/// Reads and writes until one of the two ends.
async fn converse<Io>(
    config: &Config,
    shared: &Shared,
    (reading, writing): (&mut Reading<Io>, &mut Writing<Io>),
    attachment: &Attachment,
    outgoing: Outgoing,
) -> End
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    // Both may be dropped at any point: a frame that is half written stays in the socket's
    // buffer and is completed by whoever writes next.
    tokio::select! {
        end = read_loop(shared, reading, attachment) => end,
        end = write_loop(config, shared, writing, outgoing) => end,
    }
}

async fn read_loop<Io>(shared: &Shared, reading: &mut Reading<Io>, attachment: &Attachment) -> End
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let liveness = shared.dialect.lock().liveness();
    let mut heard = Instant::now();
    let mut asked = false;
    let timer = sleep_until(heard + liveness.ask_after);
    tokio::pin!(timer);
    loop {
        // Cancel-safe: a message is taken whole or stays in the socket's buffer; the timer keeps
        // its deadline.
        tokio::select! {
            biased;
            message = reading.next() => {
                heard = Instant::now();
                asked = false;
                if let Err(end) = take_in(shared, message, attachment) {
                    return end;
                }
                shared.wait_for_room().await;
            }
            () = &mut timer => {
                let patience =
                    liveness.ask_after + if asked { liveness.dead_after } else { Duration::ZERO };
                let now = Instant::now();
                if now < heard + patience {
                    timer.as_mut().reset(heard + patience);
                } else if now > timer.deadline() + STALL {
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
    for output in receive(shared, message)? {
        match output {
            Output::Deliver(message) => attachment.receive(message).map_err(End::Close)?,
            Output::Write(text) => shared.push(Message::text(text)),
            Output::Ping => shared.push(Message::Ping(Default::default())),
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
    mut outgoing: Outgoing,
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
        let messages = match batch {
            Some(Batch::Close(closing)) => return End::Close(closing),
            Some(Batch::Messages(messages)) => messages,
            None => VecDeque::new(),
        };
        let write = write_all(shared, writing, messages);
        match timeout(config.write_timeout, write).await {
            Ok(Ok(())) => {}
            Ok(Err(end)) => return end,
            Err(_) => {
                let message = format!("nothing was read for {:?}", config.write_timeout);
                return End::Close(Closing::new(CloseReason::SlowConsumer, message));
            }
        }
    }
}

/// Writes everything that is ready and flushes once.
async fn write_all<Io>(
    shared: &Shared,
    writing: &mut Writing<Io>,
    messages: VecDeque<ToBrowser>,
) -> Result<(), End>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (frames, closing) = shared.encode(messages);
    for frame in frames {
        writing.feed(frame).await.map_err(End::Broken)?;
    }
    if let Some(closing) = closing {
        return Err(End::Announced(closing));
    }
    writing.flush().await.map_err(End::Broken)
}

impl Shared {
    /// Turns messages into frames, the machine's own first, up to where it wants to close.
    fn encode(&self, messages: VecDeque<ToBrowser>) -> (VecDeque<Message>, Option<Closing>) {
        let mut frames = self.take_own();
        let mut dialect = self.dialect.lock();
        for output in messages.into_iter().flat_map(|message| dialect.send(message)) {
            match output {
                Output::Write(text) => frames.push_back(Message::text(text)),
                Output::Ping => frames.push_back(Message::Ping(Default::default())),
                Output::Close(closing) => return (frames, Some(closing)),
                // A machine that answers for its peer: there is nobody here to give it to.
                Output::Deliver(_) => {}
            }
        }
        (frames, None)
    }

    /// Waits while too many frames of the machine's own are unwritten.
    async fn wait_for_room(&self) {
        while self.own.lock().len() >= OWN_FRAMES {
            self.own_taken.notified().await;
        }
    }

    fn push(&self, message: Message) {
        self.own.lock().push_back(message);
        self.own_ready.notify_one();
    }

    fn take_own(&self) -> VecDeque<Message> {
        let own = std::mem::take(&mut *self.own.lock());
        self.own_taken.notify_one();
        own
    }

    /// Asks the peer whether it is there.
    fn ask(&self, ping_by: PingBy) {
        match ping_by {
            PingBy::Protocol => self.push(Message::Ping(Default::default())),
            PingBy::Message => {
                for output in self.dialect.lock().send(ToBrowser::Ping) {
                    if let Output::Write(text) = output {
                        self.push(Message::text(text));
                    }
                }
            }
        }
    }
}
