//! The one suite that every backend must pass.
//!
//! A backend hands in a factory of places; a place is opened, closed and opened again, as after
//! a restart. Panics name the rule that was broken.

use std::time::{Duration, Instant};

use model::{
    Epoch, Position, Sequence, SessionId,
    record::{AuditRecord, LogKind, ResultRecord, SessionRecord, StateRecord},
};

use crate::{AuditLine, Health, Log, NewEntry, Store, wall_clock_ms};

/// Runs every rule, each in a fresh place.
pub fn suite<Place, Open>(make_place: Place)
where
    Place: Fn() -> Open,
    Open: Fn() -> Box<dyn Store>,
{
    sessions_are_kept_and_replaced(&make_place());
    numbers_start_at_one_and_have_no_holes(&make_place());
    a_reopened_log_goes_on_where_it_was(&make_place());
    reading_starts_after_a_number(&make_place());
    trimming_keeps_the_numbers(&make_place());
    a_trimmed_log_comes_back_as_it_was(&make_place());
    logs_of_one_session_are_apart(&make_place());
    forgetting_drops_all_and_starts_a_new_epoch(&make_place());
    a_forgotten_log_leaves_no_trace(&make_place());
    positions_are_kept_per_session(&make_place());
    the_newest_state_is_kept(&make_place());
    results_are_kept_for_their_time(&make_place());
    audit_lines_are_numbered(&make_place());
    every_write_is_synced_in_the_end(&make_place());
}

fn sessions_are_kept_and_replaced(open: &impl Fn() -> Box<dyn Store>) {
    let store = open();
    assert_eq!(store.sessions(), Ok(vec![]), "a new place is empty");
    store.save_session(record("s_1", "viewer")).unwrap();
    store.save_session(record("s_2", "viewer-2")).unwrap();
    store.save_session(record("s_1", "painter")).unwrap();
    let store = reopen(store, open);
    let mut names: Vec<_> = store.sessions().unwrap().into_iter().map(|kept| kept.name).collect();
    names.sort();
    assert_eq!(names, ["painter", "viewer-2"], "the newest of each id is kept");
    store.forget_session(&id("s_1")).unwrap();
    let store = reopen(store, open);
    assert_eq!(store.sessions(), Ok(vec![record("s_2", "viewer-2")]), "the forgotten one is gone");
}

fn numbers_start_at_one_and_have_no_holes(open: &impl Fn() -> Box<dyn Store>) {
    let (_store, mut log) = open_log(open, "s_1");
    assert_eq!((log.newest(), log.oldest()), (Sequence(0), Sequence(1)), "an empty log");
    let numbers: Vec<_> = (0..5).map(|_| log.append(entry("x")).unwrap().0).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert_eq!((log.newest(), log.oldest()), (Sequence(5), Sequence(1)));
    let usage = log.usage();
    let bytes: usize = log.read(Sequence(0), 10).unwrap().iter().map(|entry| entry.size()).sum();
    assert_eq!((usage.count, usage.bytes), (5, bytes), "usage counts what is held");
}

fn a_reopened_log_goes_on_where_it_was(open: &impl Fn() -> Box<dyn Store>) {
    let (store, mut log) = open_log(open, "s_1");
    let epoch = log.epoch();
    log.append(entry("fir\0st")).unwrap();
    let before = log.read(Sequence(0), 10);
    let store = reopen(store, open);
    let mut log = store.open_log(&id("s_1"), LogKind::ToBrowser).unwrap();
    assert_eq!(log.epoch(), epoch, "the epoch belongs to the log");
    assert_eq!(log.read(Sequence(0), 10), before, "every field comes back");
    assert_eq!(log.append(entry("second")), Ok(Sequence(2)), "no number is used again");
    assert_eq!(names(&*log, 0, 10), ["fir\0st", "second"]);
}

fn reading_starts_after_a_number(open: &impl Fn() -> Box<dyn Store>) {
    let (_store, mut log) = open_log(open, "s_1");
    for name in ["a", "b", "c", "d"] {
        log.append(entry(name)).unwrap();
    }
    assert_eq!(names(&*log, 0, 2), ["a", "b"]);
    assert_eq!(names(&*log, 2, 10), ["c", "d"]);
    assert!(names(&*log, 4, 10).is_empty(), "nothing after the newest");
    assert!(names(&*log, 99, 10).is_empty(), "nothing in the future");
}

fn trimming_keeps_the_numbers(open: &impl Fn() -> Box<dyn Store>) {
    let (_store, mut log) = open_log(open, "s_1");
    for name in ["a", "b", "c"] {
        log.append(entry(name)).unwrap();
    }
    log.trim(Sequence(2)).unwrap();
    log.trim(Sequence(1)).unwrap();
    assert_eq!((log.oldest(), log.newest()), (Sequence(3), Sequence(3)));
    assert_eq!(names(&*log, 0, 10), ["c"], "what was trimmed is not read");
    log.trim(Sequence(99)).unwrap();
    assert_eq!((log.oldest(), log.newest()), (Sequence(4), Sequence(3)), "empty, not reset");
    assert_eq!(log.usage().bytes, 0);
    assert_eq!(log.append(entry("d")), Ok(Sequence(4)));
}

fn a_trimmed_log_comes_back_as_it_was(open: &impl Fn() -> Box<dyn Store>) {
    let (store, mut log) = open_log(open, "s_1");
    let epoch = log.epoch();
    for name in ["a", "b", "c"] {
        log.append(entry(name)).unwrap();
    }
    log.trim(Sequence(2)).unwrap();
    let store = reopen(store, open);
    let mut log = store.open_log(&id("s_1"), LogKind::ToBrowser).unwrap();
    assert_eq!(
        (log.epoch(), log.oldest(), log.newest()),
        (epoch.clone(), Sequence(3), Sequence(3))
    );
    log.trim(Sequence(3)).unwrap();
    let store = reopen(store, open);
    let mut log = store.open_log(&id("s_1"), LogKind::ToBrowser).unwrap();
    assert_eq!((log.epoch(), log.oldest(), log.newest()), (epoch, Sequence(4), Sequence(3)));
    assert_eq!(log.append(entry("d")), Ok(Sequence(4)));
}

fn logs_of_one_session_are_apart(open: &impl Fn() -> Box<dyn Store>) {
    let store = open();
    let mut feed = store.open_log(&id("s_1"), LogKind::Feed).unwrap();
    let mut other = store.open_log(&id("s_2"), LogKind::Feed).unwrap();
    let mut outgoing = store.open_log(&id("s_1"), LogKind::ToBrowser).unwrap();
    assert_ne!(feed.epoch(), outgoing.epoch());
    assert_ne!(feed.epoch(), other.epoch());
    feed.append(entry("f")).unwrap();
    other.append(entry("o")).unwrap();
    assert_eq!(outgoing.append(entry("x")), Ok(Sequence(1)));
    assert_eq!(names(&*feed, 0, 10), ["f"]);
}

fn forgetting_drops_all_and_starts_a_new_epoch(open: &impl Fn() -> Box<dyn Store>) {
    let (store, mut log) = open_log(open, "s_1");
    log.append(entry("a")).unwrap();
    store.save_received(&id("s_1"), &position("b_1", 7)).unwrap();
    store.save_state(&id("s_1"), state(1, "{}")).unwrap();
    let epoch = log.epoch();
    store.forget_session(&id("s_1")).unwrap();
    store.save_session(record("s_1", "another")).unwrap();
    let check = |store: &dyn Store| {
        let log = store.open_log(&id("s_1"), LogKind::ToBrowser).unwrap();
        assert_ne!(log.epoch(), epoch);
        assert_eq!(log.newest(), Sequence(0));
        assert_eq!(store.received(&id("s_1")), Ok(None));
        assert_eq!(store.state(&id("s_1")), Ok(None));
    };
    check(&*store);
    check(&*reopen(store, open));
}

fn a_forgotten_log_leaves_no_trace(open: &impl Fn() -> Box<dyn Store>) {
    let (store, mut log) = open_log(open, "s_1");
    log.append(entry("a")).unwrap();
    store.forget_session(&id("s_1")).unwrap();
    assert_eq!(log.append(entry("b")), Ok(Sequence(2)), "whoever holds it goes on");
    log.trim(Sequence(1)).unwrap();
    assert_eq!(names(&*log, 0, 10), ["b"]);
    store.save_session(record("s_1", "another")).unwrap();
    let store = reopen(store, open);
    let log = store.open_log(&id("s_1"), LogKind::ToBrowser).unwrap();
    assert_eq!(log.newest(), Sequence(0));
}

fn positions_are_kept_per_session(open: &impl Fn() -> Box<dyn Store>) {
    let store = open();
    for session in ["s_1", "s_2"] {
        store.save_session(record(session, session)).unwrap();
    }
    assert_eq!(store.received(&id("s_1")), Ok(None));
    // A peer's numbers may use all bits.
    for sequence in [1, u64::MAX] {
        store.save_received(&id("s_1"), &position("b_1", sequence)).unwrap();
    }
    store.save_received(&id("s_2"), &position("b_2", 5)).unwrap();
    let store = reopen(store, open);
    assert_eq!(store.received(&id("s_1")), Ok(Some(position("b_1", u64::MAX))));
    assert_eq!(store.received(&id("s_2")), Ok(Some(position("b_2", 5))));
}

fn the_newest_state_is_kept(open: &impl Fn() -> Box<dyn Store>) {
    let store = open();
    store.save_session(record("s_1", "viewer")).unwrap();
    assert_eq!(store.state(&id("s_1")), Ok(None));
    let newest = StateRecord { epoch: None, ..state(u64::MAX, r#"{"text":"ü \u0000 \n"}"#) };
    store.save_state(&id("s_1"), state(1, "{}")).unwrap();
    store.save_state(&id("s_1"), newest.clone()).unwrap();
    assert_eq!(store.state(&id("s_1")), Ok(Some(newest.clone())));
    assert_eq!(reopen(store, open).state(&id("s_1")), Ok(Some(newest)));
}

fn results_are_kept_for_their_time(open: &impl Fn() -> Box<dyn Store>) {
    let store = open();
    assert_eq!(store.result("key"), Ok(None));
    store.save_result("key", result("first"), Duration::MAX).unwrap();
    store.save_result("key", result("second"), Duration::from_secs(60)).unwrap();
    store.save_result("over", result("over"), Duration::ZERO).unwrap();
    let check = |store: &dyn Store| {
        assert_eq!(store.result("key"), Ok(Some(result("second"))));
        assert_eq!(store.result("over"), Ok(None), "its time is over");
        let [(size, left)] = store.results().unwrap()[..] else { panic!("one is kept") };
        assert_eq!(size, result("second").body.len());
        assert!(left <= Duration::from_secs(60), "{left:?}");
    };
    check(&*store);
    check(&*reopen(store, open));
}

fn audit_lines_are_numbered(open: &impl Fn() -> Box<dyn Store>) {
    let store = open();
    assert_eq!(store.audit(0, 10), Ok(vec![]));
    for tool in ["a", "b", "c"] {
        store.append_audit(audit(tool)).unwrap();
    }
    let line = |number: u64, tool: &str| AuditLine { number, record: audit(tool) };
    assert_eq!(store.audit(0, 2), Ok(vec![line(1, "a"), line(2, "b")]), "also before the disk");
    assert_eq!(store.audit(2, 0), Ok(vec![]));
    let store = reopen(store, open);
    store.append_audit(audit("d")).unwrap();
    assert_eq!(store.audit(2, 10), Ok(vec![line(3, "c"), line(4, "d")]));
    assert_eq!(store.audit(4, 10), Ok(vec![]));
}

fn every_write_is_synced_in_the_end(open: &impl Fn() -> Box<dyn Store>) {
    let (store, mut log) = open_log(open, "s_1");
    let before = store.written();
    log.append(entry("a")).unwrap();
    store.append_audit(audit("a")).unwrap();
    assert!(store.written() >= before, "numbers never fall");
    wait_for_sync(&*store);
    assert_eq!(store.health(), Health::Ok);
}

/// Waits until everything that was written so far is on disk.
pub fn wait_for_sync(store: &dyn Store) {
    let (written, synced) = (store.written(), store.synced());
    let until = Instant::now() + Duration::from_secs(30);
    while *synced.borrow() < written {
        assert!(Instant::now() < until, "nothing is synced");
        std::thread::yield_now();
    }
}

/// Closes a store and opens it again, as after a restart.
fn reopen(store: Box<dyn Store>, open: &impl Fn() -> Box<dyn Store>) -> Box<dyn Store> {
    drop(store);
    open()
}

/// Makes a session id.
pub fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn open_log(open: &impl Fn() -> Box<dyn Store>, session: &str) -> (Box<dyn Store>, Box<dyn Log>) {
    let store = open();
    store.save_session(record(session, session)).unwrap();
    let log = store.open_log(&id(session), LogKind::ToBrowser).unwrap();
    (store, log)
}

/// Makes a message.
pub fn entry(name: &str) -> NewEntry {
    NewEntry { kind: "event".into(), name: name.into(), level: 2, body: r#"{"n":1}"#.into() }
}

fn names(log: &dyn Log, after: u64, limit: usize) -> Vec<String> {
    log.read(Sequence(after), limit).unwrap().into_iter().map(|entry| entry.name).collect()
}

/// Makes a session.
pub fn record(id: &str, name: &str) -> SessionRecord {
    SessionRecord {
        id: id.into(),
        instance: format!("instance-{id}"),
        name: name.into(),
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

/// Makes a position.
pub fn position(epoch: &str, sequence: u64) -> Position {
    Position { epoch: Epoch::parse(epoch).unwrap(), sequence: Sequence(sequence) }
}

/// Makes a state.
pub fn state(version: u64, state: &str) -> StateRecord {
    let epoch = Some("page".to_owned());
    StateRecord { epoch, version, exact: true, state: state.to_owned(), at_ms: 7 }
}

/// Makes a result.
pub fn result(body: &str) -> ResultRecord {
    ResultRecord {
        call: "c1-1".into(),
        request: "digest".into(),
        outcome: "done".into(),
        body: body.into(),
        at_ms: 7,
    }
}

/// Makes an audit line.
pub fn audit(tool: &str) -> AuditRecord {
    AuditRecord {
        at_ms: wall_clock_ms() / 60_000 * 60_000,
        client: "client".into(),
        principal: None,
        session: Some("s_1".into()),
        tool: tool.into(),
        outcome: "done".into(),
        ms: 12,
        call: Some("c1-1".into()),
        trace: None,
    }
}
