//! Waiting for the disk: who must hear when something is on it.
//!
//! A number is told, and an ack sent, only once the store has it on disk, so that nothing that a
//! peer relies on is lost with the process. Nobody waits in a lock or on a thread: a session that
//! has something to say enters itself here and is called when the store is as far.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use store::Store;
use tokio::sync::watch;

use crate::session::Session;

/// How far the disk is, and who waits for it.
pub struct Disk {
    store: Arc<dyn Store>,
    synced: watch::Receiver<u64>,
    // A blocking mutex: held for one map operation, never across an await.
    waiting: Mutex<BTreeMap<u64, Vec<Weak<Session>>>>,
}

impl Disk {
    /// Looks at a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { synced: store.synced(), store, waiting: Mutex::default() }
    }

    /// Returns the number of the newest write: what was written just now, or something later.
    pub fn written(&self) -> u64 {
        self.store.written()
    }

    /// Returns up to which number everything is on disk.
    pub fn synced(&self) -> u64 {
        *self.synced.borrow()
    }

    /// Watches how far the disk is.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.synced.clone()
    }

    /// Waits until a write is on disk. Cancel-safe.
    pub async fn until(&self, write: u64) {
        let mut synced = self.synced.clone();
        // An error means that the store is closed: then nothing more will be on disk.
        let _ = synced.wait_for(|synced| *synced >= write).await;
    }

    /// Has a session called when a write is on disk.
    pub fn call_after(&self, write: u64, session: Weak<Session>) {
        self.waiting.lock().entry(write).or_default().push(session);
    }

    /// Returns how many calls are owed.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.waiting.lock().values().map(Vec::len).sum()
    }

    /// Takes out who waited for what is on disk now.
    pub fn ready(&self) -> Vec<Arc<Session>> {
        let synced = self.synced();
        let mut waiting = self.waiting.lock();
        let later = waiting.split_off(&(synced + 1));
        let ready = std::mem::replace(&mut *waiting, later);
        ready.into_values().flatten().filter_map(|session| session.upgrade()).collect()
    }
}
