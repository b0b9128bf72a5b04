//! What a browser's extension sends over native messaging: any bytes, and what is answered.

use machine::native_host::{self, Answer};

/// Serves the conversation; every answer must be one that a browser takes.
pub fn run(input: &[u8]) {
    let mut written = Vec::new();
    let _ = native_host::serve(input, &mut written, |_| Answer::refused("no"));
    let mut left = &written[..];
    while let Some((length, rest)) = left.split_first_chunk() {
        let length = u32::from_ne_bytes(*length) as usize;
        assert!(length <= native_host::ANSWER_BYTES);
        let answer: Result<serde_json::Value, _> = serde_json::from_slice(&rest[..length]);
        assert!(answer.is_ok(), "an answer is JSON");
        left = &rest[length..];
    }
    assert!(left.is_empty(), "an answer is whole");
}
