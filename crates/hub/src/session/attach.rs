//! How a session gets a connection, keeps it, and loses it.
//!
//! The rules for a second socket: who proves with the resume token that the session is his gets
//! it, and the old socket is closed first. Without a token the web origin must be the same, and
//! the old socket must be dead or fail to answer a ping in time.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use model::{
    Change, CloseReason, Closing, Epoch, FromBrowser, Hello, InstanceId, Json, Level, Position,
    SessionId, Tab, ToBrowser, Welcome, id::random_text, record::SessionRecord,
};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use store::{KeptSession, StoreError, StoreWrite, WriteTicket};
use tokio::time::Instant;

use super::{
    Core, KEEPS_RESULTS, PeerFacts, Session,
    delivery::Delivery,
    presence::{After, Link, Presence},
    refresh::Refresh,
};
use crate::{
    agenda::Due,
    calls::{CallTable, Gone},
    catalog::Catalog,
    feed,
    outbox::Outbox,
    replay::{Inbox, ReplayLog},
    services::Services,
    state::StateCache,
    tabs::TabTable,
};

/// A peer that wants a session.
pub struct Introduction {
    /// What it said.
    pub hello: Hello,
    /// The wire protocol it speaks.
    pub dialect: &'static str,
    /// The web origin its browser attests, where it has one.
    pub origin: Option<String>,
    /// Nobody has proven that this origin is the one that was meant.
    pub unproven: bool,
    /// It has proven that it is paired, and is on this machine: what it says of files is of this
    /// machine's.
    pub at_home: bool,
    /// Who connects it on its behalf, and attests its origin.
    pub carried_by: Option<InstanceId>,
}

/// A connection's hold on its session; dropping it ends the connection's part.
pub struct Attachment {
    session: Arc<Session>,
    number: u64,
    /// What the session was written down with, and its resume token.
    pub(crate) saved: Option<WriteTicket>,
}

impl Attachment {
    /// Returns the session.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Takes in what the peer said; an error is the reason to close its socket.
    pub fn receive(&self, message: FromBrowser) -> Result<(), Closing> {
        self.session.receive(self.number, message)
    }

    /// Whether the hub itself has slept since then, so that a silent peer had no chance to be heard.
    pub fn hub_slept_since(&self, since: Instant) -> bool {
        self.session.services.pulse.slept_since(since)
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.session.detach(self.number);
    }
}

/// Whether a peer without a lasting name can have a place.
enum Vacancy {
    /// Nobody is there.
    Free,
    /// Only a connection is there that is dead (`own` is false) or the peer's own.
    Held { number: u64, own: bool },
    /// Somebody else is there.
    Taken,
}

impl Session {
    /// Makes the session of a peer that was not known before.
    pub(crate) fn create(
        services: Arc<Services>,
        introduction: &Introduction,
        instance: &InstanceId,
        name: String,
    ) -> Result<Self, StoreError> {
        let hello = &introduction.hello;
        let id = SessionId::mint();
        let record = SessionRecord {
            id: id.to_string(),
            instance: instance.to_string(),
            name,
            kind: hello.kind.as_str().to_owned(),
            dialect: introduction.dialect.to_owned(),
            origin: introduction.origin.clone(),
            resume_digest: None,
            unproven: introduction.unproven,
            carried_by: introduction.carried_by.as_ref().map(InstanceId::to_string),
            tabs: Vec::new(),
            tools: Vec::new(),
            holders: Vec::new(),
            hidden_tabs: 0,
            away_since_ms: None,
        };
        let kept = services.store.load(&id)?;
        Self::restore(services, record, kept)
    }

    /// Brings a session back as it was written down.
    pub(crate) fn restore(
        services: Arc<Services>,
        record: SessionRecord,
        kept: KeptSession,
    ) -> Result<Self, StoreError> {
        let broken = |error: model::InvalidId| StoreError::Unavailable(error.to_string());
        let id = kept.feed.session().clone();
        let outgoing = ReplayLog::guarded(services.store.clone(), kept.to_browser);
        let feed = ReplayLog::new(services.store.clone(), kept.feed);
        let catalog = Catalog::restore(record.tabs, record.tools);
        let tabs = TabTable::restore(record.holders);
        let carried_by = record.carried_by.as_deref().map(InstanceId::parse).transpose();
        // A session that was made just now has never given a token.
        let known_before = record.resume_digest.is_some();
        let now = store::wall_clock_ms();
        let state =
            kept.state.map_or_else(StateCache::default, |state| StateCache::restore(state, now));
        let is_app = record.kind != model::Kind::Browser.as_str();
        let origin = record.origin.as_deref().filter(|_| is_app);
        let share = origin.map(|origin| services.origins.share(origin));
        let session = Self {
            instance: InstanceId::parse(&record.instance).map_err(broken)?,
            name: record.name.into(),
            kind: match record.kind.as_str() {
                "browser" => model::Kind::Browser,
                _ => model::Kind::App,
            },
            dialect: record.dialect.into(),
            origin: record.origin,
            unproven: record.unproven,
            carried_by: carried_by.map_err(broken)?,
            id,
            services,
            tool_count: AtomicUsize::new(catalog.app_tools().len()),
            takeover_turn: tokio::sync::Mutex::default(),
            core: Mutex::new(Core {
                presence: Presence::restore(known_before, record.away_since_ms),
                peer: PeerFacts::default(),
                delivery: Delivery::new(outgoing, Inbox::restore(kept.received)),
                feed,
                calls: CallTable::default(),
                state,
                keep_state_due: false,
                refresh: Refresh::default(),
                catalog,
                tabs,
                hidden_tabs: record.hidden_tabs,
                share,
                resume_digest: record.resume_digest,
            }),
        };
        session.core.lock().note_held();
        Ok(session)
    }

    /// Gives a peer this session, or says why it may not have it.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        introduction: Introduction,
        outbox: Outbox,
    ) -> Result<Attachment, Closing> {
        let _turn = self.takeover_turn.lock().await;
        self.judge(&introduction).await?;
        self.close(Closing::new(CloseReason::Superseded, "the same peer came back"));
        let superseded = self.core.lock().presence.link().map(|link| link.number);
        if let Some(number) = superseded {
            self.detach(number);
        }
        Ok(self.attach(introduction, outbox))
    }

    /// Looks whether a peer without a lasting name can have this place.
    async fn judge_place(&self, introduction: &Introduction) -> Vacancy {
        if introduction.dialect != &*self.dialect || introduction.origin != self.origin {
            return Vacancy::Taken;
        }
        let (number, same) = {
            let core = self.core.lock();
            let Some(link) = core.presence.link() else { return Vacancy::Free };
            let hello = &introduction.hello;
            let known = |tab: &Tab| core.catalog.tabs().any(|known| known.id == tab.id);
            (link.number, hello.traits.may_double && hello.tabs.iter().any(known))
        };
        let probe = self.services.config.load().takeover_probe;
        if same || !self.answers_within(probe).await {
            return Vacancy::Held { number, own: same };
        }
        Vacancy::Taken
    }

    /// Gives a peer without a lasting name this place, or the introduction back.
    pub(crate) async fn admit_nameless(
        self: &Arc<Self>,
        introduction: Introduction,
        outbox: Outbox,
    ) -> Result<Attachment, Box<(Introduction, Outbox)>> {
        let _turn = self.takeover_turn.lock().await;
        match self.judge_place(&introduction).await {
            Vacancy::Taken => return Err(Box::new((introduction, outbox))),
            Vacancy::Free => {}
            // It would only open a closed socket again, and it answers on either what it was
            // asked on the old one.
            Vacancy::Held { own: true, .. } => self.unlink(),
            Vacancy::Held { number, own: false } => {
                self.close(Closing::new(CloseReason::Superseded, "the same peer came back"));
                self.detach(number);
            }
        }
        Ok(self.attach(introduction, outbox))
    }

    async fn judge(&self, introduction: &Introduction) -> Result<(), Closing> {
        let hello = &introduction.hello;
        if hello.kind != self.kind || introduction.dialect != &*self.dialect {
            return Err(refused("it was known as another kind of peer"));
        }
        if self.is_proven_by(hello.resume_token.as_deref()) {
            return Ok(());
        }
        if introduction.origin != self.origin {
            return Err(refused("it belongs to another origin"));
        }
        let probe = self.services.config.load().takeover_probe;
        if self.answers_within(probe).await {
            return Err(Closing::new(
                CloseReason::InstanceInUse,
                "another live connection has this instance id",
            ));
        }
        Ok(())
    }

    fn is_proven_by(&self, token: Option<&str>) -> bool {
        // Digests are compared, so the time that takes tells nothing about the token.
        let digest = token.map(digest);
        digest.is_some() && digest == self.core.lock().resume_digest
    }

    /// Asks the attached peer whether it is still there.
    async fn answers_within(&self, limit: Duration) -> bool {
        let (number, heard, hearing) = {
            let core = self.core.lock();
            let Some(link) = core.presence.link() else { return false };
            // A full queue means that the peer does not read: then it may still speak.
            let _ = link.outbox.push(ToBrowser::Ping);
            (link.number, link.heard, link.hearing.clone())
        };
        let answered = async {
            loop {
                let notified = hearing.notified();
                match self.core.lock().presence.link() {
                    Some(link) if link.number == number && link.heard == heard => {}
                    Some(link) => return link.number == number,
                    None => return false,
                }
                notified.await;
            }
        };
        tokio::time::timeout(limit, answered).await.unwrap_or(false)
    }

    fn attach(self: &Arc<Self>, introduction: Introduction, outbox: Outbox) -> Attachment {
        let hello = introduction.hello;
        let token = random_text(52);
        let mut core = self.core.lock();
        let before = core.presence.arrive(outbox, introduction.at_home);
        let number = core.presence.connections;
        core.peer = PeerFacts {
            version: hello.version,
            capabilities: hello.capabilities,
            called: hello.traits.nameless.then_some(hello.instance),
            traits: hello.traits,
        };
        core.resume_digest = Some(digest(&token));
        core.delivery.connected();
        let known_before = core.delivery.inbox.seen().is_some();
        let numbered = hello.epoch.is_some();
        // Whether it is the one that was there before, with all it remembers.
        let same_life = hello.epoch.is_some()
            && hello.epoch.as_ref() == core.delivery.inbox.seen().map(|seen| &seen.epoch);
        let received = hello.epoch.map(|epoch| self.open_inbox(&mut core, epoch));
        let position = hello.position.or_else(|| {
            let sequence = core.peer.traits.last_sequence?;
            Some(Position { sequence, ..core.delivery.outgoing.current() })
        });
        let welcome = self.welcome(&mut core, position.as_ref(), received, token);
        let recovered = welcome.replay.refused.is_none();
        // Under the same lock as everything that follows: the welcome is first on the wire.
        core.tell(ToBrowser::Welcome(Box::new(welcome)));
        if before == After::ConnectionWithCalls {
            Self::resume_calls(&mut core, same_life);
        }
        let connected = feed::entry("session", "connected", Level::Info, Json::null());
        if !numbered {
            self.start_over(&mut core, hello.tabs);
        } else if (known_before && !recovered) || before == After::Restart {
            self.need_whole_state(&mut core);
        }
        let write = self.to_write(&core);
        let saved = self.record(&mut core, connected, [write]);
        self.services.metrics.connected.inc();
        drop(core);
        self.services.offers_changed();
        tracing::info!(session = %self.id, name = %self.name, connection = number, "attached");
        Attachment { session: self.clone(), number, saved }
    }

    /// Takes in a peer that numbers nothing: whatever it told before may have changed since.
    fn start_over(self: &Arc<Self>, core: &mut Core, tabs: Vec<Tab>) {
        core.catalog.clear_tabs();
        let is_browser = self.kind == model::Kind::Browser;
        for tab in tabs.into_iter().filter(|_| is_browser) {
            if core.catalog.apply(&Change::TabCreated(tab)).is_err() {
                tracing::warn!(session = %self.id, "more tabs than the hub keeps");
                break;
            }
        }
        if core.state.version().is_some() {
            core.state.doubt();
            self.need_whole_state(core);
        }
    }

    /// Continues the peer's log, or starts over where it is another one.
    fn open_inbox(self: &Arc<Self>, core: &mut Core, epoch: Epoch) -> Position {
        let other = core.delivery.inbox.seen().is_some_and(|seen| seen.epoch != epoch);
        if other {
            // Another life of the peer: its tabs are others. Its tools stay until it tells anew.
            core.catalog.clear_tabs();
            self.need_whole_state(core);
        }
        core.delivery.inbox.open(epoch)
    }

    fn welcome(
        &self,
        core: &mut Core,
        position: Option<&Position>,
        received: Option<Position>,
        resume_token: String,
    ) -> Welcome {
        let mut replay =
            core.delivery.outgoing.resume(position, &self.services.replay_limits()).unwrap_or_else(
                |error| {
                    tracing::error!(session = %self.id, %error, "replay not readable");
                    core.delivery.outgoing.unreadable()
                },
            );
        if let Some(reason) = replay.refused {
            self.services.metrics.refused_resume(reason);
            replay.messages.clear();
        }
        self.services.metrics.replayed.inc_by(replay.messages.len() as u64);
        Welcome {
            session: self.id.clone(),
            name: self.name.to_string(),
            server_version: self.services.version.to_owned(),
            current: core.delivery.outgoing.current(),
            received,
            replay,
            resume_token,
        }
    }

    /// Lets go of a connection whose peer has another; calls go on.
    fn unlink(&self) {
        if let Some(link) = self.core.lock().presence.leave() {
            link.hearing.notify_waiters();
            self.services.metrics.connected.dec();
        }
    }

    /// Ends a connection's part, unless another has taken its place.
    pub(crate) fn detach(self: &Arc<Self>, number: u64) {
        let mut core = self.core.lock();
        if core.presence.link_mut(number).is_none() {
            return;
        }
        let Some(link) = core.presence.leave() else { return };
        link.hearing.notify_waiters();
        let ended = self.suspend_or_end(&mut core, &link);
        self.unlist_later();
        self.forget_later(&mut core);
        let disconnected = feed::entry("session", "disconnected", Level::Info, Json::null());
        let write = self.to_write(&core);
        // Under the lock: whoever forgets it now does so after this, and nothing of it comes back.
        self.record(&mut core, disconnected, [write]);
        // Likewise: who sees that it is gone finds it counted.
        self.services.metrics.connected.dec();
        drop(core);
        self.services.offers_changed();
        tracing::info!(session = %self.id, connection = number, calls = ended, "detached");
    }

    /// Lets calls wait for a browser that keeps its results and may come back; otherwise ends them.
    /// Returns how many have ended.
    fn suspend_or_end(self: &Arc<Self>, core: &mut Core, link: &Link) -> usize {
        let grace = self.services.config.load().resume_grace;
        let may_return = !link.leaving && !self.services.requests.are_closed();
        if !may_return || grace.is_zero() || !core.peer.can(KEEPS_RESULTS) || core.calls.is_idle() {
            return core.calls.end_all(Gone::Browser).len();
        }
        core.presence.keep_calls();
        core.calls.suspend();
        self.services.agenda.after(grace, Due::GiveUp(Arc::downgrade(self), link.number));
        0
    }

    /// Ends the calls that waited for a browser, unless it is back.
    pub(crate) fn give_up(&self, number: u64) {
        let mut core = self.core.lock();
        if core.presence.connections == number && core.presence.drop_calls() {
            let ended = core.calls.end_all(Gone::Browser);
            tracing::info!(session = %self.id, calls = ended.len(), "did not come back in time");
        }
    }

    /// Ends the calls that wait for a browser.
    pub(crate) fn end_suspended(&self) {
        let mut core = self.core.lock();
        if core.presence.drop_calls() {
            core.calls.end_all(Gone::Hub);
        }
    }

    /// Ends all calls.
    pub(crate) fn end_calls(&self) {
        let mut core = self.core.lock();
        core.presence.drop_calls();
        core.calls.end_all(Gone::Hub);
    }

    /// Goes on with the calls of a browser that is back.
    fn resume_calls(core: &mut Core, same_life: bool) {
        if !core.peer.can(KEEPS_RESULTS) {
            core.calls.end_all(Gone::Browser);
            return;
        }
        let resumed = core.calls.resume(same_life);
        // Word of it may have been lost with the connection before.
        for call in resumed.cancel {
            core.tell(ToBrowser::Cancel(call));
        }
        for call in resumed.ask {
            core.tell(ToBrowser::CallQuery(call));
        }
        for ready in resumed.send {
            core.dispatch(Some(ready));
        }
    }

    /// Puts asking for the whole state on the agenda, once until that is done.
    pub(super) fn need_whole_state(self: &Arc<Self>, core: &mut Core) {
        if core.refresh.need() {
            self.services.agenda.after(Duration::ZERO, Due::Refresh(Arc::downgrade(self)));
        }
    }

    /// Takes note that asking for the whole state has ended, well or not.
    pub(crate) fn refreshed(self: &Arc<Self>) {
        let mut core = self.core.lock();
        if core.refresh.ended() {
            self.services.agenda.after(Duration::ZERO, Due::Refresh(Arc::downgrade(self)));
        }
    }

    /// Writes down who it is and what it offers.
    pub(super) fn save(&self, core: &Core) {
        self.write(self.to_write(core), "session");
    }

    /// Returns the write of who it is and what it offers.
    pub(super) fn to_write(&self, core: &Core) -> StoreWrite {
        let (tabs, tools) = core.catalog.record();
        let record = SessionRecord {
            tabs,
            tools,
            holders: core.tabs.record(),
            hidden_tabs: core.hidden_tabs,
            id: self.id.to_string(),
            instance: self.instance.to_string(),
            name: self.name.to_string(),
            kind: self.kind.as_str().to_owned(),
            dialect: self.dialect.to_string(),
            origin: self.origin.clone(),
            resume_digest: core.resume_digest.clone(),
            unproven: self.unproven,
            carried_by: self.carried_by.as_ref().map(InstanceId::to_string),
            away_since_ms: core.presence.away_since_ms(),
        };
        StoreWrite::Session(self.id.clone(), Box::new(record))
    }
}

fn refused(why: &str) -> Closing {
    Closing::new(CloseReason::Refused, format!("this instance id is taken: {why}"))
}

fn digest(token: &str) -> String {
    Sha256::digest(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
