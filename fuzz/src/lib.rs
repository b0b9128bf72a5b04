//! Fuzz targets: what strangers and damaged files can say, against the code that reads it.
//!
//! A target takes any bytes and must come back soon, without a panic and without keeping memory.
//! Where there is more to say than that, it asserts it. Inputs are lines of text where possible, so
//! that seeds can be read and written by hand.
//! - [`dialects`]: frames and messages of the hub through every dialect's machine, with
//!   [`hub_message`]; [`deflated_pages`]: compressed replay pages;
//! - [`state_patches`], [`schemas`], [`manifests`], [`snapshots`]: what apps and pages declare and say;
//! - [`http_head`], [`mcp_lines`]: what comes in at the doors;
//! - [`store_file`], [`store_rows`], [`hub_record`], [`settings`], [`client_settings`], [`native_messages`]: what is
//!   read from the user's own machine;
//! - [`scratch`]: a folder in memory for targets that read files; [`memory`]: what inputs may take.
//!
//! `cargo xtask torture fuzz` runs them; `seeds/<target>` is where each begins, `findings/<target>`
//! holds inputs that once failed. The grown corpus is in `target` and goes with it.

pub mod client_settings;
pub mod deflated_pages;
pub mod dialects;
pub mod http_head;
pub mod hub_message;
pub mod hub_record;
pub mod manifests;
pub mod mcp_lines;
pub mod memory;
pub mod native_messages;
pub mod schemas;
pub mod scratch;
pub mod settings;
pub mod snapshots;
pub mod state_patches;
pub mod store_file;
pub mod store_rows;

// The program has no library, so the files that read its settings are taken from where they are;
// they name each other from the root.
#[allow(dead_code, missing_docs, reason = "the program uses more of them")]
#[path = "../../crates/tabwire/src"]
mod program {
    pub mod config;
    pub mod failure;
    pub mod folders;
    pub mod terminal;
}
use program::{config, failure, folders, terminal};

/// One thing to fuzz.
pub struct Target {
    /// Its name on the command line, and of its folders.
    pub name: &'static str,
    /// Inputs of a short run: as many as take a few seconds.
    pub short: u32,
    /// Takes an input.
    pub run: fn(&[u8]),
}

/// Inputs of a short run, and of one where each takes a millisecond.
const MANY: u32 = 20_000;
const FEW: u32 = 1000;

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "native", short: MANY, run: |input| dialects::run("native", input) },
    Target { name: "hello3d", short: MANY, run: |input| dialects::run("hello3d", input) },
    Target { name: "moonsurf", short: MANY, run: |input| dialects::run("moonsurf", input) },
    Target { name: "enhanced", short: MANY, run: |input| dialects::run("enhanced", input) },
    Target { name: "mcp_browser", short: MANY, run: |input| dialects::run("mcp_browser", input) },
    Target { name: "webmcp", short: MANY, run: |input| dialects::run("webmcp", input) },
    Target { name: "deflated_pages", short: MANY, run: deflated_pages::run },
    Target { name: "state_patches", short: MANY, run: state_patches::run },
    Target { name: "schemas", short: MANY, run: schemas::run },
    Target { name: "manifests", short: MANY, run: manifests::run },
    Target { name: "snapshots", short: MANY, run: snapshots::run },
    Target { name: "http_head", short: MANY, run: http_head::run },
    Target { name: "mcp_lines", short: MANY, run: mcp_lines::run },
    Target { name: "store_file", short: FEW, run: store_file::run },
    Target { name: "store_rows", short: FEW, run: store_rows::run },
    Target { name: "hub_record", short: MANY, run: hub_record::run },
    Target { name: "settings", short: MANY, run: settings::run },
    Target { name: "client_settings", short: MANY, run: client_settings::run },
    Target { name: "native_messages", short: MANY, run: native_messages::run },
];

impl Target {
    /// Takes an input, and checks what it leaves behind.
    pub fn take(&self, input: &[u8]) {
        (self.run)(input);
        memory::check();
    }
}

/// Finds a target by its name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Returns the lines of an input that are text.
pub(crate) fn text_lines(input: &[u8]) -> impl Iterator<Item = &str> {
    input.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok())
}
