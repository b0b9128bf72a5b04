//! Health, metrics, info: what operators and their programs look at.

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::Body,
    extract::State,
    http::{Response, StatusCode},
    routing::get,
};
use hub::Health;
use model::{Code, Fault};
use serde_json::json;

use crate::{Edge, gate::Pass, reply};

/// The routes of this file.
pub fn routes() -> Router<Arc<Edge>> {
    Router::new()
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .route("/info", get(info))
}

/// `GET /health`: whether the hub works; and if not, why, for those who may know.
async fn health(State(edge): State<Arc<Edge>>, Extension(pass): Extension<Pass>) -> Response<Body> {
    let mut reasons = Vec::new();
    let open = edge.metrics.connections.get() + edge.metrics.sockets.get();
    let most = edge.config.load().connections_max as i64;
    if open * 10 >= most * 9 {
        reasons.push(format!("{open} of {most} connections are open"));
    }
    match edge.hub.store_health() {
        Health::Ok => {}
        Health::Degraded { reason } => reasons.push(format!("nothing reaches the disk: {reason}")),
        Health::Fenced => reasons.push("another hub has the store".to_owned()),
    }
    if edge.is_draining() {
        reasons.push("the hub is shutting down".to_owned());
    }
    let (code, status) = match (edge.is_draining(), reasons.is_empty()) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, "down"),
        (false, true) => (StatusCode::OK, "ok"),
        (false, false) => (StatusCode::OK, "degraded"),
    };
    let mut body = json!({ "status": status });
    if pass.is_known {
        body["reasons"] = json!(reasons);
    }
    reply::json(code, &body)
}

/// `GET /metrics`: counters in the text format of OpenMetrics.
async fn metrics(State(edge): State<Arc<Edge>>) -> Response<Body> {
    let mut text = String::new();
    if let Err(error) = prometheus_client::encoding::text::encode(&mut text, &edge.registry) {
        return reply::fault(&Fault::new(Code::Internal, error.to_string()));
    }
    reply::text("application/openmetrics-text; version=1.0.0; charset=utf-8", text)
}

/// `GET /info`: which program this is and what it speaks.
async fn info(State(edge): State<Arc<Edge>>) -> Response<Body> {
    let dialects: Vec<_> = dialect::DIALECTS.iter().map(|info| info.name).collect();
    let body = json!({
        "name": "tabwire",
        "version": edge.hub.version(),
        "protocols": [dialect::native::SUBPROTOCOL],
        "dialects": dialects,
        "port": edge.ports.main,
        "uptimeMs": edge.started.elapsed().as_millis() as u64,
        "sessions": edge.hub.metrics().sessions.get(),
        "connected": edge.hub.metrics().connected.get(),
    });
    reply::json(StatusCode::OK, &body)
}

/// Answers for addresses that do not exist.
pub async fn not_found() -> Response<Body> {
    let fault = Fault::new(Code::NotFound, "there is nothing at this address")
        .hint("try /health, or /info, /metrics and /api/sessions with a token");
    reply::fault(&fault)
}

/// Answers for addresses that exist, asked in the wrong way.
pub async fn wrong_method() -> Response<Body> {
    let fault = Fault::new(Code::InvalidArgument, "this address does not take that method")
        .hint("see /api/openapi.json");
    reply::json(StatusCode::METHOD_NOT_ALLOWED, &reply::fault_body(&fault))
}
