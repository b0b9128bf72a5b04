//! Files that are not as they were left. The random part is in `tests/torture.rs`.

use model::Epoch;

use super::*;
use crate::change::{Head, LogId};

/// Fills a store, closes it, does something to the file, and opens it again.
fn after(harm: impl Fn(&Folder)) -> (Folder, EmbeddedStore, Vec<String>) {
    let folder = Folder::new();
    let store = folder.open();
    fill(&store);
    store.write(vec![save("s_2", "painter")]).unwrap();
    let log = open_log(&store, "s_2", LogKind::Feed);
    append(&store, &log, entry("sound")).unwrap();
    let epochs = epochs(&store);
    drop(store);
    harm(&folder);
    let store = folder.open();
    (folder, store, epochs)
}

/// The epochs of the logs of `s_1`, and of the feed of `s_2`.
fn epochs(store: &EmbeddedStore) -> Vec<String> {
    let logs = [("s_1", LogKind::ToBrowser), ("s_1", LogKind::Feed), ("s_2", LogKind::Feed)];
    let epoch = |(session, kind)| open_log(store, session, kind).epoch().to_string();
    logs.into_iter().map(epoch).collect()
}

/// Does something to the rows, and checks which of the three logs went on.
#[track_caller]
fn check(sql: &str, went_on: [bool; 3], notice: &str) -> (Folder, EmbeddedStore) {
    let (folder, store, before) = after(|folder| by_hand(&folder.file(), sql));
    let notices = store.notices().join("\n");
    assert!(notices.contains(notice), "{sql}: {notices}");
    let now = epochs(&store);
    let same: Vec<_> = before.iter().zip(&now).map(|(before, now)| before == now).collect();
    assert_eq!(same, went_on, "{sql}: {notices}");
    for (session, kind) in [("s_1", LogKind::ToBrowser), ("s_1", LogKind::Feed)] {
        let log = open_log(&store, session, kind);
        let whole = log.read(Sequence(0), 10).len() as u64 == log.newest().0;
        assert!(whole, "{sql}: a log is whole or empty");
    }
    (folder, store)
}

#[test]
fn a_log_that_cannot_be_trusted_starts_over_and_others_go_on() {
    let first = "log = (SELECT id FROM logs WHERE session = 's_1' AND kind = 'to_browser')";
    for harm in [
        format!("UPDATE entries SET body = '{{\"n\":2}}' WHERE {first} AND sequence = 2"),
        format!("UPDATE entries SET crc = crc + 1 WHERE {first} AND sequence = 1"),
        format!("UPDATE entries SET sequence = 17 WHERE {first} AND sequence = 3"),
        format!("UPDATE entries SET log = 99 WHERE {first} AND sequence = 3"),
    ] {
        check(&harm, [false, true, true], "entries: 1 rows are not what was written");
    }
    for number in 1..=3 {
        let harm = format!("DELETE FROM entries WHERE {first} AND sequence = {number}");
        check(
            &harm,
            [false, true, true],
            "log to_browser of s_1: it should hold 1 to 3 and holds 2",
        );
    }
    let harm = "UPDATE logs SET newest = 2 WHERE session = 's_1' AND kind = 'to_browser'";
    check(harm, [false, true, true], "logs: 1 rows are not what was written");
}

#[test]
fn a_repaired_file_is_sound() {
    let (folder, store) = check("DELETE FROM entries WHERE sequence = 2", [false, false, true], "");
    append(&store, &open_log(&store, "s_1", LogKind::Feed), entry("new")).unwrap();
    drop(store);
    let report = operate::check(&folder.file()).unwrap();
    assert_eq!(report.findings, [] as [&str; 0]);
    assert_eq!(folder.open().notices(), [] as [&str; 0]);
}

#[test]
fn a_session_that_cannot_be_trusted_is_dropped_with_all_that_is_its_own() {
    let harm = "UPDATE sessions SET record = replace(record, 'app', 'browser') WHERE id = 's_1'";
    let (_folder, store) = check(harm, [false, false, true], "session s_1 is gone");
    assert_eq!(store.sessions(), Ok(vec![id("s_2")]));
    assert_eq!(store.load(&id("s_1")).unwrap().received, None);
    assert_eq!(store.load(&id("s_1")).unwrap().state, None);
}

#[test]
fn other_rows_that_cannot_be_trusted_are_dropped() {
    let all = [true, true, true];
    let bad = "rows are not what was written";
    let (_folder, store) = check("UPDATE received SET sequence = 1", all, bad);
    assert_eq!(store.load(&id("s_1")).unwrap().received, None);
    let (_folder, store) = check("UPDATE states SET version = 9", all, bad);
    assert_eq!(store.load(&id("s_1")).unwrap().state, None);
    let (_folder, store) = check("UPDATE results SET ttl_ms = 999999999", all, bad);
    assert_eq!(store.result("key"), Ok(None));
    let (_folder, store) = check("UPDATE audit SET outcome = 'failed'", all, "");
    assert_eq!(store.audit(0, 10), Ok(vec![]), "a changed line is not shown as true");
}

#[test]
fn a_file_that_is_no_store_is_set_aside() {
    for (harm, notice) in [
        ("DROP TABLE received", "its tables are not those of a Tabwire store"),
        ("CREATE TRIGGER t AFTER INSERT ON logs BEGIN DELETE FROM logs; END", "its tables are not"),
        ("DELETE FROM meta WHERE key = 'commits'", "it does not know itself any more"),
        ("UPDATE meta SET value = 9 WHERE key = 'term'", "it does not know itself any more"),
    ] {
        let (folder, store, _) = after(|folder| by_hand(&folder.file(), harm));
        assert_eq!(store.sessions(), Ok(vec![]), "{harm}");
        assert!(store.notices()[0].contains(notice), "{harm}: {:?}", store.notices());
        assert!(folder.beside(".damaged-1").exists());
        assert!(folder.beside(".damaged-1-mark").exists());
    }
    let (folder, store, _) = after(|folder| fs::write(folder.file(), "not a database").unwrap());
    assert!(store.notices()[0].contains("file is not a database"), "{:?}", store.notices());
    drop(store);
    fs::write(folder.file(), "again").unwrap();
    drop(folder.open());
    assert_eq!(fs::read_to_string(folder.beside(".damaged-2")).unwrap(), "again");
}

/// Their checksums are right, so only the values themselves can be doubted.
#[test]
fn numbers_and_names_that_nobody_can_have_given_are_not_believed() {
    let write = |write: &dyn Fn(&rusqlite::Connection)| {
        after(|folder| write(&rusqlite::Connection::open(folder.file()).unwrap()))
    };
    let most = u64::MAX.to_string();
    for key in ["commits", "term"] {
        let (_folder, store, _) = write(&|file| rows::put_meta(file, key, &most).unwrap());
        assert!(store.notices()[0].contains("it does not know itself any more"), "{key}");
        assert_eq!(store.term(), 1, "{key}");
    }
    for identity in ["", "two words", &"a".repeat(65)] {
        let (folder, store, _) = write(&|file| rows::put_meta(file, "identity", identity).unwrap());
        assert!(store.notices()[0].contains("it does not know itself any more"), "{identity}");
        drop(store);
        assert_eq!(folder.open().notices(), [] as [&str; 0], "{identity}");
    }
    let (_folder, store, _) = write(&|file| {
        let head = Head {
            id: LogId(u64::MAX),
            session: id("s_2"),
            kind: LogKind::ToBrowser,
            epoch: Epoch::mint(),
            newest: Sequence(0),
            oldest: Sequence(1),
        };
        rows::put_head(file, &head).unwrap();
    });
    assert_eq!(store.notices(), ["logs: 1 rows are not what was written"]);
    let log = open_log(&store, "s_2", LogKind::ToBrowser);
    assert_eq!(append(&store, &log, entry("sound")), Ok(Sequence(1)));
    let (_folder, store, _) = write(&|file| {
        rows::put_meta(file, "audit", &most).unwrap();
        rows::put_audit(file, &AuditLine { number: u64::MAX, record: audit("late") }).unwrap();
    });
    store.write(vec![StoreWrite::Audit(audit("next"))]).unwrap();
    wait_for_sync(&store);
    let lines = store.audit(0, 10).unwrap();
    assert_eq!(lines.last().unwrap().record.tool, "next");
}

#[test]
fn of_many_damaged_files_the_first_and_the_newest_stay() {
    let folder = Folder::new();
    fs::write(folder.beside(".damaged-notes"), "not ours").unwrap();
    for round in 1..=8 {
        fs::write(folder.file(), format!("damage {round}")).unwrap();
        fs::write(folder.beside("-mark"), "a mark").unwrap();
        drop(folder.open());
    }
    let kept: Vec<_> =
        (1..=8).filter(|number| folder.beside(&format!(".damaged-{number}")).exists()).collect();
    assert_eq!(kept, [1, 5, 6, 7, 8]);
    for number in 1..=8 {
        let mark = folder.beside(&format!(".damaged-{number}-mark"));
        assert_eq!(mark.exists(), kept.contains(&number), "{number}");
    }
    assert!(folder.beside(".damaged-notes").exists());
    assert_eq!(fs::read_to_string(folder.beside(".damaged-8")).unwrap(), "damage 8");
}

#[test]
fn damage_in_what_is_not_read_is_found_too() {
    let (folder, store, _) = after(|folder| {
        let store = folder.open();
        for _ in 0..200 {
            store.write(vec![StoreWrite::Audit(audit("click"))]).unwrap();
        }
        drop(store);
        let connection = rusqlite::Connection::open(folder.file()).unwrap();
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'audit'";
        let root: u16 = connection.query_row(root, [], |row| row.get(0)).unwrap();
        drop(connection);
        let mut bytes = fs::read(folder.file()).unwrap();
        bytes[usize::from(root - 1) * 4096 + 3] ^= 1;
        fs::write(folder.file(), bytes).unwrap();
    });
    assert!(store.notices()[0].contains("its structure is damaged"), "{:?}", store.notices());
    assert!(folder.beside(".damaged-1").exists());
}

#[test]
fn a_file_that_only_seems_to_be_empty_is_damaged_and_not_new() {
    let (folder, store, _) = after(|folder| {
        let mut bytes = fs::read(folder.file()).unwrap();
        // Right behind the kind of the first page: its table of tables has no rows any more.
        bytes.insert(101, 0);
        fs::write(folder.file(), bytes).unwrap();
    });
    assert!(store.notices()[0].contains("its structure is damaged"), "{:?}", store.notices());
    assert!(folder.beside(".damaged-1").exists());
    drop(store);
    assert_eq!(folder.open().notices(), [] as [&str; 0], "nothing is left to repair");
}

#[test]
fn damage_of_the_header_alone_is_repaired() {
    let (folder, store, before) = after(|folder| {
        by_hand(&folder.file(), "PRAGMA user_version = 77; PRAGMA application_id = 1");
    });
    assert_eq!(epochs(&store), before);
    drop(store);
    let connection = rusqlite::Connection::open(folder.file()).unwrap();
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0));
    assert_eq!(version, Ok(2));
}

/// Checks that a store is known to have lost commits: nothing that could lie is believed.
#[track_caller]
fn check_behind(harm: impl Fn(&Folder)) {
    let (_folder, store, before) = after(harm);
    assert!(store.notices()[0].contains("older than what was reported"), "{:?}", store.notices());
    assert!(epochs(&store).iter().all(|epoch| !before.contains(epoch)));
    assert_eq!(store.load(&id("s_1")).unwrap().received, None);
    assert_eq!(store.load(&id("s_1")).unwrap().state, Some(state(3, "{}")));
    let sessions = store.sessions().unwrap();
    let kept = sessions.iter().map(|id| kept(&store, id.as_str()).unwrap());
    assert!(kept.into_iter().all(|kept| kept.resume_digest.is_none()));
}

#[test]
fn a_file_that_lost_its_newest_commits_is_known_as_such() {
    check_behind(|folder| fs::remove_file(folder.beside("-mark")).unwrap());
    check_behind(|folder| fs::write(folder.beside("-mark"), "tabwire-mark x 1 00000000").unwrap());
    check_behind(|folder| {
        // A copy from before the last changes, put back.
        let copy = fs::read(folder.file()).unwrap();
        let store = folder.open();
        store.write(vec![save("s_3", "late")]).unwrap();
        drop(store);
        fs::write(folder.file(), copy).unwrap();
    });
}

/// As a process leaves it that is killed while it makes the file: committed, and not marked yet.
#[test]
fn a_file_whose_maker_died_before_it_was_marked_is_new() {
    let folder = Folder::new();
    drop(folder.open());
    for _ in 0..2 {
        for half in [None, Some("")] {
            fs::remove_file(folder.beside("-mark")).unwrap();
            half.iter().for_each(|text| fs::write(folder.beside("-mark"), text).unwrap());
            assert_eq!(folder.open().notices(), [] as [&str; 0]);
        }
    }
}

#[test]
fn a_copy_with_its_mark_goes_on() {
    let (_folder, store, before) = after(|folder| {
        for ending in ["", "-mark"] {
            let copy = folder.0.join("copy");
            fs::copy(folder.beside(ending), &copy).unwrap();
            fs::rename(&copy, folder.beside(ending)).unwrap();
        }
    });
    assert_eq!(epochs(&store), before);
}

#[test]
fn an_audit_line_with_a_wrong_number_does_not_take_the_others_with_it() {
    for lost in ["", "DELETE FROM meta WHERE key = 'audit';"] {
        let folder = Folder::new();
        let store = folder.open();
        for tool in ["a", "b", "c"] {
            store.write(vec![StoreWrite::Audit(audit(tool))]).unwrap();
        }
        drop(store);
        by_hand(
            &folder.file(),
            &format!("{lost} UPDATE audit SET number = 1 << 40 WHERE number = 3"),
        );
        let store = folder.open();
        store.write(vec![StoreWrite::Audit(audit("d"))]).unwrap();
        wait_for_sync(&store);
        let lines = store.audit(0, 10).unwrap();
        let tools: Vec<_> = lines.iter().map(|line| line.record.tool.as_str()).collect();
        assert_eq!(tools, ["a", "b", "d"]);
    }
}
