//! A disk that refuses, and one that takes its time.

use super::*;
use model::record::{SessionRecord, ToolRecord, ToolsRecord};

use crate::{NewEntry, StoreError};

/// Fills the file up to its limit and returns the log that did it.
fn fill_the_disk(store: &EmbeddedStore) -> Log {
    store.write(vec![save("s_1", "viewer")]).unwrap();
    let log = open_log(store, "s_1", LogKind::Feed);
    wait_for_sync(store);
    store.set_max_pages(Some(1));
    while store.health() == Health::Ok {
        let ticket = store.write(vec![StoreWrite::Append(log.clone(), large())]).unwrap();
        eventually(|| ticket.is_done() || store.health() != Health::Ok);
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
    let log = fill_the_disk(&store);
    assert_eq!(store.health(), Health::Degraded { reason: "database or disk is full".into() });
    let ticket = store.write(vec![StoreWrite::Append(log.clone(), entry("meanwhile"))]).unwrap();
    store.write(vec![StoreWrite::State(id("s_1"), state(1, "{}"))]).unwrap();
    let newest = log.newest();
    assert_eq!(log.read(Sequence(newest.0 - 1), 5)[0].name, "meanwhile");
    assert!(!ticket.is_done(), "nothing is reported as kept");
    store.set_max_pages(None);
    wait_for_sync(&store);
    assert_eq!(store.health(), Health::Ok);
    let before = log.read(Sequence(0), usize::MAX);
    drop(store);
    let store = folder.open();
    let log = open_log(&store, "s_1", LogKind::Feed);
    assert_eq!(log.read(Sequence(0), usize::MAX), before, "all of it, in order");
    assert_eq!(store.load(&id("s_1")).unwrap().state, Some(state(1, "{}")));
}

#[test]
fn trimming_alone_can_heal_a_full_disk() {
    let folder = Folder::new();
    let store = folder.open();
    let log = fill_the_disk(&store);
    trim(&store, &log, log.newest().0).unwrap();
    wait_for_sync(&store);
    assert_eq!(store.health(), Health::Ok);
}

#[test]
fn a_full_queue_refuses_and_forgets_nothing() {
    let folder = Folder::new();
    let store = EmbeddedStore::open(Options { queue_bytes: 50_000, ..folder.options() }).unwrap();
    let log = fill_the_disk(&store);
    let error = (0..100).find_map(|_| append(&store, &log, large()).err()).unwrap();
    let reason = "the store is not available: database or disk is full";
    assert_eq!(error.to_string(), reason);
    let newest = log.newest();
    assert!(log.usage().bytes < 300_000, "memory is bounded too");
    trim(&store, &log, newest.0 - 1).unwrap();
    // What the writer is just trying again counts until it has given that back.
    let begun = std::time::Instant::now();
    let appended = loop {
        match append(&store, &log, entry("room again")) {
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
    let log = open_log(&store, "s_1", LogKind::Feed);
    assert_eq!((log.oldest(), log.newest()), (newest, newest.next()));
}

#[test]
fn a_queue_that_only_fills_too_fast_says_so() {
    let folder = Folder::new();
    let store = EmbeddedStore::open(Options { queue_bytes: 1000, ..folder.options() }).unwrap();
    let error =
        store.write(vec![StoreWrite::State(id("s_1"), state(1, &"x".repeat(2000)))]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the store is not available: more than 1000 bytes wait for the disk"
    );
    assert!(matches!(store.health(), Health::Degraded { .. }));
    store.write(vec![save("s_1", "viewer")]).unwrap();
    wait_for_sync(&store);
    eventually(|| store.health() == Health::Ok);
}

#[test]
fn closing_on_a_full_disk_says_what_is_lost_and_takes_no_time() {
    let folder = Folder::new();
    let store = folder.open();
    fill_the_disk(&store);
    store.write(vec![StoreWrite::Audit(audit("click"))]).unwrap();
    let words = "2 writes are not on disk: database or disk is full";
    assert_eq!(store.close(), Err(StoreError::Unavailable(words.into())));
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
    let log = open_log(&store, "s_1", LogKind::Feed);
    for _ in 0..100 {
        append(&store, &log, entry("late")).unwrap();
    }
    store.abandon();
    assert!(folder.beside("-wal").exists(), "as after a crash");
    let store = folder.open();
    assert_eq!(store.notices(), [] as [&str; 0]);
    let log = open_log(&store, "s_1", LogKind::Feed);
    let held = log.read(Sequence(0), usize::MAX);
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
    let refused = store.write(vec![StoreWrite::Session(
        id("s_1"),
        Box::new(SessionRecord { tools, ..record("s_1", "viewer") }),
    )]);
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    store.write(vec![save("s_1", "viewer")]).unwrap();
}
