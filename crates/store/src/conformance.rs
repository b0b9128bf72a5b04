//! The one suite that every back-end must pass, and things to write for tests.
//!
//! A back-end hands in a factory of places; a place is opened, closed and opened again, as after
//! a restart. Panics name the rule that was broken. Nothing here runs in a hub.

#![allow(clippy::unwrap_used, reason = "a suite fails by panicking")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use model::{
    Epoch, Position, Sequence, SessionId,
    record::{AuditRecord, LogKind, ResultRecord, SessionRecord, StateRecord},
};

use crate::{
    AuditLine, Health, Log, NewEntry, Ownership, Store, StoreBackend, StoreError, StoreWrite,
    WriteTicket, wall_clock_ms,
};

/// A rule, shown in a fresh place.
type Rule = fn(&dyn StoreBackend);

/// Runs every rule.
pub fn suite(make_place: impl Fn() -> Arc<dyn StoreBackend>) {
    let rules: [Rule; 20] = [
        terms_grow_and_are_kept,
        whoever_is_overtaken_owns_nothing_and_writes_nothing,
        sessions_are_kept_and_replaced,
        one_session_is_loaded_as_it_was,
        batches_are_kept_whole_and_in_order,
        an_empty_batch_waits_for_all_before_it,
        numbers_start_at_one_and_have_no_holes,
        a_reopened_log_goes_on_where_it_was,
        reading_starts_after_a_number,
        trimming_keeps_the_numbers,
        a_trimmed_log_comes_back_as_it_was,
        logs_of_one_session_are_apart,
        forgetting_drops_all_and_starts_a_new_epoch,
        a_forgotten_log_leaves_no_trace,
        positions_are_kept_per_session,
        the_newest_state_is_kept,
        results_are_kept_for_their_time,
        audit_lines_are_numbered,
        every_write_is_synced_in_the_end,
        more_on_disk_wakes_who_waits,
    ];
    for rule in rules {
        rule(&*make_place());
    }
}

fn terms_grow_and_are_kept(place: &dyn StoreBackend) {
    assert_eq!(place.last_term(), 0, "a new place knows none");
    let store = place.open(7).unwrap();
    assert_eq!((store.term(), place.last_term()), (7, 7));
    store.close().unwrap();
    for ours in [1, 7] {
        let fenced = StoreError::Fenced { ours, theirs: 7 };
        assert_eq!(place.open(ours).err(), Some(fenced), "another hub has had it");
    }
    assert_eq!(place.open(9).unwrap().term(), 9, "terms may leave some out");
}

fn whoever_is_overtaken_owns_nothing_and_writes_nothing(place: &dyn StoreBackend) {
    let older = place.open(1).unwrap();
    older.load(&id("s_1")).unwrap();
    older.write(vec![save("s_1", "viewer")]).unwrap();
    wait_for_sync(&*older);
    let ours = Ownership { is_ours: true, term: 1, lease: None };
    let owner = older.ownership(&id("s_1"));
    assert_eq!(Ownership { lease: None, ..owner }, ours, "who has the place has its sessions");
    let newer = place.open(2).unwrap();
    let theirs = Ownership { term: 2, ..ours };
    assert_eq!(Ownership { lease: None, ..newer.ownership(&id("s_1")) }, theirs);
    let fenced = StoreError::Fenced { ours: 1, theirs: 2 };
    let tickets = until("it was refused", || match older.write(vec![save("s_2", "ghost")]) {
        Ok(ticket) => Err(ticket),
        Err(error) => {
            assert_eq!(error, fenced);
            Ok(())
        }
    });
    assert!(tickets.iter().all(|ticket| !ticket.is_done()), "nothing is reported as kept");
    assert_eq!(older.health(), Health::Fenced);
    let lost = Ownership { is_ours: false, ..theirs };
    assert_eq!(Ownership { lease: None, ..older.ownership(&id("s_1")) }, lost);
    let viewer = Some(record("s_1", "viewer"));
    assert_eq!(kept(&*older, "s_1"), viewer, "what it has can still be read");
    newer.write(vec![save("s_3", "painter")]).unwrap();
    let store = reopen(newer, place);
    assert_eq!(store.sessions(), Ok(vec![id("s_1"), id("s_3")]));
}

fn sessions_are_kept_and_replaced(place: &dyn StoreBackend) {
    let store = open(place);
    assert_eq!(store.sessions(), Ok(vec![]), "a new place is empty");
    for (session, name) in [("s_2", "viewer-2"), ("s_1", "viewer"), ("s_1", "painter")] {
        store.write(vec![save(session, name)]).unwrap();
    }
    let store = reopen(store, place);
    assert_eq!(store.sessions(), Ok(vec![id("s_1"), id("s_2")]));
    assert_eq!(kept(&*store, "s_1"), Some(record("s_1", "painter")), "the newest is kept");
    store.write(vec![StoreWrite::Forget(id("s_1"))]).unwrap();
    let store = reopen(store, place);
    assert_eq!(store.sessions(), Ok(vec![id("s_2")]), "the forgotten one is gone");
    assert_eq!(kept(&*store, "s_2"), Some(record("s_2", "viewer-2")));
}

fn one_session_is_loaded_as_it_was(place: &dyn StoreBackend) {
    let store = open(place);
    let new = store.load(&id("s_1")).unwrap();
    assert_eq!((new.record, new.received, new.state), (None, None, None), "nobody has saved it");
    assert_eq!((new.feed.session(), new.feed.kind()), (&id("s_1"), LogKind::Feed));
    assert_eq!(store.sessions(), Ok(vec![]), "having logs is not being saved");
    let batch = vec![
        save("s_1", "viewer"),
        StoreWrite::Received(id("s_1"), position("b_1", 7)),
        StoreWrite::State(id("s_1"), state(1, "{}")),
        StoreWrite::Append(new.feed.clone(), entry("a")),
    ];
    store.write(batch).unwrap();
    let check = |store: &dyn Store| {
        let loaded = store.load(&id("s_1")).unwrap();
        assert_eq!(loaded.record, Some(record("s_1", "viewer")));
        assert_eq!(loaded.received, Some(position("b_1", 7)));
        assert_eq!(loaded.state, Some(state(1, "{}")));
        assert_eq!(loaded.to_browser.epoch(), new.to_browser.epoch());
        assert_eq!(loaded.feed.epoch(), new.feed.epoch());
        assert_eq!(names(&loaded.feed, 0, 10), ["a"]);
    };
    check(&*store);
    check(&*reopen(store, place));
}

fn batches_are_kept_whole_and_in_order(place: &dyn StoreBackend) {
    let (store, log) = open_saved(place, "s_1");
    let batch = (1..=3).flat_map(|number: u64| {
        let message = StoreWrite::Append(log.clone(), entry(&number.to_string()));
        [message, StoreWrite::Received(id("s_1"), position("b_1", number))]
    });
    store.write(batch.chain([StoreWrite::Trim(log.clone(), Sequence(1))]).collect()).unwrap();
    assert_eq!(names(&log, 0, 10), ["2", "3"]);
    let mut batch = vec![StoreWrite::Forget(id("s_1")), save("s_1", "another")];
    batch.push(StoreWrite::Received(id("s_1"), position("b_2", 1)));
    let store = reopen(store, place);
    let loaded = store.load(&id("s_1")).unwrap();
    assert_eq!(names(&loaded.to_browser, 0, 10), ["2", "3"]);
    assert_eq!(loaded.received, Some(position("b_1", 3)));
    store.write(batch).unwrap();
    let loaded = reopen(store, place).load(&id("s_1")).unwrap();
    assert_eq!(loaded.record, Some(record("s_1", "another")), "what follows a forgetting is new");
    assert_eq!(loaded.received, Some(position("b_2", 1)));
    assert_eq!(loaded.to_browser.newest(), Sequence(0));
}

fn an_empty_batch_waits_for_all_before_it(place: &dyn StoreBackend) {
    let store = open(place);
    let tickets: Vec<_> = (0..20)
        .map(|number| match number % 2 {
            0 => store.write(vec![StoreWrite::Audit(audit("a"))]).unwrap(),
            _ => store.write(vec![save("s_1", "viewer")]).unwrap(),
        })
        .collect();
    wait_for(&store.write(Vec::new()).unwrap());
    assert!(tickets.iter().all(WriteTicket::is_done));
}

fn numbers_start_at_one_and_have_no_holes(place: &dyn StoreBackend) {
    let (store, log) = open_saved(place, "s_1");
    assert_eq!((log.newest(), log.oldest()), (Sequence(0), Sequence(1)), "an empty log");
    let numbers: Vec<_> = (0..5).map(|_| append(&*store, &log, entry("x")).unwrap().0).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert_eq!((log.newest(), log.oldest()), (Sequence(5), Sequence(1)));
    let usage = log.usage();
    let bytes: usize = log.read(Sequence(0), 10).iter().map(|entry| entry.size()).sum();
    assert_eq!((usage.count, usage.bytes), (5, bytes), "usage counts what is held");
}

fn a_reopened_log_goes_on_where_it_was(place: &dyn StoreBackend) {
    let (store, log) = open_saved(place, "s_1");
    let epoch = log.epoch();
    append(&*store, &log, entry("fir\0st")).unwrap();
    let before = log.read(Sequence(0), 10);
    let store = reopen(store, place);
    let log = open_log(&*store, "s_1", LogKind::ToBrowser);
    assert_eq!(log.epoch(), epoch, "the epoch belongs to the log");
    assert_eq!(log.read(Sequence(0), 10), before, "every field comes back");
    assert_eq!(append(&*store, &log, entry("second")), Ok(Sequence(2)), "no number is used again");
    assert_eq!(names(&log, 0, 10), ["fir\0st", "second"]);
}

fn reading_starts_after_a_number(place: &dyn StoreBackend) {
    let (store, log) = open_saved(place, "s_1");
    for name in ["a", "b", "c", "d"] {
        append(&*store, &log, entry(name)).unwrap();
    }
    assert_eq!(names(&log, 0, 2), ["a", "b"]);
    assert_eq!(names(&log, 2, 10), ["c", "d"]);
    assert!(names(&log, 4, 10).is_empty(), "nothing after the newest");
    assert!(names(&log, 99, 10).is_empty(), "nothing in the future");
}

fn trimming_keeps_the_numbers(place: &dyn StoreBackend) {
    let (store, log) = open_saved(place, "s_1");
    for name in ["a", "b", "c"] {
        append(&*store, &log, entry(name)).unwrap();
    }
    store.write(vec![StoreWrite::Trim(log.clone(), Sequence(2))]).unwrap();
    store.write(vec![StoreWrite::Trim(log.clone(), Sequence(1))]).unwrap();
    assert_eq!((log.oldest(), log.newest()), (Sequence(3), Sequence(3)));
    assert_eq!(names(&log, 0, 10), ["c"], "what was trimmed is not read");
    store.write(vec![StoreWrite::Trim(log.clone(), Sequence(99))]).unwrap();
    assert_eq!((log.oldest(), log.newest()), (Sequence(4), Sequence(3)), "empty, not reset");
    assert_eq!(log.usage().bytes, 0);
    assert_eq!(append(&*store, &log, entry("d")), Ok(Sequence(4)));
}

fn a_trimmed_log_comes_back_as_it_was(place: &dyn StoreBackend) {
    let (store, log) = open_saved(place, "s_1");
    let epoch = log.epoch();
    for name in ["a", "b", "c"] {
        append(&*store, &log, entry(name)).unwrap();
    }
    store.write(vec![StoreWrite::Trim(log.clone(), Sequence(2))]).unwrap();
    let store = reopen(store, place);
    let log = open_log(&*store, "s_1", LogKind::ToBrowser);
    assert_eq!(
        (log.epoch(), log.oldest(), log.newest()),
        (epoch.clone(), Sequence(3), Sequence(3))
    );
    store.write(vec![StoreWrite::Trim(log.clone(), Sequence(3))]).unwrap();
    let store = reopen(store, place);
    let log = open_log(&*store, "s_1", LogKind::ToBrowser);
    assert_eq!((log.epoch(), log.oldest(), log.newest()), (epoch, Sequence(4), Sequence(3)));
    assert_eq!(append(&*store, &log, entry("d")), Ok(Sequence(4)));
}

fn logs_of_one_session_are_apart(place: &dyn StoreBackend) {
    let store = open(place);
    let feed = open_log(&*store, "s_1", LogKind::Feed);
    let other = open_log(&*store, "s_2", LogKind::Feed);
    let outgoing = open_log(&*store, "s_1", LogKind::ToBrowser);
    assert_ne!(feed.epoch(), outgoing.epoch());
    assert_ne!(feed.epoch(), other.epoch());
    append(&*store, &feed, entry("f")).unwrap();
    append(&*store, &other, entry("o")).unwrap();
    assert_eq!(append(&*store, &outgoing, entry("x")), Ok(Sequence(1)));
    assert_eq!(names(&feed, 0, 10), ["f"]);
}

fn forgetting_drops_all_and_starts_a_new_epoch(place: &dyn StoreBackend) {
    let (store, log) = open_saved(place, "s_1");
    append(&*store, &log, entry("a")).unwrap();
    store.write(vec![StoreWrite::Received(id("s_1"), position("b_1", 7))]).unwrap();
    store.write(vec![StoreWrite::State(id("s_1"), state(1, "{}"))]).unwrap();
    let epoch = log.epoch();
    store.write(vec![StoreWrite::Forget(id("s_1"))]).unwrap();
    store.write(vec![save("s_1", "another")]).unwrap();
    let check = |store: &dyn Store| {
        let log = open_log(store, "s_1", LogKind::ToBrowser);
        assert_ne!(log.epoch(), epoch);
        assert_eq!(log.newest(), Sequence(0));
        assert_eq!(store.load(&id("s_1")).unwrap().received, None);
        assert_eq!(store.load(&id("s_1")).unwrap().state, None);
    };
    check(&*store);
    check(&*reopen(store, place));
}

fn a_forgotten_log_leaves_no_trace(place: &dyn StoreBackend) {
    let (store, log) = open_saved(place, "s_1");
    append(&*store, &log, entry("a")).unwrap();
    store.write(vec![StoreWrite::Forget(id("s_1"))]).unwrap();
    assert_eq!(append(&*store, &log, entry("b")), Ok(Sequence(2)), "whoever holds it goes on");
    store.write(vec![StoreWrite::Trim(log.clone(), Sequence(1))]).unwrap();
    assert_eq!(names(&log, 0, 10), ["b"]);
    store.write(vec![save("s_1", "another")]).unwrap();
    let store = reopen(store, place);
    let log = open_log(&*store, "s_1", LogKind::ToBrowser);
    assert_eq!(log.newest(), Sequence(0));
}

fn positions_are_kept_per_session(place: &dyn StoreBackend) {
    let store = open(place);
    for session in ["s_1", "s_2"] {
        store.write(vec![save(session, session)]).unwrap();
    }
    assert_eq!(store.load(&id("s_1")).unwrap().received, None);
    // A peer's numbers may use all bits.
    for sequence in [1, u64::MAX] {
        store.write(vec![StoreWrite::Received(id("s_1"), position("b_1", sequence))]).unwrap();
    }
    store.write(vec![StoreWrite::Received(id("s_2"), position("b_2", 5))]).unwrap();
    let store = reopen(store, place);
    assert_eq!(store.load(&id("s_1")).unwrap().received, Some(position("b_1", u64::MAX)));
    assert_eq!(store.load(&id("s_2")).unwrap().received, Some(position("b_2", 5)));
}

fn the_newest_state_is_kept(place: &dyn StoreBackend) {
    let store = open(place);
    store.write(vec![save("s_1", "viewer")]).unwrap();
    assert_eq!(store.load(&id("s_1")).unwrap().state, None);
    let newest = StateRecord { epoch: None, ..state(u64::MAX, r#"{"text":"ü \u0000 \n"}"#) };
    store.write(vec![StoreWrite::State(id("s_1"), state(1, "{}"))]).unwrap();
    store.write(vec![StoreWrite::State(id("s_1"), newest.clone())]).unwrap();
    assert_eq!(store.load(&id("s_1")).unwrap().state, Some(newest.clone()));
    assert_eq!(reopen(store, place).load(&id("s_1")).unwrap().state, Some(newest));
}

fn results_are_kept_for_their_time(place: &dyn StoreBackend) {
    let store = open(place);
    assert_eq!(store.result("key"), Ok(None));
    store.write(vec![StoreWrite::Result("key".into(), result("first"), Duration::MAX)]).unwrap();
    let minute = Duration::from_secs(60);
    store.write(vec![StoreWrite::Result("key".into(), result("second"), minute)]).unwrap();
    store.write(vec![StoreWrite::Result("over".into(), result("over"), Duration::ZERO)]).unwrap();
    let check = |store: &dyn Store| {
        assert_eq!(store.result("key"), Ok(Some(result("second"))));
        assert_eq!(store.result("over"), Ok(None), "its time is over");
        let [(size, left)] = store.results().unwrap()[..] else { panic!("one is kept") };
        assert_eq!(size, result("second").body.len());
        assert!(left <= minute, "{left:?}");
    };
    check(&*store);
    check(&*reopen(store, place));
}

fn audit_lines_are_numbered(place: &dyn StoreBackend) {
    let store = open(place);
    assert_eq!(store.audit(0, 10), Ok(vec![]));
    for tool in ["a", "b", "c"] {
        store.write(vec![StoreWrite::Audit(audit(tool))]).unwrap();
    }
    let line = |number: u64, tool: &str| AuditLine { number, record: audit(tool) };
    assert_eq!(store.audit(0, 2), Ok(vec![line(1, "a"), line(2, "b")]), "also before the disk");
    assert_eq!(store.audit(2, 0), Ok(vec![]));
    let store = reopen(store, place);
    store.write(vec![StoreWrite::Audit(audit("d"))]).unwrap();
    assert_eq!(store.audit(2, 10), Ok(vec![line(3, "c"), line(4, "d")]));
    assert_eq!(store.audit(4, 10), Ok(vec![]));
}

fn every_write_is_synced_in_the_end(place: &dyn StoreBackend) {
    let (store, log) = open_saved(place, "s_1");
    for write in [StoreWrite::Append(log, entry("a")), StoreWrite::Audit(audit("a"))] {
        wait_for(&store.write(vec![write]).unwrap());
    }
    wait_for_sync(&*store);
    assert_eq!(store.health(), Health::Ok);
}

fn more_on_disk_wakes_who_waits(place: &dyn StoreBackend) {
    let store = open(place);
    let commits = store.commits();
    let ticket = store.write(vec![save("s_1", "viewer")]).unwrap();
    if !ticket.is_done() {
        wait_for(&ticket);
        assert!(commits.has_changed().unwrap(), "nobody was told");
    }
}

/// Waits until a batch is on disk.
pub fn wait_for(ticket: &WriteTicket) {
    until("nothing is synced", || ticket.is_done().then_some(()).ok_or(()));
}

/// Waits until everything that was written so far is on disk.
pub fn wait_for_sync(store: &dyn Store) {
    wait_for(&store.write(Vec::new()).unwrap());
}

/// Tries until something succeeds; returns what came instead.
fn until<T>(otherwise: &str, mut attempt: impl FnMut() -> Result<(), T>) -> Vec<T> {
    let end = Instant::now() + Duration::from_secs(30);
    let mut others = Vec::new();
    while let Err(other) = attempt() {
        assert!(Instant::now() < end, "{otherwise}");
        others.push(other);
        std::thread::yield_now();
    }
    others
}

fn open(place: &dyn StoreBackend) -> Arc<dyn Store> {
    place.open(place.last_term() + 1).unwrap()
}

/// Closes a store and opens it again, as after a restart.
fn reopen(store: Arc<dyn Store>, place: &dyn StoreBackend) -> Arc<dyn Store> {
    store.close().unwrap();
    drop(store);
    open(place)
}

/// Makes a session id.
pub fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

/// Opens a place and a log of a session that is saved there.
fn open_saved(place: &dyn StoreBackend, session: &str) -> (Arc<dyn Store>, Log) {
    let store = open(place);
    store.write(vec![save(session, session)]).unwrap();
    let log = open_log(&*store, session, LogKind::ToBrowser);
    (store, log)
}

/// Returns one of a session's logs.
pub fn open_log(store: &dyn Store, session: &str, kind: LogKind) -> Log {
    let loaded = store.load(&id(session)).unwrap();
    match kind {
        LogKind::ToBrowser => loaded.to_browser,
        LogKind::Feed => loaded.feed,
    }
}

/// Adds a message to a log and returns its number.
pub fn append(store: &dyn Store, log: &Log, entry: NewEntry) -> Result<Sequence, StoreError> {
    store.write(vec![StoreWrite::Append(log.clone(), entry)]).map(|_| log.newest())
}

/// Returns a session as it was saved.
pub fn kept(store: &dyn Store, session: &str) -> Option<SessionRecord> {
    store.load(&id(session)).unwrap().record
}

/// Makes the write that saves a session.
pub fn save(id: &str, name: &str) -> StoreWrite {
    StoreWrite::Session(self::id(id), Box::new(record(id, name)))
}

/// Makes a message.
pub fn entry(name: &str) -> NewEntry {
    NewEntry { kind: "event".into(), name: name.into(), level: 2, body: r#"{"n":1}"#.into() }
}

fn names(log: &Log, after: u64, limit: usize) -> Vec<String> {
    log.read(Sequence(after), limit).into_iter().map(|entry| entry.name).collect()
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
