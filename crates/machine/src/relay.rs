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

use std::{io, mem, pin::Pin, time::Duration};

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
    let relay = Relay {
        joiner,
        hello,
        limits,
        input: Lines::new(BufReader::new(input), limits.line),
        output,
        ledger: Ledger::new(limits.request),
        outbox: Outbox::default(),
        client: ClientInput::Open,
        state: RelayState::Searching(HubSearch::new(LastHub::None, Instant::now())),
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
    client: ClientInput,
    state: RelayState,
}

/// Whether the client may say more.
enum ClientInput {
    Open,
    /// It has said everything; the rest has until then.
    Ended(Instant),
}

/// Where the relay is between its client and a hub.
enum RelayState {
    /// There is a hub.
    Joined {
        hub: HubLink,
        /// The question whether it is awake.
        probe: Option<Pending<bool>>,
    },
    /// There is none, and one is looked for.
    Searching(HubSearch),
    /// Only what the client is to hear is left, until then.
    Closing(Instant, Option<RelayError>),
}

/// The search for a hub.
struct HubSearch {
    last_hub: LastHub,
    pace: Pace,
    attempt: Option<Pending<Result<Membership, JoinError>>>,
    /// Why the last attempt failed.
    trouble: Option<String>,
}

/// What became of the hub before; its term is the relay's newest.
#[derive(Clone, Copy, PartialEq)]
enum LastHub {
    /// No hub was ever joined.
    None,
    /// It was lost: if it still runs, it has had enough of this client.
    Lost,
    /// It was told to end, or the next one could not start: one is started only for something that
    /// waits.
    StartOnDemand,
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
            if let RelayState::Closing(until, error) = &mut self.state
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
        let is_waiting = self.ledger.is_waiting();
        let is_done = matches!(self.client, ClientInput::Ended(_)) && !is_waiting;
        match &mut self.state {
            RelayState::Joined { hub, .. } if is_done && hub.outgoing.is_idle() => {
                hub.outgoing.close()
            }
            RelayState::Searching(search) if search.attempt.is_none() => {
                if is_done {
                    self.end(None, now);
                } else if now >= search.pace.next() {
                    search.begin(&self.joiner, &self.hello, is_waiting, now);
                }
            }
            _ => {}
        }
    }

    async fn next_event(&mut self) -> Event {
        let alarm = self.next_alarm();
        let listening = matches!(self.client, ClientInput::Open)
            && !matches!(self.state, RelayState::Closing(..))
            && self.ledger.has_room()
            && self.outbox.has_room_for_answers();
        let hearing = self.outbox.has_room();
        let Self { input, output, outbox, state, ledger, .. } = self;
        // All arms are cancel-safe: lines and outboxes by their own promise, the alarm because it only
        // waits.
        tokio::select! {
            line = input.next(), if listening => Event::Said(line),
            event = state.next_event(ledger, hearing) => event,
            told = outbox.advance(output) => Event::Told(told),
            () = sleep_until(alarm) => Event::Alarm,
        }
    }

    fn next_alarm(&self) -> Option<Instant> {
        let attempt = match &self.state {
            RelayState::Joined { .. } => None,
            RelayState::Searching(search) => search.attempt.is_none().then(|| search.pace.next()),
            RelayState::Closing(until, _) => return Some(*until),
        };
        let end = match self.client {
            ClientInput::Open => None,
            ClientInput::Ended(until) => Some(until),
        };
        [self.ledger.next_due(), end, attempt].into_iter().flatten().min()
    }

    fn take(&mut self, event: Event, now: Instant) -> Result<(), RelayError> {
        match event {
            Event::Said(line) => self.said(line?, now),
            Event::Heard(Ok(Line::Whole(line))) => self.outbox.extend(self.ledger.heard(line)),
            Event::Heard(_) => self.lose_hub(now),
            Event::Sent => {}
            Event::Told(told) => told?,
            Event::Joined(joined) => match *joined {
                Ok(member) => self.joined(member, now),
                Err(error) => self.not_joined(error, now),
            },
            Event::Probed(true) => self.ledger.hub_is_awake(now),
            Event::Probed(false) => self.outbox.extend(self.ledger.hub_is_frozen()),
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
            Line::End => self.client = ClientInput::Ended(now + self.limits.last_words),
        }
        if let RelayState::Searching(search) = &mut self.state
            && self.ledger.is_waiting()
        {
            search.pace.hurry(now);
        }
    }

    fn joined(&mut self, member: Membership, now: Instant) {
        let term = member.welcome.term;
        let is_lost = matches!(&self.state, RelayState::Searching(search) if search.last_hub == LastHub::Lost);
        if is_lost && term == self.hello.term {
            // It has not died: it has had enough of this client.
            return self.end(Some(RelayError::HubGone), now);
        }
        self.hello.term = term;
        self.state = RelayState::Joined { hub: HubLink::new(member), probe: None };
        self.ledger.hub_joined();
    }

    fn not_joined(&mut self, error: JoinError, now: Instant) {
        tracing::debug!(%error, "no hub");
        let RelayState::Searching(search) = &mut self.state else { return };
        if search.last_hub == LastHub::None && error.is_final() {
            return self.end(Some(RelayError::Join(error)), now);
        }
        if matches!(error, JoinError::Start(_)) {
            search.last_hub = LastHub::StartOnDemand;
        }
        search.trouble = Some(error.to_string());
    }

    fn lose_hub(&mut self, now: Instant) {
        let last_hub = match self.joiner.has_retired(self.hello.term) {
            true => LastHub::StartOnDemand,
            false => LastHub::Lost,
        };
        let searching = RelayState::Searching(HubSearch::new(last_hub, now));
        let RelayState::Joined { hub, .. } = mem::replace(&mut self.state, searching) else {
            return;
        };
        let was_closed = hub.outgoing.is_closed();
        hub.outgoing.abandon(&mut self.ledger);
        match was_closed {
            true => self.end(None, now),
            false => self.outbox.extend(self.ledger.hub_lost(now)),
        }
    }

    fn alarm(&mut self, now: Instant) {
        if matches!(self.state, RelayState::Closing(..)) {
            return;
        }
        if matches!(self.client, ClientInput::Ended(until) if until <= now) {
            return self.end(None, now);
        }
        let (lines, suspect) = self.ledger.due(now, self.state.trouble());
        self.outbox.extend(lines);
        if suspect && let RelayState::Joined { probe: probe @ None, .. } = &mut self.state {
            let (joiner, grace) = (self.joiner.clone(), self.limits.grace);
            *probe = Some(Box::pin(async move { joiner.is_awake(grace).await }));
        }
    }

    /// Gives everything that is open its answer; what is left is to write them.
    fn end(&mut self, error: Option<RelayError>, now: Instant) {
        let words = error.as_ref().map(ToString::to_string);
        let why = words.as_deref().or(self.state.trouble());
        self.outbox.extend(self.ledger.close(why));
        self.state = RelayState::Closing(now + FAREWELL, error);
    }
}

impl RelayState {
    /// Waits for what happens on the hub's side. Cancel-safe: lines by their own promise, attempts and
    /// questions because they stay where they are.
    async fn next_event(&mut self, ledger: &mut Ledger, hearing: bool) -> Event {
        match self {
            // All arms are cancel-safe, as said above.
            Self::Joined { hub, probe } => tokio::select! {
                line = hub.incoming.next(), if hearing => Event::Heard(line),
                () = hub.outgoing.advance(ledger) => Event::Sent,
                awake = finish(probe) => Event::Probed(awake),
            },
            Self::Searching(search) => Event::Joined(Box::new(finish(&mut search.attempt).await)),
            Self::Closing(..) => std::future::pending().await,
        }
    }

    fn trouble(&self) -> Option<&str> {
        match self {
            Self::Searching(search) => search.trouble.as_deref(),
            Self::Joined { .. } | Self::Closing(..) => None,
        }
    }
}

impl HubSearch {
    fn new(last_hub: LastHub, now: Instant) -> Self {
        Self { last_hub, pace: Pace::new(now), attempt: None, trouble: None }
    }

    fn begin(&mut self, joiner: &Joiner, hello: &JoinHello, is_waiting: bool, now: Instant) {
        let may_start = is_waiting || self.last_hub != LastHub::StartOnDemand;
        self.pace.tried(now, may_start);
        let (joiner, hello) = (joiner.clone(), hello.clone());
        self.attempt = Some(Box::pin(async move { joiner.join(&hello, may_start).await }));
    }
}

/// Waits for work that is under way, and clears it away when it is done.
async fn finish<T>(work: &mut Option<Pending<T>>) -> T {
    let Some(running) = work else { return std::future::pending().await };
    let done = running.await;
    *work = None;
    done
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
