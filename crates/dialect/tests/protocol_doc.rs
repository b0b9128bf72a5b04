//! `docs/protocol.md` tells the truth: every message has an entry, every example decodes, and
//! the tables of codes are the code's own.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::HashMap;

use dialect::native::wire::{FromBrowser, ToBrowser};
use model::{CloseReason, Code, RefusedResume};

const DOC: &str = include_str!("../../../docs/protocol.md");

/// The JSON examples below each `### type` heading.
fn examples() -> HashMap<&'static str, Vec<&'static str>> {
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    for section in DOC.split("\n### ").skip(1) {
        let (heading, body) = section.split_once('\n').unwrap();
        let body = body.split("\n## ").next().unwrap();
        let blocks =
            body.split("```json\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
        found.entry(heading).or_default().extend(blocks);
    }
    found
}

#[test]
fn every_message_has_an_entry_and_every_entry_a_message() {
    let examples = examples();
    let types: Vec<_> = FromBrowser::TYPES.iter().chain(ToBrowser::TYPES).collect();
    for kind in &types {
        assert!(examples.get(**kind).is_some_and(|found| !found.is_empty()), "{kind} is missing");
    }
    for heading in examples.keys() {
        assert!(types.contains(&heading), "{heading} is no message");
    }
}

#[test]
fn every_example_decodes_in_each_direction_that_knows_it() {
    for (kind, blocks) in examples() {
        for block in blocks {
            let value: serde_json::Value = serde_json::from_str(block).expect(block);
            assert_eq!(value["type"], kind, "{block}");
            let from = FromBrowser::decode(kind, block);
            let to = ToBrowser::decode(kind, block);
            assert!(from.is_some() || to.is_some(), "{kind}");
            if let Some(decoded) = from {
                same_meaning(&value, serde_json::to_value(decoded.expect(block)).unwrap());
            }
            if let Some(decoded) = to {
                same_meaning(&value, serde_json::to_value(decoded.expect(block)).unwrap());
            }
        }
    }
}

/// Every field of the example is known; the code may add defaults.
#[track_caller]
fn same_meaning(example: &serde_json::Value, written: serde_json::Value) {
    for (key, value) in example.as_object().unwrap() {
        let found = written.get(key);
        let found = found.unwrap_or_else(|| panic!("{key} of {example} is not a known field"));
        if value.is_number() {
            assert_eq!(found.as_f64(), value.as_f64(), "{key} in {example}");
        } else if !value.is_object() && !value.is_array() {
            assert_eq!(found, value, "{key} in {example}");
        }
    }
}

#[test]
fn the_tables_are_the_codes_own() {
    for reason in CloseReason::ALL {
        let row = format!("| {} | `{}` |", reason.code(), reason.as_str());
        assert!(DOC.contains(&row), "{row}");
    }
    for code in Code::ALL {
        let row = format!("| `{code}` | {} |", code.retry().as_str());
        assert!(DOC.contains(&row), "{row}");
    }
    for reason in RefusedResume::ALL {
        assert!(DOC.contains(&format!("| `{}` |", reason.as_str())), "{}", reason.as_str());
    }
    let (_, tables) = DOC.split_once("## Close codes").unwrap();
    let rows = tables.lines().filter(|line| line.starts_with("| ") && line.contains('`')).count();
    assert_eq!(rows, CloseReason::ALL.len() + Code::ALL.len(), "a row without a code");
}
