//! What operators can do with a file.

use serde_json::Value;

use super::*;

fn exported(path: &Path) -> Vec<Value> {
    let mut text = Vec::new();
    export::export(path, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn types(lines: &[Value]) -> Vec<&str> {
    let mut types: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    types.dedup();
    types
}

#[test]
fn a_file_can_be_checked_and_written_out_beside_a_running_hub() {
    let folder = Folder::new();
    let store = folder.open();
    fill(&store);
    let report = operate::check(&folder.file()).unwrap();
    assert_eq!((report.format, report.term), (2, 1));
    assert_eq!(report.findings, [] as [&str; 0]);
    let rows: Vec<_> =
        report.tables.iter().map(|table| (table.name.as_str(), table.rows, table.bad)).collect();
    let expected = [
        ("sessions", 1, 0),
        ("logs", 2, 0),
        ("entries", 6, 0),
        ("received", 1, 0),
        ("states", 1, 0),
        ("results", 1, 0),
        ("audit", 1, 0),
    ];
    assert_eq!(rows, expected);
    let lines = exported(&folder.file());
    let kinds = ["meta", "session", "log", "entry", "received", "state", "result", "audit"];
    assert_eq!(types(&lines), kinds);
    let session = lines.iter().find(|line| line["type"] == "session").unwrap();
    assert_eq!((&session["name"], &session["resume_digest"]), (&"viewer".into(), &"***".into()));
    let entry = lines.iter().find(|line| line["type"] == "entry").unwrap();
    assert_eq!((&entry["log"], &entry["entry"]["name"]), (&"to_browser".into(), &"a".into()));
    store.write(vec![StoreWrite::Audit(audit("click"))]).unwrap();
    wait_for_sync(&store);
}

#[test]
fn damage_is_counted_and_told() {
    let folder = Folder::new();
    fill(&folder.open());
    by_hand(&folder.file(), "UPDATE entries SET level = 9 WHERE sequence = 2; DELETE FROM states");
    let before = fs::read(folder.file()).unwrap();
    let report = operate::check(&folder.file()).unwrap();
    let entries = report.tables.iter().find(|table| table.name == "entries").unwrap();
    assert_eq!((entries.rows, entries.bad), (6, 2));
    assert_eq!(report.findings.len(), 3, "{report:?}");
    let lines = exported(&folder.file());
    assert!(types(&lines).contains(&"damage"));
    let entries = lines.iter().filter(|line| line["type"] == "entry");
    assert_eq!(entries.count(), 4);
    assert_eq!(fs::read(folder.file()).unwrap(), before, "looking changes nothing");
}

#[test]
fn a_file_can_be_made_smaller() {
    let folder = Folder::new();
    let store = folder.open();
    fill(&store);
    store.write(vec![StoreWrite::State(id("s_1"), state(1, &"x".repeat(1_000_000)))]).unwrap();
    wait_for_sync(&store);
    store.write(vec![StoreWrite::State(id("s_1"), state(2, "{}"))]).unwrap();
    drop(store);
    let (before, after) = operate::compact(&folder.file()).unwrap();
    assert!(before > 1_000_000 && after < 100_000, "{before} to {after}");
    let store = folder.open();
    assert_eq!(store.notices(), [] as [&str; 0]);
    assert_eq!(store.load(&id("s_1")).unwrap().state, Some(state(2, "{}")));
}

#[test]
fn a_file_that_is_not_there_is_not_made() {
    let folder = Folder::new();
    assert!(operate::check(&folder.file()).is_err());
    assert!(export::export(&folder.file(), &mut Vec::new()).is_err());
    assert!(operate::compact(&folder.file()).is_err());
    assert!(!folder.file().exists());
}
