//! However writes are merged on their way, the file is the same in the end.

use std::collections::VecDeque;

use model::{Epoch, SessionId, record::LogEntry};
use proptest::prelude::*;
use rusqlite::{Connection, types::Value};

use super::{changes::Changes, weight::Weight, *};
use crate::change::{Change, Gone, Head, KeptResult, LogId, PlaceId, Placed};

/// Two sessions with one log each, which come and go; makes writes as the store does.
#[derive(Default)]
struct Life {
    number: u64,
    logs: [Option<(Head, VecDeque<PlaceId>)>; 2],
}

impl Life {
    fn change(&mut self, kind: u8, which: usize) -> Change {
        self.number += 1;
        let number = self.number;
        let session = id(["s_1", "s_2"][which]);
        let log = &mut self.logs[which];
        match (kind, &mut *log) {
            (0, _) => {
                let gone = log.take().map_or_else(Gone::default, |(head, places)| Gone {
                    logs: vec![head.id],
                    places: places.into(),
                });
                Change::Forget(session, gone)
            }
            (1, _) => Change::Session(Box::new(record(session.as_str(), &number.to_string()))),
            (2, _) => Change::Received(session, position("b_1", number)),
            (3, _) => Change::State(session, Arc::new(state(number, "{}"))),
            (4, _) => Change::Result(session.to_string(), kept(number)),
            (5, _) => Change::Audit(Arc::new(AuditLine { number, record: fixed_audit() })),
            (_, None) => {
                let head = new_head(LogId(number), session);
                *log = Some((head.clone(), VecDeque::new()));
                Change::Open(head)
            }
            (6 | 7, Some((head, places))) => {
                let dropped: Vec<_> =
                    places.drain(..places.len() * usize::from(kind - 5) / 2).collect();
                head.oldest = Sequence(head.oldest.0 + dropped.len() as u64);
                Change::Trim(head.clone(), dropped)
            }
            (_, Some((head, places))) => {
                head.newest = head.newest.next();
                places.push_back(PlaceId(number));
                Change::Append(head.clone(), placed(head.newest.0, PlaceId(number)))
            }
        }
    }
}

fn new_head(log: LogId, session: SessionId) -> Head {
    let epoch = Epoch::parse(&format!("e{}", log.0)).unwrap();
    let (newest, oldest) = (Sequence(0), Sequence(1));
    Head { id: log, session, kind: LogKind::Feed, epoch, newest, oldest }
}

fn placed(sequence: u64, place: PlaceId) -> Placed {
    let (kind, name, body) = ("event".into(), "x".repeat(sequence as usize), "1".into());
    Placed { place, entry: Arc::new(LogEntry { sequence, at_ms: 0, kind, name, level: 0, body }) }
}

fn kept(number: u64) -> KeptResult {
    let record = Arc::new(result(&number.to_string()));
    KeptResult { record, saved_ms: number, ttl: Duration::ZERO }
}

fn fixed_audit() -> AuditRecord {
    AuditRecord { at_ms: 1, ..audit("click") }
}

/// Everything in a file.
fn rows_in(connection: &Connection) -> Vec<Vec<Value>> {
    let mut found = Vec::new();
    for table in ["meta", "sessions", "logs", "entries", "received", "states", "results", "audit"] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
        found.extend(statement.query_map([], row).unwrap().map(Result::unwrap));
    }
    found
}

fn counted(changes: &Changes) -> usize {
    changes.forgotten.values().map(Weight::weight).sum::<usize>()
        + changes.sessions.values().map(Weight::weight).sum::<usize>()
        + changes.received.values().map(Weight::weight).sum::<usize>()
        + changes.states.values().map(Weight::weight).sum::<usize>()
        + changes.logs.values().map(Weight::weight).sum::<usize>()
        + changes.results.values().map(Weight::weight).sum::<usize>()
        + changes.audit.iter().map(Weight::weight).sum::<usize>()
}

/// Does what a life does. A commit is tried where `tries` says so, and succeeds where it says.
fn live(steps: &[(u8, usize)], tries: impl Fn(usize) -> Option<bool>) -> Vec<Vec<Value>> {
    let file = schema::built(schema::FORMAT).unwrap();
    let (mut life, mut waiting) = (Life::default(), Changes::default());
    let mut taken = Changes::default();
    for (number, (kind, which)) in steps.iter().enumerate() {
        waiting.add(number as u64 + 1, life.change(*kind, *which));
        assert_eq!(counted(&waiting), waiting.weight());
        match tries(number) {
            Some(true) => {
                apply::apply(&file, &taken).unwrap();
                taken = std::mem::take(&mut waiting);
            }
            Some(false) => {
                taken.absorb(std::mem::take(&mut waiting));
                assert_eq!(counted(&taken), taken.weight());
            }
            None => {}
        }
    }
    apply::apply(&file, &taken).unwrap();
    apply::apply(&file, &waiting).unwrap();
    rows_in(&file)
}

proptest! {
    #[test]
    fn merged_writes_end_as_single_ones(
        steps in prop::collection::vec((0..14_u8, 0..2_usize), 0..80),
        tries in prop::collection::vec(prop::option::weighted(0.3, any::<bool>()), 80),
    ) {
        let one_by_one = live(&steps, |_| Some(true));
        prop_assert_eq!(&live(&steps, |_| None), &one_by_one);
        prop_assert_eq!(&live(&steps, |step| tries[step]), &one_by_one);
    }
}
