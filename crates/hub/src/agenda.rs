//! What the hub has to do later: a list of times that [`crate::Hub::run`] works off.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, Weak},
    time::Duration,
};

use model::CallId;
use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

use crate::session::Session;

/// Something to do.
pub enum Due {
    /// Tell the browser how far its log was received.
    Ack(Weak<Session>),
    /// Write the newest state down.
    KeepState(Weak<Session>),
    /// Ask for what the store would not take.
    AskAgain(Weak<Session>),
    /// Free the tab that an abandoned call reserves.
    Release(Weak<Session>, CallId),
    /// Ask for the whole state, because what is known does not add up.
    Refresh(Weak<Session>),
    /// End the calls that wait for a browser which lost this connection.
    GiveUp(Weak<Session>, u64),
    /// Say that the tools of an app which stayed away are no longer listed.
    Unlist(Weak<Session>),
    /// Drop a session whose browser stayed away.
    Forget(Weak<Session>),
    /// Drop messages that are too old, in all sessions.
    Sweep,
}

/// The list. Clones share it.
#[derive(Clone, Default)]
pub struct Agenda {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    // A blocking mutex: held for one heap operation, never across an await.
    items: Mutex<BinaryHeap<Reverse<Item>>>,
    sooner: Notify,
}

struct Item {
    at: Instant,
    due: Due,
}

impl Agenda {
    /// Enters something to be done after a while.
    pub fn after(&self, delay: Duration, due: Due) {
        let item = Item { at: Instant::now() + delay, due };
        let mut items = self.shared.items.lock();
        let sooner = items.peek().is_none_or(|Reverse(first)| item.at < first.at);
        items.push(Reverse(item));
        drop(items);
        if sooner {
            self.shared.sooner.notify_one();
        }
    }

    /// Waits for the next thing to do. Cancel-safe: nothing is taken before it is returned.
    pub async fn next(&self) -> Due {
        loop {
            let first = self.shared.items.lock().peek().map(|Reverse(first)| first.at);
            match first {
                Some(at) if at <= Instant::now() => {
                    if let Some(Reverse(item)) = self.shared.items.lock().pop() {
                        return item.due;
                    }
                }
                Some(at) => {
                    // Both arms are cancel-safe: a sleep and a permit-keeping notification.
                    tokio::select! {
                        () = tokio::time::sleep_until(at) => {}
                        () = self.shared.sooner.notified() => {}
                    }
                }
                None => self.shared.sooner.notified().await,
            }
        }
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Item {}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}
