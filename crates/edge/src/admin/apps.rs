//! Letting web apps in where the hub is set to ask, and links that open a page of ours elsewhere.

use std::sync::Arc;

use axum::extract::{Request, State};
use model::{Code, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::body::read_json;
use crate::{Edge, connection::asking, gate::origin};

#[derive(Serialize, JsonSchema)]
pub struct AppsView {
    /// Whether the setting app_origins is ask.
    asks: bool,
    waiting: Vec<String>,
    allowed: Vec<String>,
}

/// Who waits for the user's word, and who has it.
pub async fn apps(State(edge): State<Arc<Edge>>) -> Result<AppsView, Fault> {
    let apps = &edge.app_origins;
    let asks = edge.config.load().app_origins.iter().any(|entry| entry == origin::ASKED_APPS);
    Ok(AppsView { asks, waiting: apps.waiting(), allowed: apps.allowed() })
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowBody {
    /// One of this machine, such as http://localhost:5173.
    origin: String,
    allowed: bool,
}

/// Takes the user's word on an origin.
pub async fn allow(
    State(edge): State<Arc<Edge>>,
    request: Request,
) -> Result<Map<String, Value>, Fault> {
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
    Ok(Map::new())
}

#[derive(Serialize, JsonSchema)]
pub struct PageLink {
    code: String,
    /// Under which the hub is reached.
    hosts: Vec<String>,
}

/// Makes a one-time code for a page of ours, and says where the hub is reached.
pub async fn link(State(edge): State<Arc<Edge>>) -> Result<PageLink, Fault> {
    let hosts = edge.hosts(edge.ports.main).to_vec();
    Ok(PageLink { code: edge.page_keys.make_code(), hosts })
}
