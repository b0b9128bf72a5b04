//! `tabwire serve`: the hub, from settings to a clean end.
//!
//! SIGHUP reads the settings again; SIGTERM, Ctrl-C and `tabwire stop` drain; a second signal ends
//! at once. With `--idle-exit` it is a hub in the background, which ends when nobody needs it.

use std::{
    fmt::Display,
    io::{IsTerminal, Write},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use edge::{
    Edge, Ports,
    gate::{host::hosts_of, origin::ANY_EXTENSION},
};
use guard::{HubSecret, Tokens, own_token};
use hub::Hub;
use machine::{DiscoveryFile, IdleExit, Lease, LeaseError, Parting, PrivateSocket, SocketError};
use store::{Store, StoreError};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use tools::{Toolbox, ToolboxSettings, launching::Launcher};

use super::version::VERSION;
use crate::{
    apps,
    config::{Layers, ProgramConfig, Settings},
    failure::Failure,
    folders, hub_store,
    launcher::{self, OwnLauncher},
    log::{self, LogLevel},
    pages, wiring,
};

/// How often a hub in the background looks after its log.
const LOG_CARE: Duration = Duration::from_secs(60);

pub fn run(
    layers: &Layers,
    print_config: bool,
    idle_exit: Option<Duration>,
) -> Result<(), Failure> {
    let settings = layers.load()?;
    if print_config {
        let text = toml::to_string_pretty(&settings).map_err(Failure::failed)?;
        std::io::stdout().write_all(text.as_bytes())?;
        return Ok(());
    }
    if settings.edge.open && !settings.edge.is_loopback_only() {
        return Err(Failure::refused(
            "--open is for loopback only: others on the network can reach this address",
        ));
    }
    let log = log::start(&settings.own.log_level);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Failure::failed)?;
    runtime.block_on(serve(layers, settings, &log, idle_exit))
}

async fn serve(
    layers: &Layers,
    settings: Settings,
    log: &LogLevel,
    idle_exit: Option<Duration>,
) -> Result<(), Failure> {
    let mut running = RunningHub::start(&settings, idle_exit).await?;
    // Whoever asked for the end waits on its connection until the process has ended.
    let (_parting, is_taken_over) = loop {
        match running.next_sign().await {
            Sign::Reload => running.reload(layers, log, &settings),
            Sign::Stop(parting) => break (parting, false),
            Sign::TakenOver => break (None, true),
        }
    };
    running.end(is_taken_over).await;
    Ok(())
}

/// A hub that serves, with everything that ends with it.
struct RunningHub {
    edge: Arc<Edge>,
    launcher: Arc<OwnLauncher>,
    signals: Signals,
    idle: Option<IdleExit>,
    wishes: mpsc::Receiver<Parting>,
    due: JoinHandle<()>,
    stop: CancellationToken,
    store: Arc<dyn Store>,
    _discovery: Option<DiscoveryFile>,
    /// Dropped last: whoever can take it is the hub.
    lease: Lease,
}

impl RunningHub {
    async fn start(settings: &Settings, idle_exit: Option<Duration>) -> Result<Self, Failure> {
        let own = &settings.own;
        // A hub in the background that is not the first ends quietly.
        let failed = |is_lost: bool, error: &dyn Display| match idle_exit {
            Some(_) if is_lost => Failure::lost(),
            _ => Failure::failed(error),
        };
        // The lock first, the port second: whoever has both is the hub. Its term is the store's too,
        // so that the store refuses whoever is not the hub any more.
        let backend = hub_store::backend(own);
        let mut lease = Lease::take(&own.data, || backend.last_term())
            .map_err(|error| failed(matches!(error, LeaseError::Taken(_)), &error))?;
        let (tokens, own_token) = load_tokens(own)?;
        warn_of(&settings.edge);
        let (ports, sockets) = Ports::open(&settings.edge).map_err(Failure::failed)?;
        let port = ports.main;
        // Before the store: opening that takes it away from any other hub.
        let private = PrivateSocket::open(&own.data).await;
        let private =
            private.map_err(|error| failed(matches!(error, SocketError::InUse(_)), &error))?;
        let store = backend
            .open(lease.term())
            .map_err(|error| failed(matches!(error, StoreError::Fenced { .. }), &error))?;
        tracing::info!(term = store.term(), kind = own.store, "store opened");
        let launcher = OwnLauncher::open(settings.launch.clone(), &own.data)?;
        let hub =
            Hub::open(settings.hub.clone(), store.clone(), VERSION).map_err(Failure::failed)?;
        let toolbox = Toolbox::new(
            hub.clone(),
            Some(launcher.clone()),
            HubSecret::of(&own_token),
            toolbox_settings(settings, port),
        );
        let edge = Edge::open(toolbox, settings.edge.clone(), tokens, &own.data, ports)?;
        let signals = Signals::new()?;
        let stop = CancellationToken::new();
        let due = tokio::spawn({
            let stop = stop.clone();
            async move { hub.run(stop).await }
        });
        let mcp = wiring::start_mcp(&edge);
        let router = edge.router(wiring::mcp_routes(&edge, mcp.clone()), pages::find);
        edge.serve(sockets, &router);
        let welcome = lease.announce(port, VERSION).map_err(Failure::failed)?;
        let idle = idle_exit.map(IdleExit::new);
        // One wish is enough; further ones are dropped, and who wishes sees the hub end all the same.
        let (end, wishes) = mpsc::channel(1);
        let serve = {
            let edge = edge.clone();
            move |arrival| {
                let (edge, mcp) = (edge.clone(), mcp.clone());
                wiring::serve_private(edge, mcp, router.clone(), end.clone(), arrival)
            }
        };
        let stopped = edge.stop.clone().cancelled_owned();
        edge.tasks.spawn(private.serve(welcome, idle.clone(), stopped, serve));
        if idle.is_some() {
            edge.tasks.spawn(care_for_log(edge.clone(), own.data.clone()));
        }
        edge.tasks.spawn(apps::keep_fresh(edge.clone(), own.apps.clone()));
        edge.tasks.spawn(launcher::look_after(edge.clone(), launcher.clone()));
        let _discovery = wiring::write_discovery(&own.discovery, port);
        say_listening(&edge)?;
        Ok(Self { edge, launcher, signals, idle, wishes, due, stop, store, _discovery, lease })
    }

    /// Waits for what the outside wants.
    async fn next_sign(&mut self) -> Sign {
        // All arms are cancel-safe: signals and wishes are kept, and idleness only waits.
        tokio::select! {
            sign = self.signals.next() => sign,
            Some(parting) = self.wishes.recv() => Sign::Stop(Some(parting)),
            () = nobody_is_here(&self.edge, self.idle.as_ref()) => {
                tracing::info!("nobody was here for long enough");
                Sign::Stop(None)
            }
            () = hub_store::taken_over(&*self.store) => {
                tracing::error!("another hub has the store; this one ends");
                Sign::TakenOver
            }
        }
    }

    /// Ends everything; a second signal ends it at once. A hub that was taken over leaves its place and
    /// the browsers to the next one.
    async fn end(mut self, is_taken_over: bool) {
        if !is_taken_over {
            // Before relays are cut off, so that they do not start the next hub at once.
            self.lease.retire();
        }
        tracing::info!("draining; signal again to stop at once");
        // Both arms are cancel-safe: after this one the process ends.
        let patience = tokio::select! {
            () = self.edge.drain() => launch::running::PATIENCE,
            () = self.signals.stop_now() => {
                tracing::warn!("stopped before everything had ended");
                Duration::ZERO
            }
        };
        // After the calls that they had to answer.
        if !is_taken_over {
            // Both arms are cancel-safe: the ending goes on by itself, and is joined by the second.
            tokio::select! {
                () = self.launcher.end_all(patience) => {}
                () = self.signals.stop_now() => self.launcher.end_all(Duration::ZERO).await,
            }
            launcher::forget_ended(&self.edge, &self.launcher).await;
        }
        self.stop.cancel();
        let _ = self.due.await;
        hub_store::close(self.store).await;
    }

    /// Takes over what can change while the hub runs; keeps everything as it was on an error.
    fn reload(&self, layers: &Layers, log: &LogLevel, first: &Settings) {
        let loaded = layers.load().and_then(|settings| {
            let (tokens, _) = load_tokens(&settings.own)?;
            Ok((settings, tokens))
        });
        let (mut settings, tokens) = match loaded {
            Ok(loaded) => loaded,
            Err(failure) => {
                tracing::error!(?failure, "settings not reloaded; the old ones stay");
                return;
            }
        };
        let fixed = |edge: &edge::Config| (edge.port, edge.bind.clone(), edge.compat.clone());
        if fixed(&settings.edge) != fixed(&first.edge) {
            tracing::warn!("port, bind and compat change with a restart only");
            let (port, bind, compat) = fixed(&first.edge);
            settings.edge = edge::Config { port, bind, compat, ..settings.edge };
        }
        log.set(&settings.own.log_level);
        // The data folder that counts is the one that the hub was started with.
        settings.own.data = first.own.data.clone();
        let edge = &self.edge;
        edge.toolbox.reconfigure(toolbox_settings(&settings, edge.ports.main));
        edge.tokens.store(Arc::new(tokens));
        edge.config.store(Arc::new(settings.edge));
        edge.hub.reconfigure(settings.hub);
        self.launcher.browsers().reconfigure(settings.launch);
        tracing::info!("settings reloaded");
    }
}

/// Waits until a hub in the background may end; one in the foreground may not.
async fn nobody_is_here(edge: &Edge, idle: Option<&IdleExit>) {
    let Some(idle) = idle else { return std::future::pending().await };
    let seen = AtomicU64::new(edge.metrics.accepted.get());
    idle.wait(async || {
        let accepted = edge.metrics.accepted.get();
        let here = edge.metrics.connections.get() + edge.metrics.sockets.get();
        // Browsers that we have started are no guests: they are here because of us.
        here > launched(edge).await || seen.swap(accepted, Ordering::Relaxed) != accepted
    })
    .await;
}

/// Counts the browsers that we have started and that are connected.
async fn launched(edge: &Edge) -> i64 {
    tools::launching::connected(&edge.toolbox).await.try_into().unwrap_or(i64::MAX)
}

/// Keeps the log of a hub in the background short.
async fn care_for_log(edge: Arc<Edge>, data: PathBuf) {
    // Cancel-safe: both arms only wait.
    while tokio::time::timeout(LOG_CARE, edge.stop.cancelled()).await.is_err() {
        if let Err(error) = machine::log::shorten(&data) {
            tracing::warn!(%error, "the log is not kept short");
        }
    }
}

/// Tells people on a terminal in words, and programs in one line of JSON.
pub fn say_listening(edge: &Edge) -> Result<(), Failure> {
    let port = edge.ports.main;
    let mut out = std::io::stdout();
    if out.is_terminal() {
        writeln!(out, "tabwire {VERSION} listens on http://127.0.0.1:{port} (Ctrl-C stops it)")?;
    } else {
        let compat = edge.ports.open_compat();
        let compat: serde_json::Map<_, _> =
            compat.map(|port| (port.info.name.to_owned(), port.port.into())).collect();
        let line = serde_json::json!({
            "event": "listening", "port": port, "pid": std::process::id(), "version": VERSION,
            "compat": compat,
        });
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    tracing::info!(port, version = VERSION, "listening");
    Ok(())
}

/// Reads the tokens of the token file, where there is one, and that of the hub's own user, which is
/// returned besides.
fn load_tokens(own: &ProgramConfig) -> Result<(Tokens, String), Failure> {
    let tokens = match own.token_file() {
        Some(path) => Tokens::load(&path).map_err(Failure::usage)?,
        None => Tokens::default(),
    };
    let own_token = own_token::ensure(&own.data).map_err(Failure::usage)?;
    Ok((tokens.with_own(&own_token), own_token))
}

/// Reads off the settings what the tools go by.
fn toolbox_settings(settings: &Settings, port: u16) -> ToolboxSettings {
    ToolboxSettings {
        selection: settings.own.tools(),
        direct_pages: settings.own.direct_pages(),
        upload_folders: folders::for_uploads(settings),
        own_hosts: hosts_of(&settings.edge, port, port),
    }
}

/// Warns of what the operator has allowed.
fn warn_of(config: &edge::Config) {
    if config.open {
        tracing::warn!(
            "--open: every program and every browser extension on this machine can use the hub"
        );
    }
    if config.require_token {
        tracing::warn!("--require-token does nothing any more: every client shows a token");
    }
    let any = |allowed: &&String| ANY_EXTENSION.contains(&allowed.as_str());
    for allowed in config.allow_origin.iter().filter(any) {
        tracing::warn!(
            allowed,
            "any extension may connect with the dialects of other projects; name yours instead"
        );
    }
}

/// What the outside wants.
pub enum Sign {
    Reload,
    /// An end, for which somebody may wait.
    Stop(Option<Parting>),
    /// Another hub has the store.
    TakenOver,
}

/// The signals that are listened for.
pub struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub fn new() -> Result<Self, Failure> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    pub async fn next(&mut self) -> Sign {
        // All arms are cancel-safe: a signal is kept until it is received.
        tokio::select! {
            _ = self.hangup.recv() => Sign::Reload,
            _ = self.terminate.recv() => Sign::Stop(None),
            _ = self.interrupt.recv() => Sign::Stop(None),
        }
    }

    async fn stop_now(&mut self) {
        while matches!(self.next().await, Sign::Reload) {}
    }
}
