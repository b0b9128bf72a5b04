//! The house is as it is drawn: who may use whom, and files that say what they are for.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// The head of the table of rooms in the document that counts.
const TABLE: &str = "| Room | Job | Uses | Never |";
/// Chores are no room.
const CHORES: &str = "xtask";

/// Crates that do I/O or run tasks; whoever has none of them does neither.
const WORLDLY: &[&str] = &[
    "tokio",
    "async",
    "futures",
    "hyper",
    "axum",
    "tower",
    "mio",
    "smol",
    "socket2",
    "tungstenite",
];

fn house() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn metadata() -> Metadata {
    let manifest = house().join("Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().unwrap()
}

/// What each crate of the house uses, tests and build scripts apart.
fn uses(metadata: &Metadata, kind: DependencyKind) -> BTreeMap<String, BTreeSet<String>> {
    let used = |package: &cargo_metadata::Package| {
        let wanted = package.dependencies.iter().filter(|used| used.kind == kind);
        wanted.map(|used| used.name.clone()).collect()
    };
    metadata.packages.iter().map(|package| (package.name.to_string(), used(package))).collect()
}

/// What a room uses, as the table says.
#[derive(Debug, PartialEq)]
enum Uses {
    /// Whatever it needs; nobody uses it.
    All,
    /// These, no more and no fewer.
    These(BTreeSet<String>),
}

/// Reads the table of rooms in ARCHITECTURE.md.
fn drawn_rooms() -> BTreeMap<String, Uses> {
    let text = fs::read_to_string(house().join("ARCHITECTURE.md")).unwrap();
    let (_, table) = text.split_once(TABLE).expect("the table of rooms");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [room, _, uses, _] = cells[..] else { panic!("not a row of four cells: {row}") };
        (in_code(room), read_uses(uses))
    })
    .collect()
}

fn read_uses(cell: &str) -> Uses {
    match cell {
        "all" => Uses::All,
        "–" => Uses::These(BTreeSet::new()),
        names => Uses::These(names.split(',').map(in_code).collect()),
    }
}

/// Returns a name without the marks around it; fails the test where they are missing.
fn in_code(name: &str) -> String {
    let inner = name.trim().strip_prefix('`').and_then(|name| name.strip_suffix('`'));
    inner.unwrap_or_else(|| panic!("{name:?} is no name in the table of rooms")).to_owned()
}

#[test]
fn rooms_use_each_other_as_the_table_says() {
    let mut uses = uses(&metadata(), DependencyKind::Normal);
    uses.remove(CHORES);
    let drawn = drawn_rooms();
    let (built, known): (Vec<_>, Vec<_>) = (uses.keys().collect(), drawn.keys().collect());
    assert_eq!(built, known, "crates on the left, the table on the right");
    for (room, used) in &uses {
        let ours: BTreeSet<_> = used.iter().filter(|name| drawn.contains_key(*name)).collect();
        for name in &ours {
            assert_ne!(drawn[*name], Uses::All, "{room} uses {name}, which nobody may use");
        }
        if let Uses::These(expected) = &drawn[room] {
            let expected: BTreeSet<_> = expected.iter().collect();
            assert_eq!(ours, expected, "{room}: its manifest on the left, the table on the right");
        }
    }
}

#[test]
fn what_is_for_tests_is_used_by_tests_only() {
    let metadata = metadata();
    for kind in [DependencyKind::Normal, DependencyKind::Build] {
        for (room, used) in uses(&metadata, kind) {
            for kit in ["conformance", "testkit"] {
                assert!(room == CHORES || !used.contains(kit), "{room} uses {kit}");
            }
        }
    }
    let by_tests = uses(&metadata, DependencyKind::Development);
    assert!(by_tests["mcp"].contains("conformance") && by_tests["tabwire"].contains("testkit"));
}

#[test]
fn the_inner_rooms_do_no_input_and_output() {
    let uses = uses(&metadata(), DependencyKind::Normal);
    for room in ["model", "dialect"] {
        for name in &uses[room] {
            let worldly = WORLDLY.iter().any(|word| name.split('-').any(|part| part == *word));
            assert!(!worldly, "{room} uses {name}");
        }
    }
}

/// All Rust files below a folder.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_opens_by_saying_what_it_is_for() {
    let mut files = Vec::new();
    for entry in fs::read_dir(house().join("crates")).unwrap() {
        rust_files(&entry.unwrap().path().join("src"), &mut files);
    }
    rust_files(&house().join("xtask/src"), &mut files);
    assert!(files.len() > 50, "{} files", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//! "), "{} does not open with //!", file.display());
    }
}

#[test]
fn every_dialect_is_in_the_register() {
    let folder = house().join("crates/dialect/src");
    let is_dialect = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        text.contains("impl Dialect for ") || text.contains("impl crate::Dialect for ")
    };
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let written: BTreeSet<_> = files
        .filter(|path| path.is_file() && is_dialect(path))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let register = dialect::DIALECTS.iter().map(|entry| entry.name.to_owned());
    let registered: BTreeSet<_> = register.collect();
    assert_eq!(written, registered, "files on the left, DIALECTS on the right");
}

#[test]
fn every_tool_is_in_the_register() {
    let folder = house().join("crates/tools/src");
    let is_tool = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        text.contains("pub const TOOL: CoreTool")
    };
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let written: BTreeSet<_> = files
        .filter(|path| path.is_file() && is_tool(path))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let names: Vec<_> = tools::TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
    assert!(names.is_sorted(), "the list that clients read is by name: {names:?}");
    let registered: BTreeSet<_> = names.into_iter().collect();
    assert_eq!(written, registered, "files on the left, TOOLS on the right");
}

#[test]
fn every_module_of_this_binary_is_in_its_tour() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let tour = fs::read_to_string(folder.join("main.rs")).unwrap();
    let mut files = Vec::new();
    rust_files(&folder, &mut files);
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let listed =
            ["main", "scene"].contains(&name.as_str()) || tour.contains(&format!("[`{name}`]"));
        assert!(listed, "{name} is not in the tour of main.rs");
    }
}
