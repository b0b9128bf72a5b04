//! Calls under way in one session: each has exactly one end.
//!
//! A plain table without locks, sockets or clocks of its own; the session drives it and does
//! what the returned values say. Acting calls of one tab go one at a time, in order; reads pass
//! by; tabs do not wait for each other. A call that its client gave up after it was sent keeps
//! its tab until the browser answers or a grace time is over, so that two never overlap.
//!
//! When the browser's socket dies and it may come back, calls are suspended instead of ended: what
//! only reads is sent again, what acts is asked after, and what was not sent waits on.

use std::collections::{HashMap, VecDeque};

use model::{
    Call, CallId, CallProgress, ClientId, Code, Effect, Ending, ExecutorStatus, Fault, Reply,
    Retry, TabId,
};
use tokio::{sync::oneshot, time::Instant};

use crate::call_request::CallRequest;

/// How many ended calls are remembered, to tell a late answer from a doubled one.
const REMEMBERED: usize = 64;

/// A call that may be written to the socket now.
#[derive(Debug, PartialEq, Eq)]
pub struct Ready {
    /// The call with its remaining time.
    pub call: Call,
    /// No time is left: do not send it, end it.
    pub expired: bool,
}

/// Why an answer found nobody waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stray {
    /// Its call had been given up.
    Late,
    /// Its call had been answered.
    Duplicate,
    /// No such call was ever sent to this session: another's, or made up.
    Unknown,
}

impl Stray {
    /// Returns the word for metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Duplicate => "duplicate",
            Self::Unknown => "unknown",
        }
    }
}

/// What withdrawing a call leaves to do.
#[derive(Debug, PartialEq, Eq)]
pub struct Withdrawn {
    /// The browser was told of it and must be told to stop.
    pub cancel: bool,
    /// Its tab stays reserved until the browser answers or this lane's grace is over.
    pub reserved: Option<Lane>,
}

/// What a browser that is back has to be told.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Calls to send.
    pub send: Vec<Ready>,
    /// Calls to ask after.
    pub ask: Vec<CallId>,
    /// Calls that were given up and may still run.
    pub cancel: Vec<CallId>,
}

/// What follows from what the browser knows of a call.
#[derive(Debug, PartialEq)]
pub enum CallFate {
    /// It ends like this.
    End(Result<Reply, Fault>),
    /// It is sent once more.
    Send(Box<Ready>),
    /// It is still at it.
    Wait,
    /// Nobody had asked.
    Stray(Stray),
}

/// Which side of a call is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// The browser's connection has ended.
    Browser,
    /// The hub stops.
    Hub,
}

/// One line of waiting.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The app as a whole, or whatever tab the browser takes.
    Session,
    /// One tab.
    Tab(TabId),
    /// The tab that the browser keeps for this client.
    Client(ClientId),
}

/// The calls of one session.
#[derive(Default)]
pub struct CallTable {
    pending: HashMap<CallId, Pending>,
    lanes: HashMap<Lane, Waiting>,
    ended: VecDeque<(CallId, Ending)>,
}

struct Pending {
    request: CallRequest,
    /// The line in which it waits.
    lane: Lane,
    /// When its caller stops waiting.
    deadline: Instant,
    sending: Sending,
    reply: oneshot::Sender<Result<Reply, Fault>>,
}

/// How far a call has got on its way to the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sending {
    /// Not sent yet.
    Waiting,
    /// Written to the socket.
    Sent,
    /// Sent to a socket that died; the browser has been asked, or will be, what became of it.
    Lost {
        /// Another life of the browser has been there since: that it knows nothing proves nothing.
        orphan: bool,
    },
}

/// `running` holds the lane even after its caller has given up.
#[derive(Default)]
struct Waiting {
    running: Option<CallId>,
    queue: VecDeque<CallId>,
}

impl CallTable {
    /// Returns how many calls have no end yet.
    pub fn count(&self) -> usize {
        self.pending.len()
    }

    /// Returns whether no call is under way and no tab is reserved for one that was given up.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.lanes.is_empty()
    }

    /// Enters a call. Returns where its end arrives, and the call if it need not wait.
    ///
    /// Enter before sending: a fast browser answers before `send` returns.
    pub fn enter(
        &mut self,
        id: CallId,
        lane: Lane,
        deadline: Instant,
        request: CallRequest,
    ) -> (oneshot::Receiver<Result<Reply, Fault>>, Option<Ready>) {
        let (reply, outcome) = oneshot::channel();
        let (effect, sending) = (request.effect, Sending::Waiting);
        let pending = Pending { request, lane: lane.clone(), deadline, sending, reply };
        self.pending.insert(id, pending);
        if effect != Effect::Act {
            return (outcome, self.make_ready(id));
        }
        let waiting = self.lanes.entry(lane).or_default();
        if waiting.running.is_some() {
            waiting.queue.push_back(id);
            return (outcome, None);
        }
        waiting.running = Some(id);
        (outcome, self.make_ready(id))
    }

    /// Ends a call; the second value is the next call of its tab. `Err` means nobody waited.
    pub fn end(
        &mut self,
        id: CallId,
        outcome: Result<Reply, Fault>,
    ) -> (Result<(), Stray>, Option<Ready>) {
        let Some(pending) = self.pending.remove(&id) else {
            // The late answer to an abandoned call frees its tab.
            return (Err(self.judge(id)), self.release(id));
        };
        self.remember(id, Ending::of(&outcome));
        // A caller that is gone at this very moment has withdrawn or is about to.
        let _ = pending.reply.send(outcome);
        (Ok(()), self.leave_lane(id, &pending.lane, pending.request.effect))
    }

    /// Takes a call out because its caller gave up. `None` means that it has ended already.
    pub fn withdraw(&mut self, id: CallId, ending: Ending) -> Option<Withdrawn> {
        let pending = self.pending.remove(&id)?;
        self.remember(id, ending);
        if pending.sending != Sending::Waiting {
            let reserved = (pending.request.effect == Effect::Act).then_some(pending.lane);
            return Some(Withdrawn { cancel: true, reserved });
        }
        if let Some(waiting) = self.lanes.get_mut(&pending.lane) {
            waiting.queue.retain(|waiting_id| *waiting_id != id);
        }
        Some(Withdrawn { cancel: false, reserved: None })
    }

    /// Frees the tab that an abandoned call reserved; returns the next call of it.
    pub fn release(&mut self, id: CallId) -> Option<Ready> {
        let lane = self.lane_of(id)?;
        self.next_in(&lane)
    }

    /// Passes on how far a call is.
    pub fn progress(&self, id: CallId, progress: CallProgress) -> Result<(), Stray> {
        let pending = self.pending.get(&id).ok_or_else(|| self.judge(id))?;
        if let Some(to) = &pending.request.progress {
            // Full: the reader is slow and the next report supersedes this one.
            let _ = to.try_send(progress);
        }
        Ok(())
    }

    /// Keeps everything for a browser that may come back.
    pub fn suspend(&mut self) {
        for pending in self.pending.values_mut() {
            if pending.sending == Sending::Sent {
                pending.sending = Sending::Lost { orphan: false };
            }
        }
    }

    /// Takes back that a call was sent: there was nobody to send it to.
    pub fn unsend(&mut self, id: CallId) {
        if let Some(pending) = self.pending.get_mut(&id) {
            pending.sending = Sending::Waiting;
        }
    }

    /// Goes on with a browser that is back: what to send again or for the first time, and what to
    /// ask after, in the order in which it was begun. `same_life` says that it has forgotten
    /// nothing since the connection before.
    pub fn resume(&mut self, same_life: bool) -> Resumed {
        let mut ids: Vec<_> = self
            .pending
            .iter()
            .filter(|(id, pending)| pending.is_lost() || self.is_next(**id, pending))
            .map(|(id, _)| *id)
            .collect();
        ids.sort_unstable();
        let mut resumed = Resumed { cancel: self.given_up(), ..Resumed::default() };
        for id in ids {
            let Some(pending) = self.pending.get_mut(&id) else { continue };
            match &mut pending.sending {
                Sending::Lost { orphan } if pending.request.effect != Effect::Read => {
                    *orphan |= !same_life;
                    resumed.ask.push(id);
                }
                _ => resumed.send.extend(self.make_ready(id)),
            }
        }
        resumed
    }

    /// Takes in what the browser knows of a call that was asked after. A call that it has never
    /// seen, and would remember, may be sent once more under the same id.
    pub fn told(&mut self, id: CallId, status: ExecutorStatus) -> CallFate {
        let Some((pending, orphan)) = self.pending.get_mut(&id).and_then(|pending| {
            let Sending::Lost { orphan } = pending.sending else { return None };
            Some((pending, orphan))
        }) else {
            return CallFate::Stray(self.judge(id));
        };
        pending.sending = Sending::Sent;
        match status {
            ExecutorStatus::Running => CallFate::Wait,
            ExecutorStatus::Ended(outcome) => CallFate::End(outcome.map(Reply::Result)),
            ExecutorStatus::Unknown if !orphan => match self.make_ready(id) {
                Some(ready) => CallFate::Send(Box::new(ready)),
                None => CallFate::Wait,
            },
            ExecutorStatus::Unknown => CallFate::End(Err(Gone::Browser.fault(true, Effect::Act))),
        }
    }

    /// Ends everything because one side is gone; returns how each call ended.
    pub fn end_all(&mut self, gone: Gone) -> Vec<(CallId, Ending)> {
        self.lanes.clear();
        let calls: Vec<_> = self.pending.drain().collect();
        calls
            .into_iter()
            .map(|(id, pending)| {
                let outcome =
                    Err(gone.fault(pending.sending != Sending::Waiting, pending.request.effect));
                let ending = Ending::of(&outcome);
                self.remember(id, ending);
                let _ = pending.reply.send(outcome);
                (id, ending)
            })
            .collect()
    }

    /// Returns whether a call was not sent and need not wait for another.
    fn is_next(&self, id: CallId, pending: &Pending) -> bool {
        let first = || self.lanes.get(&pending.lane).and_then(|waiting| waiting.running);
        pending.sending == Sending::Waiting
            && (pending.request.effect != Effect::Act || first() == Some(id))
    }

    /// Returns the calls that were given up and still reserve a tab.
    fn given_up(&self) -> Vec<CallId> {
        let running = self.lanes.values().filter_map(|waiting| waiting.running);
        running.filter(|id| !self.pending.contains_key(id)).collect()
    }

    fn lane_of(&self, id: CallId) -> Option<Lane> {
        let found = self.lanes.iter().find(|(_, waiting)| waiting.running == Some(id));
        found.map(|(lane, _)| lane.clone())
    }

    fn make_ready(&mut self, id: CallId) -> Option<Ready> {
        let pending = self.pending.get_mut(&id)?;
        pending.sending = Sending::Sent;
        let left = pending.deadline.saturating_duration_since(Instant::now());
        let CallRequest { caller, tab, work, .. } = &pending.request;
        let call = Call {
            id,
            tab: *tab,
            client: caller.client.clone(),
            client_name: caller.shown().to_owned(),
            work: work.clone(),
            deadline: left,
        };
        Some(Ready { call, expired: left.is_zero() })
    }

    fn leave_lane(&mut self, id: CallId, lane: &Lane, effect: Effect) -> Option<Ready> {
        let running = self.lanes.get(lane).is_some_and(|waiting| waiting.running == Some(id));
        (effect == Effect::Act && running).then(|| self.next_in(lane)).flatten()
    }

    fn next_in(&mut self, lane: &Lane) -> Option<Ready> {
        let waiting = self.lanes.get_mut(lane)?;
        waiting.running = waiting.queue.pop_front();
        match waiting.running {
            Some(id) => self.make_ready(id),
            None => {
                self.lanes.remove(lane);
                None
            }
        }
    }

    fn judge(&self, id: CallId) -> Stray {
        match self.ended.iter().rev().find(|(ended, _)| *ended == id) {
            Some((_, Ending::Done | Ending::Failed)) => Stray::Duplicate,
            Some(_) => Stray::Late,
            None => Stray::Unknown,
        }
    }

    fn remember(&mut self, id: CallId, ending: Ending) {
        if self.ended.len() == REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back((id, ending));
    }
}

impl Pending {
    fn is_lost(&self) -> bool {
        matches!(self.sending, Sending::Lost { .. })
    }
}

impl Gone {
    fn fault(self, sent: bool, effect: Effect) -> Fault {
        let (what, again) = match self {
            Self::Browser => ("the browser disconnected", "the session is connected again"),
            Self::Hub => ("the hub stopped", "a hub runs again"),
        };
        let again = format!("repeat the call once {again}");
        match (sent, effect) {
            (false, _) => Fault::new(
                Code::NotDelivered,
                format!("{what} before the call was sent; nothing happened"),
            )
            .hint(again),
            (true, Effect::Act | Effect::Add) => Fault::new(
                Code::OutcomeUnknown,
                format!("{what} while the call was running; it may or may not have happened"),
            )
            .hint("look at the page or its state before repeating the call"),
            (true, Effect::Read) => {
                let message = format!("{what} before the answer came; the call only reads");
                let fault = Fault::new(Code::OutcomeUnknown, message);
                Fault { retry: Retry::Now, ..fault }.hint(again)
            }
        }
    }
}

#[cfg(test)]
mod tests;
