//! The extension as it was built, embedded in the program, and unpacked where browsers load it.
//!
//! Release builds hold the files of `web/extension/dist`; debug builds read that folder when they
//! need it, so that a change of the extension needs no build of the program. A program that was
//! built without it says so when a browser is to be started.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../web/extension/dist"]
#[allow_missing = true]
struct Files;

/// The folder's name in the data folder.
const FOLDER: &str = "extension";
const MANIFEST: &str = "manifest.json";

/// Unpacks the extension into the data folder, unless the same is there already.
pub fn unpack(data: &Path) -> Result<PathBuf, String> {
    let names: Vec<String> = Files::iter().map(|name| name.into_owned()).collect();
    if !names.iter().any(|name| name == MANIFEST) {
        return Err("this program was built without its extension, so it cannot start browsers; \
            run `npm ci && npm run build` in web, then build the program again, or name a folder \
            with the setting `browser_extension`"
            .to_owned());
    }
    let files = names.into_iter().filter_map(|name| {
        let file = Files::get(&name)?;
        Some((name, file.data.into_owned()))
    });
    unpack_files(data, &files.collect::<Vec<_>>()).map_err(|error| {
        format!("the extension cannot be unpacked into {}: {error}", data.display())
    })
}

/// Checks a folder that the settings name.
pub fn check(folder: &Path) -> Result<PathBuf, String> {
    match folder.join(MANIFEST).is_file() {
        true => std::path::absolute(folder).map_err(|error| error.to_string()),
        false => Err(format!(
            "the folder {} of the setting `browser_extension` has no {MANIFEST}",
            folder.display()
        )),
    }
}

fn unpack_files(data: &Path, files: &[(String, Vec<u8>)]) -> io::Result<PathBuf> {
    let folder = data.join(FOLDER);
    if is_same(&folder, files) {
        return Ok(folder);
    }
    // Written beside it and moved into its place, so that no browser loads half of it.
    let draft = data.join(format!(".{FOLDER}-{}", model::id::random_text(12)));
    let old = data.join(format!(".{FOLDER}-{}", model::id::random_text(12)));
    let swapped = write(&draft, files).and_then(|()| {
        match fs::rename(&folder, &old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(&draft, &folder)
    });
    for left in [&draft, &old] {
        let _ = fs::remove_dir_all(left);
    }
    swapped.map(|()| folder)
}

fn write(folder: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    for (name, bytes) in files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// Whether exactly these files are there, with exactly these bytes.
fn is_same(folder: &Path, files: &[(String, Vec<u8>)]) -> bool {
    let mut found = BTreeSet::new();
    let wanted = files.iter().map(|(name, _)| folder.join(name)).collect::<BTreeSet<_>>();
    collect(folder, &mut found);
    let is_written = |(name, bytes): &(String, Vec<u8>)| {
        fs::read(folder.join(name)).is_ok_and(|written| written == *bytes)
    };
    found == wanted && files.iter().all(is_written)
}

fn collect(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&entry.path(), found),
            _ => drop(found.insert(entry.path())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    struct Place(PathBuf);

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn files(version: &str) -> Vec<(String, Vec<u8>)> {
        let manifest = format!("{{\"version\": \"{version}\"}}");
        [("manifest.json", manifest.as_str()), ("ui/popup.html", "<p>")]
            .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
            .to_vec()
    }

    #[test]
    fn it_is_unpacked_when_it_differs_and_left_alone_otherwise() {
        let name = format!("tabwire-extension-{}", model::id::random_text(12));
        let place = Place(std::env::temp_dir().join(name));
        let data = &place.0;
        let written = |folder: &Path| -> SystemTime {
            fs::metadata(folder.join("ui/popup.html")).unwrap().modified().unwrap()
        };
        let folder = unpack_files(data, &files("1")).unwrap();
        let first = written(&folder);
        unpack_files(data, &files("1")).unwrap();
        assert_eq!(written(&folder), first, "nothing was written");
        // A newer version, a changed file, one more, one less.
        unpack_files(data, &files("2")).unwrap();
        assert!(fs::read_to_string(folder.join(MANIFEST)).unwrap().contains('2'));
        fs::write(folder.join("ui/popup.html"), "<script>").unwrap();
        unpack_files(data, &files("2")).unwrap();
        assert_eq!(fs::read_to_string(folder.join("ui/popup.html")).unwrap(), "<p>");
        fs::write(folder.join("more.js"), "").unwrap();
        unpack_files(data, &files("2")).unwrap();
        assert!(!folder.join("more.js").exists());
        fs::remove_file(folder.join(MANIFEST)).unwrap();
        unpack_files(data, &files("2")).unwrap();
        assert!(is_same(&folder, &files("2")));
        assert_eq!(fs::read_dir(data).unwrap().count(), 1, "no drafts are left");
        assert!(check(&folder).is_ok() && check(data).is_err());
    }
}
