//! Applying a patch to a state, within bounds that are checked before the work.
//!
//! A short patch can ask for much: each copy may double the state, each addition may nest it
//! deeper, each removal may move a long list. A patch that cannot pass any limit is applied in
//! place. Every other is applied to a copy, one operation at a time, each judged first; when one is
//! refused, the copy is dropped and the state is what it was.

use std::fmt;

use json_patch::PatchOperation as Operation;
use model::{
    Json,
    shape::{DEEPEST, Shape},
};
use serde_json::{Number, Value};

use crate::config::limits::{PATCH_VALUES, PATCH_WORK, STATE};

/// A limit that a state may not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateLimit {
    /// The bytes of its text.
    Bytes,
    /// How deep it nests.
    Depth,
}

impl fmt::Display for StateLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes => write!(out, "the state is larger than {STATE} bytes"),
            Self::Depth => write!(out, "the state nests deeper than {DEEPEST} levels"),
        }
    }
}

/// Why a patch was not applied; the state is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unpatched {
    /// It does not fit, or takes more work than sending the whole state does.
    NeedsWhole,
    /// The state would pass a limit.
    OverLimit(StateLimit),
}

/// A state that is being patched.
pub struct StateTree {
    root: Value,
    /// The bytes of its text, or a little more.
    bytes: usize,
    /// Its values, or some more.
    values: usize,
}

impl StateTree {
    /// Opens a state; `None` means that it has more values than may be patched.
    pub fn parse(text: &Json) -> Option<Self> {
        let values = Shape::of(text.as_str()).values;
        let root = (values <= PATCH_VALUES).then(|| text.to_value().ok()).flatten()?;
        Some(Self { root, bytes: text.size(), values })
    }

    /// Returns about how many bytes it takes in memory.
    pub fn weight(&self) -> usize {
        self.bytes + self.values * size_of::<Value>()
    }

    /// Writes it as text.
    pub fn to_json(&self) -> Json {
        Json::of(&self.root)
    }

    /// Applies all of a patch, or nothing of it.
    pub fn patch(&mut self, patch: &Json) -> Result<(), Unpatched> {
        let values = Shape::of(patch.as_str()).values;
        let operations = (values <= PATCH_VALUES)
            .then(|| serde_json::from_str::<json_patch::Patch>(patch.as_str()).ok())
            .flatten()
            .ok_or(Unpatched::NeedsWhole)?;
        let bytes = self.bytes + patch.size();
        let values = self.values + values;
        // No list is longer than the state, so no operation moves more places than that.
        let work = operations.len().saturating_mul(bytes);
        let is_harmless = bytes <= STATE && values <= PATCH_VALUES && work <= PATCH_WORK;
        if !is_harmless || operations.iter().any(is_far_reaching) {
            return self.patch_with_care(&operations);
        }
        // The library undoes a patch that fails half way.
        json_patch::patch(&mut self.root, &operations).map_err(|_| Unpatched::NeedsWhole)?;
        (self.bytes, self.values) = (bytes, values);
        Ok(())
    }

    fn patch_with_care(&mut self, operations: &[Operation]) -> Result<(), Unpatched> {
        let mut root = self.root.clone();
        let Extent { mut bytes, mut values, .. } = Extent::of(&root);
        let mut work = PATCH_WORK;
        for operation in operations {
            let effect = Effect::of(&root, operation);
            bytes = (bytes + effect.put.bytes).saturating_sub(effect.taken.bytes);
            values = (values + effect.put.values).saturating_sub(effect.taken.values);
            work = work.checked_sub(effect.work).ok_or(Unpatched::NeedsWhole)?;
            if bytes > STATE {
                return Err(Unpatched::OverLimit(StateLimit::Bytes));
            }
            if effect.depth > DEEPEST {
                return Err(Unpatched::OverLimit(StateLimit::Depth));
            }
            if values > PATCH_VALUES {
                return Err(Unpatched::NeedsWhole);
            }
            json_patch::patch_unsafe(&mut root, std::slice::from_ref(operation))
                .map_err(|_| Unpatched::NeedsWhole)?;
        }
        *self = Self { root, bytes, values };
        Ok(())
    }
}

/// Returns whether the operation must be judged beside the state: it puts there what is not in
/// the patch, or nests too deep.
fn is_far_reaching(operation: &Operation) -> bool {
    let nests = |value: &Value| operation.path().count() + Extent::of(value).depth > DEEPEST;
    match operation {
        Operation::Copy(_) | Operation::Move(_) => true,
        Operation::Add(add) => nests(&add.value),
        Operation::Replace(replace) => nests(&replace.value),
        Operation::Remove(_) | Operation::Test(_) => false,
    }
}

/// How large a value is.
#[derive(Default, Clone, Copy)]
struct Extent {
    /// Of its text, or a few more.
    bytes: usize,
    /// With those in it.
    values: usize,
    /// Brackets around what is deepest in it, its own included.
    depth: usize,
}

impl Extent {
    fn of(value: &Value) -> Self {
        let mut all = Self { bytes: 2, values: 1, depth: 0 };
        match value {
            Value::String(text) => all.bytes = written(text),
            Value::Array(items) => items.iter().for_each(|item| all.hold(0, item)),
            Value::Object(fields) => {
                fields.iter().for_each(|(key, item)| all.hold(written(key) + 1, item));
            }
            Value::Number(number) => all.bytes = digits(number),
            Value::Null | Value::Bool(_) => all.bytes = "false".len(),
        }
        if value.is_array() || value.is_object() {
            all.depth += 1;
        }
        all
    }

    /// Adds an item, with the bytes of what stands before it, and a comma.
    fn hold(&mut self, before: usize, item: &Value) {
        let inner = Self::of(item);
        self.bytes += before + inner.bytes + 1;
        self.values += inner.values;
        self.depth = self.depth.max(inner.depth);
    }
}

/// Bytes of a string between its quotes, and those: a character may become six.
fn written(text: &str) -> usize {
    let more = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 1,
        0..0x20 => 5,
        _ => 0,
    };
    2 + text.len() + text.bytes().map(more).sum::<usize>()
}

/// Bytes of a number, or some more.
fn digits(number: &Number) -> usize {
    match number.as_i64().map(i64::unsigned_abs).or(number.as_u64()) {
        Some(whole) => 2 + whole.checked_ilog10().unwrap_or(0) as usize,
        None => "-1.2345678901234567e-123".len(),
    }
}

/// What an operation would do.
struct Effect {
    put: Extent,
    taken: Extent,
    /// How deep the state would nest there.
    depth: usize,
    work: usize,
}

impl Effect {
    fn of(root: &Value, operation: &Operation) -> Self {
        let path = operation.path().as_str();
        let at = |pointer: &str| root.pointer(pointer).map(Extent::of).unwrap_or_default();
        let (put, taken, moved) = match operation {
            Operation::Add(add) => (Extent::of(&add.value), replaced(root, path), 0),
            Operation::Replace(replace) => (Extent::of(&replace.value), at(path), 0),
            Operation::Copy(copy) => (at(copy.from.as_str()), replaced(root, path), 0),
            // What is moved is taken from one place and put into another.
            Operation::Move(moving) => {
                let from = moving.from.as_str();
                let (moved, over) = (at(from), replaced(root, path));
                let taken = Extent {
                    bytes: moved.bytes + over.bytes,
                    values: moved.values + over.values,
                    depth: 0,
                };
                (moved, taken, list_around(root, from))
            }
            Operation::Remove(_) => (Extent::default(), at(path), 0),
            Operation::Test(_) => (Extent::default(), Extent::default(), 0),
        };
        let depth = operation.path().count() + put.depth;
        // Measuring costs about what copying does.
        let work = 1 + put.bytes + taken.bytes + moved + list_around(root, path);
        Self { put, taken, depth, work }
    }
}

/// What putting a value somewhere takes away: in a list nothing, the others make room.
fn replaced(root: &Value, path: &str) -> Extent {
    match list_around(root, path) {
        0 => root.pointer(path).map(Extent::of).unwrap_or_default(),
        _ => Extent::default(),
    }
}

/// How many places the list has in which a place is; 0 where it is in none.
fn list_around(root: &Value, path: &str) -> usize {
    let parent = path.rsplit_once('/').and_then(|(parent, _)| root.pointer(parent));
    parent.and_then(Value::as_array).map_or(0, Vec::len)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tree(value: &Value) -> StateTree {
        StateTree::parse(&Json::of(value)).unwrap()
    }

    /// Applies a patch; one that is refused must have changed nothing.
    #[track_caller]
    fn check(before: &Value, patch: &Value, expected: Result<&Value, Unpatched>) {
        let mut state = tree(before);
        let applied = state.patch(&Json::of(patch));
        assert_eq!(applied, expected.map(|_| ()));
        assert!(state.root == *expected.unwrap_or(before), "another state than expected");
    }

    fn copy(from: &str, path: &str) -> Value {
        json!({"op": "copy", "from": from, "path": path})
    }

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!(0), |inner, _| json!({ "a": inner }))
    }

    const TOO_LARGE: Result<&Value, Unpatched> = Err(Unpatched::OverLimit(StateLimit::Bytes));
    const TOO_DEEP: Result<&Value, Unpatched> = Err(Unpatched::OverLimit(StateLimit::Depth));
    const NEEDS_WHOLE: Result<&Value, Unpatched> = Err(Unpatched::NeedsWhole);

    #[test]
    fn all_operations_do_what_they_say() {
        let patch = json!([
            {"op": "test", "path": "/a", "value": 1},
            copy("/b", "/c"),
            {"op": "move", "from": "/a", "path": "/b/0"},
            {"op": "add", "path": "/b/-", "value": 4},
            {"op": "remove", "path": "/b/1"},
            {"op": "replace", "path": "/c", "value": {"x": null}},
        ]);
        let after = json!({"b": [1, 3, 4], "c": {"x": null}});
        check(&json!({"a": 1, "b": [2, 3]}), &patch, Ok(&after));
    }

    #[test]
    fn copies_into_itself_stop_at_the_limit() {
        let doubling: Vec<_> = (0..30).map(|n| copy("", &format!("/{n}"))).collect();
        check(&json!({"text": "x".repeat(1000)}), &json!(doubling), TOO_LARGE);
        let small: Vec<_> = (0..30).map(|n| copy("", &format!("/{n}"))).collect();
        check(&json!({}), &json!(small), NEEDS_WHOLE);
    }

    #[test]
    fn what_grows_when_it_is_written_counts_as_written() {
        let value = json!({
            "a\"\n": ["\u{1}\u{8}\\ü\t", null, true, false], "n": [0, -1, i64::MIN, u64::MAX, 1.5e-300],
        });
        let (counted, text) = (Extent::of(&value).bytes, value.to_string().len());
        assert!((text..=text + 30).contains(&counted), "{counted} for {text} bytes");
        let control = json!({"text": "\u{1}".repeat(1000)});
        let doubling: Vec<_> = (0..11).map(|n| copy("", &format!("/{n}"))).collect();
        check(&control, &json!(doubling), TOO_LARGE);
    }

    #[test]
    fn nothing_is_moved_into_itself() {
        let moving = json!([{"op": "move", "from": "/a", "path": "/a/b"}]);
        check(&json!({"a": {}}), &moving, NEEDS_WHOLE);
    }

    #[test]
    fn no_way_of_putting_something_there_nests_too_deep() {
        let deep = nested(100);
        let path = "/a".repeat(29);
        check(&deep, &json!([copy("", &path)]), TOO_DEEP);
        for op in ["add", "replace"] {
            check(&deep, &json!([{"op": op, "path": path, "value": deep}]), TOO_DEEP);
        }
        let both = json!({"a": deep, "b": deep});
        let path = "/a".repeat(50);
        check(&both, &json!([{"op": "move", "from": "/b", "path": path}]), TOO_DEEP);
        // A chain that is put onto its own end, again and again.
        let mut state = tree(&nested(2));
        let longer = |depth: usize| Json::of(&json!([copy("/a", &"/a".repeat(depth))]));
        let refused = (2..1000).find_map(|depth| state.patch(&longer(depth)).err());
        assert_eq!(refused, Some(Unpatched::OverLimit(StateLimit::Depth)));
        let depth = Shape::of(state.to_json().as_str()).depth;
        assert!(depth <= DEEPEST, "{depth}");
    }

    #[test]
    fn what_is_replaced_makes_room() {
        let most = json!({"text": "x".repeat(STATE - 100)});
        let other = json!({"text": "y".repeat(STATE - 100)});
        let replace = json!({"op": "replace", "path": "/text", "value": other["text"]});
        check(&most, &json!([replace]), Ok(&other));
        let add = json!({"op": "add", "path": "/more", "value": "z".repeat(200)});
        check(&most, &json!([add]), TOO_LARGE);
        let remove = json!({"op": "remove", "path": "/text"});
        check(&most, &json!([remove, add]), Ok(&json!({"more": "z".repeat(200)})));
    }

    #[test]
    fn a_patch_that_costs_more_than_the_whole_state_is_not_applied() {
        let list = json!(vec![0; PATCH_VALUES - 1]);
        let first = json!({"op": "remove", "path": "/0"});
        check(&list, &json!(vec![&first; 5000]), NEEDS_WHOLE);
        let large = json!({"text": "x".repeat(STATE / 4)});
        check(&large, &json!(vec![copy("/text", "/more"); 100]), NEEDS_WHOLE);
        assert!(StateTree::parse(&Json::of(&json!(vec![0; PATCH_VALUES + 1]))).is_none());
        let many = json!([{"op": "add", "path": "", "value": vec![0; PATCH_VALUES]}]);
        check(&json!({}), &many, NEEDS_WHOLE);
    }

    #[test]
    fn many_small_patches_are_counted_together() {
        let mut state = tree(&json!({}));
        let patch = |n: usize| {
            Json::of(&json!([{"op": "add", "path": format!("/{n}"), "value": "x".repeat(100_000)}]))
        };
        let refused = (0..100).find_map(|n| state.patch(&patch(n)).err());
        assert_eq!(refused, Some(Unpatched::OverLimit(StateLimit::Bytes)));
        assert!(state.to_json().size() <= STATE);
        // The same value again and again does not grow the state.
        let mut state = tree(&json!({}));
        assert!((0..200).all(|_| state.patch(&patch(0)).is_ok()));
    }
}
