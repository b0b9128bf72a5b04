//! Who may write: the term, and what happens to a hub that was overtaken.

use super::*;

#[test]
fn every_opening_raises_the_term() {
    let folder = Folder::new();
    let terms: Vec<_> = (0..3).map(|_| folder.open().term()).collect();
    assert_eq!(terms, [1, 2, 3]);
    assert_eq!(folder.open_with(40).unwrap().term(), 40, "the lock hands it out");
    assert_eq!(folder.open().term(), 41);
}

#[test]
fn whoever_has_an_older_term_does_not_get_the_file_and_harms_nobody() {
    let folder = Folder::new();
    let newer = folder.open_with(41).unwrap();
    for ours in [1, 40, 41] {
        let fenced = StoreError::Fenced { ours, theirs: 41 };
        assert_eq!(folder.open_with(ours).err(), Some(fenced));
    }
    newer.write(vec![save("s_1", "viewer")]).unwrap();
    wait_for_sync(&newer);
    assert_eq!(newer.health(), Health::Ok);
    assert!(!folder.beside(".damaged-1").exists());
}

#[test]
fn the_last_term_can_be_told_before_the_file_is_opened() {
    let folder = Folder::new();
    assert_eq!(operate::term(&folder.file()), 0, "there is no file");
    assert!(!folder.file().exists(), "and none is made");
    let store = folder.open_with(7).unwrap();
    assert_eq!(operate::term(&folder.file()), 7, "beside a hub");
    drop(store);
    assert_eq!(operate::term(&folder.file()), 7, "after it was closed");
    let store = folder.open_with(8).unwrap();
    fill(&store);
    store.abandon();
    assert_eq!(operate::term(&folder.file()), 8, "after a crash");
    let folder = Folder::new();
    fs::write(folder.file(), "not a database").unwrap();
    assert_eq!(operate::term(&folder.file()), 0, "it will be set aside");
}

#[test]
fn a_hub_that_was_overtaken_writes_nothing_more() {
    let folder = Folder::new();
    let frozen = folder.open();
    fill(&frozen);
    let newer = folder.open();
    let ticket = frozen.write(vec![save("s_2", "ghost")]).unwrap();
    eventually(|| frozen.health() == Health::Fenced);
    let fenced = StoreError::Fenced { ours: 1, theirs: 2 };
    assert_eq!(frozen.write(vec![save("s_3", "ghost")]).err(), Some(fenced.clone()));
    let log = open_log(&frozen, "s_1", LogKind::Feed);
    assert_eq!(append(&frozen, &log, entry("ghost")), Err(fenced.clone()));
    assert_eq!(trim(&frozen, &log, 1), Err(fenced.clone()));
    assert_eq!(log.read(Sequence(0), 10).len(), 3, "what it has can still be read");
    assert!(!ticket.is_done(), "nothing is reported as kept");
    assert_eq!(frozen.close(), Err(fenced));
    newer.write(vec![save("s_4", "painter")]).unwrap();
    drop(newer);
    assert_eq!(folder.open().sessions(), Ok(vec![id("s_1"), id("s_4")]));
}

#[test]
fn what_waits_when_a_hub_is_overtaken_is_not_written() {
    let folder = Folder::new();
    let (busy_wait, retry_pause) = (Duration::ZERO, Duration::from_secs(60));
    let options = Options { busy_wait, retry_pause, ..folder.options() };
    let frozen = EmbeddedStore::open(options).unwrap();
    let lock = rusqlite::Connection::open(folder.file()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    frozen.write(vec![save("s_1", "ghost")]).unwrap();
    eventually(|| frozen.health() != Health::Ok);
    lock.execute_batch("ROLLBACK").unwrap();
    drop(folder.open());
    assert_eq!(frozen.close(), Err(StoreError::Fenced { ours: 1, theirs: 2 }));
    assert_eq!(folder.open().sessions(), Ok(vec![]));
}

#[test]
fn a_file_that_another_program_holds_is_waited_for() {
    let folder = Folder::new();
    let options = Options { busy_wait: Duration::from_millis(50), ..folder.options() };
    let store = EmbeddedStore::open(options.clone()).unwrap();
    store.write(vec![save("s_1", "viewer")]).unwrap();
    let log = open_log(&store, "s_1", LogKind::Feed);
    wait_for_sync(&store);
    let lock = rusqlite::Connection::open(folder.file()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Some of these come while a commit is being tried, and wait behind it.
    while store.health() == Health::Ok {
        append(&store, &log, entry("meanwhile")).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    let error = EmbeddedStore::open(options).err().unwrap();
    assert!(error.to_string().contains("store.db: database is locked"), "{error}");
    lock.execute_batch("ROLLBACK").unwrap();
    wait_for_sync(&store);
    assert_eq!(store.health(), Health::Ok);
    let newest = log.newest();
    drop(store);
    let store = folder.open();
    assert_eq!(store.notices(), [] as [&str; 0]);
    assert_eq!(open_log(&store, "s_1", LogKind::Feed).newest(), newest);
}
