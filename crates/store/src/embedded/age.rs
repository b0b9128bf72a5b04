//! How old audit lines are, by a clock that people can set.
//!
//! A line's age is what the lines after it tell: the time from each to the next, and from the
//! newest to now. A stretch without any line counts as [`PAUSE`] at most, and one in which the clock
//! went back as nothing, so that one wrong clock never ages a line by more than a pause. Nothing is
//! kept for this beside the lines, so it holds over restarts. Deletes nothing.

use std::time::{Duration, Instant};

use rusqlite::{Connection, Result};

use crate::wall_clock_ms;

/// The longest time without a line that counts: more is a clock that was set, or a hub that did
/// not run, and nobody can tell which.
pub(super) const PAUSE: Duration = Duration::from_secs(24 * 3600);

/// Returns the newest audit line that is older than it may be; all before it are older still.
pub(super) fn last_too_old(
    connection: &Connection,
    now_ms: u64,
    limit: Duration,
) -> Result<Option<i64>> {
    let mut statement =
        connection.prepare_cached("SELECT number, at_ms FROM audit ORDER BY number DESC")?;
    let mut rows = statement.query([])?;
    let (mut age, mut later_ms) = (Duration::ZERO, now_ms);
    while let Some(row) = rows.next()? {
        let at_ms = row.get::<_, i64>(1)?.cast_unsigned();
        age += Duration::from_millis(later_ms.saturating_sub(at_ms)).min(PAUSE);
        if age > limit {
            return row.get(0).map(Some);
        }
        later_ms = at_ms;
    }
    Ok(None)
}

/// Notices when the wall clock and the time that passed no longer agree.
pub(super) struct ClockWatch {
    looked: Instant,
    wall_ms: u64,
}

impl ClockWatch {
    /// Starts to watch.
    pub fn new() -> Self {
        Self { looked: Instant::now(), wall_ms: wall_clock_ms() }
    }

    /// Tells in the log of a clock that has jumped since the last look.
    pub fn look(&mut self) {
        let now = Self::new();
        let passed = now.looked - self.looked;
        if let Some((way, by)) = jump(self.wall_ms, now.wall_ms, passed) {
            tracing::warn!(
                by = ?by,
                "the clock went {way}: it was set, or the machine slept; for the age of the audit \
                 this counts as {PAUSE:?} at most"
            );
        }
        *self = now;
    }
}

/// Returns which way and how far a clock has jumped, if that is more than a pause.
fn jump(before_ms: u64, now_ms: u64, passed: Duration) -> Option<(&'static str, Duration)> {
    let expected = before_ms.saturating_add(passed.as_millis().try_into().unwrap_or(u64::MAX));
    let way = if now_ms > expected { "ahead" } else { "back" };
    let by = Duration::from_millis(now_ms.abs_diff(expected));
    (by > PAUSE).then_some((way, by))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 3600 * 1000;

    #[test]
    fn a_jump_is_what_the_time_that_passed_does_not_explain() {
        let (minute, month) = (Duration::from_secs(60), PAUSE * 30);
        assert_eq!(jump(5 * DAY, 5 * DAY + 60_000, minute), None);
        assert_eq!(jump(5 * DAY, 35 * DAY, month), None, "a month that has passed");
        assert_eq!(jump(5 * DAY, 6 * DAY, minute), None, "a night's sleep");
        assert_eq!(jump(5 * DAY, 35 * DAY, Duration::ZERO), Some(("ahead", month)));
        assert_eq!(jump(35 * DAY, 5 * DAY, Duration::ZERO), Some(("back", month)));
    }
}
