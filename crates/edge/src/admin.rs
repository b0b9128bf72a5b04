//! The admin API: what the command line and the dashboard use.
//!
//! - this file: sessions, state, feed, calls, large results, events;
//! - [`body`]: reading requests with limits and clear errors;
//! - [`apps`]: letting web apps in, links to our pages; [`tail`]: watching live; [`dialects`]: what is spoken where; [`pairing`]: unpairing;
//! - [`view`]: sessions and answers as JSON.
//!
//! Described by `openapi.json` beside it; a test compares the two.

mod apps;
pub mod body;
mod dialects;
mod pairing;
mod tail;
pub mod view;

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Path, Request, State},
    handler::Handler,
    http::{HeaderMap, HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
    routing::{self, MethodRouter},
};
use bytes::Bytes;
use hub::{CallRequest, Caller, Route, StateQuery};
use model::{ClientId, Code, Effect, Fault, Json, Level, Sequence, TabId, Target, Work};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tools::Client;

use crate::{Edge, gate::Pass, naming::INSTANCE_HEADER, reply};
use body::{ReadQuery, read_json};

/// The header by which a client says which one it is.
pub const CLIENT_HEADER: &str = "tabwire-client";
/// The description of this API.
pub const OPENAPI: &str = include_str!("admin/openapi.json");
/// Entries of a feed that one answer may have.
const FEED_MOST: usize = 1000;
/// How long an event may take to be on disk before its sender is told that it is not.
const KEPT_WITHIN: Duration = Duration::from_secs(5);

type Answer = Result<Response<Body>, Fault>;

/// One route of this API.
pub struct AdminRoute {
    /// As the description writes it: `get` or `post`.
    pub method: &'static str,
    /// With its parameters in braces.
    pub path: &'static str,
    handler: MethodRouter<Arc<Edge>>,
}

/// Lists all routes of this API; the description has these and no others.
pub fn routes() -> Vec<AdminRoute> {
    vec![
        get("/api/dialects", dialects::dialects),
        get("/api/sessions", sessions),
        get("/api/sessions/{session}", session),
        get("/api/sessions/{session}/state", |edge, path, query| answer(state(edge, path, query))),
        get("/api/sessions/{session}/feed", |edge, path, query| answer(feed(edge, path, query))),
        post("/api/call", |edge, pass, request| answer(call(edge, pass, request))),
        get("/api/results/{id}", |edge, pass, path| answer(result(edge, pass, path))),
        post("/api/events", |edge, request| answer(event(edge, request))),
        get("/api/audit", |edge, query| answer(audit(edge, query))),
        post("/api/unpair", |edge, request| answer(pairing::unpair(edge, request))),
        post("/api/forget", |edge, request| answer(forget(edge, request))),
        get("/api/apps", apps::apps),
        post("/api/apps", |edge, request| answer(apps::allow(edge, request))),
        post("/api/links", apps::link),
        get("/api/tail", tail::tail),
        get("/api/openapi.json", openapi),
    ]
}

/// Serves them.
pub fn router() -> Router<Arc<Edge>> {
    let add = |router: Router<_>, route: AdminRoute| router.route(route.path, route.handler);
    routes().into_iter().fold(Router::new(), add)
}

fn get<H: Handler<T, Arc<Edge>>, T: 'static>(path: &'static str, handler: H) -> AdminRoute {
    AdminRoute { method: "get", path, handler: routing::get(handler) }
}

fn post<H: Handler<T, Arc<Edge>>, T: 'static>(path: &'static str, handler: H) -> AdminRoute {
    AdminRoute { method: "post", path, handler: routing::post(handler) }
}

async fn answer(work: impl Future<Output = Answer>) -> Response<Body> {
    work.await.unwrap_or_else(|fault| reply::fault(&fault))
}

async fn sessions(State(edge): State<Arc<Edge>>) -> Response<Body> {
    let list: Vec<_> =
        edge.hub.sessions().iter().map(|session| view::session(&session.info())).collect();
    reply::json(StatusCode::OK, &json!({ "sessions": list }))
}

async fn session(State(edge): State<Arc<Edge>>, Path(name): Path<String>) -> Response<Body> {
    match edge.hub.find(&name) {
        Ok(session) => reply::json(StatusCode::OK, &view::session(&session.info())),
        Err(fault) => reply::fault(&fault),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ForgetBody {
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    away: bool,
}

/// Forgets one session, or all whose peers are away.
async fn forget(State(edge): State<Arc<Edge>>, request: Request) -> Answer {
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
    let names: Vec<_> = gone.iter().map(|session| session.name.to_string()).collect();
    Ok(reply::json(StatusCode::OK, &json!({ "forgotten": names })))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct StateParams {
    path: Option<String>,
    max_age_ms: Option<u64>,
    force_refresh: bool,
    timeout_ms: Option<u64>,
}

async fn state(
    State(edge): State<Arc<Edge>>,
    Path(name): Path<String>,
    ReadQuery(params): ReadQuery<StateParams>,
) -> Answer {
    let session = edge.hub.find(&name)?;
    let query = StateQuery {
        path: params.path,
        max_age: params.max_age_ms.map(Duration::from_millis),
        force_refresh: params.force_refresh,
        timeout: params.timeout_ms.map(Duration::from_millis),
    };
    let found = edge.hub.state(&session, &query).await?;
    Ok(reply::json(StatusCode::OK, &view::state(&session.name, &found)))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct FeedParams {
    since: u64,
    limit: Option<usize>,
}

async fn feed(
    State(edge): State<Arc<Edge>>,
    Path(name): Path<String>,
    ReadQuery(params): ReadQuery<FeedParams>,
) -> Answer {
    let session = edge.hub.find(&name)?;
    let limit = params.limit.unwrap_or(100).clamp(1, FEED_MOST);
    let (current, entries) = session.feed_after(Sequence(params.since), limit);
    Ok(reply::json(StatusCode::OK, &view::feed(params.since, &current, &entries)))
}

async fn audit(State(edge): State<Arc<Edge>>, ReadQuery(params): ReadQuery<FeedParams>) -> Answer {
    let limit = params.limit.unwrap_or(100).clamp(1, FEED_MOST);
    let hub = edge.hub.clone();
    // The audit is not in memory: it is read where waiting for the disk disturbs nobody.
    let read = tokio::task::spawn_blocking(move || hub.audit(params.since, limit)).await;
    let lines = read
        .map_err(|error| Fault::new(Code::Internal, error.to_string()))?
        .map_err(|error| Fault::new(Code::Internal, error.to_string()))?;
    let next = lines.last().map_or(params.since, |line| line.number);
    let lines: Vec<_> = lines.iter().map(view::audit).collect();
    Ok(reply::json(StatusCode::OK, &json!({"lines": lines, "next": next})))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CallBody {
    tool: String,
    #[serde(default)]
    args: Option<Box<RawValue>>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    tab: Option<u64>,
    #[serde(default)]
    target: Option<CallTarget>,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default)]
    idempotency_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum CallTarget {
    App,
    Page,
    Command,
}

async fn call(
    State(edge): State<Arc<Edge>>,
    Extension(pass): Extension<Pass>,
    request: Request,
) -> Answer {
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
    let Some(key) = &key else {
        let (session, result) = edge.hub.request(work).await?;
        return Ok(reply::json(StatusCode::OK, &view::result(&session.name, &result)));
    };
    let work = async move {
        let (session, result) = work.await?;
        let result = result.to_value().unwrap_or_default();
        Ok(json!({"session": &*session.name, "result": result}))
    };
    // Boxed: it is ten times as large as all other ways through here, which would carry it along.
    let once = Box::pin(edge.toolbox.once(&principal, key, question, work));
    let answer = edge.hub.request(once).await?;
    Ok(reply::json(StatusCode::OK, &answer))
}

/// Calls a tool on the path that an AI client takes: the same list, checks and results.
async fn call_as_client(
    edge: &Edge,
    client: &Client,
    tool: &str,
    args: &Json,
    (session, tab): (Option<String>, Option<u64>),
) -> Answer {
    let invalid = |error: serde_json::Error| Fault::new(Code::InvalidArgument, error.to_string());
    let mut args = args.to_value().map_err(invalid)?;
    if let Some(session) = session {
        args["session"] = json!(session);
    }
    if let Some(tab) = tab {
        args["tab"] = json!(tab);
    }
    let output = edge.toolbox.call(client, tool, args).await?;
    let mut answer = json!({"result": output.structured, "text": output.text});
    if let Some(source) = output.source {
        answer["session"] = json!(source.session);
    }
    if !output.images.is_empty() {
        let image = |image: &tools::Image| json!({"mimeType": image.mime_type, "data": image.data});
        answer["images"] = output.images.iter().map(image).collect();
    }
    if output.failed {
        answer["failed"] = json!(true);
    }
    if !output.links.is_empty() {
        answer["links"] = json!(output.links);
    }
    Ok(reply::json(StatusCode::OK, &answer))
}

/// What an answer links to, for the principal whose answer it was.
async fn result(
    State(edge): State<Arc<Edge>>,
    Extension(pass): Extension<Pass>,
    Path(id): Path<String>,
) -> Answer {
    let kept = edge.toolbox.shelf.read(&pass.principal.0, &id)?;
    Ok(reply::download(&kept.name, &kept.mime_type, Bytes::from_owner(kept.content)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EventBody {
    session: String,
    name: String,
    #[serde(default)]
    level: Option<EventLevel>,
    #[serde(default)]
    data: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum EventLevel {
    Info,
    Warning,
    Error,
}

async fn event(State(edge): State<Arc<Edge>>, request: Request) -> Answer {
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
    let sequence = session.notify(&body.name, level, data);
    // Whoever reads the number may rely on it: a disk that refuses is told, not waited for.
    let kept = edge.hub.kept_within(KEPT_WITHIN).await;
    let answer = json!({"session": &*session.name, "sequence": sequence.0, "kept": kept});
    Ok(reply::json(StatusCode::OK, &answer))
}

async fn openapi() -> Response<Body> {
    let mut response = OPENAPI.into_response();
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    reply::harden(response.headers_mut());
    response
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
