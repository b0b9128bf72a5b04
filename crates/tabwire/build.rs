//! Has the program built again when the extension that is embedded in it appears or changes.

use std::path::Path;

fn main() {
    // A path that does not exist would have everything built again each time.
    let places = ["../../web/extension", "../../web/package.json"];
    let watched = places.into_iter().find(|place| Path::new(place).exists());
    println!("cargo::rerun-if-changed={}", watched.unwrap_or("build.rs"));
}
