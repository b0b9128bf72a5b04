//! How often hard tests repeat themselves: a little in the normal run, much when asked for.

use std::env;

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

fn times() -> u64 {
    env::var(VARIABLE).map_or(0, |text| text.parse().unwrap_or(1))
}
