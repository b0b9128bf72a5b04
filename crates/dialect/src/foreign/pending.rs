//! What a machine must remember of a call until its answer, in the order of asking.
//!
//! Whatever is kept is bounded: a client that never answers cannot make it grow, because beyond
//! the limit the oldest is forgotten. The hub ends forgotten calls at their deadline.

use std::collections::VecDeque;

use model::CallId;

/// Calls that are remembered at a time.
const MOST: usize = 1024;

/// Calls with what must be known about each.
#[derive(Debug)]
pub struct Pending<T>(VecDeque<(CallId, T)>);

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Pending<T> {
    /// Remembers a call.
    pub fn add(&mut self, call: CallId, about: T) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((call, about));
    }

    /// Takes a call out.
    pub fn take(&mut self, call: CallId) -> Option<T> {
        let index = self.0.iter().position(|(known, _)| *known == call)?;
        self.0.remove(index).map(|(_, about)| about)
    }

    /// Takes out the oldest call that fits.
    pub fn take_oldest(&mut self, fits: impl Fn(&T) -> bool) -> Option<(CallId, T)> {
        let index = self.0.iter().position(|(_, about)| fits(about))?;
        self.0.remove(index)
    }

    /// Takes out every call that fits, oldest first.
    pub fn take_all(&mut self, fits: impl Fn(&T) -> bool) -> Vec<CallId> {
        let calls = self.0.iter().filter(|(_, about)| fits(about)).map(|(call, _)| *call).collect();
        self.0.retain(|(_, about)| !fits(about));
        calls
    }

    /// Looks at all of them, oldest first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (CallId, &mut T)> {
        self.0.iter_mut().map(|(call, about)| (*call, about))
    }

    /// Returns whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_never_answers_cannot_make_it_grow() {
        let mut pending = Pending::default();
        for number in 0..5000 {
            pending.add(CallId { run: 1, number }, number);
        }
        assert_eq!(pending.0.len(), MOST);
        assert_eq!(pending.take(CallId { run: 1, number: 0 }), None);
        assert_eq!(pending.take(CallId { run: 1, number: 4999 }), Some(4999));
        let oldest = pending.take_oldest(|_| true).map(|(_, about)| about);
        assert_eq!(oldest, Some(5000 - MOST as u64));
    }
}
