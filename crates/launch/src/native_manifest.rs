//! How the extension of a started browser finds the hub: a native messaging host of its own.
//!
//! The manifest lies in the browser's own profile folder and names a small script, which runs
//! `tabwire native-host` for this very launch. Only our extension may start it.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::{LaunchId, folder};

/// The name by which the extension asks for the host.
pub const HOST: &str = "dev.tabwire.host";
/// The extension that may ask.
pub const EXTENSION_ORIGIN: &str = "chrome-extension://flijodnkmdflbekoipgfjippcnecmdfi/";
const FOLDER: &str = "NativeMessagingHosts";
const SCRIPT: &str = "tabwire-native-host.sh";

/// What the host is told.
pub struct Host<'a> {
    /// Our own program.
    pub program: &'a Path,
    /// The data folder of the hub.
    pub data: &'a Path,
    /// The start that the host tells the hub of.
    pub launch: &'a LaunchId,
    /// What the session shall be called.
    pub name: &'a str,
}

/// Writes script and manifest into a profile; returns the manifest's path.
pub fn write(user_data_dir: &Path, host: &Host<'_>) -> io::Result<PathBuf> {
    let script = user_data_dir.join(SCRIPT);
    let text = format!(
        "#!/bin/sh\nexec {} native-host --data {} --launch {} --name {} \"$@\"\n",
        quote(host.program.as_os_str())?,
        quote(host.data.as_os_str())?,
        quote(OsStr::new(host.launch.as_str()))?,
        quote(OsStr::new(host.name))?,
    );
    folder::replace(&script, text.as_bytes(), true)?;
    let path = script.to_str().ok_or_else(not_text)?;
    let manifest = json!({
        "name": HOST,
        "description": "Connects this browser to the Tabwire hub that started it",
        "path": path,
        "type": "stdio",
        "allowed_origins": [EXTENSION_ORIGIN],
    });
    let hosts = user_data_dir.join(FOLDER);
    folder::make(&hosts)?;
    let file = hosts.join(format!("{HOST}.json"));
    folder::replace(&file, format!("{manifest:#}\n").as_bytes(), false)?;
    Ok(file)
}

/// Makes a text one word of a shell's line, whatever is in it.
fn quote(text: &OsStr) -> io::Result<String> {
    let text = text.to_str().ok_or_else(not_text)?;
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}

fn not_text() -> io::Error {
    io::Error::other("the path is not text, which native messaging needs")
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, process::Command};

    use serde_json::Value;

    use super::*;
    use crate::test_place::Place;

    #[test]
    fn the_script_runs_the_host_with_what_it_must_know() {
        let place = Place::new();
        let odd = place.path().join("it's a \"$HOME\" place");
        folder::make(&odd).unwrap();
        let tabwire = place.program("it's a \"$HOME\" place/tabwire", "printf '<%s>' \"$@\"");
        let launch = LaunchId::mint();
        let host = Host { program: &tabwire, data: &odd, launch: &launch, name: "work" };
        let file = write(&odd, &host).unwrap();
        assert_eq!(file, odd.join("NativeMessagingHosts/dev.tabwire.host.json"));
        let manifest: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        assert_eq!((&manifest["name"], &manifest["type"]), (&json!(HOST), &json!("stdio")));
        assert_eq!(manifest["allowed_origins"], json!([EXTENSION_ORIGIN]));
        let script = manifest["path"].as_str().unwrap();
        assert!(script.starts_with('/'));
        assert_eq!(fs::metadata(script).unwrap().permissions().mode() & 0o777, 0o700);
        let said = Command::new(script).arg(EXTENSION_ORIGIN).output().unwrap().stdout;
        let (odd, said) = (odd.display(), String::from_utf8(said).unwrap());
        let expected = format!(
            "<native-host><--data><{odd}><--launch><{launch}><--name><work><{EXTENSION_ORIGIN}>"
        );
        assert_eq!(said, expected);
    }
}
