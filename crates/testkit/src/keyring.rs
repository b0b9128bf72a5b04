//! The tokens of the hubs that this process has started, by port, so that fakes can show them.
//!
//! A fake that comes as its user's own program shows the token of the hub that it talks to, unless a
//! test says otherwise. [`crate::Ask`] shows none by itself.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock},
};

/// Notes where the hub on a port keeps its token.
pub fn note(port: u16, data: &Path) {
    known().insert(port, data.to_owned());
}

/// Returns the token of the hub on a port; `None` where nobody has started it here.
pub fn token_of(port: u16) -> Option<String> {
    let data = known().get(&port).cloned()?;
    Some(fs::read_to_string(data.join("token")).ok()?.trim().to_owned())
}

fn known() -> MutexGuard<'static, HashMap<u16, PathBuf>> {
    static KNOWN: OnceLock<Mutex<HashMap<u16, PathBuf>>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default).lock().unwrap()
}
