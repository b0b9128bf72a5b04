//! What all sessions share: settings, counters, the agenda, the store, the live feed.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use arc_swap::ArcSwap;
use model::{CallId, Code, Fault, id::random_number};
use parking_lot::Mutex;
use store::{Store, StoreError};
use tokio::{
    sync::{broadcast, watch},
    time::Instant,
};

use crate::{
    agenda::Agenda,
    closing::Requests,
    config::Config,
    feed::{FeedItem, WATCH_BACKLOG, Watcher},
    known_clients::KnownClients,
    metrics::Metrics,
    offering::Offering,
    once::Once,
    origins::Origins,
    pulse::Pulse,
    replay::ReplayLimits,
    session::Session,
};

/// The user's word on a web origin: whether its apps may come in.
pub type AppAnswer = (String, bool);

/// Words of the user that wait to be kept; one more takes the place of the oldest.
const APP_ANSWERS: usize = 256;

/// Shared by the hub and its sessions.
pub(crate) struct Services {
    pub config: ArcSwap<Config>,
    pub metrics: Metrics,
    pub agenda: Agenda,
    pub store: Arc<dyn Store>,
    /// Sessions that have something to say when more is on disk: nobody waits in a lock or on a
    /// thread.
    // A blocking mutex: held to enter one or to take all, never across an await.
    pub waiting_for_disk: Mutex<Vec<Weak<Session>>>,
    pub once: Once,
    pub offering: Offering,
    pub origins: Origins,
    pub clients: KnownClients,
    pub requests: Requests,
    /// What the user says of web apps in a browser's window.
    pub app_answers: broadcast::Sender<AppAnswer>,
    pub pulse: Pulse,
    pub version: &'static str,
    /// When this hub was opened.
    pub opened: Instant,
    /// Counts changes of what sessions offer: tools, tabs, and which sessions there are.
    pub offers: watch::Sender<u64>,
    feed: broadcast::Sender<Arc<FeedItem>>,
    run: u64,
    last_call: AtomicU64,
    in_flight: AtomicUsize,
}

impl Services {
    pub fn new(
        config: Config,
        store: Arc<dyn Store>,
        version: &'static str,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            config: ArcSwap::from_pointee(config),
            metrics: Metrics::default(),
            agenda: Agenda::default(),
            waiting_for_disk: Mutex::default(),
            once: Once::restore(store.results()?),
            store,
            offering: Offering::default(),
            origins: Origins::default(),
            clients: KnownClients::default(),
            requests: Requests::default(),
            app_answers: broadcast::Sender::new(APP_ANSWERS),
            pulse: Pulse::default(),
            version,
            opened: Instant::now(),
            offers: watch::Sender::new(0),
            feed: broadcast::Sender::new(WATCH_BACKLOG),
            run: random_number(),
            last_call: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
        })
    }

    pub fn replay_limits(&self) -> ReplayLimits {
        let config = self.config.load();
        ReplayLimits {
            messages: config.replay_messages,
            bytes: config.replay_bytes,
            age: config.replay_age,
        }
    }

    pub fn next_call(&self) -> CallId {
        let number = self.last_call.fetch_add(1, Ordering::Relaxed) + 1;
        CallId { run: self.run, number }
    }

    /// Counts a call in, or says that there are too many.
    pub fn admit(self: &Arc<Self>) -> Result<InFlight, Fault> {
        let limit = self.config.load().calls_total;
        if self.in_flight.fetch_add(1, Ordering::Relaxed) >= limit {
            self.in_flight.fetch_sub(1, Ordering::Relaxed);
            return Err(Fault::new(Code::Busy, format!("{limit} calls are under way in the hub"))
                .hint("wait for some of them to end and try again"));
        }
        Ok(InFlight { services: self.clone(), shown: false })
    }

    pub fn offers_changed(&self) {
        self.offers.send_modify(|count| *count += 1);
    }

    pub fn watch(&self) -> Watcher {
        Watcher(self.feed.subscribe())
    }

    pub fn watchers(&self) -> usize {
        self.feed.receiver_count()
    }

    pub fn show(&self, item: FeedItem) {
        // An error means that the last watcher has just left.
        let _ = self.feed.send(Arc::new(item));
    }
}

/// A call that counts as under way for as long as this lives.
pub(crate) struct InFlight {
    services: Arc<Services>,
    shown: bool,
}

impl InFlight {
    /// Shows it among the counters. Once it has its place: who sees it there finds it in its line.
    pub fn show(&mut self) {
        if !std::mem::replace(&mut self.shown, true) {
            self.services.metrics.in_flight.inc();
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.services.in_flight.fetch_sub(1, Ordering::Relaxed);
        if self.shown {
            self.services.metrics.in_flight.dec();
        }
    }
}
