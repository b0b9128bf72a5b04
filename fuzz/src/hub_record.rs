//! `hub.json`, by which programs of the user find the hub: read as it is on disk, whatever it says.
//!
//! What can be read says the same when it is written and read again, and the next hub takes a
//! greater term.

use machine::{Lease, record};

/// Reads it, and becomes the next hub.
pub fn run(input: &[u8]) {
    let path = crate::scratch::write(record::FILE, input);
    let folder = path.parent().expect("a file is in a folder");
    let read = record::read(folder);
    if let Ok(record) = &read {
        let record = record.as_ref().expect("the file is there");
        let text = serde_json::to_string(&record).expect("a record can be written");
        let again = serde_json::from_str(&text).expect("what we write can be read");
        assert_eq!(*record, again);
    }
    let last = read.ok().flatten().map_or(0, |record| record.term);
    let lease = Lease::take(folder, || 0).expect("whatever it says, a hub can start");
    assert!(lease.term() > last, "{} after {last}", lease.term());
}
