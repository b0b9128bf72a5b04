//! Both ends of a numbered log: what was sent and may be asked for again, and what was received.
//!
//! [`ReplayLog`] numbers, keeps within limits, and answers "what did I miss" wholly or not at
//! all. [`Inbox`] delivers only the next number, drops duplicates and asks once on a gap. Which
//! backend holds the log, and how it travels, is not known here.

use std::{sync::Arc, time::Duration};

use model::{
    Change, Epoch, Json, Level, NumberedChange, Position, RefusedResume, ReplayPage, ReplayRequest,
    Sequence, record::LogEntry,
};
use store::{Log, NewEntry, Store, StoreError, StoreWrite, WriteTicket};

use crate::config::limits::PAGE;

/// How much a log may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayLimits {
    /// Messages.
    pub messages: usize,
    /// Bytes.
    pub bytes: usize,
    /// Age.
    pub age: Duration,
}

/// The sender's side: a numbered log within limits.
pub struct ReplayLog {
    store: Arc<dyn Store>,
    log: Log,
    /// The newest number that was dropped without having been acked, and why.
    lost: Option<(Sequence, RefusedResume)>,
    /// Nothing after this is shown yet, because it is not on disk; `None` shows everything.
    shown: Option<Sequence>,
}

impl ReplayLog {
    /// Takes over a log as it was left.
    pub fn new(store: Arc<dyn Store>, log: Log) -> Self {
        Self { store, log, lost: None, shown: None }
    }

    /// Takes over a log of which nothing new is shown before [`ReplayLog::show`].
    pub fn guarded(store: Arc<dyn Store>, log: Log) -> Self {
        let shown = Some(log.newest());
        Self { store, log, lost: None, shown }
    }

    /// Shows everything up to a number.
    pub fn show(&mut self, upto: Sequence) {
        if let Some(shown) = &mut self.shown {
            *shown = (*shown).max(upto);
        }
    }

    /// Returns the log's name and newest number.
    pub fn current(&self) -> Position {
        Position { epoch: self.log.epoch(), sequence: self.newest() }
    }

    /// Returns the newest number that may be told.
    fn newest(&self) -> Sequence {
        self.shown.unwrap_or_else(|| self.log.newest())
    }

    /// Returns the first number that is still held.
    pub fn oldest(&self) -> Sequence {
        self.log.oldest()
    }

    /// Returns how many messages are held.
    pub fn held(&self) -> usize {
        self.log.usage().count
    }

    /// Returns how many bytes they have.
    pub fn bytes(&self) -> usize {
        self.log.usage().bytes
    }

    /// Numbers and keeps a message, in one batch with what belongs to it, dropping the oldest
    /// ones over the limits.
    pub fn publish(
        &mut self,
        entry: NewEntry,
        with: impl IntoIterator<Item = StoreWrite>,
        limits: &ReplayLimits,
    ) -> Result<(Sequence, WriteTicket), StoreError> {
        let mut batch = Vec::with_capacity(4);
        batch.extend(with);
        batch.push(StoreWrite::Append(self.log.clone(), entry));
        let (oldest, next) = (self.log.oldest(), self.log.newest().next());
        // A full log drops one for each that it gets: that costs no batch of its own.
        let is_full = next.0 - oldest.0 >= limits.messages as u64;
        if is_full {
            batch.push(StoreWrite::Trim(self.log.clone(), oldest));
        }
        let ticket = self.store.write(batch)?;
        if is_full {
            self.lost = Some((oldest, RefusedResume::Gap));
        }
        self.enforce(limits)?;
        Ok((next, ticket))
    }

    /// Drops what the receiver has; a position of another log or in the future is ignored.
    pub fn ack(&mut self, position: &Position) -> Result<(), StoreError> {
        let current = self.current();
        if position.epoch == current.epoch && position.sequence <= current.sequence {
            self.trim(position.sequence)?;
        }
        Ok(())
    }

    /// Drops what is over the limits, remembering the reason for the receiver who asks.
    pub fn enforce(&mut self, limits: &ReplayLimits) -> Result<(), StoreError> {
        loop {
            let usage = self.log.usage();
            let reason = if usage.count > limits.messages || usage.bytes > limits.bytes {
                RefusedResume::Gap
            } else if usage.count > 0 && usage.oldest_age > limits.age {
                RefusedResume::Expired
            } else {
                return Ok(());
            };
            let oldest = self.log.oldest();
            self.lost = Some((oldest, reason));
            self.trim(oldest)?;
        }
    }

    fn trim(&self, upto: Sequence) -> Result<(), StoreError> {
        self.store.write(vec![StoreWrite::Trim(self.log.clone(), upto)]).map(drop)
    }

    /// Answers a peer that comes back: from its position, or from now on when it has none.
    pub fn resume(
        &mut self,
        position: Option<&Position>,
        limits: &ReplayLimits,
    ) -> Result<ReplayPage, StoreError> {
        self.enforce(limits)?;
        Ok(match position {
            Some(position) => self.page_after(position),
            None => self.empty_page(None),
        })
    }

    /// Answers a request for what follows a position, whole or selected.
    pub fn page(
        &mut self,
        request: &ReplayRequest,
        limits: &ReplayLimits,
    ) -> Result<ReplayPage, StoreError> {
        self.enforce(limits)?;
        Ok(match request.types.is_empty() && !request.errors_first {
            true => self.page_after(&request.from),
            false => self.selected(request),
        })
    }

    /// Returns the answer for when the log cannot be read: nothing, and a full sync is due.
    pub fn unreadable(&self) -> ReplayPage {
        self.empty_page(Some(RefusedResume::Gap))
    }

    /// Returns entries after a number, for readers inside the house.
    pub fn read(&self, after: Sequence, limit: usize) -> Vec<LogEntry> {
        self.log.read(after, limit)
    }

    /// Returns why the log cannot continue after a position, if it cannot.
    pub fn refusal(&self, position: &Position) -> Option<RefusedResume> {
        let current = self.current();
        if position.epoch != current.epoch {
            Some(RefusedResume::EpochChanged)
        } else if position.sequence > current.sequence {
            Some(RefusedResume::FutureSequence)
        } else if position.sequence.next() < self.log.oldest() {
            Some(match self.lost {
                Some((lost, reason)) if lost > position.sequence => reason,
                _ => RefusedResume::Gap,
            })
        } else {
            None
        }
    }

    fn page_after(&self, position: &Position) -> ReplayPage {
        if let Some(refused) = self.refusal(position) {
            return self.empty_page(Some(refused));
        }
        let newest = self.newest();
        let mut entries = self.log.read(position.sequence, PAGE);
        entries.retain(|entry| entry.sequence <= newest.0);
        let upto = Sequence(position.sequence.0 + entries.len() as u64);
        ReplayPage {
            upto: Position { epoch: position.epoch.clone(), sequence: upto },
            messages: entries.into_iter().map(to_change).collect(),
            more: upto < newest,
            partial: false,
            refused: None,
        }
    }

    fn selected(&self, request: &ReplayRequest) -> ReplayPage {
        if let Some(refused) = self.refusal(&request.from) {
            return self.empty_page(Some(refused));
        }
        let wanted = |entry: &LogEntry| {
            let named = |wanted: &String| *wanted == entry.kind || *wanted == entry.name;
            request.types.is_empty() || request.types.iter().any(named)
        };
        let newest = self.newest();
        let mut entries = self.log.read(request.from.sequence, usize::MAX);
        entries.retain(|entry| entry.sequence <= newest.0 && wanted(entry));
        if request.errors_first {
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.level));
        }
        let more = entries.len() > PAGE;
        entries.truncate(PAGE);
        // In another order there is no place up to which everything was seen.
        let upto = match entries.last() {
            Some(last) if !request.errors_first => Sequence(last.sequence),
            _ => request.from.sequence,
        };
        ReplayPage {
            upto: Position { epoch: request.from.epoch.clone(), sequence: upto },
            messages: entries.into_iter().map(to_change).collect(),
            more,
            partial: true,
            refused: None,
        }
    }

    fn empty_page(&self, refused: Option<RefusedResume>) -> ReplayPage {
        ReplayPage {
            upto: self.current(),
            messages: Vec::new(),
            more: false,
            partial: false,
            refused,
        }
    }
}

/// Reads a kept message back. Only events are kept for browsers.
fn to_change(entry: LogEntry) -> NumberedChange {
    let level = match entry.level {
        2.. => Level::Error,
        1 => Level::Warning,
        0 => Level::Info,
    };
    let data = Json::parse(entry.body).unwrap_or_else(|_| Json::null());
    NumberedChange {
        sequence: Some(Sequence(entry.sequence)),
        change: Change::Event { name: entry.name, level, data },
    }
}

/// What to do with a numbered message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// It is the next one.
    Deliver,
    /// It was seen before: drop it.
    Duplicate,
    /// Something is missing before it: drop it, and ask from here if nobody has asked yet.
    Gap(Option<Position>),
}

/// The receiver's side: how far the peer's log has been seen.
#[derive(Debug, Default)]
pub struct Inbox {
    seen: Option<Position>,
    asked: bool,
}

impl Inbox {
    /// Goes on where it was left.
    pub fn restore(seen: Option<Position>) -> Self {
        Self { seen, asked: false }
    }

    /// Begins a connection whose sender numbers in `epoch`; returns how far it was seen.
    pub fn open(&mut self, epoch: Epoch) -> Position {
        self.asked = false;
        match &self.seen {
            Some(seen) if seen.epoch == epoch => seen.clone(),
            _ => self.seen.insert(Position::start(epoch)).clone(),
        }
    }

    /// Returns how far the log has been seen.
    pub fn seen(&self) -> Option<&Position> {
        self.seen.as_ref()
    }

    /// Judges a number, and moves on if it is the next.
    pub fn offer(&mut self, sequence: Sequence) -> Arrival {
        let Some(seen) = &mut self.seen else { return Arrival::Duplicate };
        if sequence <= seen.sequence {
            return Arrival::Duplicate;
        }
        if sequence == seen.sequence.next() {
            seen.sequence = sequence;
            self.asked = false;
            return Arrival::Deliver;
        }
        let ask = (!self.asked).then(|| seen.clone());
        self.asked = true;
        Arrival::Gap(ask)
    }

    /// Takes back the number that was delivered last; whoever does asks for it again.
    pub fn take_back(&mut self) {
        self.asked = true;
        if let Some(seen) = &mut self.seen {
            seen.sequence.0 = seen.sequence.0.saturating_sub(1);
        }
    }

    /// Takes note that a page has ended; returns from where to ask for the next.
    pub fn page_ended(&mut self, more: bool) -> Option<Position> {
        self.asked = more;
        if more { self.seen.clone() } else { None }
    }

    /// Takes note that the sender has lost what is missing and goes on after `upto`.
    pub fn skip_to(&mut self, upto: Position) {
        self.asked = false;
        self.seen = Some(upto);
    }
}

#[cfg(test)]
mod tests;
