//! Announces that a list or a resource changed, to whoever asked to hear of it.
//!
//! Every listener has a [`Mailbox`] that remembers *what* changed, not how often: a slow client
//! hears of each thing once and costs no memory beyond its own interest. Announcing never waits.
//! Nothing is sent here; the owner of a mailbox does that.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Something that a client may want to fetch again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// One resource, by its URI.
    Resource(String),
}

/// The register of mailboxes. Clones share it.
#[derive(Clone, Default)]
pub struct Changes {
    // A blocking mutex: held for one pass over the mailboxes, never across an await.
    register: Arc<Mutex<Register>>,
}

#[derive(Default)]
struct Register {
    last_id: u64,
    mailboxes: HashMap<u64, Arc<Slot>>,
}

#[derive(Default)]
struct Slot {
    // A blocking mutex: held for one set operation, never across an await.
    content: Mutex<Content>,
    arrived: Notify,
}

#[derive(Default)]
struct Content {
    interest: BTreeSet<Change>,
    waiting: BTreeSet<Change>,
}

/// What one listener wants to hear of and has not been told yet. Closes when dropped.
pub struct Mailbox {
    id: u64,
    slot: Arc<Slot>,
    changes: Changes,
}

impl Changes {
    /// Puts `change` into every mailbox that is interested in it.
    pub fn announce(&self, change: &Change) {
        for slot in self.register.lock().mailboxes.values() {
            slot.deliver(change);
        }
    }

    /// Opens a mailbox; whatever is announced from here on is in it.
    pub fn open(&self, interest: impl IntoIterator<Item = Change>) -> Mailbox {
        let slot = Arc::new(Slot::default());
        slot.content.lock().interest.extend(interest);
        let mut register = self.register.lock();
        register.last_id += 1;
        let id = register.last_id;
        register.mailboxes.insert(id, slot.clone());
        Mailbox { id, slot, changes: self.clone() }
    }

    /// Returns how many mailboxes are open.
    pub fn listeners(&self) -> usize {
        self.register.lock().mailboxes.len()
    }
}

impl Slot {
    fn deliver(&self, change: &Change) {
        let mut content = self.content.lock();
        if content.interest.contains(change) && content.waiting.insert(change.clone()) {
            self.arrived.notify_one();
        }
    }
}

impl Mailbox {
    /// Adds to what this listener wants to hear of.
    pub fn add(&self, change: Change) {
        self.slot.content.lock().interest.insert(change);
    }

    /// Removes from it; what is already waiting is forgotten too.
    pub fn remove(&self, change: &Change) {
        let mut content = self.slot.content.lock();
        content.interest.remove(change);
        content.waiting.remove(change);
    }

    /// Waits until something changed and returns all of it. Cancel-safe.
    pub async fn next(&self) -> BTreeSet<Change> {
        loop {
            let waiting = std::mem::take(&mut self.slot.content.lock().waiting);
            if !waiting.is_empty() {
                return waiting;
            }
            self.slot.arrived.notified().await;
        }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.changes.register.lock().mailboxes.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn repeated_changes_arrive_once_and_others_not_at_all() {
        let changes = Changes::default();
        let mailbox = changes.open([Change::Tools, Change::Resource("a".into())]);
        for _ in 0..3 {
            changes.announce(&Change::Tools);
        }
        changes.announce(&Change::Prompts);
        changes.announce(&Change::Resource("b".into()));
        changes.announce(&Change::Resource("a".into()));
        let expected = BTreeSet::from([Change::Tools, Change::Resource("a".into())]);
        assert_eq!(mailbox.next().await, expected);
    }

    #[tokio::test]
    async fn an_announcement_wakes_a_waiting_listener() {
        let changes = Changes::default();
        let mailbox = changes.open([Change::Prompts]);
        let announcer = changes.clone();
        let (heard, ()) = tokio::join!(mailbox.next(), async move {
            tokio::task::yield_now().await;
            announcer.announce(&Change::Prompts);
        });
        assert_eq!(heard, BTreeSet::from([Change::Prompts]));
    }

    #[test]
    fn a_dropped_mailbox_leaves_the_register() {
        let changes = Changes::default();
        let mailbox = changes.open([Change::Tools]);
        assert_eq!(changes.listeners(), 1);
        drop(mailbox);
        assert_eq!(changes.listeners(), 0);
    }
}
