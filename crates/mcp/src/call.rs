//! One request on its way: who asked, whether they still wait, and what they can be told.
//!
//! Wraps `rmcp`'s context so that a backend needs to know neither eras nor transports. Sends
//! progress and log messages only to clients that asked for them.

#![expect(deprecated, reason = "the logging types are deprecated, but older clients use them")]

use std::path::PathBuf;

use http::request::Parts;
use rmcp::{
    RoleServer,
    model::{
        Implementation, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
    },
    service::RequestContext,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tools::Workplace;

use crate::{Caller, Era, backend::Answer, large_answers::AnswerRoom, sessions::PostStream};

/// Where a request says under which key it is made.
pub const IDEMPOTENCY_KEY: &str = "tabwire/idempotencyKey";

/// A log level that can be compared; the default lets everything through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Severity(u8);

/// The context of one request.
pub struct Call {
    /// What `rmcp` knows of it.
    pub context: RequestContext<RoleServer>,
    era: Era,
    caller: Caller,
    /// The least severe message to send; `None` sends none.
    threshold: Option<Severity>,
    /// The transport's; none where it limits nothing.
    room: Option<AnswerRoom>,
}

impl Call {
    pub(crate) fn new(
        context: RequestContext<RoleServer>,
        fallback: &Caller,
        level: Severity,
    ) -> Self {
        let era = Era::of(&context);
        let caller = Caller::of(&context.extensions, fallback);
        let threshold = match era {
            Era::Legacy => Some(level),
            Era::Modern => context.meta.log_level().map(Severity::from),
        };
        // Of a stream, or of a request over HTTP.
        let over_http = || context.extensions.get::<Parts>()?.extensions.get::<AnswerRoom>();
        let room = context.extensions.get::<AnswerRoom>().or_else(over_http).cloned();
        Self { context, era, caller, threshold, room }
    }

    /// Waits until an answer of so many bytes may be made.
    pub async fn make_room(&self, bytes: usize) -> Answer<()> {
        match &self.room {
            Some(room) => room.reserve(bytes).await,
            None => Ok(()),
        }
    }

    /// Returns which rules the request follows.
    pub fn era(&self) -> Era {
        self.era
    }

    /// Returns who sent it.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Adds folders that a client on this machine has announced.
    pub(crate) fn announce_roots(&mut self, folders: Vec<PathBuf>) {
        if let Workplace::Here { roots, .. } = &mut self.caller.workplace {
            roots.extend(folders);
        }
    }

    /// Returns the client's own name and version, where it gave them.
    pub fn client(&self) -> Option<Implementation> {
        self.context.client_info()
    }

    /// Returns the W3C trace context of the request.
    pub fn traceparent(&self) -> Option<&str> {
        self.context.meta.get_traceparent()
    }

    /// Returns the client's key for this call, under which it is made once.
    pub fn idempotency_key(&self) -> Option<&str> {
        self.context.meta.get(IDEMPOTENCY_KEY)?.as_str()
    }

    /// Returns the token that is cancelled when nobody waits for the answer any more.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.context.ct
    }

    /// Returns the response stream of an older client's request, which may be closed and resumed.
    pub fn post_stream(&self) -> Option<&PostStream> {
        self.context.extensions.get::<PostStream>()
    }

    /// Tells how far the call is; `progress` must grow. Does nothing for clients that did not ask.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let mut parameters = ProgressNotificationParam::new(token, progress);
        parameters.total = total;
        parameters.message = message;
        if let Err(error) = self.context.peer.notify_progress(parameters).await {
            tracing::debug!(%error, "progress not delivered");
        }
    }

    /// Sends a log message, if the client wants messages of this level.
    pub async fn log(&self, level: LoggingLevel, data: impl Into<Value>) {
        if self.threshold.is_none_or(|threshold| Severity::from(level) < threshold) {
            return;
        }
        let message = LoggingMessageNotificationParam::new(level, data.into());
        if let Err(error) = self.context.peer.notify_logging_message(message).await {
            tracing::debug!(%error, "log message not delivered");
        }
    }
}

impl From<LoggingLevel> for Severity {
    fn from(level: LoggingLevel) -> Self {
        Self(match level {
            LoggingLevel::Debug => 0,
            LoggingLevel::Info => 1,
            LoggingLevel::Notice => 2,
            LoggingLevel::Warning => 3,
            LoggingLevel::Error => 4,
            LoggingLevel::Critical => 5,
            LoggingLevel::Alert => 6,
            LoggingLevel::Emergency => 7,
        })
    }
}
