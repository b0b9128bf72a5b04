//! Files of other formats: older ones are brought up, newer ones are left alone.

use model::{Epoch, record::LogEntry};

use super::{
    mark::{Mark, MarkFile},
    schema::Meta,
    *,
};
use crate::change::{Head, LogId, PlaceId, Placed};

/// Writes a file as the first format had it: one session with a log of two messages.
fn write_first_format(folder: &Folder) -> Epoch {
    let connection = rusqlite::Connection::open(folder.file()).unwrap();
    Meta::write_old(&connection, 1);
    let mark = Mark { identity: "old".into(), commits: 5 };
    rows::put_meta(&connection, "identity", &mark.identity).unwrap();
    rows::put_meta(&connection, "commits", "5").unwrap();
    rows::put_meta(&connection, "term", "8").unwrap();
    rows::put_session(&connection, &record("s_1", "viewer")).unwrap();
    let epoch = Epoch::mint();
    let head = Head {
        id: LogId(4),
        session: id("s_1"),
        kind: LogKind::Feed,
        epoch: epoch.clone(),
        newest: Sequence(7),
        oldest: Sequence(6),
    };
    rows::put_head(&connection, &head).unwrap();
    for (sequence, name) in [(6, "six"), (7, "seven")] {
        let entry = LogEntry {
            sequence,
            at_ms: 1,
            kind: "event".into(),
            name: name.into(),
            level: 0,
            body: "null".into(),
        };
        let placed = Placed { place: PlaceId(sequence), entry: Arc::new(entry) };
        rows::put_entry(&connection, head.id, &placed).unwrap();
    }
    MarkFile::open(&folder.file(), &mark).unwrap();
    epoch
}

#[test]
fn a_file_of_the_first_format_is_brought_up() {
    let folder = Folder::new();
    let epoch = write_first_format(&folder);
    let report = operate::check(&folder.file()).unwrap();
    assert_eq!((report.format, report.findings.len(), report.tables.len()), (1, 0, 3));
    let options = Options { program: "0.2.0".into(), ..folder.options() };
    let store = EmbeddedStore::open(options).unwrap();
    assert_eq!(store.notices(), ["brought from format 1 to 2"]);
    assert_eq!(store.term(), 9);
    assert_eq!(kept(&store, "s_1"), Some(record("s_1", "viewer")));
    let log = open_log(&store, "s_1", LogKind::Feed);
    assert_eq!((log.epoch(), log.oldest(), log.newest()), (epoch, Sequence(6), Sequence(7)));
    assert_eq!(append(&store, &log, entry("eight")), Ok(Sequence(8)));
    store.write(vec![StoreWrite::State(id("s_1"), state(1, "{}"))]).unwrap();
    drop(store);
    assert_eq!(folder.open().load(&id("s_1")).unwrap().state, Some(state(1, "{}")));
    let report = operate::check(&folder.file()).unwrap();
    assert_eq!((report.format, report.program.as_str()), (2, "0.2.0"));
}

#[test]
fn checksums_are_those_of_all_versions() {
    let folder = Folder::new();
    write_first_format(&folder);
    let connection = rusqlite::Connection::open(folder.file()).unwrap();
    for (rows, expected) in [
        ("meta WHERE key = 'commits'", 0xc326_df54_u32),
        ("entries WHERE sequence = 6", 0x7521_78a2),
    ] {
        let question = format!("SELECT crc FROM {rows}");
        let crc: i64 = connection.query_row(&question, [], |row| row.get(0)).unwrap();
        assert_eq!(crc, i64::from(expected), "{rows}");
    }
    let mark = fs::read_to_string(folder.beside("-mark")).unwrap();
    assert_eq!(mark, "tabwire-mark old 00000000000000000005 388f0e97\n");
}

#[test]
fn a_migration_that_does_not_fit_on_the_disk_changes_nothing() {
    let folder = Folder::new();
    write_first_format(&folder);
    let options = Options { max_pages: Some(1), ..folder.options() };
    let error = EmbeddedStore::open(options).err().unwrap();
    assert!(error.to_string().contains("full"), "{error}");
    assert_eq!(operate::check(&folder.file()).unwrap().format, 1);
}

#[test]
fn a_newer_file_is_left_as_it_is() {
    let folder = Folder::new();
    drop(folder.open());
    let connection = rusqlite::Connection::open(folder.file()).unwrap();
    connection.execute_batch("PRAGMA user_version = 3; CREATE TABLE more (x)").unwrap();
    rows::put_meta(&connection, "format", "3").unwrap();
    rows::put_meta(&connection, "program", "0.5.0").unwrap();
    drop(connection);
    let before = fs::read(folder.file()).unwrap();
    let error = EmbeddedStore::open(folder.options()).err().unwrap();
    let words = format!(
        "{} has format 3 and this program knows formats up to 2; \
         use Tabwire 0.5.0 or newer, or name another place for the data",
        folder.file().display()
    );
    assert_eq!(error.to_string(), words);
    assert_eq!(operate::check(&folder.file()), Err(error));
    assert_eq!(fs::read(folder.file()).unwrap(), before);
    assert!(!folder.beside(".damaged-1").exists());
}

#[test]
fn a_newer_file_whose_words_are_gone_is_left_too() {
    let folder = Folder::new();
    drop(folder.open());
    by_hand(&folder.file(), "PRAGMA user_version = 3; DELETE FROM meta");
    let error = EmbeddedStore::open(folder.options()).err().unwrap();
    assert!(error.to_string().contains("use a newer Tabwire"), "{error}");
}
