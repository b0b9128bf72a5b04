//! What one connection remembers: the log level, subscriptions and folders of an older client.
//!
//! Self-contained requests use none of it except the end of the stream. `rmcp` drops the handler
//! when its connection is over, and with it the feed that pushes changes to an older client.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rmcp::{
    Peer, RoleServer,
    model::{
        PromptListChangedNotification, ResourceListChangedNotification,
        ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerNotification,
        SubscriptionFilter, ToolListChangedNotification,
    },
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{Change, Changes, call::Severity, changes::Mailbox, roots::AnnouncedRoots};

/// State with the lifetime of one connection.
#[derive(Default)]
pub(crate) struct Connection {
    /// Cancelled when the client will send nothing more, so that listeners end at once.
    pub(crate) ended: CancellationToken,
    /// Cancelled when nobody will read an answer any more.
    pub(crate) gone: CancellationToken,
    // Blocking mutexes: each held for one assignment or search, never across an await.
    level: Mutex<Severity>,
    accepted: Mutex<Vec<(SubscriptionFilter, Mailbox)>>,
    feed: OnceLock<Feed>,
    /// The folders that an older client works in.
    pub(crate) roots: Arc<AnnouncedRoots>,
}

/// Pushes changes to an older client until the connection is dropped.
struct Feed {
    mailbox: Arc<Mailbox>,
    _end: DropGuard,
}

impl Connection {
    /// Returns the least severe message that an older client wants.
    pub(crate) fn level(&self) -> Severity {
        *self.level.lock()
    }

    /// Sets the least severe message that an older client wants.
    pub(crate) fn set_level(&self, level: Severity) {
        *self.level.lock() = level;
    }

    /// Returns the mailbox of an older client, whose feed starts with the first use.
    pub(crate) fn feed(
        &self,
        changes: &Changes,
        peer: &Peer<RoleServer>,
        tasks: &TaskTracker,
    ) -> &Mailbox {
        &self.feed.get_or_init(|| Feed::start(changes, peer.clone(), tasks)).mailbox
    }

    /// Keeps the mailbox of a listener from before its acknowledgement until it listens, so
    /// that a change right after the acknowledgement is not missed.
    pub(crate) fn keep(&self, filter: &SubscriptionFilter, mailbox: Mailbox) {
        self.accepted.lock().push((filter.clone(), mailbox));
    }

    /// Returns a kept mailbox. Listeners with equal filters may swap theirs.
    pub(crate) fn take(&self, filter: &SubscriptionFilter) -> Option<Mailbox> {
        let mut accepted = self.accepted.lock();
        let index = accepted.iter().position(|(kept, _)| kept == filter)?;
        Some(accepted.swap_remove(index).1)
    }
}

impl Feed {
    fn start(changes: &Changes, peer: Peer<RoleServer>, tasks: &TaskTracker) -> Self {
        let lists = [Change::Tools, Change::Prompts, Change::Resources];
        let mailbox = Arc::new(changes.open(lists));
        let end = CancellationToken::new();
        tasks.spawn(end.clone().run_until_cancelled_owned(push(mailbox.clone(), peer)));
        Self { mailbox, _end: end.drop_guard() }
    }
}

async fn push(mailbox: Arc<Mailbox>, peer: Peer<RoleServer>) {
    loop {
        for change in mailbox.next().await {
            if let Err(error) = peer.send_notification(notification(change)).await {
                tracing::debug!(%error, "client no longer hears of changes");
                return;
            }
        }
    }
}

/// Returns the message that tells a client of `change`.
pub(crate) fn notification(change: Change) -> ServerNotification {
    match change {
        Change::Tools => ToolListChangedNotification::default().into(),
        Change::Prompts => PromptListChangedNotification::default().into(),
        Change::Resources => ResourceListChangedNotification::default().into(),
        Change::Resource(uri) => {
            ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(uri)).into()
        }
    }
}
