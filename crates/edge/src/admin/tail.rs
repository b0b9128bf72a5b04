//! `GET /api/tail`: what happens, as it happens, one JSON object per line.
//!
//! A watcher that does not keep up is told how many entries it missed.

use std::{convert::Infallible, sync::Arc};

use axum::{body::Body, extract::State, http::Response};
use bytes::Bytes;
use futures_util::stream;
use hub::feed::{Watched, Watcher};
use model::{Fault, SessionId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{body::ReadQuery, view};
use crate::{Edge, reply};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TailParams {
    /// Only this session.
    session: Option<String>,
}

pub async fn tail(
    State(edge): State<Arc<Edge>>,
    ReadQuery(params): ReadQuery<TailParams>,
) -> Result<Response<Body>, Fault> {
    let only = params.session.map(|name| edge.hub.find(&name)).transpose()?;
    let only = only.map(|session| session.id.clone());
    let watcher = edge.hub.watch();
    let lines = stream::unfold((edge, watcher, only), |(edge, mut watcher, only)| async move {
        // Cancel-safe: the watcher keeps what was not returned.
        let line = tokio::select! {
            () = edge.stop.cancelled() => return None,
            line = next_line(&mut watcher, only.as_ref()) => line?,
        };
        Some((Ok::<_, Infallible>(line), (edge, watcher, only)))
    });
    Ok(reply::text("application/x-ndjson", Body::from_stream(lines)))
}

async fn next_line(watcher: &mut Watcher, only: Option<&SessionId>) -> Option<Bytes> {
    loop {
        let line = match watcher.next().await? {
            Watched::Item(item) if only.is_some_and(|only| *only != item.session) => continue,
            Watched::Item(item) => json!(view::feed_item(Arc::unwrap_or_clone(item))),
            Watched::Missed(count) => json!({"kind": "missed", "count": count}),
        };
        return Some(Bytes::from(format!("{line}\n")));
    }
}
