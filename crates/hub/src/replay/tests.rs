//! Buffer and recovery against a simple model: a plain list of everything that was published.

use proptest::prelude::*;
use store::{MemoryStore, Store};

use super::*;

const LIMITS: ReplayLimits =
    ReplayLimits { messages: 250, bytes: 1 << 20, age: Duration::from_secs(900) };

fn new_log() -> ReplayLog {
    let session = model::SessionId::mint();
    let store = Arc::new(MemoryStore::default());
    let log = store.load(&session).unwrap().to_browser;
    ReplayLog::new(store, log)
}

fn entry(name: &str, level: u8) -> NewEntry {
    NewEntry { kind: "event".into(), name: name.into(), level, body: "null".into() }
}

fn filled(count: usize) -> ReplayLog {
    let mut log = new_log();
    for _ in 0..count {
        log.publish(entry("x", 0), None, &LIMITS).unwrap();
    }
    log
}

fn at(log: &ReplayLog, sequence: u64) -> Position {
    Position { epoch: log.current().epoch, sequence: Sequence(sequence) }
}

fn resume(log: &mut ReplayLog, sequence: u64) -> ReplayPage {
    let position = at(log, sequence);
    log.resume(Some(&position), &LIMITS).unwrap()
}

fn numbers(page: &ReplayPage) -> Vec<u64> {
    page.messages.iter().map(|message| message.sequence.unwrap().0).collect()
}

#[tokio::test]
async fn pages_are_whole_and_oldest_first() {
    let mut log = filled(205);
    let first = resume(&mut log, 3);
    assert_eq!(numbers(&first), (4..=103).collect::<Vec<_>>());
    assert!(first.more && first.refused.is_none());
    let last = resume(&mut log, 203);
    assert_eq!((numbers(&last), last.more), (vec![204, 205], false));
    let none = resume(&mut log, 205);
    assert_eq!((numbers(&none), none.refused), (vec![], None), "nothing missed is recovered");
}

#[tokio::test]
async fn every_reason_is_told_apart_and_comes_without_messages() {
    let mut log = filled(300);
    for (position, expected) in [
        (at(&log, 49), RefusedResume::Gap),
        (at(&log, 301), RefusedResume::FutureSequence),
        (Position::start(Epoch::mint()), RefusedResume::EpochChanged),
    ] {
        let page = log.resume(Some(&position), &LIMITS).unwrap();
        assert_eq!((page.refused, page.messages.len()), (Some(expected), 0), "{position:?}");
    }
    assert_eq!(resume(&mut log, 50).refused, None, "the last kept place");
}

#[tokio::test(start_paused = true)]
async fn old_messages_expire() {
    let mut log = filled(3);
    tokio::time::advance(LIMITS.age + Duration::from_secs(1)).await;
    log.publish(entry("new", 0), None, &LIMITS).unwrap();
    let page = resume(&mut log, 1);
    assert_eq!(page.refused, Some(RefusedResume::Expired));
    assert_eq!(numbers(&resume(&mut log, 3)), [4]);
}

#[tokio::test]
async fn bytes_are_limited_too() {
    let limits = ReplayLimits { bytes: 1000, ..LIMITS };
    let mut log = new_log();
    for _ in 0..100 {
        log.publish(entry(&"x".repeat(100), 0), None, &limits).unwrap();
    }
    assert!(log.held() < 10, "{}", log.held());
}

#[tokio::test]
async fn selections_are_partial_and_errors_can_come_first() {
    let mut log = new_log();
    for (name, level) in [("console", 0), ("network", 2), ("console", 2), ("dialog", 1)] {
        log.publish(entry(name, level), None, &LIMITS).unwrap();
    }
    let mut ask = |types: &[&str], errors_first| {
        let types = types.iter().map(|name| (*name).to_owned()).collect();
        let from = at(&log, 0);
        log.page(&ReplayRequest { from, types, errors_first }, &LIMITS).unwrap()
    };
    let page = ask(&["console"], false);
    assert_eq!((numbers(&page), page.partial), (vec![1, 3], true));
    assert_eq!(numbers(&ask(&[], true)), [2, 3, 4, 1]);
    assert_eq!(numbers(&ask(&["event"], false)), [1, 2, 3, 4], "a message type selects too");
    assert!(!ask(&[], false).partial);
}

#[tokio::test]
async fn foreign_and_future_acks_change_nothing() {
    let mut log = filled(5);
    log.ack(&Position { epoch: Epoch::mint(), sequence: Sequence(5) }).unwrap();
    log.ack(&at(&log, 6)).unwrap();
    assert_eq!(log.held(), 5);
    log.ack(&at(&log, 4)).unwrap();
    assert_eq!(log.held(), 1);
}

#[test]
fn the_inbox_delivers_the_next_and_asks_once() {
    let mut inbox = Inbox::default();
    assert_eq!(inbox.offer(Sequence(1)), Arrival::Duplicate, "nothing before an opening");
    let epoch = Epoch::mint();
    let start = inbox.open(epoch.clone());
    assert_eq!(inbox.offer(Sequence(1)), Arrival::Deliver);
    assert_eq!(inbox.offer(Sequence(1)), Arrival::Duplicate);
    let here = Position { sequence: Sequence(1), ..start };
    assert_eq!(inbox.offer(Sequence(4)), Arrival::Gap(Some(here.clone())));
    assert_eq!(inbox.offer(Sequence(5)), Arrival::Gap(None), "one question at a time");
    assert_eq!(inbox.offer(Sequence(2)), Arrival::Deliver);
    assert_eq!(inbox.open(epoch).sequence, Sequence(2), "the place is kept over connections");
    assert_eq!(inbox.open(Epoch::mint()).sequence, Sequence(0), "another log starts anew");
}

#[derive(Debug, Clone)]
enum Step {
    Publish(u8),
    /// The receiver takes what is on the wire, up to this many.
    Receive(u8),
    /// The receiver acks what it has.
    Ack,
    /// The wire loses everything on it, and the receiver comes back.
    Cut,
    /// The receiver comes back with a place it had earlier.
    Rewind(u8),
    /// The sender's log is lost.
    LoseLog,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (0..60_u8).prop_map(Step::Publish),
        4 => (0..80_u8).prop_map(Step::Receive),
        2 => Just(Step::Ack),
        3 => Just(Step::Cut),
        1 => (0..40_u8).prop_map(Step::Rewind),
        1 => Just(Step::LoseLog),
    ];
    proptest::collection::vec(step, 1..80)
}

/// The system under test (log, wire, inbox) beside the model (what was published, in order).
struct World {
    log: ReplayLog,
    inbox: Inbox,
    wire: std::collections::VecDeque<Sequence>,
    published: u64,
    /// Delivered numbers since the last time the receiver was told to start over.
    delivered: Vec<u64>,
    base: u64,
}

impl World {
    fn new() -> Self {
        let log = new_log();
        let mut inbox = Inbox::default();
        inbox.open(log.current().epoch);
        Self { log, inbox, wire: Default::default(), published: 0, delivered: vec![], base: 0 }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Publish(count) => {
                for _ in 0..count {
                    self.published += 1;
                    let (sequence, _) = self.log.publish(entry("x", 0), None, &LIMITS).unwrap();
                    assert_eq!(sequence.0, self.published, "no number twice, no hole");
                    self.wire.push_back(sequence);
                }
            }
            Step::Receive(count) => {
                for _ in 0..count {
                    let Some(sequence) = self.wire.pop_front() else { break };
                    self.arrive(sequence);
                }
            }
            Step::Ack => self.log.ack(self.inbox.seen().unwrap()).unwrap(),
            Step::Cut => self.come_back(self.inbox.seen().unwrap().clone()),
            Step::Rewind(by) => {
                let mut place = self.inbox.seen().unwrap().clone();
                place.sequence.0 = place.sequence.0.saturating_sub(u64::from(by)).max(self.base);
                self.inbox.skip_to(place.clone());
                self.delivered.truncate((place.sequence.0 - self.base) as usize);
                self.come_back(place);
            }
            Step::LoseLog => {
                self.log = new_log();
                self.published = 0;
                self.wire.clear();
                self.come_back(self.inbox.seen().unwrap().clone());
            }
        }
    }

    /// A resume as a receiver does it: all pages, or a fresh start when refused.
    fn come_back(&mut self, from: Position) {
        self.wire.clear();
        let mut page = self.log.resume(Some(&from), &LIMITS).unwrap();
        if let Some(reason) = page.refused {
            assert!(page.messages.is_empty(), "a refusal carries no messages");
            let kept = LIMITS.messages as u64;
            match reason {
                RefusedResume::EpochChanged => assert_ne!(from.epoch, self.log.current().epoch),
                RefusedResume::FutureSequence => assert!(from.sequence.0 > self.published),
                RefusedResume::Gap | RefusedResume::Expired => {
                    let oldest_kept = self.published.saturating_sub(kept) + 1;
                    let missing = from.sequence.0 + 1 < oldest_kept;
                    let acked = self.log.held() < kept as usize;
                    assert!(missing || acked, "a gap is claimed only where something is gone");
                }
            }
            self.base = page.upto.sequence.0;
            self.delivered.clear();
            self.inbox.skip_to(page.upto);
            return;
        }
        loop {
            assert!(page.messages.len() <= PAGE);
            for message in &page.messages {
                self.arrive(message.sequence.unwrap());
            }
            if !page.more {
                break;
            }
            page = self.log.resume(self.inbox.seen(), &LIMITS).unwrap();
        }
        assert_eq!(self.inbox.seen().unwrap().sequence.0, self.published, "all was told");
    }

    fn arrive(&mut self, sequence: Sequence) {
        if self.inbox.offer(sequence) == Arrival::Deliver {
            self.delivered.push(sequence.0);
        }
    }

    fn check(&self) {
        let expected: Vec<u64> =
            (self.base + 1..=self.base + self.delivered.len() as u64).collect();
        assert_eq!(self.delivered, expected, "in order, once each, without holes");
        assert!(self.log.held() <= LIMITS.messages);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens_the_receiver_sees_an_unbroken_run(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _guard = runtime.enter();
        let mut world = World::new();
        for step in steps {
            world.step(step);
            world.check();
        }
    }
}
