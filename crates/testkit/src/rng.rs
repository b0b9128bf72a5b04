//! Chance that can be repeated: a small generator whose seed is printed when a test fails.

use std::{env, thread};

/// The variable that repeats a failed run.
const VARIABLE: &str = "TABWIRE_SEED";
/// Its older name.
const OLD_VARIABLE: &str = "TABWIRE_TEST_SEED";

/// A generator (xorshift64*); not for secrets.
pub struct Rng {
    seed: u64,
    state: u64,
}

impl Rng {
    /// Starts from `TABWIRE_SEED`, or from the given seed where that is not set.
    pub fn seeded(usual: u64) -> Self {
        let wanted = env::var(VARIABLE).or_else(|_| env::var(OLD_VARIABLE)).ok();
        let wanted = wanted.and_then(|text| text.parse().ok());
        Self::new(wanted.unwrap_or(usual))
    }

    fn new(seed: u64) -> Self {
        // A state of 0 would stay 0.
        Self { seed, state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number from `low` up to but not including `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.number() % (high - low).max(1)
    }

    /// Returns true in so many cases of a hundred.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.between(0, 100) < chance
    }

    /// Puts things into another order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.between(0, last as u64 + 1) as usize);
        }
    }

    /// Starts another generator from this one.
    pub fn fork(&mut self) -> Self {
        Self::new(self.number())
    }
}

impl Drop for Rng {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("chance came from the seed {}: repeat with {VARIABLE}={0}", self.seed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| (0..5).map(|_| 0).scan(Rng::new(seed), |rng, _| Some(rng.number()));
        let (first, second, other): (Vec<_>, Vec<_>, Vec<_>) =
            (numbers(7).collect(), numbers(7).collect(), numbers(8).collect());
        assert_eq!(first, second);
        assert_ne!(first, other);
    }

    #[test]
    fn a_shuffle_keeps_everything() {
        let mut things: Vec<_> = (0..100).collect();
        Rng::new(1).shuffle(&mut things);
        assert_ne!(things, (0..100).collect::<Vec<_>>());
        things.sort_unstable();
        assert_eq!(things, (0..100).collect::<Vec<_>>());
    }
}
