//! The embedded store under torture: killed, cut and damaged, it keeps what it said is kept.
//!
//! - [`traffic`]: random writes, and a witness that knows what must be there afterwards;
//! - [`crash`]: processes that are killed, stores that are dropped without a flush;
//! - [`harm`]: files that are cut, flipped and overwritten.
//!
//! Short by default; `TABWIRE_TORTURE=1` runs ten times as much. The seed is printed, and
//! `TABWIRE_SEED` brings it back.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod crash;
mod harm;
mod traffic;

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use model::id::{random_number, random_text};
use store::{EmbeddedStore, Health, Options, Store, StoreWrite};

/// A small generator of numbers that look random; the seed is all there is.
struct Dice(u64);

impl Dice {
    /// Takes the seed from the environment or makes one, and says which.
    fn new(test: &str) -> Self {
        let seed = env::var("TABWIRE_SEED").ok().and_then(|text| text.parse().ok());
        let seed = seed.unwrap_or_else(random_number).max(1);
        println!("{test}: TABWIRE_SEED={seed}");
        Self(seed)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// How much longer than the short form.
fn scale() -> u64 {
    let times = env::var("TABWIRE_TORTURE").ok().and_then(|text| text.parse::<u64>().ok());
    times.map_or(1, |times| 10 * times)
}

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = env::temp_dir().join(format!("tabwire-torture-{}", random_text(12)));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("store.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Opens a store that moves its write-ahead log often, so that both files hold something.
fn open(path: &Path) -> EmbeddedStore {
    let close_within = Duration::from_secs(30);
    let options = Options { checkpoint_pages: 40, close_within, ..Options::new(path) };
    EmbeddedStore::open(options).unwrap_or_else(|error| panic!("it does not open: {error}"))
}

/// Writes one thing.
fn write(store: &EmbeddedStore, write: StoreWrite) {
    store.write(vec![write]).unwrap();
}

/// Waits until everything that was written so far is on disk.
fn wait_for_sync(store: &EmbeddedStore) {
    let ticket = store.write(Vec::new()).unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(30);
    while !ticket.is_done() {
        assert!(std::time::Instant::now() < until, "nothing is synced: {:?}", store.health());
        assert_ne!(store.health(), Health::Fenced);
        std::thread::yield_now();
    }
}
