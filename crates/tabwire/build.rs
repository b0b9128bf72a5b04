//! Has the program built again when the extension that is embedded in it appears or changes, and
//! laid out so that a relay touches little of it.

use std::{env, path::Path};

fn main() {
    // A path that does not exist would have everything built again each time.
    let places = ["../../web/extension", "../../web/package.json"];
    let watched = places.into_iter().find(|place| Path::new(place).exists());
    println!("cargo::rerun-if-changed={}", watched.unwrap_or("build.rs"));
    lay_out_relay();
}

/// Has the linker put the functions of a relay side by side.
///
/// Nearly all memory of a relay is the program's pages that it has touched, and the kernel maps
/// sixteen at a time. What that saves is in docs/benchmarks.md. `relay.ld` names them; it is
/// written by `cargo xtask layout`, and a name in it that no longer exists does nothing.
fn lay_out_relay() {
    println!("cargo::rerun-if-changed=relay.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // Where Rust brings the linker, it is known to take such a script. Whoever has chosen another
    // one gets the usual layout.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let chosen = env::var_os("RUSTC_LINKER").is_some()
        || ["linker=", "fuse-ld", "link-self-contained"].iter().any(|word| flags.contains(word));
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") && !chosen {
        println!("cargo::rustc-link-arg-bin=tabwire=-T{folder}/relay.ld");
    }
}
