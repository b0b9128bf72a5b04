//! The rules of the mcp-browser extension about numbered messages.

use std::collections::BTreeSet;

use serde_json::Value;

/// A hole larger than this is passed over.
const LARGEST_GAP: u64 = 50;
/// With more numbers than these it asks again.
const NOTED: usize = 100;

/// How far it has seen the server's messages.
#[derive(Debug, Default)]
pub struct Counter {
    /// The newest number.
    pub last: u64,
    asked: bool,
    noted: BTreeSet<u64>,
}

/// What becomes of a numbered message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is carried out.
    Process,
    /// It is thrown away.
    Drop,
    /// It is thrown away, and what is missing before it is asked for: first and last.
    Ask(u64, u64),
}

impl Counter {
    /// Begins after a number.
    pub fn new(last: u64) -> Self {
        Self { last, ..Self::default() }
    }

    /// Looks at the number of a message.
    pub fn check(&mut self, sequence: u64) -> Verdict {
        let expected = self.last + 1;
        if sequence < expected {
            return Verdict::Drop;
        }
        if sequence == expected || sequence - expected > LARGEST_GAP {
            self.last = sequence;
            return Verdict::Process;
        }
        self.noted.insert(sequence);
        if self.noted.len() > NOTED {
            self.asked = false;
        }
        if self.asked {
            return Verdict::Drop;
        }
        self.asked = true;
        Verdict::Ask(expected, sequence - 1)
    }

    /// Takes in the answer to its question: only the numbers count.
    pub fn recovered(&mut self, messages: Option<&Vec<Value>>) {
        self.asked = false;
        for message in messages.into_iter().flatten() {
            self.raise(message["sequence"].as_u64().unwrap_or(0));
        }
        if messages.is_some() {
            while self.noted.remove(&(self.last + 1)) {
                self.last += 1;
            }
        }
    }

    /// Goes up to a number, never down.
    pub fn raise(&mut self, sequence: u64) {
        self.last = self.last.max(sequence);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_next_number_is_taken_and_an_old_one_is_not() {
        let mut counter = Counter::new(4);
        assert_eq!(counter.check(5), Verdict::Process);
        assert_eq!(counter.check(5), Verdict::Drop);
        assert_eq!(counter.check(2), Verdict::Drop);
        assert_eq!(counter.last, 5);
    }

    #[test]
    fn a_hole_is_asked_for_once_and_filled_by_numbers() {
        let mut counter = Counter::new(4);
        assert_eq!(counter.check(8), Verdict::Ask(5, 7));
        assert_eq!(counter.check(9), Verdict::Drop);
        assert_eq!(counter.check(11), Verdict::Drop);
        let missing = vec![json!({"sequence": 5}), json!({"sequence": 6}), json!({"sequence": 7})];
        counter.recovered(Some(&missing));
        assert_eq!(counter.last, 9, "what was noted and follows on is swallowed");
        assert_eq!(counter.check(12), Verdict::Ask(10, 11));
        counter.recovered(None);
        assert_eq!(counter.last, 9);
    }

    #[test]
    fn a_large_hole_is_passed_over() {
        let mut counter = Counter::new(0);
        assert_eq!(counter.check(51), Verdict::Ask(1, 50));
        let mut counter = Counter::new(0);
        assert_eq!(counter.check(52), Verdict::Process);
        assert_eq!(counter.last, 52);
    }
}
