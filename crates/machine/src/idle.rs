//! When a hub that was started in the background may end: after nobody was there for a while.
//!
//! Relays are guests for as long as they are connected, requests over HTTP only leave the time
//! of their visit, and whoever else counts is asked for when the time is up. It tells when; the
//! ending is the caller's.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{self, Instant},
};

/// Into how many parts the patience is cut when somebody else was there at its end.
const PARTS: u32 = 4;

/// Watches who is there. Clones share it.
#[derive(Debug, Clone)]
pub struct IdleExit {
    patience: Duration,
    visits: Arc<watch::Sender<Visits>>,
}

/// Somebody who is there until this is dropped.
#[derive(Debug)]
pub struct Guest(Arc<watch::Sender<Visits>>);

#[derive(Debug, Clone, Copy)]
struct Visits {
    guests: usize,
    last: Instant,
}

impl IdleExit {
    /// Ends after nobody was there for `patience`; the time begins now.
    pub fn new(patience: Duration) -> Self {
        let visits = Visits { guests: 0, last: Instant::now() };
        Self { patience, visits: Arc::new(watch::Sender::new(visits)) }
    }

    /// Counts somebody until the result is dropped.
    pub fn enter(&self) -> Guest {
        self.visits.send_modify(|visits| visits.guests += 1);
        Guest(self.visits.clone())
    }

    /// Notes that somebody was there a moment ago.
    pub fn touch(&self) {
        // Nobody is woken: the time is looked at when it seems to be over.
        self.visits.send_if_modified(|visits| {
            visits.last = Instant::now();
            false
        });
    }

    /// Waits until it is time. `anybody` is asked when no guest was there for long enough; while
    /// it says yes, it is asked again every quarter of the time. Cancel-safe: it only waits.
    pub async fn wait(&self, anybody: impl AsyncFn() -> bool) {
        let mut visits = self.visits.subscribe();
        let mut not_before = Instant::now();
        loop {
            let seen = *visits.borrow_and_update();
            let at = (seen.last + self.patience).max(not_before);
            if seen.guests > 0 {
                // The sender is ours, so it is there.
                let _ = visits.changed().await;
            } else if at > Instant::now() {
                // Woken by a new guest, or to look again at the time.
                let _ = time::timeout_at(at, visits.changed()).await;
            } else if anybody().await {
                not_before = Instant::now() + self.patience / PARTS;
            } else {
                return;
            }
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.send_modify(|visits| {
            visits.guests -= 1;
            visits.last = Instant::now();
        });
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(900);

    /// Does something in a while, and returns after how long it was time to end.
    async fn ends_after(idle: IdleExit, meanwhile: impl Future<Output = ()>) -> u64 {
        let started = Instant::now();
        let wait = async {
            idle.wait(async || false).await;
            started.elapsed().as_secs()
        };
        tokio::join!(wait, meanwhile).0
    }

    #[tokio::test(start_paused = true)]
    async fn without_anybody_it_is_time_after_the_patience() {
        assert_eq!(ends_after(IdleExit::new(PATIENCE), async {}).await, 900);
    }

    #[tokio::test(start_paused = true)]
    async fn guests_hold_it_until_the_last_has_left() {
        let idle = IdleExit::new(PATIENCE);
        let first = idle.enter();
        let meanwhile = {
            let idle = idle.clone();
            async move {
                time::sleep(Duration::from_secs(5000)).await;
                let second = idle.enter();
                drop(first);
                time::sleep(Duration::from_secs(1000)).await;
                drop(second);
            }
        };
        assert_eq!(ends_after(idle, meanwhile).await, 6900);
    }

    #[tokio::test(start_paused = true)]
    async fn a_visit_begins_the_time_anew() {
        let idle = IdleExit::new(PATIENCE);
        let meanwhile = {
            let idle = idle.clone();
            async move {
                for _ in 0..3 {
                    time::sleep(Duration::from_secs(800)).await;
                    idle.touch();
                }
            }
        };
        assert_eq!(ends_after(idle, meanwhile).await, 2400 + 900);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_else_is_there_is_asked_for_now_and_then() {
        let idle = IdleExit::new(PATIENCE);
        let (started, asked) = (Instant::now(), Cell::new(0));
        idle.wait(async || {
            asked.set(asked.get() + 1);
            asked.get() < 4
        })
        .await;
        assert_eq!(started.elapsed().as_secs(), 900 + 3 * 225);
    }
}
