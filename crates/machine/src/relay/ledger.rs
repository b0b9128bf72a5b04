//! The relay's books: which requests are open, what waits for a hub, what a new hub must hear.
//!
//! Lines come in from the client and from the hub; lines for the other side go out. It keeps the
//! promise that every request gets exactly one answer, whatever hubs do: what was not sent goes
//! to the next hub, what only asks is asked again, and what may have been carried out by a hub
//! that died is answered honestly. It does no I/O and reads no clock.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    answer,
    envelope::{self, Id, Message},
    request::{Kind, Memory, Request, requested_id},
    told::Told,
};

/// The most lines that wait for a hub; then the client is not read from.
const WAITING_LINES: usize = 1024;
/// The most bytes that wait for a hub; one line may go beyond it.
const WAITING_BYTES: usize = 16 << 20;
/// The most bytes of sent requests that are kept, to be sent again; what is beyond is not.
const KEPT_BYTES: usize = 4 << 20;
/// A line on its way to a hub.
#[derive(Debug)]
pub(super) struct Parcel {
    pub(super) line: Vec<u8>,
    about: About,
}

/// What a line is about, for when it is sent or not.
#[derive(Debug, PartialEq)]
enum About {
    Request(Id),
    Initialized,
    /// The relay's own doing, or only good for the hub of this moment.
    Passing,
    Other,
}

/// Whether a hub may have seen a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Sent,
}

/// A request without an answer.
#[derive(Debug)]
struct Open {
    order: u64,
    request: Request,
    stage: Stage,
    /// The client does not want an answer any more.
    cancelled: bool,
    /// When to ask what became of it; `None` while that is being asked, and for listeners.
    due: Option<Instant>,
    /// Its line, once it is sent, if it may be sent again.
    line: Option<Vec<u8>>,
}

/// The books of one client.
#[derive(Debug)]
pub(super) struct Ledger {
    usual: Duration,
    open: HashMap<Id, Open>,
    waiting: VecDeque<Parcel>,
    waiting_bytes: usize,
    kept_bytes: usize,
    told: Told,
    /// Answered by us while a hub stands still; its own answer would be the second.
    late: HashSet<Id>,
    /// Requests of our own whose answers nobody wants.
    own: HashSet<Id>,
    /// What the hub asks the client, by the id that the client sees.
    asked: HashMap<Id, String>,
    /// How many hubs there have been.
    hubs: u64,
    /// For ids of our own: random, so that no client or hub uses the same.
    run: String,
    counter: u64,
}

impl Ledger {
    /// Opens the books; a request without a time of its own may take `usual`.
    pub(super) fn new(usual: Duration) -> Self {
        Self {
            usual,
            open: HashMap::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            kept_bytes: 0,
            told: Told::default(),
            late: HashSet::new(),
            own: HashSet::new(),
            asked: HashMap::new(),
            hubs: 0,
            run: model::id::random_text(12),
            counter: 0,
        }
    }

    /// Returns whether another line of the client can be taken.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < WAITING_LINES && self.waiting_bytes < WAITING_BYTES
    }

    /// Returns whether something waits for a hub.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes a line of the client; returns an answer if there is one already.
    pub(super) fn said(&mut self, line: Vec<u8>, now: Instant) -> Option<Vec<u8>> {
        let about = match envelope::read(&line) {
            Message::Request { id, method, params, .. } => {
                let request = Request::new(&method, params, self.usual);
                if let Err(refusal) = self.enter(&id, request, now) {
                    return Some(refusal);
                }
                About::Request(id)
            }
            Message::Notification { method, params } => match method.as_ref() {
                "notifications/initialized" => About::Initialized,
                "notifications/cancelled" => match requested_id(params) {
                    Some((id, _)) if !self.cancel(&id) => return None,
                    _ => About::Passing,
                },
                _ => About::Other,
            },
            // An answer to a hub that is gone means nothing to the next.
            Message::Answer { id: Some(id), id_text: Some(text), .. } => {
                let asked = self.asked.remove(&id)?;
                let line = envelope::replace(&line, text, &asked);
                self.push(Parcel { line, about: About::Passing });
                return None;
            }
            Message::Answer { .. } | Message::Other => About::Other,
        };
        self.push(Parcel { line, about });
        None
    }

    /// Takes the next line for the hub.
    pub(super) fn next_parcel(&mut self) -> Option<Parcel> {
        let parcel = self.waiting.pop_front()?;
        self.waiting_bytes -= parcel.line.len();
        if let About::Request(id) = &parcel.about
            && let Some(open) = self.open.get_mut(id)
        {
            open.stage = Stage::Sent;
        }
        Some(parcel)
    }

    /// Notes that a line was written as a whole.
    pub(super) fn sent(&mut self, parcel: Parcel) {
        match parcel.about {
            About::Request(id) => {
                let room = self.kept_bytes + parcel.line.len() <= KEPT_BYTES;
                if let Some(open) = self.open.get_mut(&id)
                    && open.request.kind.is_repeatable()
                    && room
                {
                    self.kept_bytes += parcel.line.len();
                    open.line = Some(parcel.line);
                }
            }
            About::Initialized => self.told.initialized = Some(parcel.line),
            About::Passing | About::Other => {}
        }
    }

    /// Takes back a line that was not written, or not to its end, when its hub died.
    pub(super) fn unsent(&mut self, parcel: Parcel) {
        match &parcel.about {
            About::Passing => return,
            About::Request(id) => match self.open.get_mut(id) {
                // Nobody wants it any more, and the hub that was told so is gone.
                Some(open) if open.cancelled => {
                    self.take(id);
                    return;
                }
                Some(open) if open.stage == Stage::Sent => open.stage = Stage::Waiting,
                // It was answered meanwhile, or its id is another's by now.
                _ => return,
            },
            About::Initialized | About::Other => {}
        }
        self.push_front(parcel);
    }

    /// Takes a line of the hub; returns what the client is to hear.
    pub(super) fn heard(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        match envelope::read_trusted(&line) {
            Message::Answer { id: None, .. } => Some(line),
            Message::Answer { id: Some(id), is_error, .. } => {
                self.resolve(&id, is_error).then_some(line)
            }
            Message::Request { id, id_text, .. } => {
                let asked = id_text.get().to_owned();
                // Every hub counts from the start, so an answer to one could look like an answer
                // to the next. From the second on, questions get ids of their own.
                if self.hubs < 2 {
                    self.asked.insert(id, asked);
                    return Some(line);
                }
                let own = self.own_id();
                let renamed = envelope::replace(&line, id_text, &own.json());
                self.asked.insert(own, asked);
                Some(renamed)
            }
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                let Some((_, text)) = requested_id(params) else { return Some(line) };
                let known = self.asked.iter().find(|(_, asked)| *asked == text.get());
                let id = known.map(|(id, _)| id.clone())?;
                self.asked.remove(&id);
                Some(envelope::replace(&line, text, &id.json()))
            }
            Message::Notification { .. } => Some(line),
            Message::Other => None,
        }
    }

    /// Notes that a hub was joined, and puts first in line what it must hear first.
    pub(super) fn hub_joined(&mut self) {
        self.hubs += 1;
        let mut opening = Vec::new();
        match self.told.initialize.clone() {
            Some(line) => opening.extend(self.repeat(&line)),
            // Asked already, but not answered: this time the client hears the answer.
            None if self.hubs > 1 => opening.extend(self.take_initialize()),
            None => {}
        }
        if let Some(line) = self.told.initialized.clone() {
            opening.push(Parcel { line, about: About::Passing });
        }
        for line in self.told.wishes() {
            opening.extend(self.repeat(&line));
        }
        for parcel in opening.into_iter().rev() {
            self.push_front(parcel);
        }
    }

    /// Notes that the hub is gone; returns what the client is to hear now.
    pub(super) fn hub_lost(&mut self, now: Instant) -> Vec<Vec<u8>> {
        self.own.clear();
        self.late.clear();
        self.retain_waiting(|about| *about != About::Passing);
        let withdrawn = self.asked.drain();
        let mut lines: Vec<_> =
            withdrawn.map(|(id, _)| answer::cancelled(&id, "the hub ended")).collect();
        let mut again = Vec::new();
        for id in self.ids(|open| open.stage == Stage::Sent) {
            let Some(mut open) = self.take(&id) else { continue };
            match open.line.take() {
                _ if open.cancelled => {}
                Some(line) => {
                    open.stage = Stage::Waiting;
                    open.due = open.request.limit.map(|limit| open.due.unwrap_or(now + limit));
                    again.push(Parcel { line, about: About::Request(id.clone()) });
                    self.open.insert(id, open);
                }
                None => lines.extend(end(&id, &open, None)),
            }
        }
        for parcel in again.into_iter().rev() {
            self.push_front(parcel);
        }
        lines
    }

    /// Returns when something is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.open.values().filter_map(|open| open.due).min()
    }

    /// Ends what waits for too long; returns the answers, and whether to ask if the hub is awake.
    pub(super) fn due(&mut self, now: Instant, trouble: Option<&str>) -> (Vec<Vec<u8>>, bool) {
        let (mut lines, mut suspect) = (Vec::new(), false);
        for id in self.ids(|open| open.due.is_some_and(|due| due <= now)) {
            match self.open.get_mut(&id) {
                Some(open) if open.stage == Stage::Sent && !open.cancelled => {
                    open.due = None;
                    suspect = true;
                }
                _ => {
                    let Some(open) = self.take(&id) else { continue };
                    self.retain_waiting(|about| *about != About::Request(id.clone()));
                    lines.extend(end(&id, &open, trouble));
                }
            }
        }
        (lines, suspect)
    }

    /// Gives everything that was suspected more time: the hub is awake.
    pub(super) fn hub_is_awake(&mut self, now: Instant) {
        for open in self.open.values_mut().filter(|open| open.is_suspect()) {
            open.due = open.request.limit.map(|limit| now + limit);
        }
    }

    /// Ends everything that was suspected: the hub stands still. It is told besides, so that it
    /// does nothing late.
    pub(super) fn hub_is_frozen(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for id in self.ids(Open::is_suspect) {
            let Some(open) = self.take(&id) else { continue };
            lines.push(answer::fault(&id, &answer::hub_unresponsive(), open.request.shape()));
            let line = answer::cancelled(&id, "no answer in time");
            self.push(Parcel { line, about: About::Passing });
            self.late.insert(id);
        }
        lines
    }

    /// Ends everything, because the relay does.
    pub(super) fn close(&mut self, trouble: Option<&str>) -> Vec<Vec<u8>> {
        self.waiting.clear();
        self.waiting_bytes = 0;
        let mut lines = Vec::new();
        for id in self.ids(|_| true) {
            let Some(open) = self.take(&id) else { continue };
            lines.extend(end(&id, &open, trouble));
        }
        lines
    }

    fn enter(&mut self, id: &Id, request: Request, now: Instant) -> Result<(), Vec<u8>> {
        let in_use = self.open.get(id).is_some_and(|open| !open.cancelled);
        if in_use || self.late.contains(id) {
            return Err(answer::refusal(Some(id), "the id is in use"));
        }
        self.take(id);
        self.counter += 1;
        let due = request.limit.map(|limit| now + limit);
        let (order, stage) = (self.counter, Stage::Waiting);
        let open = Open { order, request, stage, cancelled: false, due, line: None };
        self.open.insert(id.clone(), open);
        Ok(())
    }

    /// Withdraws a request; returns whether a hub must hear of it.
    fn cancel(&mut self, id: &Id) -> bool {
        let Some(open) = self.open.get_mut(id) else { return false };
        if open.stage == Stage::Sent {
            open.cancelled = true;
            return true;
        }
        self.take(id);
        self.retain_waiting(|about| *about != About::Request(id.clone()));
        false
    }

    /// Ends a request that a hub has answered; returns whether the client may hear the answer.
    fn resolve(&mut self, id: &Id, is_error: bool) -> bool {
        if self.own.remove(id) || self.late.remove(id) {
            return false;
        }
        if self.open.get(id).is_none_or(|open| open.stage == Stage::Waiting) {
            return false;
        }
        let Some(open) = self.take(id) else { return false };
        if !is_error && let Some(memory) = open.request.memory {
            self.told.remember(memory, open.line);
        }
        true
    }

    /// Makes a request of our own from one that was answered before.
    fn repeat(&mut self, line: &[u8]) -> Option<Parcel> {
        let Message::Request { id_text, .. } = envelope::read(line) else { return None };
        let id = self.own_id();
        let line = envelope::replace(line, id_text, &id.json());
        self.own.insert(id);
        Some(Parcel { line, about: About::Passing })
    }

    /// Takes the client's `initialize` out of the line, if it waits there.
    fn take_initialize(&mut self) -> Option<Parcel> {
        let is_initialize = |parcel: &Parcel| match &parcel.about {
            About::Request(id) => self
                .open
                .get(id)
                .is_some_and(|open| matches!(open.request.memory, Some(Memory::Initialize))),
            _ => false,
        };
        let at = self.waiting.iter().position(is_initialize)?;
        let parcel = self.waiting.remove(at)?;
        self.waiting_bytes -= parcel.line.len();
        Some(parcel)
    }

    fn own_id(&mut self) -> Id {
        self.counter += 1;
        Id::Text(format!("tabwire-{}-{}", self.run, self.counter))
    }

    fn push(&mut self, parcel: Parcel) {
        self.waiting_bytes += parcel.line.len();
        self.waiting.push_back(parcel);
    }

    fn push_front(&mut self, parcel: Parcel) {
        self.waiting_bytes += parcel.line.len();
        self.waiting.push_front(parcel);
    }

    fn retain_waiting(&mut self, keep: impl Fn(&About) -> bool) {
        self.waiting.retain(|parcel| keep(&parcel.about));
        self.waiting_bytes = self.waiting.iter().map(|parcel| parcel.line.len()).sum();
    }

    /// Returns the requests that fit, in the order in which they came.
    fn ids(&self, fits: impl Fn(&Open) -> bool) -> Vec<Id> {
        let fitting = self.open.iter().filter(|(_, open)| fits(open));
        let mut ids: Vec<_> = fitting.map(|(id, open)| (open.order, id.clone())).collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    fn take(&mut self, id: &Id) -> Option<Open> {
        let open = self.open.remove(id)?;
        self.kept_bytes -= open.line.as_ref().map_or(0, Vec::len);
        Some(open)
    }
}

impl Open {
    /// Whether it is being asked what became of it.
    fn is_suspect(&self) -> bool {
        self.stage == Stage::Sent && self.due.is_none() && self.request.limit.is_some()
    }
}

/// Answers a request that no hub will answer; nobody waits for one that was withdrawn, or for the
/// end of a listener.
fn end(id: &Id, open: &Open, trouble: Option<&str>) -> Option<Vec<u8>> {
    if open.cancelled {
        return None;
    }
    let fault = match (open.stage, open.request.kind) {
        (Stage::Sent, Kind::Listen) => return None,
        (Stage::Sent, Kind::Tool | Kind::Unknown) => answer::outcome_unknown(),
        (Stage::Sent, Kind::Read) => answer::unanswered(),
        (Stage::Waiting, _) => answer::not_delivered(trouble),
    };
    Some(answer::fault(id, &fault, open.request.shape()))
}

#[cfg(test)]
mod tests;
