//! Letting web apps in where the hub is set to ask, and links that open a page of ours elsewhere.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{Response, StatusCode},
};
use model::{Code, Fault};
use serde::Deserialize;
use serde_json::json;

use super::{Answer, body::read_json};
use crate::{Edge, connection::asking, gate::origin, reply};

/// Who waits for the user's word, and who has it.
pub async fn apps(State(edge): State<Arc<Edge>>) -> Response<Body> {
    let apps = edge.app_origins();
    let asks = edge.config.load().app_origins.iter().any(|entry| entry == origin::ASKED_APPS);
    let body = json!({"asks": asks, "waiting": apps.waiting(), "allowed": apps.allowed()});
    reply::json(StatusCode::OK, &body)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AllowBody {
    origin: String,
    allowed: bool,
}

/// Takes the user's word on an origin.
pub async fn allow(State(edge): State<Arc<Edge>>, request: Request) -> Answer {
    let body: AllowBody = read_json(&edge, request).await?;
    if !origin::is_loopback_page(&body.origin) {
        let message = "origin must be one of this machine, such as http://localhost:5173";
        return Err(Fault::new(Code::InvalidArgument, message));
    }
    let answered =
        tokio::task::spawn_blocking(move || asking::answer(&edge, &body.origin, body.allowed));
    let internal = |error: String| Fault::new(Code::Internal, error);
    answered
        .await
        .map_err(|error| internal(error.to_string()))?
        .map_err(|error| internal(error.to_string()))?;
    Ok(reply::json(StatusCode::OK, &json!({})))
}

/// Makes a one-time code for a page of ours, and says where the hub is reached.
pub async fn link(State(edge): State<Arc<Edge>>) -> Response<Body> {
    let hosts = edge.hosts(edge.port());
    let body = json!({"code": edge.page_keys().make_code(), "hosts": hosts.to_vec()});
    reply::json(StatusCode::OK, &body)
}
