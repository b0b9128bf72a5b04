//! What installing would change. Looks at everything and touches nothing.

use std::{fs, path::Path};

use super::{
    Client, EXTENSION, Found, Installation, Part, State, Step, System, browsers, clients,
    file_change::{FileChange, FoundFile, look},
    native_host,
};
use crate::folder;

/// What the user wants installed.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Named clients; none means all that are here.
    pub clients: Vec<String>,
    /// Leaves clients out.
    pub no_clients: bool,
    /// Named browsers; none means all that are here.
    pub browsers: Vec<String>,
    /// Whether there is an extension to unpack.
    pub extension: bool,
}

/// Plans what `install` would change, and changes nothing.
pub fn plan(what: &Installation, wanted: &Wanted) -> Vec<Part> {
    let mut parts = vec![native_part(what, &wanted.browsers)];
    if wanted.extension {
        parts.push(extension_part(what));
    }
    if !wanted.no_clients {
        let chosen = clients::chosen(&what.here, &wanted.clients);
        parts.extend(chosen.into_iter().map(|client| client_part(what, client)));
    }
    parts
}

fn native_part(what: &Installation, names: &[String]) -> Part {
    let (name, title) = ("native-host", "Native messaging host");
    if what.here.system == System::Windows {
        return on_windows(name, title);
    }
    let browsers = browsers::chosen(&what.here, names);
    if browsers.is_empty() {
        let why = "no browser was found; name one with --browser if it is somewhere else";
        return Part::nothing(name, title, why);
    }
    let steps = data_folder(&what.data).and_then(|mut steps| {
        let path = native_host::script_path(&what.data);
        let text = native_host::script(&what.program, &what.data).ok_or_else(no_text)?;
        let manifest = native_host::manifest(&path).ok_or_else(no_text)?;
        steps.extend(file_step(&path, text, 0o700, native_host::is_our_script)?);
        for folder in browsers.iter().flat_map(|browser| browser.manifest_folders(&what.here)) {
            let path = folder.join(native_host::manifest_name());
            steps.extend(file_step(&path, manifest.clone(), 0o644, |_| false)?);
        }
        Ok(steps)
    });
    let titles: Vec<_> = browsers.iter().map(|browser| browser.title).collect();
    let title = format!("{title} for {}", titles.join(", "));
    match steps {
        Ok(steps) if steps.is_empty() => Part::nothing(name, title, "already there"),
        Ok(steps) => Part::planned(name, title, steps),
        Err(why) => Part::refused(name, title, why),
    }
}

/// Browsers on Windows look into the registry, into which nothing is written yet.
fn on_windows(name: &'static str, title: &str) -> Part {
    let keys: Vec<_> =
        browsers::BROWSERS.iter().map(|browser| browser.registry_key(native_host::NAME)).collect();
    let state = State::Refused {
        why: "on Windows it must be entered in the registry, which is not supported yet".to_owned(),
        paste: Some(format!("{}\n", keys.join("\n"))),
    };
    Part { name, title: title.to_owned(), state, ask: true }
}

fn extension_part(what: &Installation) -> Part {
    let (name, title) = ("extension", "Extension");
    match data_folder(&what.data) {
        Err(why) => Part::refused(name, title, why),
        Ok(mut steps) => {
            steps.push(Step::Unpack(what.data.join(EXTENSION)));
            // It goes into our own folder.
            Part { ask: false, ..Part::planned(name, title, steps) }
        }
    }
}

fn client_part(what: &Installation, client: &'static Client) -> Part {
    let (name, title) = (client.name, client.title);
    let path = (client.file)(&what.here);
    let refused = |why: String| {
        let paste = client.format.snippet(&what.entry);
        let why = format!("{} is left as it is: {why}", path.display());
        let state = State::Refused { why, paste: Some(paste) };
        Part { name, title: title.to_owned(), state, ask: true }
    };
    let file = match look(&path) {
        Ok(file) => file,
        Err(error) => return refused(error.to_string()),
    };
    let text = file.text.as_deref().unwrap_or_default();
    let found = match client.format.find(text) {
        Ok(Found::Program(entry)) if entry == what.entry => {
            return Part::nothing(name, title, format!("already there, in {}", path.display()));
        }
        Ok(found) => found,
        Err(error) => return refused(error.to_string()),
    };
    if file.read_only {
        return refused("it is read-only".to_owned());
    }
    let after = match client.format.add(text, &what.entry) {
        Ok(after) => after,
        Err(error) => return refused(error.to_string()),
    };
    let note = match found {
        Found::Nothing => String::new(),
        _ => "there is another entry of that name, which would be replaced".to_owned(),
    };
    let FoundFile { path, text: before, .. } = file;
    // Others of this user's configurations hold secrets, and this one may soon.
    let change = FileChange { path, before, after: Some(after), mode: 0o600, backup: true };
    let state = State::Planned { changes: vec![Step::File(change)], note };
    Part { name, title: title.to_owned(), state, ask: true }
}

/// Returns what makes the data folder, if it is not there; an error if it cannot be used.
fn data_folder(data: &Path) -> Result<Vec<Step>, String> {
    match fs::exists(data) {
        Ok(false) => Ok(vec![Step::MakeFolder(data.to_owned())]),
        _ => folder::check(data).map(|()| Vec::new()).map_err(|error| error.to_string()),
    }
}

/// Returns the change that makes a file say this, if it does not yet.
fn file_step(
    path: &Path,
    text: String,
    mode: u32,
    worthless: impl Fn(&str) -> bool,
) -> Result<Option<Step>, String> {
    let file = look(path).map_err(|error| error.to_string())?;
    if file.text.as_deref() == Some(&text) {
        return Ok(None);
    }
    if file.read_only {
        return Err(format!("{} is read-only", path.display()));
    }
    let backup = file.text.as_deref().is_some_and(|before| !worthless(before));
    let (path, before) = (file.path, file.text);
    Ok(Some(Step::File(FileChange { path, before, after: Some(text), mode, backup })))
}

fn no_text() -> String {
    "the path of the program or of the data folder is not valid text".to_owned()
}
