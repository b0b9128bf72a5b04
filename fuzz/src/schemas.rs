//! The schema of a tool that an app or a page declares, then arguments against it, one per line.

use serde_json::Value;
use tools::arguments::Checker;

/// Checks them.
pub fn run(input: &[u8]) {
    let mut lines = crate::text_lines(input).filter_map(|line| serde_json::from_str(line).ok());
    let Some(schema) = lines.next() else { return };
    let Ok(checker) = Checker::new(schema) else { return };
    for args in lines {
        let args: Value = args;
        if let Err(fault) = checker.check(&args) {
            assert!(fault.message.len() < 8000, "{} bytes of words", fault.message.len());
        }
    }
}
