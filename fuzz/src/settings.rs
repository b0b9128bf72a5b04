//! The settings file, beside flags and variables: lines `--name value` are flags, lines
//! `TABWIRE_NAME=value` variables, and all others are the file.

use std::collections::BTreeMap;

use crate::{config::Layers, scratch};

/// Reads all layers; a refusal says why.
pub fn run(input: &[u8]) {
    let mut file = String::new();
    let mut flags: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut environment = BTreeMap::new();
    for line in crate::text_lines(input) {
        let flag = line.strip_prefix("--").and_then(|flag| flag.split_once(' '));
        let variable = line.starts_with("TABWIRE_").then(|| line.split_once('=')).flatten();
        if let Some((name, value)) = flag {
            flags.entry(name.replace('-', "_")).or_default().push(value.to_owned());
        } else if let Some((name, value)) = variable {
            environment.insert(name.to_owned(), value.to_owned());
        } else {
            file.push_str(line);
            file.push('\n');
        }
    }
    let file = Some(scratch::write("config.toml", file.as_bytes()));
    if let Err(failure) = (Layers { file, flags, environment }).load() {
        assert!(!failure.message().is_empty(), "a refusal says why");
    }
}
