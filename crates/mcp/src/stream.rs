//! Serves one client on a byte stream: standard input and output, or a relay's socket.
//!
//! `rmcp`'s own line transport ignores broken lines, forgets requests whose ids are in use, and
//! takes in requests without end while their answers are not read. This one answers each fault,
//! stops reading while answers pile up, and ends when a peer talks nothing but nonsense.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetMeta,
        JsonRpcError, ProtocolVersion, RequestId, ServerJsonRpcMessage,
    },
    service::{ServerInitializeError, serve_server_with_ct},
    transport::{Transport, TransportAdapterIdentity},
};
use tokio::{
    io::{self, AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{Notify, mpsc},
    time::{self, Instant},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    Backend, Caller, Mcp,
    lines::{Line, Lines, refusal},
};

/// The code of a request that was refused because too many are open.
const BUSY: ErrorCode = ErrorCode(-32000);

/// `rmcp` stops telling handlers what became of their notifications once the input has ended, and then
/// waits five seconds for handlers that wait for that. What is on its way gets this long to arrive.
const SETTLE: Duration = Duration::from_millis(50);

/// Limits of one stream.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest line.
    pub line: usize,
    /// The most requests without an answer.
    pub open: usize,
    /// How long a client with so many may wait for one of them to end; then more are refused.
    pub patience: Duration,
    /// The most answers that wait to be written before reading pauses.
    pub unwritten: usize,
    /// Faults in a row after which the stream ends.
    pub faults: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: 16 << 20,
            open: 256,
            patience: Duration::from_secs(5),
            unwritten: 64,
            faults: 100,
        }
    }
}

/// How a stream ended.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The client's first message could not be answered.
    #[error("the stream could not be opened")]
    Open(#[source] Box<ServerInitializeError>),
    /// The task that serves the stream failed.
    #[error("the stream failed")]
    Failed(#[source] tokio::task::JoinError),
}

/// Serves one client until its input ends or the server stops.
pub async fn serve<B: Backend>(
    mcp: &Mcp<B>,
    caller: Caller,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    limits: Limits,
) -> Result<(), StreamError> {
    // Full means that the client does not read: senders wait, and so does reading.
    let (outbox, queue) = mpsc::channel(limits.unwritten);
    let writer = AbortOnDropHandle::new(tokio::spawn(write(queue, output)));
    let outcome = converse(mcp, caller, input, outbox, limits).await;
    // What is left is written now, or by a client that does not read never.
    if time::timeout(limits.patience, writer).await.is_err() {
        tracing::debug!("the last answers were not read");
    }
    outcome
}

async fn converse<B: Backend>(
    mcp: &Mcp<B>,
    caller: Caller,
    input: impl AsyncRead + Unpin + Send + 'static,
    outbox: mpsc::Sender<Bytes>,
    limits: Limits,
) -> Result<(), StreamError> {
    let server = mcp.connection(caller);
    let transport = LineTransport::new(input, outbox, limits, server.connection.ended.clone());
    let stop = mcp.stop().child_token();
    let running =
        serve_server_with_ct::<_, _, _, TransportAdapterIdentity>(server, transport, stop).await;
    match running {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(StreamError::Failed),
        // A client that leaves without a word, or is not let finish its first, is no fault.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(StreamError::Open(Box::new(error))),
    }
}

struct LineTransport<R> {
    lines: Lines<R>,
    limits: Limits,
    open: Arc<OpenRequests>,
    /// `None` once closed.
    outbox: Option<mpsc::Sender<Bytes>>,
    unwritten: Arc<Backlog>,
    ended: CancellationToken,
    /// A message that waits for room.
    parked: Option<ClientJsonRpcMessage>,
    /// An answer of our own that waits to be sent.
    refusal: Option<Bytes>,
    faults: usize,
    /// Set when the input has ended.
    leaves_at: Option<Instant>,
    /// Whether the era is settled; until then `rmcp` ends the stream on anything but a request.
    settled: bool,
}

impl<R: AsyncRead + Unpin + Send> LineTransport<R> {
    fn new(
        input: R,
        outbox: mpsc::Sender<Bytes>,
        limits: Limits,
        ended: CancellationToken,
    ) -> Self {
        Self {
            lines: Lines::new(input, limits.line),
            limits,
            open: Arc::default(),
            outbox: Some(outbox),
            unwritten: Arc::default(),
            ended,
            parked: None,
            refusal: None,
            faults: 0,
            leaves_at: None,
            settled: false,
        }
    }

    /// Returns the next message, or `None` when there will be no more. Cancel-safe: whatever was
    /// taken from the stream is in `self` before the next await.
    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.unwritten.below(self.limits.unwritten).await;
            self.send_refusal().await?;
            if let Some(message) = self.unpark().await {
                return Some(message);
            }
            if self.refusal.is_none() {
                let line = self.lines.next().await;
                self.take(line)?;
            }
        }
    }

    /// Parks what a line says, or its refusal; `None` ends the stream.
    fn take(&mut self, line: io::Result<Line>) -> Option<()> {
        let read = match line {
            Ok(Line::Whole(line)) if is_blank(&line) => return Some(()),
            Ok(Line::Whole(line)) => decode(&line),
            Ok(Line::TooLong(id)) => Err(too_long(id, self.limits.line)),
            Ok(Line::End) => return None,
            Err(error) => {
                tracing::debug!(%error, "input failed");
                return None;
            }
        };
        match read {
            Ok(message) => {
                self.faults = 0;
                self.parked = Some(message);
            }
            Err(_) if self.faults >= self.limits.faults => {
                tracing::warn!(limit = self.limits.faults, "too many faults in a row");
                return None;
            }
            Err(error) => {
                self.faults += 1;
                self.refuse(error);
            }
        }
        Some(())
    }

    /// Lets the parked message through as soon as there is room for it.
    async fn unpark(&mut self) -> Option<ClientJsonRpcMessage> {
        if let ClientJsonRpcMessage::Request(request) = self.parked.as_ref()? {
            match self.open.enter(&request.id, &self.limits).await {
                Entry::Entered => self.settled |= settles(&request.request),
                Entry::InUse => return self.reject(ErrorCode::INVALID_REQUEST, "the id is in use"),
                Entry::Full => return self.reject(BUSY, "too many requests are open; try later"),
            }
        }
        let message = self.parked.take()?;
        if let Some(id) = cancelled(&message) {
            self.open.leave(id);
        }
        let welcome = self.settled || matches!(message, ClientJsonRpcMessage::Request(_));
        welcome.then_some(message)
    }

    fn reject(&mut self, code: ErrorCode, text: &'static str) -> Option<ClientJsonRpcMessage> {
        let (_, id) = self.parked.take()?.into_request()?;
        self.refuse(JsonRpcError::new(Some(id), ErrorData::new(code, text, None)));
        None
    }

    fn refuse(&mut self, error: JsonRpcError) {
        self.refusal = encode(&ServerJsonRpcMessage::Error(error)).ok();
    }

    /// Sends a waiting refusal; `None` means that nobody writes any more.
    async fn send_refusal(&mut self) -> Option<()> {
        let room = self.outbox.as_ref()?.reserve().await.ok()?;
        if let Some(line) = self.refusal.take() {
            room.send(line);
        }
        Some(())
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outbox = self.outbox.clone();
        let open = self.open.clone();
        let counted = self.unwritten.clone().count();
        async move {
            let outbox = outbox.ok_or(io::ErrorKind::NotConnected)?;
            let line = encode(&message)?;
            // Before it is sent: a client that has its answer may use the id again at once.
            if let Some(id) = answered(&message) {
                open.leave(id);
            }
            let sent = outbox.send(line).await;
            drop(counted);
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        if self.leaves_at.is_none() {
            if let Some(message) = self.next().await {
                return Some(message);
            }
            self.ended.cancel();
            self.leaves_at = Some(Instant::now() + SETTLE);
        }
        // `rmcp` polls this anew after each of its events; the time is kept, so it is cancel-safe.
        time::sleep_until(self.leaves_at?).await;
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outbox = None;
        Ok(())
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

fn decode(line: &[u8]) -> Result<ClientJsonRpcMessage, JsonRpcError> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    serde_json::from_slice(line).map_err(|_| refusal(line))
}

/// Tells whether `rmcp` leaves its opening phase with this request.
fn settles(request: &ClientRequest) -> bool {
    let meta = request.get_meta();
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        _ => {
            let known = |version| ProtocolVersion::KNOWN_VERSIONS.contains(&version);
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(known)
        }
    }
}

fn too_long(id: Option<RequestId>, limit: usize) -> JsonRpcError {
    let message = format!("the line is longer than {limit} bytes");
    JsonRpcError::new(id, ErrorData::invalid_request(message, None))
}

fn cancelled(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    let ClientJsonRpcMessage::Notification(message) = message else { return None };
    match &message.notification {
        ClientNotification::CancelledNotification(cancelled) => {
            cancelled.params.request_id.as_ref()
        }
        _ => None,
    }
}

fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

fn encode(message: &ServerJsonRpcMessage) -> io::Result<Bytes> {
    let mut line = BytesMut::new().writer();
    serde_json::to_writer(&mut line, message)?;
    let mut line = line.into_inner();
    line.put_u8(b'\n');
    Ok(line.freeze())
}

/// Writes lines, flushing when there is nothing more to write.
async fn write(mut queue: mpsc::Receiver<Bytes>, mut output: impl AsyncWrite + Unpin) {
    while let Some(line) = queue.recv().await {
        if let Err(error) = write_ready(line, &mut queue, &mut output).await {
            tracing::debug!(%error, "output failed");
            return;
        }
    }
    if let Err(error) = output.shutdown().await {
        tracing::debug!(%error, "output not closed");
    }
}

async fn write_ready(
    first: Bytes,
    queue: &mut mpsc::Receiver<Bytes>,
    output: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    output.write_all(&first).await?;
    while let Ok(line) = queue.try_recv() {
        output.write_all(&line).await?;
    }
    output.flush().await
}

/// The requests that have no answer yet.
#[derive(Default)]
struct OpenRequests {
    // A blocking mutex: held for one set operation, never across an await.
    table: Mutex<Table>,
    left: Notify,
}

#[derive(Default)]
struct Table {
    ids: HashSet<RequestId>,
    /// Since when there has been no room at all.
    full_since: Option<Instant>,
}

/// What came of entering a request.
enum Entry {
    Entered,
    InUse,
    Full,
}

impl OpenRequests {
    /// Enters `id`, after a wait for room if need be. Cancel-safe.
    async fn enter(&self, id: &RequestId, limits: &Limits) -> Entry {
        loop {
            let left = self.left.notified();
            let full_since = match self.table.lock().enter(id, limits.open) {
                Ok(entry) => return entry,
                Err(full_since) => full_since,
            };
            if time::timeout_at(full_since + limits.patience, left).await.is_err() {
                return Entry::Full;
            }
        }
    }

    fn leave(&self, id: &RequestId) {
        let mut table = self.table.lock();
        if table.ids.remove(id) {
            table.full_since = None;
            self.left.notify_waiters();
        }
    }
}

impl Table {
    /// Enters `id`, or says since when there has been no room.
    fn enter(&mut self, id: &RequestId, limit: usize) -> Result<Entry, Instant> {
        if self.ids.contains(id) {
            return Ok(Entry::InUse);
        }
        if let Some(full_since) = self.full_since {
            return Err(full_since);
        }
        self.ids.insert(id.clone());
        self.full_since = (self.ids.len() >= limit).then(Instant::now);
        Ok(Entry::Entered)
    }
}

/// Counts messages that wait for the client to read.
#[derive(Default)]
struct Backlog {
    waiting: AtomicUsize,
    fewer: Notify,
}

struct Counted(Arc<Backlog>);

impl Backlog {
    fn count(self: Arc<Self>) -> Counted {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        Counted(self)
    }

    async fn below(&self, limit: usize) {
        loop {
            let fewer = self.fewer.notified();
            if self.waiting.load(Ordering::Acquire) < limit {
                return;
            }
            fewer.await;
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
        self.0.fewer.notify_waiters();
    }
}
