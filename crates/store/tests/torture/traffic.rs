//! Random writes, and a witness that knows what must be there afterwards.
//!
//! Traffic tells each step in a line of text, so that it reads the same from this process and
//! from one that was killed. For every message of a session's feed the state and then the
//! received position are written with the same number: on disk they are never ahead of it.

use std::collections::BTreeMap;

use model::{
    Epoch, Position, Sequence, SessionId,
    record::{AuditRecord, LogKind, SessionRecord, StateRecord},
};
use store::{EmbeddedStore, Log, NewEntry, Store, StoreWrite, conformance};

use crate::{Dice, wait_for_sync, write};

/// Sessions of the traffic.
pub const SESSIONS: [&str; 3] = ["s_1", "s_2", "s_3"];
/// Their logs.
pub const KINDS: [(&str, LogKind); 2] = [("out", LogKind::ToBrowser), ("feed", LogKind::Feed)];

/// Writes at random until it has done so many steps; `tell` gets a line for each.
pub fn run(store: &EmbeddedStore, dice: &mut Dice, steps: u64, tell: &mut dyn FnMut(String)) {
    for session in SESSIONS {
        write(store, save(&id(session)));
    }
    for _ in 0..steps {
        let session = SESSIONS[dice.roll(3) as usize];
        match dice.roll(20) {
            0 => {
                wait_for_sync(store);
                tell("synced".to_owned());
            }
            1 => trim(store, dice, session, tell),
            2 => {
                let visitor = id(&format!("s_visitor_{}", dice.roll(1 << 40)));
                write(store, save(&visitor));
                append(store, &open_log(store, visitor.as_str(), "feed"), dice, "visitor");
                write(store, StoreWrite::Forget(visitor));
            }
            3 => write(store, StoreWrite::Audit(audit(dice))),
            4..12 => {
                let line = append(store, &open_log(store, session, "out"), dice, "out");
                tell(format!("append {session} out {line}"));
            }
            _ => {
                let feed = open_log(store, session, "feed");
                let line = append(store, &feed, dice, "feed");
                let number = feed.newest().0;
                write(store, StoreWrite::State(id(session), state(number)));
                write(store, StoreWrite::Received(id(session), position(number)));
                tell(format!("append {session} feed {line}"));
            }
        }
    }
}

/// Does one thing in the life of one session, which may end and begin again.
pub fn live(store: &EmbeddedStore, session: &SessionId, dice: &mut Dice) {
    write(store, save(session));
    let log = open_log(store, session.as_str(), KINDS[dice.roll(2) as usize].0);
    let upto = log.newest().0.saturating_sub(dice.roll(30));
    match dice.roll(20) {
        0 => write(store, StoreWrite::Forget(session.clone())),
        1..5 => write(store, StoreWrite::Trim(log, Sequence(upto))),
        5 => write(store, StoreWrite::Audit(audit(dice))),
        6 => write(store, StoreWrite::State(session.clone(), state(dice.roll(1000)))),
        _ => drop(append(store, &log, dice, "life")),
    }
}

fn append(store: &EmbeddedStore, log: &Log, dice: &mut Dice, name: &str) -> String {
    let body = format!("{}{}", dice.roll(1 << 60), "x".repeat(dice.roll(700) as usize));
    let entry = NewEntry { kind: "event".into(), name: name.into(), level: 1, body: body.clone() };
    let number = conformance::append(store, log, entry).unwrap();
    format!("{} {number} {body}", log.epoch())
}

fn trim(store: &EmbeddedStore, dice: &mut Dice, session: &str, tell: &mut dyn FnMut(String)) {
    let (word, _) = KINDS[dice.roll(2) as usize];
    let log = open_log(store, session, word);
    let upto = log.newest().0.saturating_sub(dice.roll(60));
    tell(format!("trim {session} {word} {upto}"));
    write(store, StoreWrite::Trim(log, Sequence(upto)));
}

/// What must be in one log.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    pub epoch: String,
    /// All messages that were ever told, by number.
    pub bodies: BTreeMap<u64, String>,
    /// The newest that was reported as synced.
    pub synced: u64,
    /// The newest that may have been trimmed.
    pub trimmed: u64,
}

/// What must be there.
#[derive(Debug, Clone, Default)]
pub struct Witness {
    pub logs: BTreeMap<(String, String), Expected>,
}

impl Witness {
    /// Takes in a line of the traffic.
    pub fn hear(&mut self, line: &str) {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["append", session, kind, epoch, number, body] => {
                let log = self.logs.entry((session.into(), kind.into())).or_default();
                let number = number.parse().unwrap();
                if log.epoch != epoch {
                    assert_eq!(number, 1, "a new epoch starts at 1");
                    *log = Expected { epoch: epoch.into(), ..Expected::default() };
                }
                assert!(number > log.synced, "{number} of {session} {kind} is given twice");
                log.bodies.split_off(&number);
                log.bodies.insert(number, body.into());
            }
            ["trim", session, kind, upto] => {
                let log = self.logs.entry((session.into(), kind.into())).or_default();
                log.trimmed = log.trimmed.max(upto.parse().unwrap());
            }
            ["synced"] => {
                for log in self.logs.values_mut() {
                    log.synced = log.bodies.keys().last().copied().unwrap_or(0);
                }
            }
            _ => panic!("not a line of the traffic: {line}"),
        }
    }

    /// Compares a store that was opened after a crash: nothing that was synced is missing, and
    /// what is there beyond is whole.
    pub fn check_after_crash(&self, store: &EmbeddedStore) {
        assert_eq!(store.notices(), [] as [&str; 0], "a crash is no damage");
        for ((session, kind), expected) in &self.logs {
            let name = format!("{session} {kind}");
            let log = open_log(store, session, kind);
            let (oldest, newest) = (log.oldest().0, log.newest().0);
            if expected.synced > 0 {
                assert_eq!(log.epoch().as_str(), expected.epoch, "{name}");
            }
            assert!(newest >= expected.synced, "{name}: {newest} of {}", expected.synced);
            assert!(oldest <= expected.trimmed + 1, "{name}: nobody trimmed up to {oldest}");
            let held = log.read(Sequence(0), usize::MAX);
            assert!(held.iter().map(|entry| entry.sequence).eq(oldest..=newest), "{name}: a hole");
            for entry in held {
                let told = expected.bodies.get(&entry.sequence);
                assert!(told.is_none_or(|body| *body == entry.body), "{name}: a wrong message");
            }
            if kind == "feed" {
                check_order(store, session, newest);
            }
        }
        let kept = store.sessions().unwrap();
        let synced = self.logs.iter().filter(|(_, expected)| expected.synced > 0);
        assert!(synced.into_iter().all(|((session, _), _)| kept.contains(&id(session))));
    }
}

/// A commit holds everything that was written before what it holds.
fn check_order(store: &EmbeddedStore, session: &str, newest: u64) {
    let loaded = store.load(&id(session)).unwrap();
    let version = loaded.state.map_or(0, |state| state.version);
    let received = loaded.received.map_or(0, |seen| seen.sequence.0);
    assert!(received <= version && version <= newest, "{received} {version} {newest}");
    assert!(newest <= received + 1, "{received} of {newest}: writes are not apart");
}

pub fn open_log(store: &EmbeddedStore, session: &str, kind: &str) -> Log {
    let (_, kind) = KINDS.into_iter().find(|(word, _)| *word == kind).unwrap();
    conformance::open_log(store, session, kind)
}

/// The write that saves a session.
fn save(session: &SessionId) -> StoreWrite {
    StoreWrite::Session(session.clone(), Box::new(record(session.as_str())))
}

pub fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

pub fn record(session: &str) -> SessionRecord {
    SessionRecord {
        id: session.into(),
        instance: format!("instance-{session}"),
        name: session.into(),
        kind: "app".into(),
        dialect: "native".into(),
        origin: None,
        resume_digest: Some("digest".into()),
        unproven: false,
        carried_by: None,
        tabs: Vec::new(),
        tools: Vec::new(),
        holders: Vec::new(),
        hidden_tabs: 0,
        away_since_ms: None,
    }
}

pub fn state(version: u64) -> StateRecord {
    let state = format!("{{\"version\":{version}}}");
    StateRecord { epoch: Some("page".into()), version, exact: true, state, at_ms: version }
}

pub fn position(sequence: u64) -> Position {
    Position { epoch: Epoch::parse("browser").unwrap(), sequence: Sequence(sequence) }
}

pub fn audit(dice: &mut Dice) -> AuditRecord {
    let ms = dice.roll(1 << 40);
    AuditRecord {
        at_ms: store::wall_clock_ms(),
        client: "client".into(),
        principal: None,
        session: None,
        tool: format!("tool-{ms}"),
        outcome: "done".into(),
        ms,
        call: None,
        trace: None,
    }
}
