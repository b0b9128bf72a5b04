//! What is never uploaded, whatever the roots: keys, passwords, browser profiles, the hub's data.
//!
//! Names count wherever they are, so that another user's `.ssh` is as safe as one's own. Those in
//! the user's home count also where a link leads: some keep `.ssh` in a folder with another name.
//! It is no promise that everything else is harmless.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use super::UploadFolders;

const KEYS: &str = "keys and passwords are kept there";
const PROFILE: &str = "a browser keeps its profile there";
const SETTINGS: &str = ".config/";

/// Folders, with all that is below them. A name that ends with `*` is the beginning of one.
const FOLDERS: &[(&str, &str)] = &[
    (".ssh", KEYS),
    (".gnupg", KEYS),
    (".aws", KEYS),
    (".azure", KEYS),
    (".kube", KEYS),
    (".docker", KEYS),
    (".password-store", KEYS),
    (".config/gcloud", KEYS),
    (".config/gh", KEYS),
    (".local/share/keyrings", KEYS),
    ("Library/Keychains", KEYS),
    (".config/google-chrome*", PROFILE),
    (".config/chromium", PROFILE),
    (".config/microsoft-edge*", PROFILE),
    (".config/BraveSoftware", PROFILE),
    (".mozilla", PROFILE),
    (".config/mozilla", PROFILE),
    ("snap/chromium", PROFILE),
    ("snap/brave", PROFILE),
    ("snap/firefox", PROFILE),
    (".var/app/com.google.Chrome*", PROFILE),
    (".var/app/org.chromium.Chromium", PROFILE),
    (".var/app/com.microsoft.Edge*", PROFILE),
    (".var/app/com.brave.Browser", PROFILE),
    (".var/app/org.mozilla.firefox", PROFILE),
    ("Application Support/Google/Chrome*", PROFILE),
    ("Application Support/Chromium", PROFILE),
    ("Application Support/Microsoft Edge*", PROFILE),
    ("Application Support/BraveSoftware", PROFILE),
    ("Application Support/Firefox", PROFILE),
    ("AppData/Local/Google/Chrome*", PROFILE),
    ("AppData/Local/Microsoft/Edge*", PROFILE),
    ("AppData/Local/BraveSoftware", PROFILE),
    ("AppData/Roaming/Mozilla", PROFILE),
];

/// Names of files that are secret wherever they lie.
const FILES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".dockercfg",
    ".vault-token",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
];

/// The one secret that lies in nearly every working folder.
const ENVIRONMENT: &str = ".env";
/// Endings of such files that are made to be shown.
const SAMPLES: &[&str] = &["example", "sample", "template", "dist"];

/// What the kernel makes up: processes, their variables, devices.
const KERNEL: &[&str] = &["/proc", "/sys", "/dev"];

/// Says why a file is never uploaded, if it is not. May block.
pub(super) fn why(folders: &UploadFolders, path: &Path) -> Option<String> {
    let names: Vec<_> = path.iter().collect();
    let file = names.last().copied().unwrap_or_default();
    let is_in = |folder: &Path| fs::canonicalize(folder).is_ok_and(|real| path.starts_with(real));
    if KERNEL.iter().any(|folder| path.starts_with(folder)) {
        return Some("it is no file on a disk".to_owned());
    }
    if folders.data.as_deref().is_some_and(is_in) {
        return Some("it is in the hub's data folder".to_owned());
    }
    if is_environment(file) {
        return Some(format!("{ENVIRONMENT} files hold passwords and keys of programs"));
    }
    if let Some(secret) = FILES.iter().find(|secret| ends_with(&names, secret)) {
        return Some(format!("{secret} holds keys or passwords"));
    }
    let moved = as_if_in_home(folders, path);
    let moved: Vec<_> = moved.iter().flat_map(|path| path.iter()).collect();
    let is_below = |folder: &str| is_below(&names, folder) || is_below(&moved, folder);
    if let Some((folder, why)) = FOLDERS.iter().find(|(folder, _)| is_below(folder)) {
        return Some(format!("it is in {}, and {why}", folder.trim_end_matches('*')));
    }
    let all = FOLDERS.iter().map(|(folder, _)| *folder).chain(FILES.iter().copied());
    let led_to = all.into_iter().find(|secret| places(folders, secret).iter().any(|at| is_in(at)));
    led_to.map(|secret| format!("{} leads there", secret.trim_end_matches('*')))
}

/// Writes a path in a settings folder that is elsewhere as if it were where it usually is.
fn as_if_in_home(folders: &UploadFolders, path: &Path) -> Option<PathBuf> {
    let config = fs::canonicalize(folders.config.as_ref()?).ok()?;
    Some(Path::new(SETTINGS).join(path.strip_prefix(config).ok()?))
}

/// Where a secret of the user is.
fn places(folders: &UploadFolders, secret: &str) -> Vec<PathBuf> {
    let secret = secret.trim_end_matches('*');
    let in_home = folders.home.iter().map(|home| home.join(secret));
    let moved = secret.strip_prefix(SETTINGS).zip(folders.config.as_ref());
    in_home.chain(moved.map(|(rest, config)| config.join(rest))).collect()
}

fn is_environment(file: &OsStr) -> bool {
    let name = file.to_string_lossy().to_lowercase();
    match name.strip_prefix(ENVIRONMENT) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(|kind| !SAMPLES.contains(&kind)),
        None => false,
    }
}

fn ends_with(names: &[&OsStr], secret: &str) -> bool {
    let length = secret.split('/').count();
    names.len() >= length && matches(&names[names.len() - length..], secret)
}

fn is_below(names: &[&OsStr], secret: &str) -> bool {
    names.windows(secret.split('/').count()).any(|window| matches(window, secret))
}

/// Compares names in any case: there are file systems to which they are the same.
fn matches(names: &[&OsStr], secret: &str) -> bool {
    names.iter().zip(secret.split('/')).all(|(name, wanted)| {
        let name = name.to_string_lossy();
        match wanted.strip_suffix('*') {
            Some(start) => {
                name.get(..start.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(start))
            }
            None => name.eq_ignore_ascii_case(wanted),
        }
    })
}
