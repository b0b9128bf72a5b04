//! What a client has told a hub about itself, for the next hub.
//!
//! Only clients of the older era do that: a handshake, how much they want logged, which resources
//! they watch. It holds the lines as they were; sending them again is the ledger's.

use std::collections::BTreeMap;

use super::request::Memory;

/// The most resources whose subscription is repeated.
const SUBSCRIPTIONS: usize = 256;

/// The lines of one client that count for every hub.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The handshake, once it was answered.
    pub(super) initialize: Option<Vec<u8>>,
    /// Its second half, once it was sent.
    pub(super) initialized: Option<Vec<u8>>,
    level: Option<Vec<u8>>,
    subscriptions: BTreeMap<String, Vec<u8>>,
}

impl Told {
    /// Keeps a request that a hub has granted; without its line there is nothing to repeat.
    pub(super) fn remember(&mut self, memory: Memory, line: Option<Vec<u8>>) {
        match (memory, line) {
            (Memory::Initialize, line) => self.initialize = line,
            (Memory::Level, line) => self.level = line,
            (Memory::Subscribe(uri), Some(line)) if self.subscriptions.len() < SUBSCRIPTIONS => {
                self.subscriptions.insert(uri, line);
            }
            (Memory::Subscribe(_), _) => {}
            (Memory::Unsubscribe(uri), _) => {
                self.subscriptions.remove(&uri);
            }
        }
    }

    /// Returns the requests that follow a handshake.
    pub(super) fn wishes(&self) -> Vec<Vec<u8>> {
        self.level.iter().chain(self.subscriptions.values()).cloned().collect()
    }
}
