//! `GET /api/tail`: what happens, as it happens, one JSON object per line.
//!
//! A watcher that does not keep up is told how many entries it missed.

use std::{convert::Infallible, sync::Arc};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderValue, Response, header},
};
use bytes::Bytes;
use futures_util::stream;
use hub::feed::{Watched, Watcher};
use model::SessionId;
use serde::Deserialize;
use serde_json::json;

use super::{body::ReadQuery, view};
use crate::{Edge, reply};

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct TailParams {
    session: Option<String>,
}

pub async fn tail(
    State(edge): State<Arc<Edge>>,
    ReadQuery(params): ReadQuery<TailParams>,
) -> Response<Body> {
    let only = match params.session.map(|name| edge.hub.find(&name)).transpose() {
        Ok(session) => session.map(|session| session.id.clone()),
        Err(fault) => return reply::fault(&fault),
    };
    let watcher = edge.hub.watch();
    let lines = stream::unfold((edge, watcher, only), |(edge, mut watcher, only)| async move {
        // Cancel-safe: the watcher keeps what was not returned.
        let line = tokio::select! {
            () = edge.stop.cancelled() => return None,
            line = next_line(&mut watcher, only.as_ref()) => line?,
        };
        Some((Ok::<_, Infallible>(line), (edge, watcher, only)))
    });
    let mut response = Response::new(Body::from_stream(lines));
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    reply::harden(response.headers_mut());
    response
}

async fn next_line(watcher: &mut Watcher, only: Option<&SessionId>) -> Option<Bytes> {
    loop {
        let line = match watcher.next().await? {
            Watched::Item(item) if only.is_some_and(|only| *only != item.session) => continue,
            Watched::Item(item) => view::feed_item(&item),
            Watched::Missed(count) => json!({"kind": "missed", "count": count}),
        };
        return Some(Bytes::from(format!("{line}\n")));
    }
}
