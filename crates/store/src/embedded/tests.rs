//! What the embedded store promises beyond the common suite.

mod ages;
mod damage;
mod disk;
mod formats;
mod merging;
mod operators;
mod terms;

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use model::{
    Sequence,
    id::random_text,
    record::{AuditRecord, LogKind},
};

use super::*;
use crate::{
    AuditLine, Health, Store, StoreWrite,
    conformance::{
        self, append, audit, entry, id, kept, open_log, position, record, result, save, state,
        wait_for_sync,
    },
};

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("tabwire-store-{}", random_text(12)));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("store.db")
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.0.join(format!("store.db{ending}"))
    }

    /// With more patience than a hub has: a disk may be slow for others' sake.
    fn options(&self) -> Options {
        let patience = Duration::from_secs(30);
        Options {
            retry_pause: Duration::from_millis(5),
            busy_wait: patience,
            close_within: patience,
            ..Options::new(self.file())
        }
    }

    fn open_with(&self, term: u64) -> Result<EmbeddedStore, StoreError> {
        EmbeddedStore::open(Options { term: Some(term), ..self.options() })
    }

    fn open(&self) -> EmbeddedStore {
        EmbeddedStore::open(self.options()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Waits for something that another thread will do soon.
#[track_caller]
fn eventually(what: impl Fn() -> bool) {
    let until = std::time::Instant::now() + Duration::from_secs(30);
    while !what() {
        assert!(std::time::Instant::now() < until, "it never became true");
        thread::yield_now();
    }
}

/// A session `s_1` with both logs, three messages each, a position, a state, a result.
fn fill(store: &EmbeddedStore) {
    store.write(vec![save("s_1", "viewer")]).unwrap();
    for kind in [LogKind::ToBrowser, LogKind::Feed] {
        let log = open_log(store, "s_1", kind);
        for name in ["a", "b", "c"] {
            append(store, &log, entry(name)).unwrap();
        }
    }
    store.write(vec![StoreWrite::Received(id("s_1"), position("b_1", 9))]).unwrap();
    store.write(vec![StoreWrite::State(id("s_1"), state(3, "{}"))]).unwrap();
    store
        .write(vec![StoreWrite::Result("key".into(), result("42"), Duration::from_secs(60))])
        .unwrap();
    store.write(vec![StoreWrite::Audit(audit("click"))]).unwrap();
    wait_for_sync(store);
}

/// Drops what a log holds up to a number.
fn trim(store: &EmbeddedStore, log: &Log, upto: u64) -> Result<(), StoreError> {
    store.write(vec![StoreWrite::Trim(log.clone(), Sequence(upto))]).map(drop)
}

/// Opens the file as an operator with other tools would.
fn by_hand(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn embedded_conforms() {
    let folders = RefCell::new(Vec::new());
    conformance::suite(|| {
        let folder = Folder::new();
        let options = folder.options();
        folders.borrow_mut().push(folder);
        Arc::new(options)
    });
}

#[test]
fn only_the_owner_may_read_the_files() {
    let folder = Folder::new();
    let store = folder.open();
    fill(&store);
    #[cfg(unix)]
    for ending in ["", "-wal", "-shm", "-mark"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.beside(ending)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{ending}");
    }
}

#[test]
fn ages_go_on_over_a_restart() {
    let folder = Folder::new();
    let store = folder.open();
    let since = std::time::Instant::now();
    fill(&store);
    let filled = since.elapsed();
    drop(store);
    let store = folder.open();
    let log = open_log(&store, "s_1", LogKind::Feed);
    let least = since.elapsed().saturating_sub(filled + Duration::from_millis(2));
    assert!(log.usage().oldest_age >= least, "closing and opening took {least:?}");
}

#[test]
fn the_write_ahead_log_is_emptied_at_rest_and_gone_after_closing() {
    let folder = Folder::new();
    let rest_after = Duration::from_millis(10);
    let store = EmbeddedStore::open(Options { rest_after, ..folder.options() }).unwrap();
    fill(&store);
    eventually(|| fs::metadata(folder.beside("-wal")).unwrap().len() == 0);
    fill(&store);
    store.close().unwrap();
    assert!(!folder.beside("-wal").exists());
}

#[test]
fn the_write_ahead_log_stays_bounded() {
    let folder = Folder::new();
    let options = Options { checkpoint_pages: 50, ..folder.options() };
    let store = EmbeddedStore::open(options).unwrap();
    store.write(vec![save("s_1", "viewer")]).unwrap();
    for version in 0..300 {
        store
            .write(vec![StoreWrite::State(id("s_1"), state(version, &"x".repeat(20_000)))])
            .unwrap();
        wait_for_sync(&store);
    }
    let size = fs::metadata(folder.beside("-wal")).unwrap().len();
    assert!(size < 2 * 50 * 4096 + 100_000, "{size} bytes after 6 MB of writes");
}

#[test]
fn closing_flushes_and_ends_writing() {
    let folder = Folder::new();
    let store = folder.open();
    store.write(vec![save("s_1", "viewer")]).unwrap();
    let log = open_log(&store, "s_1", LogKind::Feed);
    let ticket = store.write(vec![StoreWrite::Append(log.clone(), entry("a"))]).unwrap();
    assert_eq!(store.close(), Ok(()));
    assert!(ticket.is_done());
    let refused = append(&store, &log, entry("b")).unwrap_err();
    assert_eq!(refused.to_string(), "the store is not available: it is closed");
    assert_eq!(log.newest(), Sequence(1), "what was refused is not there");
    assert_eq!(store.close(), Ok(()), "closing twice is closing");
}

#[test]
fn what_belongs_to_no_session_is_gone_after_a_restart() {
    let folder = Folder::new();
    let store = folder.open();
    append(&store, &open_log(&store, "s_9", LogKind::Feed), entry("a")).unwrap();
    store.write(vec![StoreWrite::Received(id("s_9"), position("b_1", 9))]).unwrap();
    drop(store);
    let store = folder.open();
    assert_eq!(store.notices(), [] as [&str; 0], "nothing is wrong");
    drop(store);
    let report = operate::check(&folder.file()).unwrap();
    let left = report.tables.iter().filter(|table| table.rows > 0);
    assert_eq!(left.count(), 0, "{report:?}");
    assert_eq!(folder.open().load(&id("s_9")).unwrap().received, None);
}

#[test]
fn what_a_forgotten_log_gets_is_not_written() {
    let folder = Folder::new();
    let store = folder.open();
    fill(&store);
    let log = open_log(&store, "s_1", LogKind::Feed);
    store.write(vec![StoreWrite::Forget(id("s_1"))]).unwrap();
    store.write(vec![save("s_1", "another")]).unwrap();
    append(&store, &log, entry("late")).unwrap();
    trim(&store, &log, 2).unwrap();
    drop(store);
    let report = operate::check(&folder.file()).unwrap();
    assert_eq!(report.findings, [] as [&str; 0]);
    let rows = |name| report.tables.iter().find(|table| table.name == name).unwrap().rows;
    assert_eq!((rows("sessions"), rows("logs"), rows("entries")), (1, 0, 0));
}

#[test]
fn the_audit_is_trimmed_by_number_and_age() {
    let folder = Folder::new();
    let store = EmbeddedStore::open(Options { audit_lines: 3, ..folder.options() }).unwrap();
    for _ in 0..5 {
        store.write(vec![StoreWrite::Audit(audit("click"))]).unwrap();
    }
    wait_for_sync(&store);
    let numbers = |store: &EmbeddedStore| -> Vec<u64> {
        store.audit(0, 10).unwrap().iter().map(|line| line.number).collect()
    };
    assert_eq!(numbers(&store), [3, 4, 5]);
    let old = AuditRecord { at_ms: 5, ..audit("click") };
    for record in [old.clone(), old, audit("click")] {
        store.write(vec![StoreWrite::Audit(record)]).unwrap();
    }
    drop(store);
    let audit_age = Duration::from_secs(12 * 3600);
    let store = EmbeddedStore::open(Options { audit_age, ..folder.options() }).unwrap();
    assert_eq!(numbers(&store), [8]);
    drop(store);
    let store = EmbeddedStore::open(Options { audit_age: Duration::ZERO, ..folder.options() });
    let store = store.unwrap();
    assert_eq!(numbers(&store), [] as [u64; 0]);
    store.write(vec![StoreWrite::Audit(audit("click"))]).unwrap();
    assert_eq!(numbers(&store), [9], "no number is used again");
}
