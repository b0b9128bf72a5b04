//! Registration of `moonsurf` clients: they ask for an instance id and a port, then connect there.
//!
//! On the compat port each gets a port of its own, listening before the answer is sent and
//! released when the client is gone; when none is free, and on the main port, they share one. A
//! registration that nobody uses is dropped after [`UNUSED`].

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Response, StatusCode, header},
    routing::{any, get, post},
};
use dialect::moonsurf;
use model::{CloseReason, Closing, Code, Fault, InstanceId, id::random_text, json::cut};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    Edge,
    admin::body::read_json,
    browser_ws, compat,
    gate::{ListenerKind, Pass, SocketEnds},
    reply, status,
};

/// How long a registration waits for its client.
const UNUSED: Duration = Duration::from_secs(60);
/// Registrations at the same time; one more is refused.
const MOST: usize = 1000;

/// The clients that have registered. Clones share the table.
#[derive(Clone, Default)]
pub struct Registrations {
    // A blocking mutex: held for one map operation, never across an await.
    known: Arc<Mutex<HashMap<InstanceId, Registration>>>,
}

struct Registration {
    origin: Option<String>,
    user_agent: String,
    window: Value,
    port: u16,
    /// SocketEnds the port that is this client's alone.
    own_port: Option<CancellationToken>,
    at: Instant,
    at_ms: u64,
    connected_ms: Option<u64>,
}

impl Registration {
    fn is_unused(&self) -> bool {
        self.connected_ms.is_none() && self.at.elapsed() >= UNUSED
    }
}

/// A client's hold on its registration: gone when its socket is.
pub struct Claim {
    registrations: Registrations,
    instance: InstanceId,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.registrations.release(&self.instance);
    }
}

impl Registrations {
    /// Returns whether a client of this origin is expected on a shared port.
    pub fn expects(&self, origin: Option<&str>, port: u16) -> bool {
        self.known.lock().values().any(|known| {
            known.connected_ms.is_none()
                && !known.is_unused()
                && known.port == port
                && known.origin.as_deref() == origin
        })
    }

    /// Lets a client have what it registered, once, from the same origin and on its port.
    pub fn claim(
        &self,
        instance: &InstanceId,
        origin: Option<&str>,
        port: u16,
    ) -> Result<Claim, Closing> {
        let mut known = self.known.lock();
        let fits = |known: &&mut Registration| {
            known.connected_ms.is_none()
                && known.origin.as_deref() == origin
                && known.port == port
                && !known.is_unused()
        };
        match known.get_mut(instance).filter(fits) {
            Some(registration) => {
                registration.connected_ms = Some(wall_clock_ms());
                Ok(Claim { registrations: self.clone(), instance: instance.clone() })
            }
            None => Err(Closing::new(CloseReason::UnknownInstance, "Unknown instance")),
        }
    }

    fn release(&self, instance: &InstanceId) {
        if let Some(gone) = self.known.lock().remove(instance)
            && let Some(port) = gone.own_port
        {
            port.cancel();
        }
    }

    /// Drops what nobody came for.
    fn sweep(&self) {
        self.known.lock().retain(|_, known| {
            let unused = known.is_unused();
            if unused && let Some(port) = &known.own_port {
                port.cancel();
            }
            !unused
        });
    }

    fn is_full(&self) -> bool {
        self.known.lock().len() >= MOST
    }

    fn enter(&self, registration: Registration) -> InstanceId {
        let id = format!("inst_{}_{}", registration.at_ms, random_text(6));
        let instance = InstanceId::parse(&id).expect("digits, letters and underscores");
        self.known.lock().insert(instance.clone(), registration);
        instance
    }

    fn connected(&self) -> Vec<Value> {
        let known = self.known.lock();
        let mut list: Vec<_> = known
            .iter()
            .filter_map(|(instance, known)| Some((known.connected_ms?, instance, known)))
            .collect();
        list.sort_by_key(|(since, instance, _)| (*since, instance.as_str().to_owned()));
        list.iter()
            .map(|(since, instance, known)| {
                json!({
                    "id": instance.as_str(),
                    "port": known.port,
                    "userAgent": known.user_agent,
                    "windowId": known.window,
                    "connectedAt": since,
                    "lastActivity": since,
                })
            })
            .collect()
    }
}

/// What the main port has of this.
pub fn shared_routes() -> Router<Arc<Edge>> {
    Router::new().route("/register", post(register).options(preflight))
}

/// What the compat port has.
pub fn own_routes(edge: &Arc<Edge>) -> Router {
    shared_routes()
        .route("/", any(browser_ws::upgrade))
        .route("/health", get(health).options(preflight))
        .route("/info", get(info).options(preflight))
        .route("/instances", get(instances).options(preflight))
        .fallback(status::not_found)
        .method_not_allowed_fallback(status::wrong_method)
        .with_state(edge.clone())
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Registering {
    user_agent: Value,
    window_id: Value,
}

async fn register(
    State(edge): State<Arc<Edge>>,
    Extension(pass): Extension<Pass>,
    Extension(ends): Extension<SocketEnds>,
    request: Request,
) -> Response<Body> {
    let answer = match read_json::<Registering>(&edge, request).await {
        Err(fault) => refused(StatusCode::BAD_REQUEST, "Invalid request", &fault),
        Ok(body) => match enter(&edge, &pass, ends, body) {
            Ok(answer) => reply::json(StatusCode::OK, &answer),
            Err(fault) => refused(StatusCode::SERVICE_UNAVAILABLE, "No available ports", &fault),
        },
    };
    shared_with(&pass, answer)
}

fn enter(
    edge: &Arc<Edge>,
    pass: &Pass,
    ends: SocketEnds,
    body: Registering,
) -> Result<Value, Fault> {
    let registrations = &edge.registrations;
    registrations.sweep();
    if edge.is_draining() {
        return Err(Fault::new(Code::ShuttingDown, "the hub is shutting down"));
    }
    if registrations.is_full() {
        return Err(Fault::new(Code::Busy, format!("{MOST} clients have registered")));
    }
    let own = match ends.listener_kind {
        ListenerKind::Compat(_) => open_own_port(edge),
        ListenerKind::Main | ListenerKind::Private => None,
    };
    let (port, own_port) = match own {
        Some((port, stop)) => (port, Some(stop)),
        None => (ends.port, None),
    };
    let instance = registrations.enter(Registration {
        origin: pass.origin.clone(),
        user_agent: cut(body.user_agent.as_str().unwrap_or_default(), 500),
        window: Some(body.window_id).filter(Value::is_number).unwrap_or_default(),
        port,
        own_port,
        at: Instant::now(),
        at_ms: wall_clock_ms(),
        connected_ms: None,
    });
    Ok(json!({
        "instanceId": instance.as_str(),
        "port": port,
        "websocketUrl": format!("ws://localhost:{port}"),
    }))
}

/// Opens the first free port of the range; it listens when this returns.
fn open_own_port(edge: &Arc<Edge>) -> Option<(u16, CancellationToken)> {
    let range = compat::parse_range(&edge.config.load().compat_sockets).ok()?;
    let (port, listeners) =
        range.into_iter().find_map(|port| Some((port, compat::bind(port).ok()?)))?;
    let stop = edge.stop.child_token();
    edge.accept_all(listeners, &compat::socket_routes(edge), &moonsurf::INFO, &stop);
    let (registrations, gone) = (edge.registrations.clone(), stop.clone());
    edge.tasks.spawn(async move {
        // Both arms are cancel-safe: one waits for time, the other for a token that stays set.
        tokio::select! {
            () = gone.cancelled() => {}
            () = tokio::time::sleep(UNUSED) => registrations.sweep(),
        }
    });
    Some((port, stop))
}

async fn health(State(edge): State<Arc<Edge>>, Extension(pass): Extension<Pass>) -> Response<Body> {
    let body = json!({
        "status": if edge.is_draining() { "draining" } else { "ok" },
        "version": edge.hub.version(),
        "connectedInstances": edge.registrations.connected().len(),
    });
    shared_with(&pass, reply::json(StatusCode::OK, &body))
}

async fn info(State(edge): State<Arc<Edge>>, Extension(pass): Extension<Pass>) -> Response<Body> {
    let body = json!({
        "name": "tabwire",
        "version": edge.hub.version(),
        "endpoints": {"register": "/register", "health": "/health", "instances": "/instances"},
        "websocket": {
            "protocol": "ws",
            "host": "localhost",
            "portRange": edge.config.load().compat_sockets,
        },
        "auth": {"required": false, "method": "none"},
    });
    shared_with(&pass, reply::json(StatusCode::OK, &body))
}

async fn instances(
    State(edge): State<Arc<Edge>>,
    Extension(pass): Extension<Pass>,
) -> Response<Body> {
    let body = json!({"instances": edge.registrations.connected()});
    shared_with(&pass, reply::json(StatusCode::OK, &body))
}

async fn preflight(Extension(pass): Extension<Pass>) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    shared_with(&pass, response)
}

/// Lets the page or extension that asked read the answer: the gates have let it in by name.
fn shared_with(pass: &Pass, mut response: Response<Body>) -> Response<Body> {
    let Some(origin) = pass.origin.as_deref().and_then(|text| HeaderValue::from_str(text).ok())
    else {
        return response;
    };
    let headers: &mut HeaderMap = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    let methods = HeaderValue::from_static("GET, POST, OPTIONS");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    let allowed = HeaderValue::from_static("Content-Type, Authorization");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    // Browsers ask before they let an extension reach this machine.
    let private = HeaderValue::from_static("true");
    headers.insert("access-control-allow-private-network", private);
    response
}

fn refused(status: StatusCode, words: &str, fault: &Fault) -> Response<Body> {
    reply::json(status, &json!({"error": words, "message": fault.to_string()}))
}

fn wall_clock_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
