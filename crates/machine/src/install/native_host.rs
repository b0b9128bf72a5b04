//! What lets the extension find the hub: a script that a browser may start, and the manifests that
//! say so.
//!
//! Browsers start a program without arguments of ours, so a script names the program and the data
//! folder. This file makes the texts and recognises them; writing them is the plan's job.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::json_edit::{Layout, Written};

/// The name by which the extension asks for us.
pub const NAME: &str = "dev.tabwire.host";
/// Whom a browser lets ask: our extension, known by its key.
pub const ORIGIN: &str = "chrome-extension://flijodnkmdflbekoipgfjippcnecmdfi/";
/// The script's name in the data folder.
const SCRIPT: &str = "native-host";
/// By this line a script is known to be ours.
const MARK: &str = "# Made by `tabwire install`: what a browser starts for the Tabwire extension.";

/// Returns where the script of a data folder is.
pub fn script_path(data: &Path) -> PathBuf {
    data.join(SCRIPT)
}

/// Returns the script; `None` means that a path is no text.
pub fn script(program: &Path, data: &Path) -> Option<String> {
    let (program, data) = (quoted(program)?, quoted(data)?);
    Some(format!("#!/bin/sh\n{MARK}\nexec {program} native-host --data {data} \"$@\"\n"))
}

/// Returns whether a script is one of ours.
pub fn is_our_script(text: &str) -> bool {
    text.lines().nth(1) == Some(MARK)
}

/// Returns the name of a manifest's file.
pub fn manifest_name() -> String {
    format!("{NAME}.json")
}

/// Returns the manifest that lets our extension start a script; `None` means that the path is no
/// text.
pub fn manifest(script: &Path) -> Option<String> {
    let plain = |text: &str| Written::Plain(Value::from(text));
    let members = [
        ("name", plain(NAME)),
        ("description", plain("Tells the Tabwire extension where the hub is.")),
        ("path", plain(script.to_str()?)),
        ("type", plain("stdio")),
        ("allowed_origins", Written::Plain(Value::from(vec![ORIGIN]))),
    ];
    let members = members.map(|(name, value)| (name.to_owned(), value)).to_vec();
    Some(format!("{}\n", Written::Object(members).text(&Layout::default(), "")))
}

/// Returns the script that a manifest names; an error is what is wrong with the manifest.
pub fn read_manifest(text: &str) -> Result<PathBuf, String> {
    let manifest: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not valid JSON: {error}"))?;
    for (field, wanted) in [("name", NAME), ("type", "stdio")] {
        if manifest[field] != wanted {
            return Err(format!("its {field} is not {wanted:?}"));
        }
    }
    let origins = manifest["allowed_origins"].as_array();
    if !origins.is_some_and(|origins| origins.iter().any(|origin| origin == ORIGIN)) {
        return Err(format!("it does not allow {ORIGIN}"));
    }
    let path = manifest["path"].as_str().map(PathBuf::from).filter(|path| path.is_absolute());
    path.ok_or_else(|| "it names no program with its whole path".to_owned())
}

/// Writes a path as one word of a shell.
fn quoted(path: &Path) -> Option<String> {
    Some(format!("'{}'", path.to_str()?.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_back() {
        let text = manifest(Path::new("/data/native-host")).unwrap();
        assert_eq!(read_manifest(&text), Ok(PathBuf::from("/data/native-host")));
        assert!(text.contains("\"allowed_origins\": [\"chrome-extension://flijod"), "{text}");
    }

    #[test]
    fn wrong_manifests_are_told_apart() {
        let text = manifest(Path::new("/data/native-host")).unwrap();
        for (from, to, said) in [
            ("{", "", "JSON"),
            ("dev.tabwire.host", "other", "name"),
            ("stdio", "pipe", "type"),
            ("flijod", "xxxxxx", "allow"),
            ("/data", "data", "path"),
        ] {
            let wrong = read_manifest(&text.replace(from, to)).unwrap_err();
            assert!(wrong.contains(said), "{wrong}");
        }
    }

    #[test]
    fn a_script_quotes_whatever_a_path_holds() {
        let text = script(Path::new("/it's/tab wire"), Path::new("/$HOME \"x\"")).unwrap();
        assert!(is_our_script(&text) && !is_our_script("#!/bin/sh\nexec x\n"));
        let last = text.lines().last().unwrap();
        let wanted = r#"exec '/it'\''s/tab wire' native-host --data '/$HOME "x"' "$@""#;
        assert_eq!(last, wanted);
    }
}
