//! The HTTP endpoint: `/mcp`, and `/mcp/{session}` for clients bound to one session.
//!
//! Reads a bounded body, says who is calling, hands over to `rmcp`, and turns its plain-text
//! refusals of broken JSON into JSON-RPC errors. Host, origin and credentials are the edge's
//! business; the check of hosts here is for a server that stands alone.

use std::{sync::Arc, time::Duration};

use ::http::{HeaderMap, Method, Request, Response, StatusCode, header};
use axum::{
    BoxError, Router,
    body::Body,
    extract::{Path, State},
    routing::any,
};
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use rmcp::{
    model::{ErrorData, JsonRpcError},
    transport::{StreamableHttpServerConfig, StreamableHttpService},
};
use tokio::time;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Backend, Caller, Mcp, Server,
    client_message::{is_object, refusal, refusal_of_id, refusal_of_shape},
    large_answers::{HTTP_ROOM, LargeAnswers},
    sessions::Sessions,
    sliced_body::SlicedBody,
};

/// Limits and names of the endpoint.
#[derive(Clone, Debug)]
pub struct Config {
    /// The largest request body.
    pub max_body: usize,
    /// How long a request body may take.
    pub body_timeout: Duration,
    /// The most sessions of older clients; the least recently used one makes room.
    pub max_sessions: usize,
    /// The most of them without an open stream; the one that has been quiet for longest makes room.
    /// Each holds up to 100 KiB.
    pub max_quiet_sessions: usize,
    /// How long an older client's session lives without a message.
    pub session_idle: Duration,
    /// A comment is sent on quiet event streams this often.
    pub keep_alive: Duration,
    /// Hosts that are served, with or without port; empty leaves the check to the edge.
    pub hosts: Vec<String>,
    /// Origins that are served; requests without one always are.
    pub origins: Vec<String>,
    /// Cuts all streams. Cancel it after the server's own end, when no answer is under way any
    /// more: listeners are told before they are cut off.
    pub cut: CancellationToken,
    /// The answers to posted messages that are not read to their end yet.
    pub answers: TaskTracker,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_body: 16 << 20,
            body_timeout: Duration::from_secs(30),
            max_sessions: 1000,
            max_quiet_sessions: 64,
            session_idle: Duration::from_secs(24 * 60 * 60),
            keep_alive: Duration::from_secs(15),
            hosts: Vec::new(),
            origins: Vec::new(),
            cut: CancellationToken::new(),
            answers: TaskTracker::new(),
        }
    }
}

struct Endpoint<B> {
    service: StreamableHttpService<Server<B>, Sessions>,
    sessions: Arc<Sessions>,
    max_body: usize,
    body_timeout: Duration,
    answers: TaskTracker,
    large: LargeAnswers,
}

/// Returns the routes of the endpoint.
pub fn routes<B: Backend>(mcp: Mcp<B>, config: &Config) -> Router {
    let quiet = config.max_quiet_sessions;
    let sessions = Arc::new(Sessions::new(config.max_sessions, quiet, config.session_idle));
    let service = service(mcp, sessions.clone(), config);
    let endpoint = Arc::new(Endpoint {
        service,
        sessions,
        max_body: config.max_body,
        body_timeout: config.body_timeout,
        answers: config.answers.clone(),
        large: LargeAnswers::with_room(HTTP_ROOM),
    });
    Router::new()
        .route("/mcp", any(free::<B>))
        .route("/mcp/{session}", any(bound::<B>))
        .with_state(endpoint)
}

fn service<B: Backend>(
    mcp: Mcp<B>,
    sessions: Arc<Sessions>,
    config: &Config,
) -> StreamableHttpService<Server<B>, Sessions> {
    let mut settings = StreamableHttpServerConfig::default()
        .with_allowed_hosts(&config.hosts)
        .with_allowed_origins(&config.origins)
        .with_json_response(true)
        .with_sse_keep_alive(Some(config.keep_alive))
        .with_max_request_body_bytes(config.max_body)
        .with_cancellation_token(config.cut.clone());
    if !config.hosts.is_empty() {
        settings = settings.enforce_origin_validation();
    }
    StreamableHttpService::new(move || Ok(mcp.connection(Caller::default())), sessions, settings)
}

async fn free<B: Backend>(
    State(endpoint): State<Arc<Endpoint<B>>>,
    request: Request<Body>,
) -> Response<Body> {
    endpoint.answer(request, None).await
}

async fn bound<B: Backend>(
    State(endpoint): State<Arc<Endpoint<B>>>,
    Path(session): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    endpoint.answer(request, Some(session)).await
}

impl<B: Backend> Endpoint<B> {
    async fn answer(&self, mut request: Request<Body>, binding: Option<String>) -> Response<Body> {
        let caller = identify(&request, binding);
        if self.is_foreign(&request, &caller) {
            return refuse(StatusCode::NOT_FOUND, &anonymous("unknown session".into()));
        }
        request.extensions_mut().insert(caller);
        if request.method() != Method::POST {
            return self.service.handle(request).await.map(Body::new);
        }
        let (parts, body) = request.into_parts();
        let under_way = self.answers.token();
        let json = is_json(&parts.headers);
        let body = match self.read(body).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        };
        // `rmcp` would quote all of it in an error that nobody sees.
        if json && !is_object(&body) {
            return refuse(StatusCode::BAD_REQUEST, &refusal(&body));
        }
        if let Some(error) = refusal_of_id(&body) {
            return refuse(StatusCode::BAD_REQUEST, &error);
        }
        // Made before it is needed: kept for later, the body would be there as long as the call.
        let broken = refusal(&body);
        let mut request = Request::from_parts(parts, Full::new(body));
        let room = self.large.open();
        request.extensions_mut().insert(room.clone());
        let response = self.service.handle(request).await;
        // With the right content type, this status means that the body did not parse.
        if json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return refuse(StatusCode::BAD_REQUEST, &broken);
        }
        response.map(|body| Body::new(SlicedBody::new(body, (under_way, room))))
    }

    /// Reads a body, and looks at its shape before anybody builds a tree of it.
    async fn read(&self, body: Body) -> Result<Bytes, Response<Body>> {
        let reading = collect(Limited::new(body, self.max_body));
        let Ok(read) = time::timeout(self.body_timeout, reading).await else {
            let message = format!("the body took longer than {:?}", self.body_timeout);
            return Err(refuse(StatusCode::REQUEST_TIMEOUT, &anonymous(message)));
        };
        let body = read.map_err(|error| unreadable(&*error, self.max_body))?;
        match refusal_of_shape(&body) {
            Some(error) => Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, &error)),
            None => Ok(body),
        }
    }

    fn is_foreign(&self, request: &Request<Body>, caller: &Caller) -> bool {
        let id = request.headers().get("mcp-session-id").and_then(|id| id.to_str().ok());
        id.is_some_and(|id| self.sessions.is_foreign(id, caller))
    }
}

/// Reads a body into one piece as it comes: put together at its end, it would be there twice.
async fn collect(mut body: Limited<Body>) -> Result<Bytes, BoxError> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            whole.extend_from_slice(&data);
        }
    }
    Ok(whole.freeze())
}

/// Completes the caller that the edge may have put into the request.
fn identify(request: &Request<Body>, binding: Option<String>) -> Caller {
    let header = |name| request.headers().get(name)?.to_str().ok().map(str::to_owned);
    let proven = request.extensions().get::<Caller>();
    Caller {
        principal: proven.map(|caller| caller.principal.clone()).unwrap_or_default(),
        workplace: proven.map(|caller| caller.workplace.clone()).unwrap_or_default(),
        client: header("tabwire-client"),
        binding: binding.or_else(|| header("x-mcp-instance")),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/json"))
}

fn unreadable(
    error: &(dyn std::error::Error + Send + Sync + 'static),
    limit: usize,
) -> Response<Body> {
    if !error.is::<LengthLimitError>() {
        return refuse(StatusCode::BAD_REQUEST, &anonymous(format!("body not read: {error}")));
    }
    let message = format!("the request is larger than {limit} bytes");
    refuse(StatusCode::PAYLOAD_TOO_LARGE, &anonymous(message))
}

fn anonymous(message: String) -> JsonRpcError {
    JsonRpcError::new(None, ErrorData::invalid_request(message, None))
}

fn refuse(status: StatusCode, error: &JsonRpcError) -> Response<Body> {
    let body = serde_json::to_vec(error).map_or_else(|_| Bytes::new(), Bytes::from);
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
