//! Whether the hub has just slept, stopped by a signal. A machine that sleeps is not noticed where its
//! clock stands still meanwhile, as it does on Linux.
//!
//! What was asked of it meanwhile may long have been given up by whoever asked, and word of that
//! is right behind. A call that begins in such a moment waits until that word can have been read.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

/// How often the pulse beats.
pub const BEAT: Duration = Duration::from_millis(500);
/// A beat that is this late means that we slept.
const LATE: Duration = Duration::from_secs(2);
/// For this long after a sleep calls may be from before it.
const SLEEP_AFTERMATH: Duration = Duration::from_secs(1);
/// How long a call waits then.
const READ_WITHIN: Duration = Duration::from_millis(600);

/// The hub's own sign of life.
#[derive(Default)]
pub struct Pulse {
    // A blocking mutex: held for one look, never across an await.
    beats: Mutex<Beats>,
}

#[derive(Default)]
struct Beats {
    last: Option<Instant>,
    /// When the last sleep ended, as far as was noticed.
    woken: Option<Instant>,
}

impl Beats {
    fn is_late(&self) -> bool {
        self.last.is_some_and(|last| last.elapsed() > LATE)
    }
}

impl Pulse {
    /// Beats.
    pub fn beat(&self) {
        let mut beats = self.beats.lock();
        if beats.is_late() {
            beats.woken = Some(Instant::now());
        }
        beats.last = Some(Instant::now());
    }

    /// Whether the hub has slept since then, or at least has woken: what it has not heard meanwhile
    /// says nothing about who should have said it.
    pub fn slept_since(&self, since: Instant) -> bool {
        let beats = self.beats.lock();
        beats.is_late() || beats.woken.is_some_and(|woken| woken > since)
    }

    /// Returns at once, or after a moment when the hub has just slept.
    pub async fn wait_until_read(&self) {
        let slept = {
            let beats = self.beats.lock();
            beats.is_late() || beats.woken.is_some_and(|woken| woken.elapsed() < SLEEP_AFTERMATH)
        };
        if slept {
            sleep(READ_WITHIN).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_sleep_is_remembered_by_who_waited_through_it() {
        let pulse = Pulse::default();
        pulse.beat();
        let before = Instant::now();
        tokio::time::advance(BEAT).await;
        pulse.beat();
        assert!(!pulse.slept_since(before));
        tokio::time::advance(LATE + BEAT).await;
        assert!(pulse.slept_since(before), "also before it was noticed");
        pulse.beat();
        tokio::time::advance(BEAT).await;
        pulse.beat();
        assert!(pulse.slept_since(before));
        assert!(!pulse.slept_since(Instant::now()), "who came later knows nothing of it");
    }

    #[tokio::test(start_paused = true)]
    async fn only_after_a_sleep_does_a_call_wait() {
        let pulse = Pulse::default();
        let started = Instant::now();
        pulse.wait_until_read().await;
        pulse.beat();
        pulse.wait_until_read().await;
        assert_eq!(started.elapsed(), Duration::ZERO);
        tokio::time::advance(Duration::from_secs(60)).await;
        let woken = Instant::now();
        pulse.wait_until_read().await;
        assert!(woken.elapsed() >= READ_WITHIN);
        pulse.beat();
        let noticed = Instant::now();
        pulse.wait_until_read().await;
        assert!(noticed.elapsed() >= READ_WITHIN, "also when the sleep was noticed first");
        tokio::time::advance(SLEEP_AFTERMATH).await;
        let later = Instant::now();
        pulse.wait_until_read().await;
        assert_eq!(later.elapsed(), Duration::ZERO);
    }
}
