//! What is under way between a session's peer and the disk: numbered messages out, acks of those
//! that came in. Nothing is said before the disk has it.

use std::collections::VecDeque;

use model::{NumberedChange, Position};
use store::WriteTicket;

use crate::replay::{Inbox, ReplayLog};

/// Both directions of a session's numbered messages.
pub(super) struct Delivery {
    pub(super) outgoing: ReplayLog,
    pub(super) inbox: Inbox,
    receipt: Receipt,
    /// What the newest position of the peer's log was written with.
    pub(super) received: WriteTicket,
    /// Acks that wait for the disk, with the write each waits for.
    acks: VecDeque<(WriteTicket, Position)>,
    /// Numbered messages that wait for the disk before anybody hears of them.
    unsynced: VecDeque<(WriteTicket, NumberedChange)>,
    /// The session is called when more is on disk.
    pub(super) waits_for_disk: bool,
}

/// What the hub owes the peer for what came in on this connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Receipt {
    /// Nothing.
    #[default]
    Settled,
    /// An ack of so many messages.
    AckOwed(u32),
    /// To ask again for a message that the store would not take.
    AskOwed,
}

impl Delivery {
    pub(super) fn new(outgoing: ReplayLog, inbox: Inbox) -> Self {
        let (receipt, acks, unsynced, waits_for_disk) = Default::default();
        let received = WriteTicket::done();
        Self { outgoing, inbox, receipt, received, acks, unsynced, waits_for_disk }
    }

    /// A new connection owes nothing for what the one before received: its welcome says how far
    /// that was.
    pub(super) fn connected(&mut self) {
        self.receipt = Receipt::Settled;
        self.acks.clear();
    }

    /// One more message was received; returns how many wait for an ack now. None do while one must be
    /// asked for again: what comes then is acked with it.
    pub(super) fn count_received(&mut self) -> u32 {
        let count = match self.receipt {
            Receipt::Settled => 1,
            Receipt::AckOwed(count) => count + 1,
            Receipt::AskOwed => return 0,
        };
        self.receipt = Receipt::AckOwed(count);
        count
    }

    /// The store has not taken the newest message; returns whether that is the first that must be
    /// asked for again.
    pub(super) fn refused(&mut self) -> bool {
        self.inbox.take_back();
        self.queue_ack();
        std::mem::replace(&mut self.receipt, Receipt::AskOwed) != Receipt::AskOwed
    }

    /// Whether a message must be asked for again.
    pub(super) fn must_ask(&self) -> bool {
        self.receipt == Receipt::AskOwed
    }

    /// Returns from where to ask again, if that is owed; then it no longer is.
    pub(super) fn take_ask(&mut self) -> Option<Position> {
        if !self.must_ask() {
            return None;
        }
        self.receipt = Receipt::Settled;
        self.inbox.seen().cloned()
    }

    /// Has the ack that is owed, if any, wait for the disk.
    pub(super) fn queue_ack(&mut self) {
        let Receipt::AckOwed(_) = self.receipt else { return };
        self.receipt = Receipt::Settled;
        let Some(seen) = self.inbox.seen().cloned() else { return };
        // An ack tells all before it: of those that wait, the first and the newest are enough.
        if self.acks.len() > 1 {
            self.acks.pop_back();
        }
        self.acks.push_back((self.received.clone(), seen));
    }

    /// Has a numbered message wait for its write.
    pub(super) fn queue_change(&mut self, write: WriteTicket, change: NumberedChange) {
        self.unsynced.push_back((write, change));
        // The log's limits hold for what waits too: who misses something asks for it.
        let oldest = self.outgoing.oldest();
        let is_gone =
            |change: &NumberedChange| change.sequence.is_some_and(|number| number < oldest);
        while self.unsynced.pop_front_if(|(_, change)| is_gone(change)).is_some() {}
    }

    /// Takes out the next numbered message that is on disk.
    pub(super) fn next_on_disk(&mut self) -> Option<NumberedChange> {
        let (_, change) = self.unsynced.pop_front_if(|(write, _)| write.is_done())?;
        if let Some(sequence) = change.sequence {
            self.outgoing.show(sequence);
        }
        Some(change)
    }

    /// Takes out the newest position that is on disk and not acked.
    pub(super) fn newest_ack(&mut self) -> Option<Position> {
        let mut newest = None;
        while let Some((_, position)) = self.acks.pop_front_if(|(write, _)| write.is_done()) {
            newest = Some(position);
        }
        newest
    }

    /// Returns whether nothing waits for the disk.
    pub(super) fn is_all_said(&self) -> bool {
        self.acks.is_empty() && self.unsynced.is_empty()
    }

    /// Returns whether the first ack or message that waits for the disk need not wait any more.
    pub(super) fn is_next_on_disk(&self) -> bool {
        self.acks.front().is_some_and(|(write, _)| write.is_done())
            || self.unsynced.front().is_some_and(|(write, _)| write.is_done())
    }

    /// Returns how many acks and messages wait for the disk.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> (usize, usize) {
        (self.acks.len(), self.unsynced.len())
    }
}
