//! A damaged store: a good file with bytes changed, cut or added, then opened, read and opened again.
//!
//! An input is a list of changes, six bytes each: see [`damage`]. Opening never fails for damage: it
//! repairs or sets aside, and a second opening has nothing left to say.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use model::{
    Epoch, Position, Sequence, SessionId,
    record::{AuditRecord, ResultRecord, SessionRecord, StateRecord},
};
use store::{EmbeddedStore, NewEntry, Options, Store, StoreError, StoreWrite};

use crate::scratch;

/// Its name.
pub(crate) const FILE: &str = "hub.sqlite";
const MARK: &str = "hub.sqlite-mark";
const SESSIONS: [&str; 2] = ["s_1", "s_2"];

/// A store on disk.
#[derive(Clone)]
struct Files {
    store: Vec<u8>,
    mark: Vec<u8>,
}

/// Damages a copy of the good file, and opens it twice.
pub fn run(input: &[u8]) {
    let mut files = good().clone();
    for change in input.as_chunks().0 {
        damage(&mut files, change);
    }
    open_twice(&put(&files));
}

/// Puts an undamaged store into the scratch folder.
pub(crate) fn put_good() -> PathBuf {
    put(good())
}

/// Opens a store and reads it, closes it, and opens it again: then nothing is left to repair.
pub(crate) fn open_twice(path: &Path) {
    let Some(store) = open(path) else { return };
    read(&store);
    add(&store);
    store.close().expect("the disk takes everything");
    let store = open(path).expect("what was opened once opens again");
    assert_eq!(store.notices(), [] as [&str; 0], "the first opening has left damage");
    read(&store);
}

fn good() -> &'static Files {
    static GOOD: OnceLock<Files> = OnceLock::new();
    GOOD.get_or_init(make)
}

fn put(files: &Files) -> PathBuf {
    clear();
    scratch::write(MARK, &files.mark);
    scratch::write(FILE, &files.store)
}

/// Changes a byte, flips a bit, cuts, or adds bytes at a place; the same in the mark from kind 4 on.
fn damage(files: &mut Files, [kind, low, middle, high, value, extra]: &[u8; 6]) {
    let bytes = if kind & 4 == 0 { &mut files.store } else { &mut files.mark };
    let place = u32::from_le_bytes([*low, *middle, *high, 0]) as usize;
    let place = place % bytes.len().max(1);
    match (kind & 3, bytes.get_mut(place)) {
        (0, Some(byte)) => *byte = *value,
        (1, Some(byte)) => *byte ^= 1 << (extra % 8),
        (2, _) => bytes.truncate(place),
        _ => drop(bytes.splice(place..place, vec![*value; (*extra).into()])),
    }
}

/// Opens the file; `None` means that it says it is newer than we are.
fn open(path: &Path) -> Option<EmbeddedStore> {
    match EmbeddedStore::open(Options::new(path)) {
        Ok(store) => Some(store),
        Err(StoreError::Newer { .. }) => None,
        Err(error) => panic!("damage is no reason to stay closed: {error}"),
    }
}

/// Reads everything; no log has a hole.
fn read(store: &EmbeddedStore) {
    let sessions = store.sessions().expect("memory can be read");
    for id in &sessions {
        let loaded = store.load(id).expect("a session has logs");
        for log in [loaded.to_browser, loaded.feed] {
            let entries = log.read(Sequence(0), usize::MAX);
            let holes = entries.windows(2).filter(|two| two[0].sequence + 1 != two[1].sequence);
            assert_eq!(holes.count(), 0, "a log with a hole");
        }
    }
    store.result("key").expect("memory can be read");
    // This one is read from the disk, which may refuse what is damaged there.
    let _ = store.audit(0, 100);
}

/// Adds a message to each log, and a line to the audit: numbers go on from what was read.
fn add(store: &EmbeddedStore) {
    for id in store.sessions().expect("memory can be read") {
        let loaded = store.load(&id).expect("a session has logs");
        for log in [loaded.to_browser, loaded.feed] {
            let next = log.newest().next();
            let write = StoreWrite::Append(log.clone(), entry(9));
            store.write(vec![write]).expect("there is room for a message");
            assert_eq!(log.newest(), next);
        }
    }
    store.write(vec![StoreWrite::Audit(audit())]).expect("there is room for a line");
}

/// Removes what the input before has left, with all that was set aside.
fn clear() {
    let entries = fs::read_dir(scratch::folder()).expect("the folder is ours");
    for entry in entries.flatten() {
        let _ = fs::remove_file(entry.path());
    }
}

/// Makes a store with something in each table.
fn make() -> Files {
    clear();
    let path = scratch::folder().join(FILE);
    fill(&EmbeddedStore::open(Options::new(&path)).expect("a new store opens"))
        .expect("a new store takes everything");
    let mark = fs::read(scratch::folder().join(MARK)).expect("a store has a mark");
    Files { store: fs::read(path).expect("a store has a file"), mark }
}

fn fill(store: &EmbeddedStore) -> Result<(), StoreError> {
    for name in SESSIONS {
        let id = SessionId::parse(name).expect("a session id");
        let loaded = store.load(&id)?;
        let mut batch = vec![StoreWrite::Session(id.clone(), Box::new(session(name)))];
        for log in [loaded.to_browser, loaded.feed] {
            batch.extend((0..4).map(|number| StoreWrite::Append(log.clone(), entry(number))));
        }
        let epoch = Epoch::parse("e-fuzz").expect("an epoch");
        batch.push(StoreWrite::Received(id.clone(), Position { epoch, sequence: Sequence(7) }));
        let state = "{\"color\":\"red\"}".to_owned();
        let epoch = Some("p1".to_owned());
        let state = StateRecord { epoch, version: 3, exact: true, state, at_ms: 1 };
        batch.push(StoreWrite::State(id, state));
        store.write(batch)?;
    }
    let [call, request, outcome, body] = ["c_1", "digest", "done", "{}"].map(str::to_owned);
    let result = ResultRecord { call, request, outcome, body, at_ms: 1 };
    let result = StoreWrite::Result("key".to_owned(), result, Duration::from_secs(1 << 30));
    store.write(vec![result, StoreWrite::Audit(audit())])?;
    store.close()
}

fn entry(number: u32) -> NewEntry {
    let body = format!("{{\"number\":{number}}}");
    let [kind, name] = ["event", "tick"].map(str::to_owned);
    NewEntry { kind, name, level: 1, body }
}

fn session(id: &str) -> SessionRecord {
    let [id, instance, name] = [id, "fuzz-1", "viewer"].map(str::to_owned);
    let [kind, dialect] = ["app", "native"].map(str::to_owned);
    SessionRecord {
        id,
        instance,
        name,
        kind,
        dialect,
        origin: Some("http://localhost:3000".to_owned()),
        resume_digest: Some("00".repeat(32)),
        unproven: false,
        carried_by: None,
        tabs: Vec::new(),
        tools: Vec::new(),
        holders: Vec::new(),
        hidden_tabs: 0,
        away_since_ms: None,
    }
}

fn audit() -> AuditRecord {
    let [client, tool, outcome] = ["ai-1", "browser_tab", "done"].map(str::to_owned);
    AuditRecord {
        at_ms: store::wall_clock_ms(),
        client,
        principal: None,
        session: Some("s_1".to_owned()),
        tool,
        outcome,
        ms: 5,
        call: Some("c_1".to_owned()),
        trace: None,
    }
}
