//! How MCP is put on top of the hub: over HTTP through the edge, over the private socket for relays.

use std::{
    convert::Infallible,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use edge::Edge;
use guard::Principal;
use machine::{Arrival, DiscoveryFile, IdleExit, JoinWelcome, Parting, PeerWatch, PrivateSocket};
use mcp::{
    Backend, Changes, Mcp,
    hub_backend::{HubBackend, announce::announce},
};
use model::ClientId;
use tokio::{net::UnixStream, sync::mpsc};
use tokio_util::sync::CancellationToken;
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

/// What whoever comes to the private socket is told, and where their wishes go.
#[derive(Clone)]
pub struct FrontDesk {
    /// Which hub this is, and its term.
    pub welcome: JoinWelcome,
    /// Counts relays, in a hub that ends without them.
    pub idle: Option<IdleExit>,
    /// Takes the wish that the hub ends. Full means that there is one already.
    pub end: mpsc::Sender<Parting>,
    /// What the command line asks.
    pub router: Router,
}

/// Serves who comes to the private socket, one task each.
pub async fn accept_private(
    edge: Arc<Edge>,
    mcp: Mcp<HubBackend>,
    private: PrivateSocket,
    desk: FrontDesk,
) {
    loop {
        // Cancel-safe: an accepted connection is returned or stays with the kernel. The end comes
        // first: a relay that is taken in now would think that it was thrown out.
        let accepted = tokio::select! {
            biased;
            () = edge.stop.cancelled() => return,
            accepted = private.accept() => accepted,
        };
        match accepted {
            Ok(stream) => {
                edge.tasks.spawn(serve_private(edge.clone(), mcp.clone(), stream, desk.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "a relay could not join");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Cancels the token when a relay has closed its connection both ways.
async fn tell_when_gone(watch: io::Result<PeerWatch>, gone: CancellationToken) -> Infallible {
    match watch {
        Ok(watch) => watch.gone().await,
        Err(error) => {
            tracing::debug!(%error, "a relay's end is noticed late");
            std::future::pending().await
        }
    }
    gone.cancel();
    std::future::pending().await
}

async fn serve_private(edge: Arc<Edge>, mcp: Mcp<HubBackend>, stream: UnixStream, desk: FrontDesk) {
    let joined = match machine::private::welcome(stream, &desk.welcome).await {
        Ok(Arrival::Relay(joined)) => joined,
        Ok(Arrival::Visitor) => return,
        Ok(Arrival::Http(stream)) => return edge.serve_private(stream, desk.router).await,
        Ok(Arrival::Stop(parting)) => {
            tracing::info!("asked to end over the private socket");
            let _ = desk.end.try_send(parting);
            return;
        }
        Err(error) => return tracing::warn!(%error, "a relay did not introduce itself"),
    };
    let _guest = desk.idle.as_ref().map(IdleExit::enter);
    let client = joined.hello.client_id;
    // Whoever came over this socket is our own user, on this machine: it may say where it works.
    let folder = joined.hello.folder.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let caller = mcp::Caller {
        principal: Principal::local().0,
        client: Some(client.clone()),
        binding: joined.hello.binding,
        workplace: Workplace::Here { folder, roots: Vec::new() },
    };
    let usual = mcp::stream::Limits::default();
    // One client alone can have as many calls under way as a session takes.
    let open = usual.open.max(edge.hub.calls_per_session());
    let limits = mcp::stream::Limits { open, ..usual };
    let gone = CancellationToken::new();
    let watch = PeerWatch::new(joined.reading.get_ref());
    let serving =
        mcp::stream::serve(&mcp, caller, joined.reading, joined.writing, limits, gone.clone());
    // Both arms are cancel-safe: serving is over when it returns, and watching never returns.
    let served = tokio::select! {
        served = serving => served,
        never = tell_when_gone(watch, gone) => match never {},
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a relay's stream ended badly");
    }
    // It keeps its id over a hub's death only: whoever comes next is another.
    if let Ok(client) = ClientId::parse(&client) {
        edge.hub.client_left(&client);
    }
}
