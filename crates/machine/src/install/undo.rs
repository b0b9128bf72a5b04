//! What uninstalling would change: only what installing has made.
//!
//! A client's file that still is what installing made of it becomes what it was, byte for byte;
//! one that has changed since loses our entry and nothing else. Backups stay.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    BROWSERS, CLIENTS, Client, EXTENSION, Entry, Format, Found, Installation, Part, Step,
    file_change::{FileChange, backups, look},
    native_host,
};

/// Files of ours in the data folder; whatever begins with one of [`BEGINNINGS`] is ours too.
const OURS: &[&str] = &["tokens", "pairing.json", "native-host", EXTENSION, "profiles", "browsers"];
/// The hub's own files, and what lies beside the pairings: the lock, drafts, damaged ones.
const BEGINNINGS: &[&str] = &["hub.", "pairing.json."];

/// What is to go.
#[derive(Debug, Clone, Default)]
pub struct Unwanted {
    /// Named clients, and nothing else; none means everything.
    pub clients: Vec<String>,
    /// The data as well.
    pub data: bool,
}

/// Plans what `uninstall` would change, and changes nothing.
pub fn undo(what: &Installation, unwanted: &Unwanted) -> Vec<Part> {
    let names = &unwanted.clients;
    let chosen = CLIENTS
        .iter()
        .filter(|client| names.is_empty() || names.iter().any(|name| name == client.name));
    let mut parts: Vec<_> =
        chosen.filter_map(|client| client_part(what, client, !names.is_empty())).collect();
    if names.is_empty() {
        parts.extend(native_part(what));
        parts.extend(extension_part(what));
    }
    if unwanted.data && what.data.is_dir() {
        parts.push(Part::planned("data", "Data", vec![Step::RemoveData(what.data.clone())]));
    }
    parts
}

fn client_part(what: &Installation, client: &'static Client, named: bool) -> Option<Part> {
    let (name, title) = (client.name, client.title);
    let path = (client.file)(&what.here);
    let kept = |why: &str| format!("{} is left as it is: {why}", path.display());
    let file = match look(&path) {
        Ok(file) => file,
        Err(error) => return named.then(|| Part::refused(name, title, kept(&error.to_string()))),
    };
    let text = file.text.as_deref().unwrap_or_default();
    let entry = match client.format.find(text) {
        Ok(Found::Program(entry)) if is_ours(what, &entry) => entry,
        Ok(Found::Nothing) => {
            return named.then(|| Part::nothing(name, title, "there is no entry"));
        }
        Ok(_) => {
            return Some(Part::nothing(name, title, kept("its entry does not start Tabwire")));
        }
        Err(error) => return Some(Part::refused(name, title, kept(&error.to_string()))),
    };
    if file.read_only {
        return Some(Part::refused(name, title, kept("it is read-only")));
    }
    let after = match original(client.format, &file.path, text, &entry) {
        Some(original) => original,
        None => match client.format.remove(text) {
            Ok(after) => Some(after),
            Err(error) => return Some(Part::refused(name, title, kept(&error.to_string()))),
        },
    };
    let (path, before) = (file.path, file.text);
    // A file that goes was made by us, and has nothing in it but us.
    let backup = after.is_some();
    let change = FileChange { path, before, after, mode: 0o600, backup };
    Some(Part::planned(name, title, vec![Step::File(change)]))
}

fn is_ours(what: &Installation, entry: &Entry) -> bool {
    entry.is_tabwire() || *entry == what.entry
}

/// Returns what the file was before, if it is what adding the entry makes of that; the inner
/// `None` means that there was no file.
fn original(format: Format, path: &Path, text: &str, entry: &Entry) -> Option<Option<String>> {
    let becomes = |before: &str| {
        matches!(format.find(before), Ok(Found::Nothing))
            && format.add(before, entry).is_ok_and(|after| after == text)
    };
    match backups(path).into_iter().find(|before| becomes(before)) {
        Some(before) => Some(Some(before)),
        None => becomes("").then_some(None),
    }
}

/// The manifests that name our script, and the script.
fn native_part(what: &Installation) -> Option<Part> {
    let script = native_host::script_path(&what.data);
    let (mut steps, mut others) = (Vec::new(), Vec::new());
    let folders = BROWSERS.iter().flat_map(|browser| browser.manifest_folders(&what.here));
    for path in folders.map(|folder| folder.join(native_host::manifest_name())) {
        let Some(text) = look(&path).ok().and_then(|file| file.text) else { continue };
        match native_host::read_manifest(&text) {
            Ok(named) if named == script => steps.push(removal(path, text)),
            _ => others.push(path.display().to_string()),
        }
    }
    if let Some(text) = look(&script).ok().and_then(|file| file.text)
        && native_host::is_our_script(&text)
    {
        steps.push(removal(script, text));
    }
    let (name, title) = ("native-host", "Native messaging host");
    let note = match others.is_empty() {
        true => String::new(),
        false => format!("left as it is, because it names another program: {}", others.join(", ")),
    };
    match (steps.is_empty(), note.is_empty()) {
        (true, true) => None,
        (true, false) => Some(Part::nothing(name, title, note)),
        (false, _) => {
            let state = super::State::Planned { changes: steps, note };
            Some(Part { name, title: title.to_owned(), state, ask: true })
        }
    }
}

fn removal(path: PathBuf, text: String) -> Step {
    Step::File(FileChange { path, before: Some(text), after: None, mode: 0o600, backup: false })
}

fn extension_part(what: &Installation) -> Option<Part> {
    let folder = what.data.join(EXTENSION);
    let ours = !folder.is_symlink() && folder.join("manifest.json").is_file();
    ours.then(|| Part::planned("extension", "Extension", vec![Step::RemoveFolder(folder)]))
}

/// Removes what is ours in a data folder, and the folder if nothing else is in it. Returns what
/// was left.
pub(super) fn remove_data(data: &Path) -> io::Result<Option<String>> {
    let mut left = Vec::new();
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // A data folder can be any folder that somebody has named, a home too.
        let bare = name.trim_start_matches('.');
        let ours = OURS.contains(&name.as_str())
            || BEGINNINGS.iter().any(|beginning| bare.starts_with(beginning));
        match (ours, entry.file_type()?.is_dir()) {
            (false, _) => left.push(name),
            (true, true) => fs::remove_dir_all(entry.path())?,
            (true, false) => fs::remove_file(entry.path())?,
        }
    }
    if left.is_empty() {
        return fs::remove_dir(data).map(|()| None);
    }
    left.sort();
    Ok(Some(format!("left in {}, because it is not known: {}", data.display(), left.join(", "))))
}
