//! Every claim of `docs/security.md` that names a test names one that exists.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below a folder with this ending, with their text; built things are passed over.
fn texts(folder: &Path, ending: &str) -> HashMap<PathBuf, String> {
    let mut found = HashMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["node_modules", "dist", "target"].contains(&name.as_str()) {
                found.extend(texts(&path, ending));
            }
        } else if name.ends_with(ending) {
            found.insert(path.clone(), fs::read_to_string(&path).unwrap());
        }
    }
    found
}

/// What stands between backticks, within one line.
fn quoted(document: &str) -> impl Iterator<Item = &str> {
    document.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

#[test]
fn every_named_test_exists() {
    let document = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let rust = texts(&root().join("crates"), ".rs");
    let web = texts(&root().join("web"), ".test.ts");
    let mut named = 0;
    for words in quoted(&document) {
        if let Some((file, title)) = words.split_once(".test.ts: ") {
            named += 1;
            let (file, title) = (format!("{file}.test.ts"), title.trim_matches('"'));
            let holds = |(path, text): (&PathBuf, &String)| {
                path.ends_with(&file) && text.replace("\\'", "'").contains(title)
            };
            assert!(web.iter().any(holds), "there is no {words}");
        } else if let Some((path, name)) = words.rsplit_once("::")
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(&byte))
        {
            named += 1;
            let folder = match path.split("::").next().unwrap() {
                binary @ ("it" | "browser") => format!("crates/tabwire/tests/{binary}/"),
                room => format!("crates/{room}/"),
            };
            let declared = format!("fn {name}(");
            let holds = |(path, text): (&PathBuf, &String)| {
                path.to_string_lossy().contains(&folder) && text.contains(&declared)
            };
            assert!(rust.iter().any(holds), "there is no {words}");
        }
    }
    assert!(named > 200, "{named} tests are named");
}
