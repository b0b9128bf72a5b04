//! The program that libFuzzer drives: the target that `FUZZ_TARGET` names. Without it, all targets
//! with the inputs of their short runs, one per line, on standard output.

#![no_main]

use std::{
    env,
    io::{self, Write},
    process,
    sync::OnceLock,
};

use fuzz::{TARGETS, Target};

/// Chosen once, before the first input.
static TARGET: OnceLock<&Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        TARGET.get_or_init(choose);
    },
    |input: &[u8]| TARGET.get_or_init(choose).take(input)
);

fn choose() -> &'static Target {
    let Some(name) = env::var("FUZZ_TARGET").ok().filter(|name| !name.is_empty()) else {
        list();
        process::exit(0);
    };
    fuzz::find(&name).unwrap_or_else(|| {
        eprintln!("there is no target {name:?}");
        process::exit(2);
    })
}

fn list() {
    for Target { name, short, .. } in TARGETS {
        // A reader that has left needs no list.
        let _ = writeln!(io::stdout(), "{name} {short}");
    }
}
