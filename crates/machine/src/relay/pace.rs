//! How often a relay that has no hub looks for one: quickly at first, then with jitter, so that
//! many relays do not come all at once.

use std::time::Duration;

use tokio::time::Instant;

/// The shortest time from one attempt to the next.
const QUICK: Duration = Duration::from_millis(100);
/// How long attempts are quick.
const EAGER: Duration = Duration::from_secs(5);
/// The longest time from one attempt to the next.
const SLOW: Duration = Duration::from_secs(2);

/// When to try next.
#[derive(Debug)]
pub(super) struct Pace {
    since: Instant,
    tried: Option<Instant>,
    next: Instant,
}

impl Pace {
    /// Begins; the first attempt is at once.
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, tried: None, next: now }
    }

    /// Returns when the next attempt is.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Notes an attempt; one that may start no hub is for nobody who waits, and is not hurried.
    pub(super) fn tried(&mut self, now: Instant, may_start: bool) {
        self.tried = Some(now);
        let quick = now - self.since < EAGER && may_start;
        self.next = now + if quick { QUICK } else { jitter() };
    }

    /// Makes the next attempt as soon as may be: somebody waits now.
    pub(super) fn hurry(&mut self, now: Instant) {
        let soon = self.tried.map_or(now, |tried| tried + QUICK);
        self.next = self.next.min(soon);
    }
}

fn jitter() -> Duration {
    let range = (SLOW - QUICK).as_millis() as u64;
    QUICK + Duration::from_millis(model::id::random_number() % (range + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_quick_for_a_while_and_then_spread() {
        let begun = Instant::now();
        let mut pace = Pace::new(begun);
        assert_eq!(pace.next(), begun);
        let mut quick = 0;
        while pace.next() < begun + EAGER {
            let now = pace.next();
            pace.tried(now, true);
            assert_eq!(pace.next() - now, QUICK);
            quick += 1;
        }
        assert_eq!(quick, 50);
        for _ in 0..1000 {
            let now = pace.next();
            pace.tried(now, true);
            assert!((QUICK..=SLOW).contains(&(pace.next() - now)));
        }
    }

    #[test]
    fn whoever_waits_for_nothing_is_slow_until_something_comes() {
        let begun = Instant::now();
        let mut pace = Pace::new(begun);
        for _ in 0..100 {
            pace.tried(begun, false);
            pace.hurry(begun);
            assert!(pace.next() <= begun + QUICK);
        }
    }
}
