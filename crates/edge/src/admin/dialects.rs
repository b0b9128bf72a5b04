//! `GET /api/dialects`: what the hub speaks, where, and who is there.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{Response, StatusCode},
};
use dialect::{DIALECTS, DialectInfo, Patience, PingBy};
use serde_json::{Value, json};

use crate::{Edge, reply};

pub async fn dialects(State(edge): State<Arc<Edge>>) -> Response<Body> {
    let list: Vec<_> = DIALECTS.iter().map(|info| show(&edge, info)).collect();
    reply::json(StatusCode::OK, &json!({ "dialects": list }))
}

fn show(edge: &Edge, info: &DialectInfo) -> Value {
    let mut sessions = Vec::new();
    for session in edge.hub.filtered(|session| &*session.dialect == info.name) {
        sessions.push(json!({"name": &*session.name, "connected": session.is_connected()}));
    }
    let compat = edge.compat.get().into_iter().flatten();
    let compat = compat.into_iter().find(|port| port.info.name == info.name);
    let (port, problem) = match (info.compat_port, compat) {
        (None, _) => (Some(edge.port()), None),
        (Some(_), None) => (None, None),
        (Some(_), Some(open)) => (Some(open.port), open.problem.as_deref()),
    };
    let config = edge.config.load();
    let patience = Patience { ask_after: config.ping_after, dead_after: config.dead_after };
    let liveness = info.liveness.with(patience);
    json!({
        "name": info.name,
        "serves": info.serves,
        "enabled": port.is_some() && problem.is_none(),
        "port": port,
        "usualPort": info.compat_port,
        "problem": problem,
        "askAfterMs": liveness.ask_after.as_millis() as u64,
        "deadAfterMs": liveness.dead_after.as_millis() as u64,
        "pingBy": match liveness.ping_by {
            PingBy::Message => "message",
            PingBy::Protocol => "protocol",
        },
        "sessions": sessions,
    })
}
