//! The HTTP sessions of older clients: `rmcp`'s own, with a limit and a longer memory.
//!
//! `rmcp` ends a session after five quiet minutes even while its client listens, and keeps as
//! many as are opened. Here the least recently used one makes room instead. Requests learn
//! which response stream is theirs, and hold their ids until they are answered.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use futures_util::{Stream, stream};
use parking_lot::Mutex;
use rmcp::{
    model::{ClientJsonRpcMessage, ErrorData, GetExtensions, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        EventStream, RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
        local::{
            LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, SessionConfig,
            SessionError, StreamableHttpMessageReceiver,
        },
    },
};
use tokio::time::Instant;

use crate::Caller;

/// Sessions in memory, at most `limit` of them.
pub struct Sessions {
    local: LocalSessionManager,
    limit: usize,
    quiet_limit: usize,
    entries: Entries,
}

// A blocking mutex: held for one look-up or one scan, never across an await.
type Entries = Arc<Mutex<HashMap<SessionId, Entry>>>;

#[derive(Debug)]
struct Entry {
    used: Instant,
    /// How many streams a client holds open.
    streams: usize,
    /// Who opened the session; `None` until its first message is in.
    principal: Option<String>,
    /// The requests without an answer.
    requests: HashSet<RequestId>,
}

/// Counts one open stream of a session for as long as it lives.
struct Attached {
    id: SessionId,
    entries: Entries,
    _request: Option<Arc<OpenRequest>>,
}

/// Holds a request's id for as long as the request is handled or its stream is open. `rmcp` would
/// send two answers to one id down one stream.
#[derive(Debug)]
struct OpenRequest {
    id: RequestId,
    session: SessionId,
    entries: Entries,
}

/// The response stream of one older client's request.
#[derive(Clone, Debug)]
pub struct PostStream {
    session: LocalSessionHandle,
    request: u64,
    _open: Option<Arc<OpenRequest>>,
}

type Result<T> = std::result::Result<T, LocalSessionManagerError>;

impl Sessions {
    /// Keeps up to `limit` sessions, `quiet_limit` of them without an open stream, each for `idle`
    /// after its last message.
    pub fn new(limit: usize, quiet_limit: usize, idle: Duration) -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(idle);
        let mut local = LocalSessionManager::default();
        local.session_config = config;
        Self { local, limit, quiet_limit, entries: Entries::default() }
    }

    /// Returns how many sessions there are.
    pub fn count(&self) -> usize {
        self.entries.lock().len()
    }

    /// Tells whether somebody else than `caller` opened the session. An id is a name, no proof.
    pub fn is_foreign(&self, id: &str, caller: &Caller) -> bool {
        let entries = self.entries.lock();
        let owner = entries.get(id).and_then(|entry| entry.principal.as_deref());
        owner.is_some_and(|owner| owner != caller.principal)
    }

    fn touch(&self, id: &SessionId) {
        if let Some(entry) = self.entries.lock().get_mut(id) {
            entry.used = Instant::now();
        }
    }

    fn enter(&self, id: &SessionId) {
        let entry =
            Entry { used: Instant::now(), streams: 0, principal: None, requests: HashSet::new() };
        self.entries.lock().insert(id.clone(), entry);
    }

    /// Holds the id of a request; `Err` is an id that is in use.
    fn open(
        &self,
        session: &SessionId,
        message: &ClientJsonRpcMessage,
    ) -> std::result::Result<Option<Arc<OpenRequest>>, RequestId> {
        let ClientJsonRpcMessage::Request(request) = message else { return Ok(None) };
        let id = request.id.clone();
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(session) else { return Ok(None) };
        if !entry.requests.insert(id.clone()) {
            return Err(id);
        }
        let (session, entries) = (session.clone(), self.entries.clone());
        Ok(Some(Arc::new(OpenRequest { id, session, entries })))
    }

    fn attach(
        &self,
        id: &SessionId,
        receiver: StreamableHttpMessageReceiver,
        request: Option<Arc<OpenRequest>>,
    ) -> EventStream {
        if let Some(entry) = self.entries.lock().get_mut(id) {
            entry.streams += 1;
        }
        let entries = self.entries.clone();
        let attached = Attached { id: id.clone(), entries, _request: request };
        let mut events = receiver.inner;
        Box::pin(stream::poll_fn(move |context| {
            let _ = &attached;
            events.poll_recv(context)
        }))
    }

    fn adopt(&self, id: &SessionId, message: &ClientJsonRpcMessage) {
        let ClientJsonRpcMessage::Request(message) = message else { return };
        let caller = Caller::of(message.request.extensions(), &Caller::default());
        if let Some(entry) = self.entries.lock().get_mut(id) {
            entry.principal = Some(caller.principal);
        }
    }

    /// Returns the session to close for a new one; one that somebody listens to goes last.
    fn oldest_beyond_limit(&self) -> Option<SessionId> {
        let entries = self.entries.lock();
        let quiet = entries.values().filter(|entry| entry.streams == 0).count();
        if entries.len() < self.limit && quiet < self.quiet_limit {
            return None;
        }
        let oldest = entries.iter().min_by_key(|(_, entry)| (entry.streams > 0, entry.used));
        oldest.map(|(id, _)| id.clone())
    }

    async fn handle(&self, id: &SessionId) -> Result<LocalSessionHandle> {
        let sessions = self.local.sessions.read().await;
        sessions
            .get(id)
            .cloned()
            .ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport)> {
        while let Some(oldest) = self.oldest_beyond_limit() {
            tracing::debug!("oldest session closed to make room");
            self.close_session(&oldest).await?;
        }
        let (id, transport) = self.local.create_session().await?;
        self.enter(&id);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage> {
        self.adopt(id, &message);
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool> {
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<()> {
        self.entries.lock().remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.touch(id);
        let session = self.handle(id).await?;
        let open = match self.open(id, &message) {
            Ok(open) => open,
            Err(id) => return Ok(refusal_of(id)),
        };
        let receiver = session.establish_request_wise_channel().await?;
        if let Some(request) = receiver.http_request_id {
            let stream = PostStream { session: session.clone(), request, _open: open.clone() };
            message.insert_extension(stream);
        }
        session.push_message(message, receiver.http_request_id).await?;
        Ok(self.attach(id, receiver, open))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<()> {
        self.touch(id);
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.touch(id);
        let receiver = self.handle(id).await?.establish_common_channel().await?;
        Ok(self.attach(id, receiver, None))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.touch(id);
        let receiver = self.handle(id).await?.resume(last_event_id.parse()?).await?;
        Ok(self.attach(id, receiver, None))
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>> {
        self.enter(&id);
        self.local.restore_session(id).await
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(entry) = self.entries.lock().get_mut(&self.id) {
            entry.streams -= 1;
            entry.used = Instant::now();
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let Some(entry) = self.entries.lock().get_mut(&self.session) {
            entry.requests.remove(&self.id);
        }
    }
}

/// Returns the answer to a request whose id is in use.
fn refusal_of(id: RequestId) -> EventStream {
    let error = ErrorData::invalid_request("the id is in use", None);
    let message = ServerJsonRpcMessage::error(error, Some(id));
    Box::pin(stream::iter([ServerSseMessage::from_message(message)]))
}

impl PostStream {
    /// Closes the stream; the client comes back for the rest after `retry`.
    pub async fn close(&self, retry: Duration) -> std::result::Result<(), SessionError> {
        self.session.close_sse_stream(self.request, Some(retry)).await
    }
}
