//! The parts of the edge together: what they share, how they start, how they end.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use axum::{Router, routing::any};
use dialect::moonsurf;
use guard::{AppOrigins, PageKeys, Pairings, Tokens};
use hub::Hub;
use prometheus_client::registry::Registry;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    time::{Instant, sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tools::Toolbox;

use crate::{
    admin, browser_ws, compat,
    config::Config,
    connection::asking,
    gate::{
        ListenerKind, SocketEnds,
        host::{Hosts, KnownHosts},
    },
    listener,
    metrics::Metrics,
    pages,
    ports::{Ports, Sockets},
    register::{self, Registrations},
    status,
};

/// How long the last steps of a request may take once all calls have ended.
const LAST_STEPS: Duration = Duration::from_millis(500);
/// How long connections may take to end when nothing is asked on them any more.
const CONNECTIONS_END_WITHIN: Duration = Duration::from_secs(3);

/// The edge: shared by every connection.
pub struct Edge {
    /// The middle of the house.
    pub hub: Hub,
    /// What can be called on it; the same for the command line and for AI clients.
    pub toolbox: Toolbox,
    /// The settings, as they are now.
    pub config: ArcSwap<Config>,
    /// The known tokens, as they are now.
    pub tokens: ArcSwap<Tokens>,
    /// The paired browsers.
    pub pairings: Pairings,
    /// What pages of ours on other machines show.
    pub page_keys: PageKeys,
    /// The web apps that the user lets in, where they are asked.
    pub app_origins: AppOrigins,
    /// How often browsers were unpaired: who was let in while that happened is judged anew.
    pub unpairings: AtomicU64,
    /// What the edge counts.
    pub metrics: Metrics,
    /// All counters, for `/metrics`.
    pub registry: Registry,
    /// Every task of the edge; joined at the end.
    pub tasks: TaskTracker,
    /// SocketEnds accepting and idle connections.
    pub stop: CancellationToken,
    /// When it started.
    pub started: Instant,
    /// Clients of `moonsurf` that have registered.
    pub registrations: Registrations,
    /// Where it listens.
    pub ports: Ports,
    /// Keeps a flood of refusals from becoming a flood of log lines.
    pub refusal_log: Throttle,
    /// The names under which it is reached.
    known_hosts: KnownHosts,
    draining: AtomicBool,
}

impl Edge {
    /// Puts the parts together, with the peers that a data folder knows; nothing is served yet.
    pub fn open(
        toolbox: Toolbox,
        config: Config,
        tokens: Tokens,
        data: &Path,
        ports: Ports,
    ) -> io::Result<Arc<Self>> {
        let hub = toolbox.hub.clone();
        let page_keys = PageKeys::new(toolbox.secret.clone());
        let metrics = Metrics::default();
        let mut registry = Registry::with_prefix("tabwire");
        hub.metrics().register(&mut registry);
        metrics.register(&mut registry);
        Ok(Arc::new(Self {
            hub,
            toolbox,
            config: ArcSwap::from_pointee(config),
            tokens: ArcSwap::from_pointee(tokens),
            pairings: Pairings::of(data),
            page_keys,
            app_origins: AppOrigins::open(data)?,
            unpairings: AtomicU64::new(0),
            metrics,
            registry,
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            started: Instant::now(),
            registrations: Registrations::default(),
            ports,
            refusal_log: Throttle::default(),
            known_hosts: KnownHosts::default(),
            draining: AtomicBool::new(false),
        }))
    }

    /// Builds all routes, with those of MCP and of the pages that come with the program. They are
    /// only reached through [`crate::gate::guard`].
    pub fn router(self: &Arc<Self>, mcp: Router, files: pages::Files) -> Router {
        Router::new()
            .route("/", any(browser_ws::upgrade))
            .route("/session/{*instance}", any(browser_ws::upgrade))
            .merge(status::routes())
            .merge(admin::router())
            .merge(register::shared_routes())
            .merge(pages::routes(files))
            .fallback(status::not_found)
            .method_not_allowed_fallback(status::wrong_method)
            .with_state(self.clone())
            .merge(mcp)
    }

    /// Serves on the sockets of its ports until [`Edge::drain`].
    pub fn serve(self: &Arc<Self>, sockets: Sockets, router: &Router) {
        self.tasks.spawn(asking::hear_answers(self.clone(), self.hub.app_answers()));
        for listener in sockets.main {
            self.listen(listener, router.clone(), ListenerKind::Main, self.stop.clone());
        }
        for (info, listeners) in sockets.compat {
            let router = match info.name {
                moonsurf::NAME => register::own_routes(self),
                _ => compat::socket_routes(self),
            };
            self.accept_all(listeners, &router, info, &self.stop);
        }
    }

    /// Accepts on one socket until told to stop.
    pub(crate) fn listen(
        self: &Arc<Self>,
        listener: TcpListener,
        router: Router,
        listener_kind: ListenerKind,
        stop: CancellationToken,
    ) {
        self.tasks.spawn(listener::accept(self.clone(), router, listener, listener_kind, stop));
    }

    /// Serves one connection of the private socket, whose peer the kernel vouches for.
    pub async fn serve_private<Io>(self: &Arc<Self>, io: Io, router: Router)
    where
        Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let ends = SocketEnds {
            peer: loopback,
            local: loopback,
            port: self.ports.main,
            listener_kind: ListenerKind::Private,
        };
        listener::serve_stream(self, router, io, ends).await;
    }

    /// Returns the names under which one of its ports is reached, in lower case.
    pub fn hosts(&self, port: u16) -> Arc<Hosts> {
        self.known_hosts.of(&self.config.load(), port, self.ports.main)
    }

    /// Returns whether the hub is about to stop.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Stops: nothing new, every request under way is answered, browsers are told.
    pub async fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.answer_requests().await;
        self.stop.cancel();
        self.hub.close_all();
        self.tasks.close();
        if timeout(CONNECTIONS_END_WITHIN, self.tasks.wait()).await.is_err() {
            tracing::warn!(tasks = self.tasks.len(), "connections did not end in time");
        }
    }

    /// Gives every request under way its time; what has not ended by then is told so.
    async fn answer_requests(&self) {
        self.hub.close_requests();
        let patience = self.config.load().drain_timeout;
        let is_done = timeout(patience, self.nothing_under_way()).await.is_ok();
        self.hub.end_calls();
        if is_done {
            return;
        }
        if timeout(LAST_STEPS, self.hub.requests_answered()).await.is_err() {
            self.hub.cut_requests();
            let _ = timeout(LAST_STEPS, self.hub.requests_answered()).await;
        }
    }

    async fn nothing_under_way(&self) {
        self.hub.requests_answered().await;
        // Calls that are no request of their own, such as asking for a state, end by themselves;
        // there is nothing to be notified by, so look now and then.
        while self.hub.metrics().in_flight.get() > 0 {
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Lets a few through per second.
#[derive(Default)]
pub struct Throttle {
    second: AtomicU64,
    count: AtomicU32,
}

impl Throttle {
    const PER_SECOND: u32 = 5;

    /// Returns whether this one may pass.
    pub fn allows(&self) -> bool {
        let now = std::time::SystemTime::now();
        let second = now.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if self.second.swap(second, Ordering::Relaxed) != second {
            self.count.store(0, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed) < Self::PER_SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_answers_are_given_within_five_seconds() {
        let most = Config::default().drain_timeout + 2 * LAST_STEPS;
        assert!(most <= Duration::from_secs(5), "{most:?}");
    }
}
