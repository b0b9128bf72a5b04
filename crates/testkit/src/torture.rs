//! How hard tests try: a little in the normal run, and much when asked for, on a machine that does
//! nothing else.

use std::{env, time::Duration};

/// The variable that asks for the long form; its number multiplies it.
const VARIABLE: &str = "TABWIRE_TORTURE";

/// Returns how many rounds to go: `few`, or `many` times what `TABWIRE_TORTURE` says.
pub fn rounds(few: u64, many: u64) -> u64 {
    match times() {
        0 => few,
        times => many * times,
    }
}

/// Returns whether the long form was asked for.
pub fn is_long() -> bool {
    times() > 0
}

/// Prints how long something took, and fails the test in the long form when that is too long.
///
/// Seconds on a clock mean something only where the machine has nothing else to do. In the normal
/// run tests compare events, or times of the same run.
#[track_caller]
pub fn strict(limit: Duration, took: Duration, what: &str) {
    eprintln!("{what}: {took:?}, limit {limit:?}");
    assert!(!is_long() || took <= limit, "{what}: {took:?}, limit {limit:?}");
}

fn times() -> u64 {
    env::var(VARIABLE).map_or(0, |text| text.parse().unwrap_or(1))
}
