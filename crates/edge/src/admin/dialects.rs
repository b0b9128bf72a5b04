//! `GET /api/dialects`: what the hub speaks, where, and who is there.

use std::sync::Arc;

use axum::extract::State;
use dialect::{DIALECTS, DialectInfo, Patience, PingBy};
use hub::Session;
use model::Fault;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Edge;

#[derive(Serialize, JsonSchema)]
pub struct DialectList {
    dialects: Vec<DialectView>,
}

/// A wire protocol.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DialectView {
    name: &'static str,
    serves: &'static str,
    enabled: bool,
    /// Where it listens, or should.
    port: Option<u16>,
    /// The port that its clients have built in.
    usual_port: Option<u16>,
    problem: Option<String>,
    ask_after_ms: u64,
    dead_after_ms: u64,
    #[schemars(extend("enum" = ["message", "protocol"]))]
    ping_by: &'static str,
    sessions: Vec<DialectSession>,
}

#[derive(Serialize, JsonSchema)]
struct DialectSession {
    name: String,
    connected: bool,
}

pub async fn dialects(State(edge): State<Arc<Edge>>) -> Result<DialectList, Fault> {
    Ok(DialectList { dialects: DIALECTS.iter().map(|info| show(&edge, info)).collect() })
}

fn show(edge: &Edge, info: &DialectInfo) -> DialectView {
    let sessions = edge.hub.filtered(|session| &*session.dialect == info.name);
    let session = |session: &Arc<Session>| DialectSession {
        name: session.name.to_string(),
        connected: session.is_connected(),
    };
    let compat = edge.ports.compat.iter().find(|port| port.info.name == info.name);
    let (port, problem) = match (info.compat_port, compat) {
        (None, _) => (Some(edge.ports.main), None),
        (Some(_), None) => (None, None),
        (Some(_), Some(open)) => (Some(open.port), open.problem.clone()),
    };
    let config = edge.config.load();
    let patience = Patience { ask_after: config.ping_after, dead_after: config.dead_after };
    let liveness = info.liveness.with(patience);
    DialectView {
        name: info.name,
        serves: info.serves,
        enabled: port.is_some() && problem.is_none(),
        port,
        usual_port: info.compat_port,
        problem,
        ask_after_ms: liveness.ask_after.as_millis() as u64,
        dead_after_ms: liveness.dead_after.as_millis() as u64,
        ping_by: match liveness.ping_by {
            PingBy::Message => "message",
            PingBy::Protocol => "protocol",
        },
        sessions: sessions.iter().map(session).collect(),
    }
}
