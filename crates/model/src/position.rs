//! Places in a message log.
//!
//! A log is named by its epoch and counts from 1 without holes. Epochs are compared for
//! equality only: a log that was lost gets a new one, so that an old number can never be
//! mistaken for a place in the new log.

use std::{fmt, sync::Arc};

use crate::id::{InvalidId, random_text};

/// Names one log; a random text, made once per log.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Epoch(Arc<str>);

impl Epoch {
    /// Longest accepted text.
    pub const LONGEST: usize = 64;

    /// Mints the name of a new log: 125 random bits.
    pub fn mint() -> Self {
        Self(random_text(25).into())
    }

    /// Checks an epoch that a peer minted: 1 to 64 letters, digits and `. _ : @ -`.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        crate::id::SessionId::parse(text).map(|checked| Self(checked.as_str().into()))
    }

    /// Returns the epoch as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Epoch({})", self.0)
    }
}

/// A number within one log. The first message is 1; 0 means "before the first".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sequence(pub u64);

impl Sequence {
    /// Returns the number that follows.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

/// A place in a log: everything up to and including `sequence` has been seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The log that the number belongs to.
    pub epoch: Epoch,
    /// The last number that was seen; 0 is before the first message.
    pub sequence: Sequence,
}

impl Position {
    /// Returns the place before the first message of a log.
    pub fn start(epoch: Epoch) -> Self {
        Self { epoch, sequence: Sequence(0) }
    }
}
