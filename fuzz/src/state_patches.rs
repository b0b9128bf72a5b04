//! States and patches that an app sends, one per line: an array is a patch, anything else a whole
//! state, and an empty line asks for the state.
//!
//! In front may stand `e2 ` for another life of the page, and `v7 ` for a version or `v ` for none;
//! otherwise versions follow each other. What is accepted must be what a plain application of the
//! patch gives, within the limits; what is refused must leave the state as it was.

use hub::state::{Applied, StateCache};
use model::{Epoch, Json, StateBody, StateUpdate, shape};
use serde_json::Value;

/// Applies them in order.
pub fn run(input: &[u8]) {
    let mut cache = StateCache::default();
    let mut expected = None;
    for line in crate::text_lines(input) {
        if line.is_empty() {
            check(&mut cache, expected.as_ref());
        } else if let Some(update) = read(line, &cache) {
            expected = apply(&mut cache, expected, update);
        }
    }
    check(&mut cache, expected.as_ref());
}

fn read(line: &str, cache: &StateCache) -> Option<StateUpdate> {
    let front = |line: &'_ str, letter| -> Option<(String, String)> {
        let (word, rest) = line.split_once(' ')?;
        Some((word.strip_prefix(letter)?.to_owned(), rest.to_owned()))
    };
    let (epoch, line) = front(line, 'e').unwrap_or_else(|| ("1".to_owned(), line.to_owned()));
    let (version, line) = match front(&line, 'v') {
        Some((version, line)) => (version.parse().ok(), line),
        None => (Some(cache.version().map_or(1, |known| known.saturating_add(1))), line),
    };
    // As the dialects do.
    if shape::too_deep(&line) {
        return None;
    }
    let json = Json::parse(line).ok()?;
    let body = match json.as_str().starts_with('[') {
        true => StateBody::Patch(json),
        false => StateBody::Whole(json),
    };
    Some(StateUpdate { body, epoch: Some(Epoch::parse(&epoch).ok()?), version })
}

/// Returns what the state must be afterwards; `None` where that is not known.
fn apply(cache: &mut StateCache, before: Option<Value>, update: StateUpdate) -> Option<Value> {
    let body = update.body.clone();
    match (cache.apply(update), body) {
        (Applied::Accepted, StateBody::Patch(patch)) => {
            let mut value = before?;
            let patch: json_patch::Patch =
                serde_json::from_str(patch.as_str()).expect("what is accepted is a patch");
            json_patch::patch(&mut value, &patch).expect("what is accepted applies");
            Some(value)
        }
        // Carried payloads may have what no tree can, such as numbers that are too large.
        (Applied::Accepted, StateBody::Whole(json)) => json.to_value().ok(),
        (Applied::Older | Applied::NeedsWhole | Applied::OverLimit(_), _) => before,
    }
}

fn check(cache: &mut StateCache, expected: Option<&Value>) {
    let (Some(snapshot), Some(expected)) = (cache.snapshot(), expected) else { return };
    let found = snapshot.state.to_value().expect("a state can be read");
    assert_eq!(&found, expected);
    assert!(!shape::too_deep(snapshot.state.as_str()), "the state nests too deep");
    assert!(snapshot.state.size() <= hub::config::limits::STATE, "the state is too large");
}
