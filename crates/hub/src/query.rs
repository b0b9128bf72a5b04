//! Asking for an app's state: from the cache at once, from the page where that is wanted.
//!
//! Every answer says where it comes from, how old it is and whether the page is there. A refresh
//! that fails answers with what is cached, labelled as stale and with the reason in words.

use std::{sync::Arc, time::Duration};

use model::{ClientId, Code, Effect, Epoch, Fault, Json, Reply, Work, json::shorten, page_text};
use serde_json::Value;

use crate::{
    Hub,
    call_request::{CallRequest, Caller},
    session::{Session, humantime_seconds},
    state::Snapshot,
};

/// How the state is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateQuery {
    /// JSON Pointer (RFC 6901) to a part; none means all of it.
    pub path: Option<String>,
    /// Ask the page when the cached state is older.
    pub max_age: Option<Duration>,
    /// Ask the page in any case.
    pub force_refresh: bool,
    /// How long the page may take; none means the configured time.
    pub timeout: Option<Duration>,
}

/// Where an answer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Known already.
    Cache,
    /// Just told by the page.
    Live,
    /// Known already, because the page could not be asked; the reason in words.
    Stale(String),
}

/// A state, or a part of it, with what must be known to trust it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateAnswer {
    /// The value.
    pub value: Json,
    /// Where it comes from.
    pub source: Source,
    /// How long ago the page told it.
    pub age: Duration,
    /// Its version.
    pub version: u64,
    /// The life of the page that counts the versions.
    pub epoch: Option<Epoch>,
    /// Whether the page is there now.
    pub connected: bool,
}

impl Hub {
    /// Answers a question about a session's state.
    pub async fn state(
        &self,
        session: &Arc<Session>,
        query: &StateQuery,
    ) -> Result<StateAnswer, Fault> {
        let fresh = |snapshot: &Snapshot| {
            !snapshot.doubtful && query.max_age.is_none_or(|most| snapshot.age <= most)
        };
        let cached = session.snapshot();
        let metrics = &self.services.metrics;
        if let Some(snapshot) = cached.clone().filter(|found| !query.force_refresh && fresh(found))
        {
            metrics.state_answer("cache");
            return answer(session, snapshot, Source::Cache, query);
        }
        match (self.refresh(session, query).await, cached) {
            (Ok(snapshot), _) => {
                metrics.state_answer("live");
                answer(session, snapshot, Source::Live, query)
            }
            (Err(fault), Some(snapshot)) => {
                metrics.state_answer("stale");
                let reason = format!(
                    "the page could not be asked ({fault}); this is what it told {} ago",
                    humantime_seconds(snapshot.age)
                );
                answer(session, snapshot, Source::Stale(reason), query)
            }
            (Err(fault), None) => {
                metrics.state_answer("failed");
                Err(no_state(session, fault))
            }
        }
    }

    /// Asks the page. The session takes the answer into its cache as it arrives.
    pub(crate) async fn refresh(
        &self,
        session: &Arc<Session>,
        query: &StateQuery,
    ) -> Result<Snapshot, Fault> {
        let client = ClientId::parse("tabwire").expect("a constant that is a client id");
        let request = CallRequest {
            caller: Caller::new(client, "tabwire"),
            tab: None,
            work: Work::State { force_refresh: query.force_refresh },
            effect: Effect::Read,
            timeout: query.timeout,
            progress: None,
        };
        match self.call(session, request).await? {
            Reply::State(_) => session.snapshot().ok_or_else(|| {
                Fault::new(Code::StateUnavailable, "the page answered without a state")
            }),
            Reply::Result(_) | Reply::Tools(_) => {
                Err(Fault::new(Code::MalformedReply, "the page answered another question"))
            }
        }
    }
}

fn answer(
    session: &Session,
    snapshot: Snapshot,
    source: Source,
    query: &StateQuery,
) -> Result<StateAnswer, Fault> {
    let value = match query.path.as_deref() {
        None | Some("") => snapshot.state,
        Some(path) => part(&snapshot.state, path)?,
    };
    Ok(StateAnswer {
        value,
        source,
        age: snapshot.age,
        version: snapshot.version,
        epoch: snapshot.epoch,
        connected: session.is_connected(),
    })
}

fn part(state: &Json, path: &str) -> Result<Json, Fault> {
    let unreadable = |error: serde_json::Error| {
        Fault::new(Code::MalformedReply, format!("the app's state cannot be read: {error}"))
    };
    let tree = state.to_value().map_err(unreadable)?;
    tree.pointer(path).map(Json::of).ok_or_else(|| {
        let message = format!("the state has nothing at {:?}", shorten(path, 200));
        let known = match &tree {
            Value::Object(fields) => {
                let keys: Vec<_> = fields
                    .keys()
                    .take(20)
                    .map(|key| format!("/{}", page_text::exact(key)))
                    .collect();
                format!("it has {}", keys.join(", "))
            }
            _ => "it is not an object; leave the path out".to_owned(),
        };
        Fault::new(Code::InvalidArgument, message).hint(known)
    })
}

fn no_state(session: &Session, fault: Fault) -> Fault {
    let message = format!("nothing is known of the state of {}: {}", session.name, fault.message);
    Fault { message, code: Code::StateUnavailable, ..fault }
}
