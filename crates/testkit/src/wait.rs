//! Waiting in tests: a deadline on everything, and conditions that are looked at until they hold.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

/// How long anything may take that should happen at once, on a machine that does much else too.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How often a condition is looked at.
const EVERY: Duration = Duration::from_millis(5);

/// Waits for something, and fails the test by name when it takes longer than the limit.
pub async fn within<T>(limit: Duration, what: &str, work: impl Future<Output = T>) -> T {
    match timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => panic!("{what}: not within {limit:?}"),
    }
}

/// Looks again and again until there is something to return; fails the test by name otherwise.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        sleep(EVERY).await;
    }
}
