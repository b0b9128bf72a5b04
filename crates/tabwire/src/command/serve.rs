//! `tabwire serve`: the hub, from settings to a clean end.
//!
//! SIGHUP reads the settings again; SIGTERM, Ctrl-C and `tabwire stop` drain; a second signal ends
//! at once. With `--idle-exit` it is a hub in the background, which ends when nobody needs it.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use edge::Edge;
use guard::{AppOrigins, HubSecret, PageKeys, Pairings, Tokens, own_token};
use hub::Hub;
use machine::{IdleExit, Lease, LeaseError, Parting, PrivateSocket, SocketError};
use store::StoreError;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;
use tools::launching::Launcher;

use super::version::VERSION;
use crate::{
    apps,
    config::{Layers, Own, Settings},
    failure::Failure,
    folders,
    kept::{self, Kept},
    launcher::{self, OwnLauncher},
    log::{self, LogLevel},
    pages,
    wiring::{self, FrontDesk},
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
    // The lock first, the port second: whoever has both is the hub. Held until the very end.
    let mut lease = take_lease(&settings.own, idle_exit.is_some())?;
    let tokens = load_tokens(&settings.own)?;
    warn_of_tokens(&settings.edge);
    let listeners =
        edge::listener::bind(&settings.edge.bind, settings.edge.port).map_err(Failure::failed)?;
    // Before the store: opening that takes it away from any other hub.
    let private = PrivateSocket::open(&settings.own.data).await.map_err(|error| match error {
        SocketError::InUse(_) if idle_exit.is_some() => Failure::lost(),
        error => Failure::failed(error),
    })?;
    let kept = Kept::open(&settings.own, lease.term()).map_err(|error| match error {
        StoreError::Fenced { .. } if idle_exit.is_some() => Failure::lost(),
        error => Failure::failed(error),
    })?;
    let launcher = OwnLauncher::open(settings.launch.clone(), &settings.own.data)?;
    let hub = Hub::open(settings.hub.clone(), kept.store(), VERSION).map_err(Failure::failed)?;
    let edge = Edge::new(hub.clone(), settings.edge.clone(), tokens, VERSION);
    // The only place that sets it.
    let _ = edge.pairings.set(Pairings::of(&settings.own.data));
    let app_origins = AppOrigins::open(&settings.own.data).map_err(Failure::failed)?;
    let _ = edge.app_origins.set(app_origins);
    let secret = HubSecret::of(&own_token::ensure(&settings.own.data).map_err(Failure::usage)?);
    edge.toolbox.set_secret(secret.clone());
    let _ = edge.page_keys.set(PageKeys::new(secret));
    wiring::hear_app_answers(&edge);
    edge.toolbox.set_launcher(launcher.clone());
    edge.toolbox.select(settings.own.tools());
    edge.toolbox.list_pages_of(settings.own.direct_pages());
    edge.toolbox.set_upload_folders(folders::for_uploads(&settings));
    let stop = CancellationToken::new();
    let due = tokio::spawn({
        let (hub, stop) = (hub.clone(), stop.clone());
        async move { hub.run(stop).await }
    });
    let mut ends = Ends::new()?;
    let mcp = wiring::start_mcp(&edge);
    let _ = edge.pages.set(pages::find);
    let router = edge.router(wiring::mcp_routes(&edge, mcp.clone()));
    edge.serve(listeners, &router);
    lease.announce(edge.port(), VERSION).map_err(Failure::failed)?;
    let idle = idle_exit.map(IdleExit::new);
    // One wish is enough; further ones are dropped, and who wishes sees the hub end all the same.
    let (end, mut wishes) = mpsc::channel(1);
    let desk = FrontDesk { welcome: lease.welcome(), idle: idle.clone(), end, router };
    edge.tasks.spawn(wiring::accept_private(edge.clone(), mcp, private, desk));
    if idle.is_some() {
        edge.tasks.spawn(care_for_log(edge.clone(), settings.own.data.clone()));
    }
    wiring::open_compat(&edge);
    edge.toolbox.set_own_hosts(edge.hosts(edge.port()).to_vec());
    edge.tasks.spawn(apps::keep_fresh(edge.clone(), settings.own.apps.clone()));
    edge.tasks.spawn(launcher::look_after(edge.clone(), launcher.clone()));
    let _found = wiring::write_discovery(&settings.own.discovery, edge.port());
    say_listening(&edge)?;
    let mut patience = launch::running::PATIENCE;
    let (_parting, taken_over) = loop {
        // All arms are cancel-safe: signals and wishes are kept, and idleness only waits.
        let sign = tokio::select! {
            sign = ends.next() => sign,
            Some(parting) = wishes.recv() => Sign::Wish(parting),
            () = nobody_is_here(&edge, idle.as_ref()) => Sign::Idle,
            () = kept.taken_over() => Sign::TakenOver,
        };
        match sign {
            Sign::Reload => {
                if let Some(launch) = reload(layers, &edge, log, &settings) {
                    launcher.browsers().reconfigure(launch);
                }
            }
            Sign::Stop => break (None, false),
            Sign::Idle => {
                tracing::info!("nobody was here for long enough");
                break (None, false);
            }
            Sign::TakenOver => {
                tracing::error!("another hub has the store; this one ends");
                break (None, true);
            }
            // Whoever asked waits on its connection until the process has ended.
            Sign::Wish(parting) => break (Some(parting), false),
        }
    };
    // Before relays are cut off, so that they do not start the next hub at once.
    if !taken_over {
        lease.retire();
    }
    tracing::info!("draining; signal again to stop at once");
    // Both arms are cancel-safe: after this one the process ends.
    tokio::select! {
        () = edge.drain() => {}
        () = ends.stop_now() => {
            tracing::warn!("stopped before everything had ended");
            patience = Duration::ZERO;
        }
    }
    // After the calls that they had to answer. The next hub has those of one that was taken over.
    if !taken_over {
        end_browsers(&launcher, patience, &mut ends).await;
        launcher::forget_ended(&edge, &launcher).await;
    }
    stop.cancel();
    let _ = due.await;
    kept.close().await;
    Ok(())
}

/// Ends the browsers that were started; a second signal has them ended at once.
async fn end_browsers(launcher: &OwnLauncher, patience: Duration, ends: &mut Ends) {
    // Both arms are cancel-safe: the ending goes on by itself, and is joined by the second one.
    tokio::select! {
        () = launcher.end_all(patience) => {}
        () = ends.stop_now() => launcher.end_all(Duration::ZERO).await,
    }
}

/// Becomes the hub of a data folder. A hub in the background that is not the first ends quietly.
/// Its term is the store's too, so that the store refuses whoever is not the hub any more.
fn take_lease(own: &Own, background: bool) -> Result<Lease, Failure> {
    Lease::take(&own.data, || kept::last_term(own)).map_err(|error| match error {
        LeaseError::Taken(_) if background => Failure::lost(),
        error => Failure::failed(error),
    })
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
    let port = edge.port();
    let mut out = std::io::stdout();
    if out.is_terminal() {
        writeln!(out, "tabwire {VERSION} listens on http://127.0.0.1:{port} (Ctrl-C stops it)")?;
    } else {
        let compat = edge.compat.get().into_iter().flatten().filter(|port| port.problem.is_none());
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

/// Reads the tokens of the token file, where there is one, and that of the hub's own user.
fn load_tokens(own: &Own) -> Result<Tokens, Failure> {
    let tokens = match own.token_file() {
        Some(path) => Tokens::load(&path).map_err(Failure::usage)?,
        None => Tokens::default(),
    };
    Ok(tokens.with_own(&own_token::ensure(&own.data).map_err(Failure::usage)?))
}

fn warn_of_tokens(config: &edge::Config) {
    if config.open {
        tracing::warn!(
            "--open: every program and every browser extension on this machine can use the hub"
        );
    }
    if config.require_token {
        tracing::warn!("--require-token does nothing any more: every client shows a token");
    }
}

/// Takes over what can change while the hub runs; keeps everything as it was on an error.
/// Returns the settings of browsers, which are not ours to set.
fn reload(
    layers: &Layers,
    edge: &Edge,
    log: &LogLevel,
    first: &Settings,
) -> Option<launch::Config> {
    let loaded = layers.load().and_then(|settings| {
        let tokens = load_tokens(&settings.own)?;
        Ok((settings, tokens))
    });
    let (mut settings, tokens) = match loaded {
        Ok(loaded) => loaded,
        Err(failure) => {
            tracing::error!(?failure, "settings not reloaded; the old ones stay");
            return None;
        }
    };
    let fixed = |edge: &edge::Config| (edge.port, edge.bind.clone(), edge.compat.clone());
    if fixed(&settings.edge) != fixed(&first.edge) {
        tracing::warn!("port, bind and compat change with a restart only");
        let (port, bind, compat) = fixed(&first.edge);
        settings.edge = edge::Config { port, bind, compat, ..settings.edge };
    }
    log.set(&settings.own.log_level);
    edge.toolbox.select(settings.own.tools());
    edge.toolbox.list_pages_of(settings.own.direct_pages());
    // The data folder that counts is the one that the hub was started with.
    settings.own.data = first.own.data.clone();
    edge.toolbox.set_upload_folders(folders::for_uploads(&settings));
    edge.tokens.store(Arc::new(tokens));
    edge.config.store(Arc::new(settings.edge));
    edge.toolbox.set_own_hosts(edge.hosts(edge.port()).to_vec());
    edge.hub.reconfigure(settings.hub);
    tracing::info!("settings reloaded");
    Some(settings.launch)
}

/// What the outside wants.
enum Sign {
    Reload,
    Stop,
    Idle,
    /// Another hub has the store.
    TakenOver,
    Wish(Parting),
}

/// The signals that are listened for.
struct Ends {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Ends {
    fn new() -> Result<Self, Failure> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> Sign {
        // All arms are cancel-safe: a signal is kept until it is received.
        tokio::select! {
            _ = self.hangup.recv() => Sign::Reload,
            _ = self.terminate.recv() => Sign::Stop,
            _ = self.interrupt.recv() => Sign::Stop,
        }
    }

    async fn stop_now(&mut self) {
        while matches!(self.next().await, Sign::Reload) {}
    }
}
