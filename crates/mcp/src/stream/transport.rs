//! The transport between a byte stream and `rmcp`: one message per line, every fault answered.
//!
//! Lets a message through when there is room for it, else parks it; answers what is no message
//! itself. Writing is another task's; this one only queues.

use std::{sync::Arc, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use lines::{Line, Lines};
use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData,
        GetExtensions, GetMeta, JsonRpcError, ProtocolVersion, RequestId, ServerJsonRpcMessage,
    },
    transport::Transport,
};
use tokio::{
    io::{self, AsyncRead, BufReader},
    sync::mpsc,
    time::{self, Instant},
};
use tokio_util::sync::CancellationToken;

use super::{
    Limits, OutgoingLine,
    admission::{Backlog, Entry, OpenRequests},
};
use crate::{
    client_message::{decode, read_id},
    large_answers::{LargeAnswers, STREAM_ROOM},
};

/// The code of a request that was refused because too many are open.
const BUSY: ErrorCode = ErrorCode(-32000);

/// `rmcp` stops telling handlers what became of their notifications once the input has ended, and
/// then waits five seconds for handlers that wait for that. What is on its way gets this long.
const SETTLE: Duration = Duration::from_millis(50);

/// One client's stream, as `rmcp` sees it.
pub(super) struct LineTransport<R> {
    lines: Lines<BufReader<R>>,
    limits: Limits,
    open: Arc<OpenRequests>,
    /// `None` once closed.
    outbox: Option<mpsc::Sender<OutgoingLine>>,
    large: LargeAnswers,
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
    /// Reads from `input`, queues answers in `outbox`, and cancels `ended` at the input's end.
    pub(super) fn new(
        input: R,
        outbox: mpsc::Sender<OutgoingLine>,
        limits: Limits,
        ended: CancellationToken,
    ) -> Self {
        Self {
            lines: Lines::new(BufReader::new(input), limits.line),
            limits,
            open: Arc::default(),
            outbox: Some(outbox),
            large: LargeAnswers::with_room(STREAM_ROOM),
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
                let line = self.read().await?;
                self.take(line)?;
            }
        }
    }

    /// Returns the next line; `None` means that nobody would read the answer.
    async fn read(&mut self) -> Option<io::Result<Line>> {
        let outbox = self.outbox.as_ref()?;
        // Both arms are cancel-safe: one by its own promise, the other only waits.
        tokio::select! {
            line = self.lines.next() => Some(line),
            () = outbox.closed() => None,
        }
    }

    /// Parks what a line says, or its refusal; `None` ends the stream.
    fn take(&mut self, line: io::Result<Line>) -> Option<()> {
        let read = match line {
            Ok(Line::Whole(line)) if is_blank(&line) => return Some(()),
            Ok(Line::Whole(line)) => decode(&line),
            Ok(Line::TooLong(id)) => Err(too_long(id.as_deref(), self.limits.line)),
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
        if let ClientJsonRpcMessage::Request(request) = self.parked.as_mut()? {
            let room = self.large.open();
            match self.open.enter(&request.id, &room, &self.limits).await {
                Entry::Entered => {
                    self.settled |= settles(&request.request);
                    request.request.extensions_mut().insert(room);
                }
                Entry::InUse => return self.reject(ErrorCode::INVALID_REQUEST, "the id is in use"),
                Entry::Full => return self.reject(BUSY, "too many requests are open; try later"),
            }
        }
        let message = self.parked.take()?;
        if let Some(id) = cancelled(&message) {
            drop(self.open.leave(id));
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
        if let Some(bytes) = self.refusal.take() {
            room.send(OutgoingLine { bytes, _room: None });
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
            let bytes = encode(&message)?;
            // Before it is sent: a client that has its answer may use the id again at once.
            let room = answered(&message).and_then(|id| open.leave(id));
            let line = OutgoingLine { bytes, _room: room };
            drop(message);
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

fn too_long(id: Option<&str>, limit: usize) -> JsonRpcError {
    let message = format!("the line is longer than {limit} bytes");
    JsonRpcError::new(id.and_then(read_id), ErrorData::invalid_request(message, None))
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
