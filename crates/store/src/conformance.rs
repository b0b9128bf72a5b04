//! The one suite that every backend must pass.
//!
//! A backend hands in a factory of places; each place can be opened several times and is then
//! the same store, as after a restart. Panics name the rule that was broken.

use model::{
    Sequence, SessionId,
    record::{LogKind, SessionRecord},
};

use crate::{Log, NewEntry, Store};

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
    logs_of_one_session_are_apart(&make_place());
    forgetting_starts_a_new_epoch(&make_place());
}

fn sessions_are_kept_and_replaced(open: &impl Fn() -> Box<dyn Store>) {
    let store = open();
    assert_eq!(store.sessions(), Ok(vec![]), "a new place is empty");
    store.save_session(record("s_1", "viewer")).unwrap();
    store.save_session(record("s_2", "viewer-2")).unwrap();
    store.save_session(record("s_1", "painter")).unwrap();
    let mut names: Vec<_> = open().sessions().unwrap().into_iter().map(|kept| kept.name).collect();
    names.sort();
    assert_eq!(names, ["painter", "viewer-2"], "the newest of each id is kept");
    store.forget_session(&id("s_1")).unwrap();
    assert_eq!(open().sessions().unwrap().len(), 1, "a forgotten session is gone");
}

fn numbers_start_at_one_and_have_no_holes(open: &impl Fn() -> Box<dyn Store>) {
    let mut log = open_log(open, "s_1");
    assert_eq!((log.newest(), log.oldest()), (Sequence(0), Sequence(1)), "an empty log");
    let numbers: Vec<_> = (0..5).map(|_| log.append(entry("x")).unwrap().0).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert_eq!((log.newest(), log.oldest()), (Sequence(5), Sequence(1)));
    let usage = log.usage();
    let bytes: usize = log.read(Sequence(0), 10).unwrap().iter().map(|entry| entry.size()).sum();
    assert_eq!((usage.count, usage.bytes), (5, bytes), "usage counts what is held");
}

fn a_reopened_log_goes_on_where_it_was(open: &impl Fn() -> Box<dyn Store>) {
    let mut log = open_log(open, "s_1");
    let epoch = log.epoch();
    log.append(entry("first")).unwrap();
    drop(log);
    let mut log = open_log(open, "s_1");
    assert_eq!(log.epoch(), epoch, "the epoch belongs to the log");
    assert_eq!(log.append(entry("second")), Ok(Sequence(2)), "no number is used again");
    assert_eq!(names(&*log, 0, 10), ["first", "second"]);
}

fn reading_starts_after_a_number(open: &impl Fn() -> Box<dyn Store>) {
    let mut log = open_log(open, "s_1");
    for name in ["a", "b", "c", "d"] {
        log.append(entry(name)).unwrap();
    }
    assert_eq!(names(&*log, 0, 2), ["a", "b"]);
    assert_eq!(names(&*log, 2, 10), ["c", "d"]);
    assert!(names(&*log, 4, 10).is_empty(), "nothing after the newest");
    assert!(names(&*log, 99, 10).is_empty(), "nothing in the future");
}

fn trimming_keeps_the_numbers(open: &impl Fn() -> Box<dyn Store>) {
    let mut log = open_log(open, "s_1");
    for name in ["a", "b", "c"] {
        log.append(entry(name)).unwrap();
    }
    log.trim(Sequence(2)).unwrap();
    assert_eq!((log.oldest(), log.newest()), (Sequence(3), Sequence(3)));
    assert_eq!(names(&*log, 0, 10), ["c"], "what was trimmed is not read");
    log.trim(Sequence(99)).unwrap();
    assert_eq!((log.oldest(), log.newest()), (Sequence(4), Sequence(3)), "empty, not reset");
    assert_eq!(log.usage().bytes, 0);
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

fn forgetting_starts_a_new_epoch(open: &impl Fn() -> Box<dyn Store>) {
    let store = open();
    let mut log = store.open_log(&id("s_1"), LogKind::Feed).unwrap();
    log.append(entry("a")).unwrap();
    let epoch = log.epoch();
    drop(log);
    store.forget_session(&id("s_1")).unwrap();
    let log = store.open_log(&id("s_1"), LogKind::Feed).unwrap();
    assert_ne!(log.epoch(), epoch);
    assert_eq!(log.newest(), Sequence(0));
}

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn open_log(open: &impl Fn() -> Box<dyn Store>, session: &str) -> Box<dyn Log> {
    open().open_log(&id(session), LogKind::ToBrowser).unwrap()
}

fn entry(name: &str) -> NewEntry {
    NewEntry { kind: "event".into(), name: name.into(), level: 0, body: "null".into() }
}

fn names(log: &dyn Log, after: u64, limit: usize) -> Vec<String> {
    log.read(Sequence(after), limit).unwrap().into_iter().map(|entry| entry.name).collect()
}

fn record(id: &str, name: &str) -> SessionRecord {
    SessionRecord {
        id: id.into(),
        instance: format!("instance-{id}"),
        name: name.into(),
        kind: "app".into(),
        dialect: "native".into(),
        origin: None,
        resume_digest: None,
        unproven: false,
    }
}
