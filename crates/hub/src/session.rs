//! One browser's or app's presence: what is known of it, and the socket it has, if any.
//!
//! A session knows meaning and no sockets: it is attached to an [`Outbox`] and told what arrived.
//! It outlives its connections. Everything that changes is in [`Core`] behind one short lock;
//! messages are put into the outbox under that lock, so their order is the order of events.

mod attach;
mod delivery;
mod holding;
mod presence;
mod receive;
mod refresh;
mod retention;
mod share;
mod tab_choice;
#[cfg(test)]
mod tests;
mod work;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use model::{
    CloseReason, Closing, InstanceId, Json, Kind, Level, NumberedChange, PeerTraits, Position,
    Sequence, SessionId, Tab, TabId, ToBrowser, ToolSpec, record::LogEntry,
};
use parking_lot::Mutex;
use store::{NewEntry, StoreError, StoreWrite, WriteTicket};

pub use attach::{Attachment, Introduction};
use delivery::Delivery;
use presence::Presence;
use refresh::Refresh;
pub use work::Ticket;
pub(crate) use work::humantime_seconds;

use crate::{
    calls::CallTable,
    catalog::Catalog,
    feed::{self, FeedItem},
    origins::OriginShare,
    outbox::Refusal,
    replay::ReplayLog,
    services::Services,
    state::{Snapshot, StateCache},
    tabs::{Holder, TabTable},
};

/// One session. Shared; what changes is inside.
pub struct Session {
    /// The hub's id.
    pub id: SessionId,
    /// The peer's own name for itself.
    pub instance: InstanceId,
    /// The readable name.
    pub name: Arc<str>,
    /// What it is.
    pub kind: Kind,
    /// The wire protocol it speaks.
    pub dialect: Arc<str>,
    /// The web origin it came from, where it has one.
    pub origin: Option<String>,
    /// Nobody has proven that its origin is the one that was meant.
    pub unproven: bool,
    /// The paired browser that connects it on its behalf, where one does.
    pub carried_by: Option<InstanceId>,
    services: Arc<Services>,
    /// How many tools the app declares: lets look-ups pass by whoever offers none.
    tool_count: AtomicUsize,
    /// Lets one peer at a time through the takeover rules; may be held across an await.
    takeover_turn: tokio::sync::Mutex<()>,
    // A blocking mutex: held for one step, never across an await.
    core: Mutex<Core>,
}

/// What changes in a session.
struct Core {
    presence: Presence,
    peer: PeerFacts,
    delivery: Delivery,
    feed: ReplayLog,
    calls: CallTable,
    state: StateCache,
    /// The state is about to be written down.
    keep_state_due: bool,
    refresh: Refresh,
    catalog: Catalog,
    tabs: TabTable,
    /// How many tabs the user keeps to themselves, as the browser says.
    hidden_tabs: u64,
    /// What an app holds of what its origin may.
    share: Option<OriginShare>,
    /// SHA-256 of the token that proves the next takeover.
    resume_digest: Option<String>,
}

/// What the peer said of itself when it came last.
#[derive(Default)]
struct PeerFacts {
    version: Option<String>,
    capabilities: Vec<String>,
    traits: PeerTraits,
    /// What a peer without a lasting name is called at present.
    called: Option<InstanceId>,
}

/// What there is to know about a session, for listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// The hub's id.
    pub id: SessionId,
    /// The readable name.
    pub name: String,
    /// The peer's own name for itself, at present.
    pub instance: InstanceId,
    /// What it is.
    pub kind: Kind,
    /// The wire protocol.
    pub dialect: String,
    /// The web origin.
    pub origin: Option<String>,
    /// Nobody has proven that the origin is the one that was meant.
    pub unproven: bool,
    /// Who connects it on its behalf.
    pub carried_by: Option<InstanceId>,
    /// The peer's version.
    pub version: Option<String>,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// Whether a socket is attached.
    pub connected: bool,
    /// How long it has been (dis)connected.
    pub for_time: Duration,
    /// Connections so far.
    pub connections: u64,
    /// Calls without an end yet.
    pub calls_in_flight: usize,
    /// Version of the cached state.
    pub state_version: Option<u64>,
    /// Its tabs.
    pub tabs: Vec<Tab>,
    /// Who has which tab; the others are free.
    pub holders: BTreeMap<TabId, Holder>,
    /// The app's own tools.
    pub tools: Vec<ToolSpec>,
    /// The hub's log for it.
    pub sent: Position,
    /// How far its log was received.
    pub received: Option<Position>,
}

impl Session {
    /// Returns whether a socket is attached.
    pub fn is_connected(&self) -> bool {
        self.core.lock().presence.is_here()
    }

    /// Returns the web origin of an app.
    pub fn app_origin(&self) -> Option<&str> {
        self.origin.as_deref().filter(|_| self.kind == Kind::App)
    }

    /// Returns whether its peer is here, has proven that it is paired, and is on this machine.
    pub fn is_at_home(&self) -> bool {
        self.core.lock().presence.link().is_some_and(|link| link.at_home)
    }

    /// Returns everything for a listing.
    pub fn info(&self) -> SessionInfo {
        let core = self.core.lock();
        SessionInfo {
            id: self.id.clone(),
            name: self.name.to_string(),
            instance: core.peer.called.clone().unwrap_or_else(|| self.instance.clone()),
            kind: self.kind,
            dialect: self.dialect.to_string(),
            origin: self.origin.clone(),
            unproven: self.unproven,
            carried_by: self.carried_by.clone(),
            version: core.peer.version.clone(),
            capabilities: core.peer.capabilities.clone(),
            connected: core.presence.is_here(),
            for_time: core.presence.unchanged_for(),
            connections: core.presence.connections,
            calls_in_flight: core.calls.count(),
            state_version: core.state.version(),
            tabs: core.catalog.tabs().cloned().collect(),
            holders: core.tabs.holders().map(|(tab, holder)| (tab, holder.clone())).collect(),
            tools: core.catalog.app_tools().to_vec(),
            sent: core.delivery.outgoing.current(),
            received: core.delivery.inbox.seen().cloned(),
        }
    }

    /// Returns whether its browser can do a command; one that has not said may.
    pub fn can(&self, command: &str) -> bool {
        let core = self.core.lock();
        let commands = &core.peer.traits.commands;
        self.kind == Kind::Browser
            && (commands.is_empty() || commands.iter().any(|known| known == command))
    }

    /// Returns the commands that its browser says it can do.
    pub fn commands(&self) -> Vec<String> {
        self.core.lock().peer.traits.commands.clone()
    }

    /// Returns whether its peer is called this at present.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.core.lock().peer.called.as_ref().is_some_and(|called| called.as_str() == name)
    }

    /// Returns a tool of the app, if it offers one of that name.
    pub fn app_tool(&self, name: &str) -> Option<ToolSpec> {
        if self.tool_count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.core.lock().catalog.app_tool(name).cloned()
    }

    /// Returns all tools of the app.
    pub fn app_tools(&self) -> Vec<ToolSpec> {
        if self.tool_count.load(Ordering::Relaxed) == 0 {
            return Vec::new();
        }
        self.core.lock().catalog.app_tools().to_vec()
    }

    /// Lets its tools be found; whoever is in the registry has done so.
    pub(crate) fn offer(&self) {
        let core = self.core.lock();
        self.services.offering.replace(&self.who(), &[], core.catalog.app_tools());
    }

    /// Lets its tools no longer be found.
    pub(crate) fn withdraw_offer(&self) {
        let core = self.core.lock();
        self.services.offering.replace(&self.who(), &core.catalog.app_tool_names(), &[]);
    }

    fn who(&self) -> (Arc<str>, SessionId) {
        (self.name.clone(), self.id.clone())
    }

    /// Returns the tools that the page in a tab declares.
    pub fn page_tools(&self, tab: TabId) -> Vec<ToolSpec> {
        self.core.lock().catalog.page_tools(tab).to_vec()
    }

    /// Returns whether the peer says that it can do something beyond the minimum.
    pub fn has_capability(&self, name: &str) -> bool {
        self.core.lock().peer.can(name)
    }

    /// Returns the newest known state.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.core.lock().state.snapshot()
    }

    /// Sends the browser an event; it arrives in order, after a reconnect too. Without a ticket it
    /// was not taken.
    pub fn notify(
        self: &Arc<Self>,
        name: &str,
        level: Level,
        data: Json,
    ) -> (Sequence, Option<WriteTicket>) {
        let limits = self.services.replay_limits();
        let mut core = self.core.lock();
        let entry = feed::entry("event", name, level, data.clone());
        let (sequence, ticket) = match core.delivery.outgoing.publish(entry, None, &limits) {
            Ok(published) => published,
            Err(error) => {
                tracing::error!(session = %self.id, %error, "event not kept");
                return (core.delivery.outgoing.current().sequence, None);
            }
        };
        let change = model::Change::Event { name: name.to_owned(), level, data };
        let change = NumberedChange { sequence: Some(sequence), change };
        core.delivery.queue_change(ticket.clone(), change);
        self.say_what_is_on_disk(&mut core);
        (sequence, Some(ticket))
    }

    /// Shows the browser something now, if it is there; lost otherwise.
    pub fn mention(&self, name: &str, data: Json) {
        self.core.lock().tell(ToBrowser::Mention { name: name.to_owned(), data });
    }

    /// Returns entries of the feed after a cursor; the position names the feed and its newest
    /// number. A cursor before the oldest kept entry starts there, and so does one from the future:
    /// it is from before a crash that took the newest entries.
    pub fn feed_after(&self, after: Sequence, limit: usize) -> (Position, Vec<LogEntry>) {
        let core = self.core.lock();
        let after = if after > core.feed.current().sequence { Sequence(0) } else { after };
        let entries = core.feed.read(after, limit);
        (core.feed.current(), entries)
    }

    /// Returns the feed's name and newest number: the cursor for "from now on".
    pub fn feed_position(&self) -> Position {
        self.core.lock().feed.current()
    }

    /// Closes the socket, if there is one.
    pub fn close(&self, closing: Closing) {
        if let Some(link) = self.core.lock().presence.link() {
            link.outbox.close(closing);
        }
    }

    /// Tells the browser how far its log was received, if that is owed.
    pub(crate) fn send_ack(self: &Arc<Self>) {
        self.ack(&mut self.core.lock());
    }

    /// Says what had to wait for the disk.
    pub(crate) fn on_disk(self: &Arc<Self>) {
        let mut core = self.core.lock();
        core.delivery.waits_for_disk = false;
        self.say_what_is_on_disk(&mut core);
    }

    /// Says what is on disk, and is called when the disk has more of it.
    fn say_what_is_on_disk(self: &Arc<Self>, core: &mut Core) {
        loop {
            while let Some(change) = core.delivery.next_on_disk() {
                core.tell(ToBrowser::Changed(change));
            }
            if let Some(position) = core.delivery.newest_ack() {
                core.tell(ToBrowser::Ack(position));
            }
            if core.delivery.is_all_said() {
                return;
            }
            if !std::mem::replace(&mut core.delivery.waits_for_disk, true) {
                self.services.waiting_for_disk.lock().push(Arc::downgrade(self));
            }
            // The disk may have got there before we were entered: then nobody calls.
            if !core.delivery.is_next_on_disk() {
                return;
            }
        }
    }

    /// Acks what was received, at once or when the disk has it.
    fn ack(self: &Arc<Self>, core: &mut Core) {
        if core.presence.is_here() {
            core.delivery.queue_ack();
            self.say_what_is_on_disk(core);
        }
    }

    /// Drops what is too old.
    pub(crate) fn sweep(&self) {
        let limits = self.services.replay_limits();
        let mut core = self.core.lock();
        let Core { delivery, feed, .. } = &mut *core;
        for log in [&mut delivery.outgoing, feed] {
            if let Err(error) = log.enforce(&limits) {
                tracing::error!(session = %self.id, %error, "old messages not dropped");
            }
        }
    }

    /// Writes an entry into the feed, in one batch with what belongs to it, and shows it to live
    /// watchers; returns nothing when it is not kept.
    fn record(
        &self,
        core: &mut Core,
        entry: NewEntry,
        with: impl IntoIterator<Item = StoreWrite>,
    ) -> Option<WriteTicket> {
        let watched = self.services.watchers() > 0;
        let shown = watched.then(|| entry.clone());
        let published = core.feed.publish(entry, with, &self.services.replay_limits());
        let (sequence, ticket) = self.warn_if_lost(published, "feed entry")?;
        if let Some(entry) = shown {
            self.services.show(FeedItem {
                session: self.id.clone(),
                name: self.name.clone(),
                entry: LogEntry {
                    sequence: sequence.0,
                    at_ms: store::wall_clock_ms(),
                    kind: entry.kind,
                    name: entry.name,
                    level: entry.level,
                    body: entry.body,
                },
            });
        }
        Some(ticket)
    }

    /// Writes one thing; returns nothing when it is not kept.
    fn write(&self, write: StoreWrite, what: &'static str) -> Option<WriteTicket> {
        self.warn_if_lost(self.services.store.write(vec![write]), what)
    }

    fn warn_if_lost<T>(&self, kept: Result<T, StoreError>, what: &'static str) -> Option<T> {
        kept.inspect_err(|error| tracing::error!(session = %self.id, %error, what, "not kept")).ok()
    }
}

/// The capability of a peer that can tell what became of a call after a reconnect.
pub const KEEPS_RESULTS: &str = "results";

impl PeerFacts {
    /// Returns whether it says that it can do something beyond the minimum.
    fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|known| known == capability)
    }
}

impl Core {
    /// Says something that is lost with the connection; numbered messages come back by replay.
    fn tell(&mut self, message: ToBrowser) {
        let Some(link) = self.presence.link() else { return };
        if link.outbox.push(message) == Err(Refusal::Full) {
            link.outbox.cut(Closing::new(
                CloseReason::SlowConsumer,
                "too much is waiting to be read; reconnect to get the rest",
            ));
        }
    }
}
