//! The admin API: what the command line and the dashboard use.
//!
//! - this file: sessions, state, feed, calls, large results, events;
//! - [`body`]: reading requests with limits and clear errors;
//! - [`apps`]: letting web apps in, links to our pages; [`tail`]: watching live;
//!   [`dialects`]: what is spoken where; [`pairing`]: unpairing;
//! - [`view`]: sessions and answers as JSON; [`describe`]: the description of all this in OpenAPI.

mod apps;
pub mod body;
pub mod describe;
mod dialects;
mod pairing;
mod tail;
pub mod view;

use std::{ops::Not, sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Path, Request, State},
    http::{HeaderMap, Response, StatusCode},
};
use bytes::Bytes;
use hub::{CallRequest, Caller, Route, StateQuery};
use model::{ClientId, Code, Effect, Fault, Json, Level, Sequence, TabId, Target, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};
use tools::Client;

use crate::{Edge, gate::Pass, naming::INSTANCE_HEADER, reply};
use body::{ReadQuery, read_json};
use describe::{AdminRoute, OPENAPI, SESSION, get, post};
use view::{AuditLineView, FeedItemView, FeedView, SessionView, StateView};

/// The header by which a client says which one it is.
pub const CLIENT_HEADER: &str = "tabwire-client";
/// Entries of a feed that one answer may have.
const FEED_MOST: usize = 1000;
/// How long an event may take to be on disk before its sender is told that it is not.
const KEPT_WITHIN: Duration = Duration::from_secs(5);

/// Lists all routes of this API, with what the description says of them.
pub fn routes() -> Vec<AdminRoute> {
    vec![
        get("/api/dialects", |edge| as_json(dialects::dialects(edge)))
            .does("listDialects", "Lists the wire protocols, their ports and sessions.")
            .gives::<dialects::DialectList>("All dialects."),
        get("/api/sessions", |edge| as_json(sessions(edge)))
            .does("listSessions", "Lists all sessions, by name.")
            .gives::<SessionList>("All sessions."),
        get("/api/sessions/{session}", |edge, path| as_json(session(edge, path)))
            .does("getSession", "Shows one session.")
            .texts(&[SESSION])
            .gives::<SessionView>("The session."),
        get("/api/sessions/{session}/state", |edge, path, query| as_json(state(edge, path, query)))
            .does("getState", "Tells a session's state, from the cache or from the page.")
            .texts(&[SESSION])
            .query::<StateParams>()
            .gives::<StateView>("The state with what must be known to trust it."),
        get("/api/sessions/{session}/feed", |edge, path, query| as_json(feed(edge, path, query)))
            .does("getFeed", "Tells what happened in a session after a cursor.")
            .texts(&[SESSION])
            .query::<FeedParams>()
            .gives::<FeedView>("Entries, oldest first."),
        post("/api/call", |edge, pass, request| as_json(call(edge, pass, request)))
            .does("callTool", "Calls a tool as an AI client would. Closing the request cancels it.")
            .texts(&[
                ("header", CLIENT_HEADER, "Which client asks."),
                ("header", INSTANCE_HEADER, "The session that is meant when none is named."),
            ])
            .body::<CallBody>()
            .gives::<CallAnswer>("The result."),
        get("/api/results/{id}", |edge, pass, path| answer(result(edge, pass, path)))
            .does(
                "getResult",
                "What an answer links to: kept for 15 minutes, for who made the call.",
            )
            .texts(&[("path", "id", "The end of the link's address.")])
            .gives_as::<Value>("*/*", "The bytes, with their own media type."),
        post("/api/events", |edge, request| as_json(event(edge, request)))
            .does("sendEvent", "Sends an event to a session, in order and across reconnects.")
            .body::<EventBody>()
            .gives::<EventSent>("Its number in the session's log."),
        get("/api/audit", |edge, query| as_json(audit(edge, query)))
            .does("readAudit", "One line per call, after a number, oldest first.")
            .query::<FeedParams>()
            .gives::<AuditLines>("Lines, and the number to go on from."),
        post("/api/unpair", |edge, request| as_json(pairing::unpair(edge, request)))
            .does("unpair", "Forgets the keys of paired browsers and closes their connections.")
            .body::<pairing::UnpairBody>()
            .gives::<pairing::Unpaired>("Who was paired, and how many connections were closed."),
        post("/api/forget", |edge, request| as_json(forget(edge, request)))
            .does("forget", "Forgets sessions whose peers are away.")
            .body::<ForgetBody>()
            .gives::<Forgotten>("The names of the sessions that are gone."),
        get("/api/apps", |edge| as_json(apps::apps(edge)))
            .does("apps", "Web apps that wait for the user's word, and those that have it.")
            .gives::<apps::AppsView>("Origins."),
        post("/api/apps", |edge, request| as_json(apps::allow(edge, request)))
            .does("allowApp", "Lets web apps of an origin in, or no more.")
            .body::<apps::AllowBody>()
            .gives::<Map<String, Value>>("Done."),
        post("/api/links", |edge| as_json(apps::link(edge)))
            .does("link", "Makes a one-time code that opens a page of the hub on another machine.")
            .gives::<apps::PageLink>("The code, good once for two minutes, and the hub's hosts."),
        get("/api/tail", |edge, query| answer(tail::tail(edge, query)))
            .does("tail", "Shows what happens, as it happens, one JSON object per line.")
            .query::<tail::TailParams>()
            .gives_as::<FeedItemView>(
                "application/x-ndjson",
                "Entries without end; `kind: missed` tells how many were too many.",
            ),
        get("/api/openapi.json", || async { reply::text("application/json", OPENAPI.as_str()) })
            .does("describe", "This description.")
            .gives::<Map<String, Value>>("OpenAPI 3.1."),
    ]
}

/// Serves them.
pub fn router() -> Router<Arc<Edge>> {
    let add = |router: Router<_>, route: AdminRoute| router.route(route.path, route.handler);
    routes().into_iter().fold(Router::new(), add)
}

async fn answer(work: impl Future<Output = Result<Response<Body>, Fault>>) -> Response<Body> {
    work.await.unwrap_or_else(|fault| reply::fault(&fault))
}

async fn as_json<T: Serialize>(work: impl Future<Output = Result<T, Fault>>) -> Response<Body> {
    answer(async { Ok(reply::json(StatusCode::OK, &work.await?)) }).await
}

#[derive(Serialize, JsonSchema)]
struct SessionList {
    sessions: Vec<SessionView>,
}

async fn sessions(State(edge): State<Arc<Edge>>) -> Result<SessionList, Fault> {
    let sessions = edge.hub.sessions();
    Ok(SessionList { sessions: sessions.iter().map(|it| view::session(it.info())).collect() })
}

async fn session(
    State(edge): State<Arc<Edge>>,
    Path(name): Path<String>,
) -> Result<SessionView, Fault> {
    Ok(view::session(edge.hub.find(&name)?.info()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ForgetBody {
    /// One session: name, id, or the beginning of its id.
    session: Option<String>,
    /// All that are away.
    #[serde(default)]
    away: bool,
}

#[derive(Serialize, JsonSchema)]
struct Forgotten {
    forgotten: Vec<String>,
}

/// Forgets one session, or all whose peers are away.
async fn forget(State(edge): State<Arc<Edge>>, request: Request) -> Result<Forgotten, Fault> {
    let body: ForgetBody = read_json(&edge, request).await?;
    let hub = &edge.hub;
    let wanted = match (&body.session, body.away) {
        (Some(session), false) => vec![hub.find(session)?],
        (None, true) => hub.filtered(|session| !session.is_connected()),
        _ => return Err(Fault::new(Code::InvalidArgument, "give either session or away")),
    };
    let gone: Vec<_> = wanted.iter().filter(|session| hub.forget(session)).collect();
    if gone.is_empty() && body.session.is_some() {
        let fault = Fault::new(Code::Busy, format!("{} is connected", wanted[0].name));
        return Err(fault.hint("close its page or its browser first"));
    }
    Ok(Forgotten { forgotten: gone.iter().map(|it| it.name.to_string()).collect() })
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StateParams {
    /// JSON Pointer to a part of the state.
    path: Option<String>,
    /// Ask the page when the cached state is older.
    max_age_ms: Option<u64>,
    /// Ask the page in any case.
    #[serde(default)]
    force_refresh: bool,
    /// How long the page may take.
    timeout_ms: Option<u64>,
}

async fn state(
    State(edge): State<Arc<Edge>>,
    Path(name): Path<String>,
    ReadQuery(params): ReadQuery<StateParams>,
) -> Result<StateView, Fault> {
    let session = edge.hub.find(&name)?;
    let query = StateQuery {
        path: params.path,
        max_age: params.max_age_ms.map(Duration::from_millis),
        force_refresh: params.force_refresh,
        timeout: params.timeout_ms.map(Duration::from_millis),
    };
    let found = edge.hub.state(&session, &query).await?;
    Ok(view::state(&session.name, &found))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FeedParams {
    /// The last number that was seen; 0 means from the beginning.
    #[serde(default)]
    since: u64,
    /// At most this many entries, 1 to 1000; 100 if absent.
    limit: Option<usize>,
}

async fn feed(
    State(edge): State<Arc<Edge>>,
    Path(name): Path<String>,
    ReadQuery(params): ReadQuery<FeedParams>,
) -> Result<FeedView, Fault> {
    let session = edge.hub.find(&name)?;
    let limit = params.limit.unwrap_or(100).clamp(1, FEED_MOST);
    let (current, entries) = session.feed_after(Sequence(params.since), limit);
    Ok(view::feed(params.since, &current, entries))
}

#[derive(Serialize, JsonSchema)]
struct AuditLines {
    lines: Vec<AuditLineView>,
    next: u64,
}

async fn audit(
    State(edge): State<Arc<Edge>>,
    ReadQuery(params): ReadQuery<FeedParams>,
) -> Result<AuditLines, Fault> {
    let limit = params.limit.unwrap_or(100).clamp(1, FEED_MOST);
    let hub = edge.hub.clone();
    // The audit is not in memory: it is read where waiting for the disk disturbs nobody.
    let read = tokio::task::spawn_blocking(move || hub.audit(params.since, limit)).await;
    let lines = read
        .map_err(|error| Fault::new(Code::Internal, error.to_string()))?
        .map_err(|error| Fault::new(Code::Internal, error.to_string()))?;
    let next = lines.last().map_or(params.since, |line| line.number);
    Ok(AuditLines { lines: lines.into_iter().map(view::audit).collect(), next })
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CallBody {
    /// Which tool: one of our own, or one of a connected app.
    tool: String,
    /// Its arguments.
    #[schemars(with = "Option<Map<String, Value>>")]
    args: Option<Box<RawValue>>,
    /// To which session: name, id, or the beginning of the id.
    session: Option<String>,
    /// In which tab.
    tab: Option<u64>,
    /// Passes by the list of tools: whose tool or command is sent as it is.
    target: Option<CallTarget>,
    /// How long it may take.
    timeout_ms: Option<u64>,
    /// Whoever asks again with this key gets the same answer, and nothing is done twice.
    #[schemars(length(max = 200))]
    idempotency_key: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum CallTarget {
    App,
    Page,
    Command,
}

#[derive(Default, Serialize, JsonSchema)]
struct CallAnswer {
    /// Which session did it, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// What the tool gave back, for a program.
    #[schemars(with = "Value")]
    result: Box<RawValue>,
    /// The same for a reader; absent with `target`.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<tools::Image>,
    /// True where a batch did not come to its end; absent otherwise.
    #[serde(skip_serializing_if = "Not::not")]
    failed: bool,
    /// What is too large for the answer: `tabwire://result/{id}` is read at `/api/results/{id}`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<tools::Link>,
}

async fn call(
    State(edge): State<Arc<Edge>>,
    Extension(pass): Extension<Pass>,
    request: Request,
) -> Result<CallAnswer, Fault> {
    let caller = caller(&pass, request.headers())?;
    let workplace = pass.workplace();
    let binding = header_text(request.headers(), INSTANCE_HEADER)?;
    let body: CallBody = read_json(&edge, request).await?;
    let args = body.args.map_or_else(|| Json::of(&json!({})), Json::from);
    if !args.as_str().starts_with('{') {
        return Err(Fault::new(Code::InvalidArgument, "args must be an object"));
    }
    if model::shape::too_deep(args.as_str()) {
        let most = model::shape::DEEPEST;
        return Err(Fault::new(Code::TooLarge, format!("args nest deeper than {most} levels")));
    }
    let timeout = body.timeout_ms.map(Duration::from_millis);
    if body.target.is_none() && (body.tab.is_none() || edge.toolbox.is_own(&body.tool)) {
        let key = body.idempotency_key;
        let client = Client { caller, binding, progress: None, timeout, key, workplace };
        let place = (body.session, body.tab);
        return call_as_client(&edge, &client, &body.tool, &args, place).await;
    }
    let target = match body.target {
        Some(CallTarget::Page) => Target::Page,
        Some(CallTarget::Command) => Target::Command,
        Some(CallTarget::App) | None => Target::App,
    };
    let fields = args.to_value().unwrap_or_default();
    let fields = fields.as_object().cloned().unwrap_or_default();
    edge.toolbox.check_offered(target, &body.tool, &fields)?;
    let key = body.idempotency_key;
    let question = tools::keyed::digest(
        &format!("{} {:?} {:?}", body.tool, body.session, body.tab),
        &args.to_value().unwrap_or_default(),
    );
    let principal = caller.principal.clone();
    let hub = edge.hub.clone();
    let route = Route { session: body.session, binding };
    let request = CallRequest {
        caller,
        tab: body.tab.map(TabId),
        work: Work::Tool { target, name: body.tool, args },
        effect: Effect::Act,
        timeout,
        progress: None,
    };
    let work = async move { hub.call_tool(&route, request).await };
    let direct = |session: &str, result: Box<RawValue>| {
        let session = Some(session.to_owned());
        CallAnswer { session, result, ..CallAnswer::default() }
    };
    let Some(key) = &key else {
        let (session, result) = edge.hub.request(work).await?;
        return Ok(direct(&session.name, result.raw().to_owned()));
    };
    let work = async move {
        let (session, result) = work.await?;
        let result = result.to_value().unwrap_or_default();
        Ok(json!({"session": &*session.name, "result": result}))
    };
    // Boxed: it is ten times as large as all other ways through here, which would carry it along.
    let once = Box::pin(edge.toolbox.once(&principal, key, question, work));
    let kept = edge.hub.request(once).await?;
    let result = to_raw_value(&kept["result"]).unwrap_or_default();
    Ok(direct(kept["session"].as_str().unwrap_or_default(), result))
}

/// Calls a tool on the path that an AI client takes: the same list, checks and results.
async fn call_as_client(
    edge: &Edge,
    client: &Client,
    tool: &str,
    args: &Json,
    (session, tab): (Option<String>, Option<u64>),
) -> Result<CallAnswer, Fault> {
    let invalid = |error: serde_json::Error| Fault::new(Code::InvalidArgument, error.to_string());
    let mut args = args.to_value().map_err(invalid)?;
    if let Some(session) = session {
        args["session"] = json!(session);
    }
    if let Some(tab) = tab {
        args["tab"] = json!(tab);
    }
    let output = edge.toolbox.call(client, tool, args).await?;
    Ok(CallAnswer {
        session: output.source.map(|source| source.session),
        result: to_raw_value(&output.structured).unwrap_or_default(),
        text: Some(output.text),
        images: output.images,
        failed: output.failed,
        links: output.links,
    })
}

/// What an answer links to, for the principal whose answer it was.
async fn result(
    State(edge): State<Arc<Edge>>,
    Extension(pass): Extension<Pass>,
    Path(id): Path<String>,
) -> Result<Response<Body>, Fault> {
    let kept = edge.toolbox.shelf.read(&pass.principal.0, &id)?;
    Ok(reply::download(&kept.name, &kept.mime_type, Bytes::from_owner(kept.content)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EventBody {
    /// To which session.
    session: String,
    /// The event's name.
    name: String,
    level: Option<EventLevel>,
    /// Anything.
    data: Option<Box<RawValue>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum EventLevel {
    Info,
    Warning,
    Error,
}

#[derive(Serialize, JsonSchema)]
struct EventSent {
    /// Which session.
    session: String,
    /// Its number.
    sequence: u64,
    /// Whether it is on disk; if not, a crash of the hub may lose it.
    kept: bool,
}

async fn event(State(edge): State<Arc<Edge>>, request: Request) -> Result<EventSent, Fault> {
    let body: EventBody = read_json(&edge, request).await?;
    if body.name.is_empty() || body.name.len() > 128 {
        return Err(Fault::new(Code::InvalidArgument, "name has 1 to 128 characters"));
    }
    let session = edge.hub.find(&body.session)?;
    let level = match body.level {
        Some(EventLevel::Error) => Level::Error,
        Some(EventLevel::Warning) => Level::Warning,
        Some(EventLevel::Info) | None => Level::Info,
    };
    let data = body.data.map_or_else(Json::null, Json::from);
    let (sequence, ticket) = session.notify(&body.name, level, data);
    // Whoever reads the number may rely on it: a disk that refuses is told, not waited for.
    let kept = match ticket {
        Some(ticket) => edge.hub.kept_within(&ticket, KEPT_WITHIN).await,
        None => false,
    };
    Ok(EventSent { session: session.name.to_string(), sequence: sequence.0, kept })
}

/// Returns which client asks: what it says, else whom its credentials prove.
fn caller(pass: &Pass, headers: &HeaderMap) -> Result<Caller, Fault> {
    let principal = &pass.principal;
    let name = match header_text(headers, CLIENT_HEADER)? {
        // Who has a name by a token cannot take that of another's client.
        Some(name) if *principal != guard::Principal::local() => format!("{}:{name}", principal.0),
        Some(name) => name,
        None => principal.0.clone(),
    };
    let client = ClientId::parse(&name)
        .map_err(|error| Fault::new(Code::InvalidArgument, format!("{CLIENT_HEADER}: {error}")))?;
    let traceparent = header_text(headers, "traceparent")?;
    Ok(Caller::new(client, &pass.principal.0).traced(traceparent.as_deref()))
}

fn header_text(headers: &HeaderMap, name: &str) -> Result<Option<String>, Fault> {
    let mut values = headers.get_all(name).iter();
    let first = values.next().map(|value| value.to_str());
    match (first, values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(text)), None) => Ok(Some(text.to_owned())),
        _ => Err(Fault::new(Code::InvalidArgument, format!("the header {name} must be one text"))),
    }
}
