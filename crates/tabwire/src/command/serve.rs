//! `tabwire serve`: the hub in the foreground, from settings to a clean end.
//!
//! SIGHUP reads the settings again; SIGTERM and Ctrl-C drain; a second one ends at once.

use std::{
    io::{IsTerminal, Write},
    sync::Arc,
};

use edge::Edge;
use guard::Tokens;
use hub::Hub;
use machine::PrivateSocket;
use store::MemoryStore;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::{EnvFilter, Registry, fmt, layer::SubscriberExt, reload};

use super::version::VERSION;
use crate::{
    apps,
    config::{Layers, Settings},
    failure::Failure,
    wiring,
};

type LogHandle = reload::Handle<EnvFilter, Registry>;

pub fn run(layers: &Layers, print_config: bool) -> Result<(), Failure> {
    let settings = layers.load()?;
    if print_config {
        let text = toml::to_string_pretty(&settings).map_err(Failure::failed)?;
        std::io::stdout().write_all(text.as_bytes())?;
        return Ok(());
    }
    let tokens = load_tokens(&settings)?;
    let log = start_log(&settings);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Failure::failed)?;
    runtime.block_on(serve(layers, settings, tokens, &log))
}

async fn serve(
    layers: &Layers,
    settings: Settings,
    tokens: Tokens,
    log: &LogHandle,
) -> Result<(), Failure> {
    let listeners =
        edge::listener::bind(&settings.edge.bind, settings.edge.port).map_err(Failure::failed)?;
    let store = Arc::new(MemoryStore::default());
    let hub = Hub::open(settings.hub.clone(), store, VERSION).map_err(Failure::failed)?;
    let edge = Edge::new(hub.clone(), settings.edge.clone(), tokens, VERSION);
    let stop = CancellationToken::new();
    let due = tokio::spawn({
        let (hub, stop) = (hub.clone(), stop.clone());
        async move { hub.run(stop).await }
    });
    let mut ends = Ends::new()?;
    let private = PrivateSocket::open(&settings.own.data).await.map_err(Failure::failed)?;
    let mcp = wiring::start_mcp(&edge);
    edge.tasks.spawn(wiring::accept_relays(edge.clone(), mcp.clone(), private));
    edge.serve(listeners, wiring::mcp_routes(&edge, mcp));
    wiring::open_compat(&edge);
    edge.toolbox.set_own_hosts(edge.hosts(edge.port()));
    edge.tasks.spawn(apps::keep_fresh(edge.clone(), settings.own.apps.clone()));
    let _found = wiring::write_discovery(&settings.own.discovery, edge.port());
    say_listening(&edge)?;
    while let Sign::Reload = ends.next().await {
        reload(layers, &edge, log, &settings);
    }
    tracing::info!("draining; signal again to stop at once");
    // Both arms are cancel-safe: after this one the process ends.
    tokio::select! {
        () = edge.drain() => {}
        () = ends.stop_now() => tracing::warn!("stopped before everything had ended"),
    }
    stop.cancel();
    let _ = due.await;
    Ok(())
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

fn load_tokens(settings: &Settings) -> Result<Tokens, Failure> {
    let tokens = match settings.own.token_file() {
        Some(path) => Tokens::load(&path).map_err(Failure::usage)?,
        None => Tokens::default(),
    };
    if settings.edge.needs_token() && tokens.is_empty() {
        let why = match settings.edge.require_token {
            true => "--require-token is set",
            false => "the address is not loopback, so others on the network can reach it",
        };
        return Err(Failure::refused(format!(
            "a token is needed: {why}; write one into a private file and name it with --token-file"
        )));
    }
    Ok(tokens)
}

/// Takes over what can change while the hub runs; keeps everything as it was on an error.
fn reload(layers: &Layers, edge: &Edge, log: &LogHandle, first: &Settings) {
    let loaded = layers.load().and_then(|settings| {
        let tokens = load_tokens(&settings)?;
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
    let _ = log.reload(filter(&settings.own.log_level));
    edge.tokens.store(Arc::new(tokens));
    edge.config.store(Arc::new(settings.edge));
    edge.toolbox.set_own_hosts(edge.hosts(edge.port()));
    edge.hub.reconfigure(settings.hub);
    tracing::info!("settings reloaded");
}

fn start_log(settings: &Settings) -> LogHandle {
    let (filter, handle) = reload::Layer::new(filter(&settings.own.log_level));
    let lines =
        fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    // An error means that a log was started before; this is the only place that does.
    let _ = tracing::subscriber::set_global_default(
        tracing_subscriber::registry().with(filter).with(lines),
    );
    handle
}

fn filter(level: &str) -> EnvFilter {
    match level {
        "debug" | "trace" => EnvFilter::new(level),
        // The MCP library tells about every request at `info`, and about clients that leave in
        // the middle of something at `error`; both are `debug` in our words.
        level => EnvFilter::new(format!("{level},rmcp=off")),
    }
}

/// What the outside wants.
enum Sign {
    Reload,
    Stop,
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
