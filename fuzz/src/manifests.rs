//! The manifest of an app, as a file says it. What is accepted has tools whose schemas can be used.

use tools::{arguments::Checker, manifest::Manifest};

/// Reads it.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match Manifest::parse("fuzz.toml", text) {
        Ok(manifest) => {
            for tool in manifest.tools() {
                let checker = Checker::new(tool.input_schema.clone());
                assert!(checker.is_ok(), "{} has a schema that cannot be used", tool.name);
            }
        }
        Err(error) => drop(error.to_string()),
    }
}
