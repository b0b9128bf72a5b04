//! One browser's or app's presence: what is known of it, and the socket it has, if any.
//!
//! A session knows meaning and no sockets: it is attached to an [`Outbox`] and told what arrived.
//! It outlives its connections. Everything that changes is in [`Core`] behind one short lock;
//! messages are put into the outbox under that lock, so their order is the order of events.

mod attach;
mod holding;
mod receive;
mod retention;
mod share;
#[cfg(test)]
mod tests;
mod work;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use model::{
    CloseReason, Closing, Habits, InstanceId, Json, Kind, Level, NumberedChange, Position,
    Sequence, SessionId, Tab, TabId, ToBrowser, ToolSpec, record::LogEntry,
};
use parking_lot::Mutex;
use store::NewEntry;
use tokio::{sync::Notify, time::Instant};

pub use attach::{Attachment, Introduction};
pub(crate) use work::humantime_seconds;
pub use work::{CallRequest, Caller, Ticket};

use crate::{
    calls::CallTable,
    catalog::Catalog,
    feed::{self, FeedItem},
    origins::OriginShare,
    outbox::{Outbox, Refusal},
    replay::{Inbox, ReplayLog},
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
    door: tokio::sync::Mutex<()>,
    // A blocking mutex: held for one step, never across an await.
    core: Mutex<Core>,
}

/// What changes in a session.
struct Core {
    link: Option<Link>,
    /// Connections so far; the newest one's number.
    links: u64,
    version: Option<String>,
    capabilities: Vec<String>,
    habits: Habits,
    /// What a peer without a lasting name is called at present.
    called: Option<InstanceId>,
    outgoing: ReplayLog,
    feed: ReplayLog,
    inbox: Inbox,
    /// Received since the last ack.
    unacked: u32,
    /// The store has refused a message of the browser; it will be asked for again.
    refused: bool,
    /// Acks that wait for the disk, with the write each waits for.
    acks: VecDeque<(u64, Position)>,
    /// Numbered messages that wait for the disk before anybody hears of them.
    unsynced: VecDeque<(u64, NumberedChange)>,
    /// The write after which the disk's news reach this session, if it waits for any.
    called_after: Option<u64>,
    /// The state is about to be written down.
    keep_state_due: bool,
    /// Brought back from the store, and no peer has been here since.
    restored: bool,
    calls: CallTable,
    state: StateCache,
    catalog: Catalog,
    tabs: TabTable,
    /// How many tabs the user keeps to themselves, as the browser says.
    hidden_tabs: u64,
    /// What an app holds of what its origin may.
    share: Option<OriginShare>,
    /// SHA-256 of the token that proves the next takeover.
    resume_digest: Option<String>,
    /// When it was attached or detached last, or brought back.
    changed_at: Instant,
    /// How long its peer had been away when it was brought back.
    away_before: Duration,
    /// Since when its peer is away by the wall clock, for the next hub; none while it is there.
    away_since_ms: Option<u64>,
    /// Its being forgotten is on the agenda.
    forget_due: bool,
    /// A whole state has been asked for, or is about to be.
    refresh_due: bool,
    /// It was needed once more after it had been asked for.
    refresh_again: bool,
    /// Calls wait for a browser that may come back.
    suspended: bool,
    /// The browser said that it leaves on purpose.
    leaving: bool,
}

/// The connection a session has.
struct Link {
    number: u64,
    outbox: Outbox,
    /// Counts what was heard, for whoever wants to know whether the peer is still there.
    heard: u64,
    hearing: Arc<Notify>,
    /// The peer has proven that it is paired, and is on this machine.
    at_home: bool,
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
        self.core.lock().link.is_some()
    }

    /// Returns the web origin of an app.
    pub fn app_origin(&self) -> Option<&str> {
        self.origin.as_deref().filter(|_| self.kind == Kind::App)
    }

    /// Returns whether its peer is here, has proven that it is paired, and is on this machine.
    pub fn is_at_home(&self) -> bool {
        self.core.lock().link.as_ref().is_some_and(|link| link.at_home)
    }

    /// Returns everything for a listing.
    pub fn info(&self) -> SessionInfo {
        let core = self.core.lock();
        SessionInfo {
            id: self.id.clone(),
            name: self.name.to_string(),
            instance: core.called.clone().unwrap_or_else(|| self.instance.clone()),
            kind: self.kind,
            dialect: self.dialect.to_string(),
            origin: self.origin.clone(),
            unproven: self.unproven,
            carried_by: self.carried_by.clone(),
            version: core.version.clone(),
            capabilities: core.capabilities.clone(),
            connected: core.link.is_some(),
            for_time: core.unchanged_for(),
            connections: core.links,
            calls_in_flight: core.calls.count(),
            state_version: core.state.version(),
            tabs: core.catalog.tabs().cloned().collect(),
            holders: core.tabs.holders().map(|(tab, holder)| (tab, holder.clone())).collect(),
            tools: core.catalog.app_tools().to_vec(),
            sent: core.outgoing.current(),
            received: core.inbox.seen().cloned(),
        }
    }

    /// Returns whether its browser can do a command; one that has not said may.
    pub fn can(&self, command: &str) -> bool {
        let core = self.core.lock();
        let commands = &core.habits.commands;
        self.kind == Kind::Browser
            && (commands.is_empty() || commands.iter().any(|known| known == command))
    }

    /// Returns the commands that its browser says it can do.
    pub fn commands(&self) -> Vec<String> {
        self.core.lock().habits.commands.clone()
    }

    /// Returns whether its peer is called this at present.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.core.lock().called.as_ref().is_some_and(|called| called.as_str() == name)
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
        self.core.lock().capabilities.iter().any(|known| known == name)
    }

    /// Returns the newest known state.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.core.lock().state.snapshot()
    }

    /// Sends the browser an event; it arrives in order, after a reconnect too.
    pub fn notify(self: &Arc<Self>, name: &str, level: Level, data: Json) -> Sequence {
        let limits = self.services.replay_limits();
        let mut core = self.core.lock();
        let entry = feed::entry("event", name, level, data.clone());
        let sequence = match core.outgoing.publish(entry, &limits) {
            Ok(sequence) => sequence,
            Err(error) => {
                tracing::error!(session = %self.id, %error, "event not kept");
                return core.outgoing.current().sequence;
            }
        };
        let change = model::Change::Event { name: name.to_owned(), level, data };
        let change = NumberedChange { sequence: Some(sequence), change };
        let write = self.services.disk.written();
        core.unsynced.push_back((write, change));
        // The log's limits hold for what waits too: who misses something asks for it.
        let oldest = core.outgoing.oldest();
        let is_gone =
            |change: &NumberedChange| change.sequence.is_some_and(|number| number < oldest);
        while core.unsynced.pop_front_if(|(_, change)| is_gone(change)).is_some() {}
        self.say_what_is_on_disk(&mut core);
        sequence
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
        let entries = core.feed.read(after, limit).unwrap_or_default();
        (core.feed.current(), entries)
    }

    /// Returns the feed's name and newest number: the cursor for "from now on".
    pub fn feed_position(&self) -> Position {
        self.core.lock().feed.current()
    }

    /// Closes the socket, if there is one.
    pub fn close(&self, closing: Closing) {
        if let Some(link) = &self.core.lock().link {
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
        core.called_after = None;
        self.say_what_is_on_disk(&mut core);
    }

    /// Says what is on disk, and is called when the disk has more of it.
    fn say_what_is_on_disk(self: &Arc<Self>, core: &mut Core) {
        let disk = &self.services.disk;
        loop {
            let synced = disk.synced();
            core.tell_what_is_on_disk(synced);
            core.ack_what_is_on_disk(synced);
            let Some(write) = core.next_write() else { return };
            if core.called_after.is_none_or(|called| called > write) {
                core.called_after = Some(write);
                disk.call_after(write, Arc::downgrade(self));
            }
            // The disk may have got there before we were entered: then nobody calls.
            if disk.synced() < write {
                return;
            }
        }
    }

    /// Acks what was received, at once or when the disk has it.
    fn ack(self: &Arc<Self>, core: &mut Core) {
        if core.unacked == 0 || core.link.is_none() {
            return;
        }
        core.unacked = 0;
        let Some(seen) = core.inbox.seen().cloned() else { return };
        // An ack tells all before it: of those that wait, the first and the newest are enough.
        if core.acks.len() > 1 {
            core.acks.pop_back();
        }
        core.acks.push_back((self.services.disk.written(), seen));
        self.say_what_is_on_disk(core);
    }

    /// Drops what is too old.
    pub(crate) fn sweep(&self) {
        let limits = self.services.replay_limits();
        let mut core = self.core.lock();
        let Core { outgoing, feed, .. } = &mut *core;
        for log in [outgoing, feed] {
            if let Err(error) = log.enforce(&limits) {
                tracing::error!(session = %self.id, %error, "old messages not dropped");
            }
        }
    }

    /// Writes an entry into the feed and shows it to live watchers; returns whether it is kept.
    fn record(&self, core: &mut Core, entry: NewEntry) -> bool {
        let watched = self.services.watchers() > 0;
        let shown = watched.then(|| entry.clone());
        let sequence = match core.feed.publish(entry, &self.services.replay_limits()) {
            Ok(sequence) => sequence,
            Err(error) => {
                tracing::error!(session = %self.id, %error, "feed entry not kept");
                return false;
            }
        };
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
        true
    }
}

/// The capability of a peer that can tell what became of a call after a reconnect.
pub const KEEPS_RESULTS: &str = "results";

impl Core {
    /// Returns how long its peer has been there, or away.
    fn unchanged_for(&self) -> Duration {
        self.changed_at.elapsed() + self.away_before
    }

    fn keeps_results(&self) -> bool {
        self.capabilities.iter().any(|name| name == KEEPS_RESULTS)
    }

    /// Says something that is lost with the connection; numbered messages come back by replay.
    fn tell(&mut self, message: ToBrowser) {
        let Some(link) = &self.link else { return };
        if link.outbox.push(message) == Err(Refusal::Full) {
            link.outbox.cut(Closing::new(
                CloseReason::SlowConsumer,
                "too much is waiting to be read; reconnect to get the rest",
            ));
        }
    }

    /// Tells the numbered messages that are on disk, in order.
    fn tell_what_is_on_disk(&mut self, synced: u64) {
        while self.unsynced.front().is_some_and(|(write, _)| *write <= synced) {
            let Some((_, change)) = self.unsynced.pop_front() else { return };
            if let Some(sequence) = change.sequence {
                self.outgoing.show(sequence);
            }
            self.tell(ToBrowser::Changed(change));
        }
    }

    /// Returns the first write that something waits for.
    fn next_write(&self) -> Option<u64> {
        let ack = self.acks.front().map(|(write, _)| *write);
        let change = self.unsynced.front().map(|(write, _)| *write);
        ack.into_iter().chain(change).min()
    }

    /// Acks the newest position that is on disk.
    fn ack_what_is_on_disk(&mut self, synced: u64) {
        let mut newest = None;
        while self.acks.front().is_some_and(|(write, _)| *write <= synced) {
            newest = self.acks.pop_front();
        }
        if let Some((_, position)) = newest {
            self.tell(ToBrowser::Ack(position));
        }
    }
}
