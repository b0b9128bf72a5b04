//! Settings files of AI clients, which we edit: any text in each of their formats.
//!
//! What was added is found; adding it again changes nothing; once it is removed it is not found. An
//! entry that somebody else has laid out may be left to its owner.

use machine::install::{
    clients::CLIENTS,
    entry::{Entry, Format, Found},
};

/// Edits the text as each client's file.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut formats: Vec<Format> = Vec::new();
    for client in CLIENTS {
        if !formats.contains(&client.format) {
            formats.push(client.format);
            edit(client.format, text);
        }
    }
}

fn edit(format: Format, text: &str) {
    let entry = Entry { command: "/opt/tabwire".to_owned(), args: vec!["stdio".to_owned()] };
    let is_new = format.find(text) == Ok(Found::Nothing);
    if let Ok(removed) = format.remove(text) {
        assert_eq!(format.find(&removed), Ok(Found::Nothing), "removed from {text:?}");
    }
    let Ok(added) = format.add(text, &entry) else { return };
    assert_eq!(format.find(&added), Ok(Found::Program(entry.clone())), "added to {text:?}");
    assert_eq!(format.add(&added, &entry).as_deref(), Ok(added.as_str()), "added twice");
    match format.remove(&added) {
        Ok(removed) => {
            assert_eq!(format.find(&removed), Ok(Found::Nothing), "removed from {added:?}");
        }
        Err(error) => assert!(!is_new, "what we have written can be edited: {error}, {added:?}"),
    }
}
