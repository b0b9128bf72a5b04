//! The hub itself: a handle to all sessions, and the task that does what is due.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use model::{ClientId, CloseReason, Closing, InstanceId, Kind, Reply};
use parking_lot::RwLock;
use store::{AuditLine, Health, Store, StoreError, StoreWrite, WriteTicket};
use tokio::{
    sync::{broadcast, watch},
    task::JoinSet,
    time::MissedTickBehavior,
};
use tokio_util::sync::CancellationToken;

use crate::{
    agenda::Due,
    call_request::{CallRequest, Caller},
    config::Config,
    feed::Watcher,
    metrics::Metrics,
    names,
    outbox::{Outbox, Outgoing, outbox},
    pulse::BEAT,
    query::StateQuery,
    registry::Registry,
    services::{AppAnswer, Services},
    session::{Attachment, Introduction, Session},
};

/// How often messages that are too old are dropped.
const SWEEP_EVERY: Duration = Duration::from_secs(30);
/// How long a welcome waits for the disk.
const TOKEN_KEPT_WITHIN: Duration = Duration::from_secs(1);

/// A handle to the hub. Clones share it.
#[derive(Clone)]
pub struct Hub {
    pub(crate) services: Arc<Services>,
    // A blocking lock: held for one look-up or change, never across an await.
    pub(crate) registry: Arc<RwLock<Registry>>,
}

impl Hub {
    /// Opens a hub with the sessions that the store has kept; browsers are told the version.
    pub fn open(
        config: Config,
        store: Arc<dyn Store>,
        version: &'static str,
    ) -> Result<Self, StoreError> {
        let services = Arc::new(Services::new(config, store, version)?);
        let mut registry = Registry::default();
        for id in services.store.sessions()? {
            let mut kept = services.store.load(&id)?;
            let Some(record) = kept.record.take() else { continue };
            let session = Arc::new(Session::restore(services.clone(), record, kept)?);
            session.await_return();
            registry.insert(session);
            services.metrics.sessions.inc();
        }
        Ok(Self { services, registry: Arc::new(RwLock::new(registry)) })
    }

    /// Does what is due until told to stop. The hub works without it only for a moment.
    pub async fn run(&self, stop: CancellationToken) {
        let agenda = &self.services.agenda;
        agenda.after(SWEEP_EVERY, Due::Sweep);
        let mut refreshes = JoinSet::new();
        let mut commits = self.services.store.commits();
        // Whoever waits already may have been committed before we looked.
        commits.mark_changed();
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // All arms are cancel-safe: nothing is taken before it is returned.
            tokio::select! {
                () = stop.cancelled() => return,
                due = agenda.next() => self.carry_out(due, &mut refreshes),
                Some(_) = refreshes.join_next() => {}
                _ = beat.tick() => self.services.pulse.beat(),
                Ok(()) = commits.changed() => self.say_what_is_on_disk(),
            }
        }
    }

    /// Takes over new settings.
    pub fn reconfigure(&self, config: Config) {
        self.services.config.store(Arc::new(config));
    }

    /// Returns the counters.
    pub fn metrics(&self) -> &Metrics {
        &self.services.metrics
    }

    /// Returns whether what is kept reaches the disk.
    pub fn store_health(&self) -> store::Health {
        self.services.store.health()
    }

    /// Returns up to `limit` lines of the audit after a number, oldest first. May read the disk.
    pub fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditLine>, StoreError> {
        self.services.store.audit(after, limit)
    }

    /// Waits until something that was written is on disk, at most so long.
    pub async fn kept_within(&self, ticket: &WriteTicket, limit: Duration) -> bool {
        let kept = tokio::time::timeout(limit, ticket.wait()).await.is_ok();
        // Whoever relies on it may look at once: what waited for the disk is said before.
        self.say_what_is_on_disk();
        kept
    }

    fn say_what_is_on_disk(&self) {
        let waiting = std::mem::take(&mut *self.services.waiting_for_disk.lock());
        for session in waiting.iter().filter_map(Weak::upgrade) {
            session.on_disk();
        }
    }

    /// Makes the queue for a new connection.
    pub fn outbox(&self) -> (Outbox, Outgoing) {
        let config = self.services.config.load();
        outbox(config.outbox_messages, config.outbox_bytes)
    }

    /// Gives a peer its session, a new one or the one it had.
    pub async fn attach(
        &self,
        introduction: Introduction,
        outbox: Outbox,
    ) -> Result<Attachment, Closing> {
        if introduction.hello.traits.nameless {
            return self.attach_nameless(introduction, outbox).await;
        }
        let instance = introduction.hello.instance.clone();
        let session = self.find_or_create(&introduction, &instance)?;
        let attachment = session.admit(introduction, outbox).await?;
        session.tell_clients();
        self.keep_token(&attachment).await;
        // Somebody may have dropped it from the list while it was being admitted.
        self.registry.write().keep(&session);
        Ok(attachment)
    }

    /// Gives a peer without a lasting name the first free place of its dialect and origin.
    async fn attach_nameless(
        &self,
        mut introduction: Introduction,
        mut outbox: Outbox,
    ) -> Result<Attachment, Closing> {
        let mut number = 1;
        loop {
            let instance = InstanceId::parse(&format!("{}:{number}", introduction.dialect))
                .map_err(|error| Closing::new(CloseReason::Internal, error.to_string()))?;
            let session = self.find_or_create(&introduction, &instance)?;
            match session.admit_nameless(introduction, outbox).await {
                Ok(attachment) => {
                    self.keep_token(&attachment).await;
                    self.registry.write().keep(&session);
                    return Ok(attachment);
                }
                Err(back) => (introduction, outbox) = *back,
            }
            number += 1;
        }
    }

    /// Waits until the newest resume token is on disk, before the welcome is written: otherwise a
    /// crash would make a used one valid again. A disk that refuses keeps nobody out.
    async fn keep_token(&self, attachment: &Attachment) {
        if self.store_health() == Health::Ok
            && let Some(ticket) = &attachment.saved
        {
            self.kept_within(ticket, TOKEN_KEPT_WITHIN).await;
        }
    }

    /// Forgets a session whose peer will not come back; false means that it is still connected.
    pub fn forget(&self, session: &Session) -> bool {
        let mut registry = self.registry.write();
        if session.is_connected() {
            return false;
        }
        if registry.by_instance(&session.instance).is_some_and(|known| known.id == session.id) {
            self.drop_session(&mut registry, session);
        }
        true
    }

    /// Returns all sessions, by name.
    pub fn sessions(&self) -> Vec<Arc<Session>> {
        self.registry.read().all()
    }

    /// Returns the sessions that something is true of, by name.
    pub fn filtered(&self, wanted: impl Fn(&Session) -> bool) -> Vec<Arc<Session>> {
        self.registry.read().filtered(wanted)
    }

    /// Returns the sessions whose app declares a tool, by name, without looking at any other.
    pub fn offering(&self, tool: &str) -> Vec<Arc<Session>> {
        let registry = self.registry.read();
        let declaring = self.services.offering.of(tool);
        declaring.iter().filter_map(|id| registry.by_id(id).cloned()).collect()
    }

    /// Returns the session of a peer by its own name for itself.
    pub fn of_instance(&self, instance: &InstanceId) -> Option<Arc<Session>> {
        self.registry.read().by_instance(instance)
    }

    /// Returns how often all sessions were looked through: nothing that a call does may raise it
    /// where a name or an index is enough.
    pub fn scans(&self) -> u64 {
        self.registry.read().scans()
    }

    /// Watches what sessions offer: the number grows when tools change or sessions come and go.
    pub fn offers(&self) -> watch::Receiver<u64> {
        self.services.offers.subscribe()
    }

    /// Says that what can be called is another, though no session has changed.
    pub fn announce_offers(&self) {
        self.services.offers_changed();
    }

    /// Watches what happens in all sessions from now on.
    pub fn watch(&self) -> Watcher {
        self.services.watch()
    }

    /// Makes a call and waits for its one end.
    pub async fn call(
        &self,
        session: &Arc<Session>,
        request: CallRequest,
    ) -> Result<Reply, model::Fault> {
        self.services.pulse.wait_until_read().await;
        session.begin(request)?.wait().await
    }

    /// Returns how many calls one session may have under way.
    pub fn calls_per_session(&self) -> usize {
        self.services.config.load().calls_per_session
    }

    /// Returns whether everything that acts is refused.
    pub fn is_read_only(&self) -> bool {
        self.services.config.load().read_only
    }

    /// Notes that a client calls: browsers hear of it, so that their user can give it a tab.
    pub fn client_calls(&self, caller: &Caller) {
        if self.services.clients.note(caller) {
            self.tell_clients();
        }
    }

    fn tell_clients(&self) {
        for session in self.filtered(|session| session.kind == Kind::Browser) {
            session.tell_clients();
        }
    }

    /// Hears from now on what the user says of web apps in a browser's window.
    pub fn app_answers(&self) -> broadcast::Receiver<AppAnswer> {
        self.services.app_answers.subscribe()
    }

    /// Returns which program this is.
    pub fn version(&self) -> &'static str {
        self.services.version
    }

    /// Lets go of everything that a client holds: it has left for good.
    pub fn client_left(&self, client: &ClientId) {
        if self.services.clients.forget(client) {
            self.tell_clients();
        }
        for session in self.sessions() {
            session.client_left(client);
        }
    }

    /// Tells every browser that the hub goes away and may be back.
    pub fn close_all(&self) {
        for session in self.sessions() {
            session.close(Closing::new(CloseReason::Restarting, "the hub is shutting down"));
        }
    }

    fn find_or_create(
        &self,
        introduction: &Introduction,
        instance: &InstanceId,
    ) -> Result<Arc<Session>, Closing> {
        let mut registry = self.registry.write();
        let hello = &introduction.hello;
        if let Some(known) = registry.by_instance(instance) {
            return Ok(known);
        }
        let config = self.services.config.load();
        let origin = introduction.origin.as_deref().filter(|_| hello.kind == Kind::App);
        if let Some(origin) = origin
            && registry.apps_of(origin).len() >= config.origin_sessions
        {
            let message = format!("{} apps of {origin} are connected", config.origin_sessions);
            let apps = registry.apps_of(origin);
            self.make_room(&mut registry, apps, message)?;
        }
        if registry.len() >= config.sessions_max {
            let message = format!("{} sessions are connected", config.sessions_max);
            let all = registry.all();
            self.make_room(&mut registry, all, message)?;
        }
        let wanted = names::reduce(hello.name.as_deref(), hello.kind.as_str());
        let name = registry.free_name(&wanted, instance);
        let session = Session::create(self.services.clone(), introduction, instance, name)
            .map_err(|error| Closing::new(CloseReason::Internal, error.to_string()))?;
        let session = Arc::new(session);
        registry.insert(session.clone());
        self.services.metrics.sessions.inc();
        Ok(session)
    }

    /// Forgets the session among these that has been away for longest; one that is there never goes.
    fn make_room(
        &self,
        registry: &mut Registry,
        among: Vec<Arc<Session>>,
        message: String,
    ) -> Result<(), Closing> {
        let away = among.into_iter().filter_map(|session| Some((session.away_for()?, session)));
        let (_, longest) = away
            .max_by_key(|(away, _)| *away)
            .ok_or_else(|| Closing::new(CloseReason::TooMany, message))?;
        self.drop_session(registry, &longest);
        Ok(())
    }

    fn carry_out(&self, due: Due, refreshes: &mut JoinSet<()>) {
        match due {
            Due::Ack(session) => {
                if let Some(session) = session.upgrade() {
                    session.send_ack();
                }
            }
            Due::KeepState(session) => {
                if let Some(session) = session.upgrade() {
                    session.keep_state_now();
                }
            }
            Due::AskAgain(session) => {
                if let Some(session) = session.upgrade() {
                    session.ask_again();
                }
            }
            Due::Release(session, call) => {
                if let Some(session) = session.upgrade() {
                    session.release(call);
                }
            }
            Due::Refresh(session) => {
                if let Some(session) = session.upgrade() {
                    let hub = self.clone();
                    refreshes.spawn(async move {
                        let query = StateQuery { force_refresh: true, ..StateQuery::default() };
                        if let Err(fault) = hub.refresh(&session, &query).await {
                            // Its words may be the page's.
                            let code = fault.code.as_str();
                            tracing::debug!(session = %session.id, code, "no state to sync");
                        }
                        session.refreshed();
                    });
                }
            }
            Due::GiveUp(session, connection) => {
                if let Some(session) = session.upgrade() {
                    session.give_up(connection);
                }
            }
            Due::Unlist(session) => {
                if session.upgrade().is_some_and(|session| !session.is_listed()) {
                    self.services.offers_changed();
                }
            }
            Due::Forget(session) => {
                if let Some(session) = session.upgrade()
                    && session.is_forgotten()
                {
                    self.drop_session(&mut self.registry.write(), &session);
                }
            }
            Due::Sweep => {
                for session in self.sessions() {
                    session.sweep();
                }
                self.services.agenda.after(SWEEP_EVERY, Due::Sweep);
            }
        }
    }

    fn drop_session(&self, registry: &mut Registry, session: &Session) {
        registry.remove(session);
        self.services.metrics.sessions.dec();
        self.services.offers_changed();
        let forgotten = self.services.store.write(vec![StoreWrite::Forget(session.id.clone())]);
        if let Err(error) = forgotten {
            tracing::error!(session = %session.id, %error, "session not forgotten on disk");
        }
        tracing::info!(session = %session.id, name = %session.name, "session forgotten");
    }
}
