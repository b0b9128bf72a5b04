//! The relay: what an AI client starts as its MCP server.
//!
//! - this file: one loop over everything that can happen;
//! - [`ledger`]: the books: which requests are open and what becomes of them; [`told`]: what a
//!   client has told a hub and the next one must hear;
//! - [`envelope`], [`request`]: what is read of a line; [`answer`]: what is said in a hub's place;
//! - [`outbox`], [`link`]: lines out, and the hub of this moment; [`pace`]: when to try again.
//!
//! It joins the hub of the machine, or starts one, and carries lines both ways. When the hub dies
//! it keeps its client's stream open and joins the next one. It ends when its standard input ends,
//! after what the hub still has to say.

mod answer;
mod envelope;
mod ledger;
mod link;
mod outbox;
mod pace;
mod request;
mod told;

use std::{io, pin::Pin, time::Duration};

use lines::{Line, Lines};
use tokio::{
    io::{AsyncRead, AsyncWrite, BufReader},
    time::{self, Instant},
};

use self::{ledger::Ledger, link::HubLink, outbox::Outbox, pace::Pace};
use crate::{
    join::{JoinError, Joiner},
    private::{JoinHello, Membership},
};

/// How long the last answers may take to be written when the relay ends.
const FAREWELL: Duration = Duration::from_secs(1);

/// Limits of one relay.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The longest line of a client; a longer one is refused, as the hub would.
    pub line: usize,
    /// How long a request may take before it is asked whether the hub is awake, unless the
    /// request itself asks for more.
    pub request: Duration,
    /// How long the hub may take to show that it is awake.
    pub grace: Duration,
    /// How long what was said before standard input ended may take.
    pub last_words: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: 16 << 20,
            request: Duration::from_secs(30),
            grace: Duration::from_secs(2),
            last_words: Duration::from_secs(5),
        }
    }
}

/// Why a relay ended before its client did.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// No hub could be joined or started, not even once.
    #[error(transparent)]
    Join(JoinError),
    /// The hub runs and does not want to hear more.
    #[error("the hub ended the conversation; its log may say why")]
    HubGone,
    /// The client's side broke.
    #[error("standard input or output broke: {0}")]
    Broken(#[from] io::Error),
}

/// Carries a client's lines to the hub and back until `input` ends, or until `unread` says that
/// nobody reads `output`: then the hub is left at once, and withdraws what the client had asked.
pub async fn relay(
    joiner: Joiner,
    hello: JoinHello,
    limits: Limits,
    (input, output): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    unread: impl Future<Output = ()>,
) -> Result<(), RelayError> {
    let now = Instant::now();
    let relay = Relay {
        joiner,
        hello,
        limits,
        input: Lines::new(BufReader::new(input), limits.line),
        output,
        ledger: Ledger::new(limits.request),
        outbox: Outbox::default(),
        hub: None,
        joining: None,
        probing: None,
        pace: Pace::new(now),
        lost: None,
        calm: false,
        trouble: None,
        phase: Phase::Open,
    };
    // Both arms are cancel-safe: nobody is left whom a lost line could concern.
    tokio::select! {
        outcome = relay.run() => outcome,
        () = unread => Err(RelayError::Broken(io::ErrorKind::BrokenPipe.into())),
    }
}

type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

struct Relay<In, Out> {
    joiner: Joiner,
    /// Its term is the newest that was seen.
    hello: JoinHello,
    limits: Limits,
    input: Lines<BufReader<In>>,
    output: Out,
    ledger: Ledger,
    outbox: Outbox,
    hub: Option<HubLink>,
    /// An attempt to join.
    joining: Option<Pending<Result<Membership, JoinError>>>,
    /// The question whether the hub is awake.
    probing: Option<Pending<bool>>,
    pace: Pace,
    /// The term of the hub that was lost last.
    lost: Option<u64>,
    /// Whether a hub is started only for something that waits: the last one was told to end, or
    /// could not start.
    calm: bool,
    /// Why there is no hub.
    trouble: Option<String>,
    phase: Phase,
}

/// How far the conversation is.
enum Phase {
    /// The client may say more.
    Open,
    /// The client has said everything; the rest has until then.
    Leaving(Instant),
    /// Only what the client is to hear is left, until then.
    Closing(Instant, Option<RelayError>),
}

/// What can happen.
enum Event {
    Said(io::Result<Line>),
    Heard(io::Result<Line>),
    /// Something was written to the hub.
    Sent,
    /// Something was written to the client.
    Told(io::Result<()>),
    Joined(Box<Result<Membership, JoinError>>),
    Probed(bool),
    Alarm,
}

impl<In: AsyncRead + Unpin, Out: AsyncWrite + Unpin> Relay<In, Out> {
    async fn run(mut self) -> Result<(), RelayError> {
        loop {
            self.begin(Instant::now());
            if let Phase::Closing(until, error) = &mut self.phase
                && (self.outbox.is_empty() || Instant::now() >= *until)
            {
                return error.take().map_or(Ok(()), Err);
            }
            let event = self.next_event().await;
            self.take(event, Instant::now())?;
        }
    }

    /// Begins what it is time for.
    fn begin(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Closing(..)) {
            return;
        }
        let leaving = matches!(self.phase, Phase::Leaving(_));
        match &mut self.hub {
            Some(hub) if leaving && hub.outgoing.is_idle() && !self.ledger.is_waiting() => {
                hub.outgoing.close();
            }
            Some(_) => {}
            None if self.joining.is_some() => {}
            None if leaving && !self.ledger.is_waiting() => self.end(None, now),
            None if now >= self.pace.next() => self.join(now),
            None => {}
        }
    }

    fn join(&mut self, now: Instant) {
        let may_start = !self.calm || self.ledger.is_waiting();
        self.pace.tried(now, !may_start);
        let (joiner, hello) = (self.joiner.clone(), self.hello.clone());
        self.joining = Some(Box::pin(async move { joiner.join(&hello, may_start).await }));
    }

    async fn next_event(&mut self) -> Event {
        let alarm = self.next_alarm();
        let listening = matches!(self.phase, Phase::Open)
            && self.ledger.has_room()
            && self.outbox.has_room_for_answers();
        let hearing = self.outbox.has_room();
        let Self { input, output, outbox, hub, ledger, joining, probing, .. } = self;
        let (incoming, outgoing) =
            hub.as_mut().map(|hub| (&mut hub.incoming, &mut hub.outgoing)).unzip();
        // All arms are cancel-safe: lines and outboxes by their own promise, attempts and
        // questions because they are pinned outside, the alarm because it only waits.
        tokio::select! {
            line = input.next(), if listening => Event::Said(line),
            line = hear(incoming), if hearing => Event::Heard(line),
            () = send(outgoing, ledger) => Event::Sent,
            told = outbox.advance(output) => Event::Told(told),
            joined = finish(joining) => Event::Joined(Box::new(joined)),
            awake = finish(probing) => Event::Probed(awake),
            () = sleep_until(alarm) => Event::Alarm,
        }
    }

    fn next_alarm(&self) -> Option<Instant> {
        let phase = match self.phase {
            Phase::Open => None,
            Phase::Leaving(until) | Phase::Closing(until, _) => Some(until),
        };
        // Whoever only says goodbye looks for no hub: a time that is over would wake it at once.
        let closing = matches!(self.phase, Phase::Closing(..));
        let try_again = !closing && self.hub.is_none() && self.joining.is_none();
        let attempt = try_again.then(|| self.pace.next());
        [self.ledger.next_due(), phase, attempt].into_iter().flatten().min()
    }

    fn take(&mut self, event: Event, now: Instant) -> Result<(), RelayError> {
        match event {
            Event::Said(line) => self.said(line?, now),
            Event::Heard(Ok(Line::Whole(line))) => self.outbox.extend(self.ledger.heard(line)),
            Event::Heard(_) => self.lose_hub(now),
            Event::Sent => {}
            Event::Told(told) => told?,
            Event::Joined(joined) => {
                self.joining = None;
                match *joined {
                    Ok(member) => self.joined(member, now),
                    Err(error) => self.not_joined(error, now),
                }
            }
            Event::Probed(awake) => {
                self.probing = None;
                match awake {
                    true => self.ledger.hub_is_awake(now),
                    false => self.outbox.extend(self.ledger.hub_is_frozen()),
                }
            }
            Event::Alarm => self.alarm(now),
        }
        Ok(())
    }

    fn said(&mut self, line: Line, now: Instant) {
        match line {
            Line::Whole(line) => self.outbox.extend(self.ledger.said(line, now)),
            Line::TooLong(id) => {
                let id = id.and_then(|id| serde_json::from_str::<envelope::Id>(&id).ok());
                let words = format!("the line is longer than {} bytes", self.limits.line);
                self.outbox.push(answer::refusal(id.as_ref(), &words));
            }
            Line::End => self.phase = Phase::Leaving(now + self.limits.last_words),
        }
        if self.hub.is_none() && self.ledger.is_waiting() {
            self.pace.hurry(now);
        }
    }

    fn joined(&mut self, member: Membership, now: Instant) {
        let term = member.welcome.term;
        if self.lost == Some(term) && !self.calm {
            // It has not died: it has had enough of this client.
            return self.end(Some(RelayError::HubGone), now);
        }
        self.hello.term = term;
        (self.calm, self.lost, self.trouble) = (false, None, None);
        self.hub = Some(HubLink::new(member));
        self.ledger.hub_joined();
    }

    fn not_joined(&mut self, error: JoinError, now: Instant) {
        tracing::debug!(%error, "no hub");
        // Terms begin at one, so none means that no hub was ever joined.
        if self.hello.term == 0 && error.is_final() {
            return self.end(Some(RelayError::Join(error)), now);
        }
        self.calm |= matches!(error, JoinError::Start(_));
        self.trouble = Some(error.to_string());
    }

    fn lose_hub(&mut self, now: Instant) {
        let Some(hub) = self.hub.take() else { return };
        let (term, was_closed) = (hub.term, hub.outgoing.is_closed());
        hub.outgoing.abandon(&mut self.ledger);
        self.probing = None;
        self.pace = Pace::new(now);
        self.lost = Some(term);
        self.calm = self.joiner.has_retired(term);
        if was_closed {
            return self.end(None, now);
        }
        self.outbox.extend(self.ledger.hub_lost(now));
    }

    fn alarm(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Leaving(until) if until <= now) {
            return self.end(None, now);
        }
        let (lines, suspect) = self.ledger.due(now, self.trouble.as_deref());
        self.outbox.extend(lines);
        if suspect && self.probing.is_none() {
            let (joiner, grace) = (self.joiner.clone(), self.limits.grace);
            self.probing = Some(Box::pin(async move { joiner.is_awake(grace).await }));
        }
    }

    /// Gives everything that is open its answer; what is left is to write them.
    fn end(&mut self, error: Option<RelayError>, now: Instant) {
        (self.hub, self.joining, self.probing) = (None, None, None);
        let why = error.as_ref().map(ToString::to_string).or(self.trouble.take());
        self.outbox.extend(self.ledger.close(why.as_deref()));
        self.phase = Phase::Closing(now + FAREWELL, error);
    }
}

async fn hear<R>(incoming: Option<&mut Lines<R>>) -> io::Result<Line>
where
    R: tokio::io::AsyncBufRead + Unpin,
{
    match incoming {
        Some(incoming) => incoming.next().await,
        None => std::future::pending().await,
    }
}

async fn send(outgoing: Option<&mut link::Outgoing>, ledger: &mut Ledger) {
    match outgoing {
        Some(outgoing) => outgoing.advance(ledger).await,
        None => std::future::pending().await,
    }
}

async fn finish<T>(work: &mut Option<Pending<T>>) -> T {
    match work {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
