//! A disk that refuses, and one that takes its time.

use super::*;
use model::record::{SessionRecord, ToolRecord, ToolsRecord};

use crate::{NewEntry, StoreError};

/// Fills the file up to its limit and returns the log that did it.
fn fill_the_disk(store: &EmbeddedStore) -> Box<dyn Log> {
    store.save_session(record("s_1", "viewer")).unwrap();
    let mut log = store.open_log(&id("s_1"), LogKind::Feed).unwrap();
    wait_for_sync(store);
    store.set_max_pages(Some(1));
    while store.health() == Health::Ok {
        log.append(large()).unwrap();
        eventually(|| *store.synced().borrow() == store.written() || store.health() != Health::Ok);
    }
    log
}

fn large() -> NewEntry {
    NewEntry { body: format!("\"{}\"", "x".repeat(4000)), ..entry("large") }
}

#[test]
fn a_full_disk_degrades_and_heals() {
    let folder = Folder::new();
    let store = folder.open();
    let mut log = fill_the_disk(&store);
    assert_eq!(store.health(), Health::Degraded { reason: "database or disk is full".into() });
    let synced = *store.synced().borrow();
    log.append(entry("meanwhile")).unwrap();
    store.save_state(&id("s_1"), state(1, "{}")).unwrap();
    let newest = log.newest();
    assert_eq!(log.read(Sequence(newest.0 - 1), 5).unwrap()[0].name, "meanwhile");
    assert!(*store.synced().borrow() == synced, "nothing is reported as kept");
    store.set_max_pages(None);
    wait_for_sync(&store);
    assert_eq!(store.health(), Health::Ok);
    let before = log.read(Sequence(0), usize::MAX).unwrap();
    drop(store);
    let store = folder.open();
    let log = store.open_log(&id("s_1"), LogKind::Feed).unwrap();
    assert_eq!(log.read(Sequence(0), usize::MAX).unwrap(), before, "all of it, in order");
    assert_eq!(store.state(&id("s_1")), Ok(Some(state(1, "{}"))));
}

#[test]
fn trimming_alone_can_heal_a_full_disk() {
    let folder = Folder::new();
    let store = folder.open();
    let mut log = fill_the_disk(&store);
    log.trim(log.newest()).unwrap();
    wait_for_sync(&store);
    assert_eq!(store.health(), Health::Ok);
}

#[test]
fn a_full_queue_refuses_and_forgets_nothing() {
    let folder = Folder::new();
    let store = EmbeddedStore::open(Options { queue_bytes: 50_000, ..folder.options() }).unwrap();
    let mut log = fill_the_disk(&store);
    let error = (0..100).find_map(|_| log.append(large()).err()).unwrap();
    let reason = "the store is not available: database or disk is full";
    assert_eq!(error.to_string(), reason);
    let newest = log.newest();
    assert!(log.usage().bytes < 300_000, "memory is bounded too");
    log.trim(Sequence(newest.0 - 1)).unwrap();
    // What the writer is just trying again counts until it has given that back.
    let begun = std::time::Instant::now();
    let appended = loop {
        match log.append(entry("room again")) {
            Err(_) if begun.elapsed() < Duration::from_secs(30) => thread::yield_now(),
            appended => break appended,
        }
    };
    assert_eq!(appended, Ok(newest.next()), "what was refused has no number");
    store.set_max_pages(None);
    wait_for_sync(&store);
    drop(store);
    let store = folder.open();
    assert_eq!(store.notices(), [] as [&str; 0]);
    let log = store.open_log(&id("s_1"), LogKind::Feed).unwrap();
    assert_eq!((log.oldest(), log.newest()), (newest, newest.next()));
}

#[test]
fn a_queue_that_only_fills_too_fast_says_so() {
    let folder = Folder::new();
    let store = EmbeddedStore::open(Options { queue_bytes: 1000, ..folder.options() }).unwrap();
    let error = store.save_state(&id("s_1"), state(1, &"x".repeat(2000))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the store is not available: more than 1000 bytes wait for the disk"
    );
    assert!(matches!(store.health(), Health::Degraded { .. }));
    store.save_session(record("s_1", "viewer")).unwrap();
    wait_for_sync(&store);
    eventually(|| store.health() == Health::Ok);
}

#[test]
fn closing_on_a_full_disk_says_what_is_lost_and_takes_no_time() {
    let folder = Folder::new();
    let store = folder.open();
    fill_the_disk(&store);
    let lost = store.written() - *store.synced().borrow();
    let error = store.close().unwrap_err();
    let words = format!("{lost} writes are not on disk: database or disk is full");
    assert_eq!(error, StoreError::Unavailable(words));
    drop(store);
    assert_eq!(folder.open().notices(), [] as [&str; 0], "what is there is whole");
}

#[test]
fn a_place_that_does_not_exist_is_an_error_with_its_name() {
    let folder = Folder::new();
    let path = folder.0.join("missing/store.db");
    let error = EmbeddedStore::open(Options::new(&path)).err().unwrap();
    assert!(error.to_string().contains("missing/store.db"), "{error}");
}

#[test]
fn what_is_abandoned_is_whole_up_to_the_last_sync() {
    let folder = Folder::new();
    let store = folder.open();
    fill(&store);
    let mut log = store.open_log(&id("s_1"), LogKind::Feed).unwrap();
    for _ in 0..100 {
        log.append(entry("late")).unwrap();
    }
    store.abandon();
    assert!(folder.beside("-wal").exists(), "as after a crash");
    let store = folder.open();
    assert_eq!(store.notices(), [] as [&str; 0]);
    let log = store.open_log(&id("s_1"), LogKind::Feed).unwrap();
    let held = log.read(Sequence(0), usize::MAX).unwrap();
    assert!(held.len() >= 3);
    assert!(held.iter().zip(1..).all(|(entry, number)| entry.sequence == number));
}

#[test]
fn what_a_session_offers_counts_as_waiting() {
    let folder = Folder::new();
    let options = Options { queue_bytes: 20_000, ..folder.options() };
    let store = EmbeddedStore::open(options).unwrap();
    let tool = ToolRecord {
        name: "paint".into(),
        description: String::new(),
        input_schema: "x".repeat(30_000),
        read_only: false,
        origin: None,
    };
    let tools = vec![ToolsRecord { tab: None, tools: vec![tool] }];
    let refused = store.save_session(SessionRecord { tools, ..record("s_1", "viewer") });
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    store.save_session(record("s_1", "viewer")).unwrap();
}
