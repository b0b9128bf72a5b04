//! How MCP is put on top of the hub: over HTTP through the edge, over the private socket for relays.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use edge::Edge;
use guard::Principal;
use machine::{Arrival, DiscoveryFile, Joined, Parting};
use mcp::{
    Backend, Changes, Mcp,
    hub_backend::{HubBackend, announce::announce},
};
use model::ClientId;
use tokio::sync::mpsc;
use tools::Workplace;

use crate::command::version::VERSION;

/// How long the last answers over HTTP may take to be read, and listeners to be told of the end.
const FAREWELL: Duration = Duration::from_secs(1);

/// Puts MCP on top of the hub; it ends with the edge.
pub fn start_mcp(edge: &Arc<Edge>) -> Mcp<HubBackend> {
    let changes = Changes::default();
    let stop = edge.stop.child_token();
    edge.tasks.spawn(announce(edge.hub.clone(), changes.clone(), stop.clone()));
    let backend = HubBackend::new(edge.toolbox.clone(), VERSION);
    Mcp::new(backend, changes, stop)
}

/// Builds MCP's routes. When the edge stops, all answers are written before streams are cut.
pub fn mcp_routes<B: Backend>(edge: &Arc<Edge>, mcp: Mcp<B>) -> Router {
    let body_timeout = edge.config.load().body_timeout;
    let config = mcp::http::Config { body_timeout, ..mcp::http::Config::default() };
    let (stop, cut, answers) = (edge.stop.clone(), config.cut.clone(), config.answers.clone());
    edge.tasks.spawn(async move {
        stop.cancelled().await;
        answers.close();
        let _ = tokio::time::timeout(FAREWELL, answers.wait()).await;
        cut.cancel();
    });
    mcp::http::routes(mcp, &config)
}

/// Writes the file by which other tools find the hub; it goes when the returned value does.
pub fn write_discovery(folder: &Path, port: u16) -> Option<DiscoveryFile> {
    if folder.as_os_str().is_empty() {
        return None;
    }
    DiscoveryFile::write(folder, port)
        .inspect_err(|error| tracing::warn!(%error, "no discovery file"))
        .ok()
}

/// Serves who came to the private socket.
pub async fn serve_private(
    edge: Arc<Edge>,
    mcp: Mcp<HubBackend>,
    router: Router,
    end: mpsc::Sender<Parting>,
    arrival: Arrival,
) {
    match arrival {
        Arrival::Relay(joined) => serve_relay(&edge, &mcp, joined).await,
        Arrival::Http(stream) => edge.serve_private(stream, router).await,
        Arrival::Stop(parting) => {
            tracing::info!("asked to end over the private socket");
            // Full means that there is such a wish already.
            let _ = end.try_send(parting);
        }
        Arrival::Visitor => {}
    }
}

async fn serve_relay(edge: &Edge, mcp: &Mcp<HubBackend>, joined: Joined) {
    let Joined { hello, reading, writing } = joined;
    // Whoever came over this socket is our own user, on this machine: it may say where it works.
    let folder = hello.folder.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let caller = mcp::Caller {
        principal: Principal::local().0,
        client: Some(hello.client_id.clone()),
        binding: hello.binding,
        workplace: Workplace::Here { folder, roots: Vec::new() },
    };
    let usual = mcp::stream::Limits::default();
    // One client alone can have as many calls under way as a session takes.
    let open = usual.open.max(edge.hub.calls_per_session());
    let limits = mcp::stream::Limits { open, ..usual };
    let gone = machine::peer_gone(reading.get_ref());
    if let Err(error) = mcp::stream::serve(mcp, caller, reading, writing, limits, gone).await {
        tracing::debug!(%error, "a relay's stream ended badly");
    }
    // It keeps its id over a hub's death only: whoever comes next is another.
    if let Ok(client) = ClientId::parse(&hello.client_id) {
        edge.hub.client_left(&client);
    }
}
