//! The HTTP sessions of older clients: `rmcp`'s own, with a limit and a longer memory.
//!
//! `rmcp` ends a session after five quiet minutes even while its client listens, and keeps as
//! many as are opened. Here the least recently used one makes room instead. Requests learn
//! which response stream is theirs.

use std::{collections::HashMap, time::Duration};

use futures_util::Stream;
use parking_lot::Mutex;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
        local::{
            LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, SessionConfig,
            SessionError,
        },
    },
};
use tokio::time::Instant;

/// Sessions in memory, at most `limit` of them.
pub struct Sessions {
    local: LocalSessionManager,
    limit: usize,
    // A blocking mutex: held for one look-up or one scan, never across an await.
    used: Mutex<HashMap<SessionId, Instant>>,
}

/// The response stream of one older client's request.
#[derive(Clone, Debug)]
pub struct PostStream {
    session: LocalSessionHandle,
    request: u64,
}

type Result<T> = std::result::Result<T, LocalSessionManagerError>;

impl Sessions {
    /// Keeps up to `limit` sessions, each for `idle` after its last message.
    pub fn new(limit: usize, idle: Duration) -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(idle);
        let mut local = LocalSessionManager::default();
        local.session_config = config;
        Self { local, limit, used: Mutex::default() }
    }

    /// Returns how many sessions there are.
    pub fn count(&self) -> usize {
        self.used.lock().len()
    }

    fn touch(&self, id: &SessionId) {
        self.used.lock().insert(id.clone(), Instant::now());
    }

    fn oldest_beyond_limit(&self) -> Option<SessionId> {
        let used = self.used.lock();
        if used.len() < self.limit {
            return None;
        }
        used.iter().min_by_key(|(_, used)| **used).map(|(id, _)| id.clone())
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
            tracing::warn!(limit = self.limit, "oldest session closed to make room");
            self.close_session(&oldest).await?;
        }
        let (id, transport) = self.local.create_session().await?;
        self.touch(&id);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool> {
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<()> {
        self.used.lock().remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.touch(id);
        let session = self.handle(id).await?;
        let mut receiver = session.establish_request_wise_channel().await?;
        if let Some(request) = receiver.http_request_id {
            message.insert_extension(PostStream { session: session.clone(), request });
        }
        session.push_message(message, receiver.http_request_id).await?;
        Ok(futures_util::stream::poll_fn(move |context| receiver.inner.poll_recv(context)))
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
        let mut receiver = self.handle(id).await?.establish_common_channel().await?;
        Ok(futures_util::stream::poll_fn(move |context| receiver.inner.poll_recv(context)))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.touch(id);
        let mut receiver = self.handle(id).await?.resume(last_event_id.parse()?).await?;
        Ok(futures_util::stream::poll_fn(move |context| receiver.inner.poll_recv(context)))
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>> {
        self.touch(&id);
        self.local.restore_session(id).await
    }
}

impl PostStream {
    /// Closes the stream; the client comes back for the rest after `retry`.
    pub async fn close(&self, retry: Duration) -> std::result::Result<(), SessionError> {
        self.session.close_sse_stream(self.request, Some(retry)).await
    }
}
