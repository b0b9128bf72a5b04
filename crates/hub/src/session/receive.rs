//! What a session does with what its peer says.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use model::{
    CallId, Change, CloseReason, Closing, Code, ExecutorStatus, Fault, FromBrowser, Json, Kind,
    Level, NumberedChange, Position, ReplayPage, ReplayRequest, Reply, StateUpdate, ToBrowser,
};
use serde_json::json;
use store::{NewEntry, StoreWrite, WriteTicket};

use super::{Core, Session, refresh::Refresh};
use crate::{
    agenda::Due,
    calls::{CallFate, Stray},
    feed,
    replay::Arrival,
    state::{Applied, StateCache},
};

/// An ack is due at the latest after this long …
const ACK_AFTER: Duration = Duration::from_millis(250);
/// … or after this many messages.
const ACK_EVERY: u32 = 50;
/// What the store would not take is asked for again after this long.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// A state is written down this long after it was told; a page that has changed it once will
/// mostly do so again.
const KEEP_STATE_AFTER: Duration = Duration::from_millis(200);

impl Session {
    pub(super) fn receive(
        self: &Arc<Self>,
        number: u64,
        message: FromBrowser,
    ) -> Result<(), Closing> {
        let mut core = self.core.lock();
        let Some(link) = core.presence.link_mut(number) else {
            // A socket that was superseded may still have something in its pipe; of a peer with
            // two of them, answers count on either.
            if let FromBrowser::Ended { call, outcome } = message
                && core.peer.traits.may_double
            {
                self.call_ended(&mut core, call, outcome);
            }
            return Ok(());
        };
        link.heard += 1;
        link.hearing.notify_waiters();
        match message {
            FromBrowser::Ended { call, outcome } => self.call_ended(&mut core, call, outcome),
            FromBrowser::Progress { call, progress } => {
                if let Err(stray) = core.calls.progress(call, progress) {
                    self.services.metrics.stray(stray);
                }
            }
            FromBrowser::Changed(change) => return self.changed(&mut core, change),
            FromBrowser::ReplayRequest(request) => self.replay(&mut core, &request),
            FromBrowser::ReplayPage(page) => return self.caught_up(&mut core, page),
            FromBrowser::Ack(position) => {
                if let Err(error) = core.delivery.outgoing.ack(&position) {
                    tracing::error!(session = %self.id, %error, "acked messages not dropped");
                }
            }
            FromBrowser::Status { call, status } => self.call_told(&mut core, call, status),
            FromBrowser::Stray => self.services.metrics.stray(Stray::Unknown),
            FromBrowser::Alive => {}
            FromBrowser::Bye { .. } => {
                tracing::debug!(session = %self.id, "peer says goodbye");
                link.leaving = true;
            }
            FromBrowser::Hello(_) | FromBrowser::Greeting(_) | FromBrowser::Proof { .. } => {
                return Err(Closing::new(CloseReason::ProtocolError, "hello was already said"));
            }
        }
        Ok(())
    }

    fn call_ended(self: &Arc<Self>, core: &mut Core, call: CallId, outcome: Result<Reply, Fault>) {
        let outcome = match outcome {
            Ok(Reply::State(update)) => self.state_told(core, update),
            outcome => outcome,
        };
        let (met, next) = core.calls.end(call, outcome);
        if let Err(stray) = met {
            tracing::debug!(session = %self.id, %call, reason = stray.as_str(), "stray answer");
            self.services.metrics.stray(stray);
        }
        core.dispatch(next);
    }

    /// Takes in what became of a call while the browser was away.
    fn call_told(self: &Arc<Self>, core: &mut Core, call: CallId, status: ExecutorStatus) {
        match core.calls.told(call, status) {
            CallFate::End(outcome) => self.call_ended(core, call, outcome),
            CallFate::Send(ready) => core.dispatch(Some(*ready)),
            CallFate::Wait => {}
            CallFate::Stray(stray) => self.services.metrics.stray(stray),
        }
    }

    /// A response updates the cache too.
    fn state_told(self: &Arc<Self>, core: &mut Core, update: StateUpdate) -> Result<Reply, Fault> {
        // From here on another patch that does not fit must be able to ask again, even before
        // whoever asked has seen this answer.
        core.refresh = Refresh::Idle;
        let too_large = |why: String| {
            Fault::new(Code::TooLarge, why).hint("the app should keep large data out of its state")
        };
        self.make_room(core, &Change::State(update.clone())).map_err(too_large)?;
        match core.state.apply(update.clone()) {
            Applied::OverLimit(limit) => Err(too_large(limit.to_string())),
            Applied::Accepted => {
                self.keep_state(core);
                let entry = feed::of_change(&Change::State(update.clone()), core.state.version());
                self.record(core, entry, None);
                Ok(Reply::State(update))
            }
            // What came later by another way is newer than this answer.
            Applied::Older | Applied::NeedsWhole => Ok(Reply::State(update)),
        }
    }

    fn changed(self: &Arc<Self>, core: &mut Core, numbered: NumberedChange) -> Result<(), Closing> {
        let Some(sequence) = numbered.sequence else {
            let (write, entry) = self.apply(core, numbered.change)?;
            self.keep(core, write.into_iter(), entry);
            return Ok(());
        };
        match core.delivery.inbox.offer(sequence) {
            Arrival::Deliver => {
                let (write, entry) = self.apply(core, numbered.change)?;
                // In one batch: a message on disk without its number would come again.
                let seen = core.delivery.inbox.seen().cloned();
                let seen = seen.map(|seen| StoreWrite::Received(self.id.clone(), seen));
                match self.keep(core, write.into_iter().chain(seen), entry) {
                    Some(ticket) => {
                        core.delivery.received = ticket;
                        self.owe_ack(core);
                    }
                    None => self.take_back(core),
                }
            }
            Arrival::Duplicate => {
                self.services.metrics.duplicates.inc();
                self.owe_ack(core);
            }
            Arrival::Gap(ask) => {
                if let Some(from) = ask {
                    self.services.metrics.gaps.inc();
                    core.tell(ask_again(from));
                }
            }
        }
        Ok(())
    }

    /// Writes down what a change leaves; returns nothing when it is not kept.
    fn keep(
        &self,
        core: &mut Core,
        mut writes: impl Iterator<Item = StoreWrite>,
        entry: Option<NewEntry>,
    ) -> Option<WriteTicket> {
        match entry {
            Some(entry) => self.record(core, entry, writes),
            None => match writes.next() {
                Some(write) => self.write(write, "position"),
                None => Some(WriteTicket::done()),
            },
        }
    }

    /// Does as if a message had not come, because the store does not take it: an ack would make
    /// the browser drop what nobody has.
    fn take_back(self: &Arc<Self>, core: &mut Core) {
        if core.delivery.refused() {
            self.services.agenda.after(ASK_AGAIN_AFTER, Due::AskAgain(Arc::downgrade(self)));
        }
    }

    /// Asks for what the store would not take.
    pub(crate) fn ask_again(&self) {
        let mut core = self.core.lock();
        if let Some(from) = core.delivery.take_ask() {
            core.tell(ask_again(from));
        }
    }

    /// Takes a change in; returns what must be kept of it, and its entry in the feed.
    fn apply(
        self: &Arc<Self>,
        core: &mut Core,
        change: Change,
    ) -> Result<(Option<StoreWrite>, Option<NewEntry>), Closing> {
        // Whoever tells of a tab says what stands there: an app speaks for its own page only.
        if self.kind == Kind::App && is_of_tabs(&change) {
            return Err(Closing::new(CloseReason::ProtocolError, "only a browser has tabs"));
        }
        let refused = |why: String| Closing::new(CloseReason::LimitExceeded, why);
        self.make_room(core, &change).map_err(refused)?;
        if let Change::State(update) = &change {
            match core.state.apply(update.clone()) {
                Applied::Accepted => {
                    // A short patch can make much of what was there.
                    if let Err(why) = self.keep_within(core, 0, 0) {
                        core.state = StateCache::default();
                        return Err(refused(why));
                    }
                    self.keep_state(core);
                }
                Applied::Older => return Ok((None, None)),
                Applied::NeedsWhole => {
                    self.need_whole_state(core);
                    return Ok((None, None));
                }
                Applied::OverLimit(limit) => {
                    return Err(refused(limit.to_string()));
                }
            }
        }
        let declared = match &change {
            Change::ToolsChanged { tab: None, .. } => core.catalog.app_tool_names(),
            _ => Vec::new(),
        };
        let passing = !core.catalog.apply(&change)?;
        self.note_app_answer(core, &change);
        // In one batch with its number: a peer does not tell twice what was acked.
        let changed = core.note_holders(&change) || !passing;
        let write = changed.then(|| self.to_write(core));
        if matches!(change, Change::ToolsChanged { .. }) {
            let tools = core.catalog.app_tools();
            self.tool_count.store(tools.len(), Ordering::Relaxed);
            self.services.offering.replace(&self.who(), &declared, tools);
            self.services.offers_changed();
        }
        let entry = feed::of_change(&change, core.state.version());
        Ok((write, Some(entry)))
    }

    /// Has the newest state written down soon; of several in a row only the last.
    fn keep_state(self: &Arc<Self>, core: &mut Core) {
        if !std::mem::replace(&mut core.keep_state_due, true) {
            self.services.agenda.after(KEEP_STATE_AFTER, Due::KeepState(Arc::downgrade(self)));
        }
    }

    /// Writes the newest state down.
    pub(crate) fn keep_state_now(&self) {
        let mut core = self.core.lock();
        core.keep_state_due = false;
        if let Some(record) = core.state.record(store::wall_clock_ms()) {
            self.write(StoreWrite::State(self.id.clone(), record), "state");
        }
    }

    fn owe_ack(self: &Arc<Self>, core: &mut Core) {
        match core.delivery.count_received() {
            1 => self.services.agenda.after(ACK_AFTER, Due::Ack(Arc::downgrade(self))),
            ACK_EVERY.. => self.ack(core),
            _ => {}
        }
    }

    fn replay(&self, core: &mut Core, request: &ReplayRequest) {
        let page = match core.delivery.outgoing.page(request, &self.services.replay_limits()) {
            Ok(page) => page,
            Err(error) => {
                tracing::error!(session = %self.id, %error, "replay not readable");
                core.delivery.outgoing.unreadable()
            }
        };
        match page.refused {
            Some(reason) => self.services.metrics.refused_resume(reason),
            None => {
                self.services.metrics.replayed.inc_by(page.messages.len() as u64);
            }
        }
        core.tell(ToBrowser::ReplayPage(page));
    }

    /// Takes in what the hub had missed, or that it is lost for good.
    fn caught_up(self: &Arc<Self>, core: &mut Core, page: ReplayPage) -> Result<(), Closing> {
        // Going back would deliver again what was delivered.
        let onward = core.delivery.inbox.seen().is_some_and(|seen| {
            seen.epoch == page.upto.epoch
                && (page.refused.is_none() || page.upto.sequence >= seen.sequence)
        });
        if !onward || page.partial {
            return Err(Closing::new(
                CloseReason::ProtocolError,
                "this replay page was not asked for",
            ));
        }
        if let Some(reason) = page.refused {
            self.services.metrics.gaps.inc();
            let lost = json!({"reason": reason.as_str(), "upto": page.upto.sequence.0});
            let entry = feed::entry("session", "gap", Level::Warning, Json::of(&lost));
            self.record(core, entry, None);
            core.delivery.inbox.skip_to(page.upto);
            core.catalog.clear_tabs();
            self.need_whole_state(core);
            return Ok(());
        }
        for message in page.messages {
            self.changed(core, message)?;
        }
        if core.delivery.must_ask() {
            return Ok(());
        }
        if let Some(from) = core.delivery.inbox.page_ended(page.more) {
            core.tell(ask_again(from));
        }
        Ok(())
    }
}

fn is_of_tabs(change: &Change) -> bool {
    match change {
        Change::TabCreated(_)
        | Change::TabUpdated(_)
        | Change::TabClosed(_)
        | Change::TabFocused(_) => true,
        Change::ToolsChanged { tab, .. } => tab.is_some(),
        Change::State(_) | Change::Event { .. } => false,
    }
}

fn ask_again(from: Position) -> ToBrowser {
    ToBrowser::ReplayRequest(ReplayRequest { from, types: Vec::new(), errors_first: false })
}
