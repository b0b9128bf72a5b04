//! How much the apps of one web origin hold together, so that one page cannot fill the hub under many
//! names.
//!
//! Each session says what it holds: its logs, its state and its tools, in bytes. It gives that back
//! when it is forgotten. What is done at the limit is the session's business.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;

/// The accounts of all origins.
#[derive(Default)]
pub(crate) struct Origins {
    // A blocking mutex: held for one look-up, never across an await. An origin whose last session is
    // forgotten goes when the next one comes.
    held: Mutex<HashMap<String, Arc<AtomicUsize>>>,
}

/// One session's part of what its origin holds.
pub(crate) struct OriginShare {
    total: Arc<AtomicUsize>,
    own: usize,
}

impl Origins {
    /// Opens the share of a session.
    pub fn share(&self, origin: &str) -> OriginShare {
        let mut held = self.held.lock();
        held.retain(|_, total| Arc::strong_count(total) > 1);
        OriginShare { total: held.entry(origin.to_owned()).or_default().clone(), own: 0 }
    }
}

impl OriginShare {
    /// Says what the session holds now; returns what all of the origin hold.
    pub fn set(&mut self, bytes: usize) -> usize {
        self.total.fetch_add(bytes, Ordering::Relaxed);
        let before = std::mem::replace(&mut self.own, bytes);
        self.total.fetch_sub(before, Ordering::Relaxed) - before
    }
}

impl Drop for OriginShare {
    fn drop(&mut self) {
        self.total.fetch_sub(self.own, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_an_origin_are_counted_together_until_they_are_forgotten() {
        let origins = Origins::default();
        let mut first = origins.share("http://localhost:1");
        let mut second = origins.share("http://localhost:1");
        let mut other = origins.share("http://localhost:2");
        assert_eq!(first.set(10), 10);
        assert_eq!(second.set(5), 15);
        assert_eq!(first.set(2), 7);
        assert_eq!(other.set(1), 1);
        drop(second);
        assert_eq!(first.set(2), 2);
        drop(first);
        assert_eq!(origins.share("http://localhost:1").set(0), 0);
        assert_eq!(origins.held.lock().len(), 2, "the other one is still there");
    }
}
