//! Unpairing: keys are forgotten, and who came in with them is put out.

use std::sync::{Arc, atomic::Ordering};

use axum::extract::{Request, State};
use guard::pairing::{Paired, Which, extension_origin};
use hub::Session;
use model::{Code, Fault, InstanceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::read_json;
use crate::{Edge, connection};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnpairBody {
    /// Instance ids; or all.
    #[serde(default)]
    instances: Vec<String>,
    #[serde(default)]
    all: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct Unpaired {
    /// Who was paired and is not any more.
    unpaired: Vec<UnpairedBrowser>,
    /// How many connections were closed.
    cut: usize,
}

#[derive(Serialize, JsonSchema)]
struct UnpairedBrowser {
    instance: String,
    name: Option<String>,
}

/// Forgets the keys of browsers and closes their connections.
pub async fn unpair(State(edge): State<Arc<Edge>>, request: Request) -> Result<Unpaired, Fault> {
    let body: UnpairBody = read_json(&edge, request).await?;
    let which = which(&body)?;
    let pairings = edge.pairings.clone();
    let internal = |error: String| Fault::new(Code::Internal, error);
    let wanted = which.clone();
    let gone = tokio::task::spawn_blocking(move || pairings.forget(&wanted)).await;
    let gone = gone
        .map_err(|error| internal(error.to_string()))?
        .map_err(|error| internal(error.to_string()))?;
    // After the keys are gone and before anybody is put out: who is just being let in sees it.
    edge.unpairings.fetch_add(1, Ordering::SeqCst);
    let cut = cut(&edge, &which, &gone);
    tracing::info!(keys = gone.len(), connections = cut, "browsers unpaired");
    let shown = |Paired { instance, name, .. }| UnpairedBrowser {
        instance: instance.as_str().to_owned(),
        name,
    };
    Ok(Unpaired { unpaired: gone.into_iter().map(shown).collect(), cut })
}

fn which(body: &UnpairBody) -> Result<Which, Fault> {
    let invalid = |message: String| Fault::new(Code::InvalidArgument, message);
    match (body.all, body.instances.is_empty()) {
        (true, true) => Ok(Which::All),
        (false, false) => {
            let ids = body.instances.iter().map(|text| InstanceId::parse(text));
            let ids = ids.collect::<Result<_, _>>();
            ids.map(Which::Instances).map_err(|error| invalid(error.to_string()))
        }
        _ => Err(invalid("give either instances or all".to_owned())),
    }
}

/// Closes the connections of who was unpaired, also if its key was gone before.
fn cut(edge: &Edge, which: &Which, gone: &[Paired]) -> usize {
    let named = |instance: &InstanceId| match which {
        Which::Instances(list) => list.contains(instance),
        Which::All | Which::Launch(_) => gone.iter().any(|paired| paired.instance == *instance),
    };
    let extension = extension_origin();
    let ours =
        |session: &Session| *which == Which::All && session.origin.as_ref() == Some(&extension);
    // Who is carried stays for as long as its carrier.
    let carried = |session: &Session| match &session.carried_by {
        Some(carrier) => *which == Which::All || named(carrier),
        None => false,
    };
    let sessions = edge.hub.filtered(|session| {
        let is_theirs = named(&session.instance) || ours(session) || carried(session);
        &*session.dialect == dialect::native::NAME && is_theirs
    });
    let live: Vec<_> = sessions.iter().filter(|session| session.is_connected()).collect();
    live.iter().for_each(|session| session.close(connection::unpaired()));
    live.len()
}
