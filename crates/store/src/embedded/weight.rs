//! How much waiting writes weigh, so that the queue has a limit.

use std::{borrow::Borrow, collections::HashMap, hash::Hash, sync::Arc};

use model::{
    Position,
    record::{AuditRecord, ResultRecord, SessionRecord, StateRecord, TabRecord, ToolRecord},
};

use super::changes::LogChange;
use crate::{
    AuditLine, StoreWrite,
    change::{Gone, KeptResult, Placed},
};

/// What a table, a key and an allocation cost beside the content, roughly.
pub(super) const FIXED: usize = 128;

/// What a place takes.
pub(super) const PLACE: usize = 8;

/// Something that waits.
pub(super) trait Weight {
    /// Returns about how many bytes it takes while it waits.
    fn weight(&self) -> usize;
}

impl Weight for Vec<StoreWrite> {
    fn weight(&self) -> usize {
        self.iter().map(Weight::weight).sum()
    }
}

impl Weight for StoreWrite {
    fn weight(&self) -> usize {
        match self {
            Self::Session(_, record) => record.weight(),
            Self::Open(_) => 2 * FIXED,
            Self::Forget(_) | Self::Trim(..) => FIXED,
            Self::Received(_, seen) => seen.weight(),
            Self::State(_, record) => record.weight(),
            Self::Append(_, entry) => 2 * FIXED + entry.name.len() + entry.body.len(),
            Self::Result(_, record, _) => record.weight(),
            Self::Audit(record) => record.weight(),
        }
    }
}

impl Weight for SessionRecord {
    fn weight(&self) -> usize {
        let tab = |tab: &TabRecord| FIXED + tab.title.len() + tab.url.len();
        let tool = |tool: &ToolRecord| {
            FIXED + tool.name.len() + tool.description.len() + tool.input_schema.len()
        };
        let tabs = self.tabs.iter().map(tab).sum::<usize>();
        let tools = self.tools.iter().flat_map(|tools| &tools.tools).map(tool).sum::<usize>();
        4 * FIXED + tabs + tools
    }
}

impl Weight for Position {
    fn weight(&self) -> usize {
        FIXED
    }
}

impl Weight for StateRecord {
    fn weight(&self) -> usize {
        FIXED + self.state.len()
    }
}

impl Weight for Placed {
    fn weight(&self) -> usize {
        PLACE + self.entry.size()
    }
}

impl Weight for Gone {
    fn weight(&self) -> usize {
        FIXED + self.places.len() * PLACE
    }
}

impl Weight for LogChange {
    fn weight(&self) -> usize {
        let entries = self.entries.iter().map(Weight::weight).sum::<usize>();
        FIXED + entries + self.dropped.len() * PLACE
    }
}

impl Weight for ResultRecord {
    fn weight(&self) -> usize {
        2 * FIXED + self.body.len()
    }
}

impl Weight for KeptResult {
    fn weight(&self) -> usize {
        self.record.weight()
    }
}

impl Weight for AuditRecord {
    fn weight(&self) -> usize {
        2 * FIXED + self.tool.len()
    }
}

impl Weight for AuditLine {
    fn weight(&self) -> usize {
        self.record.weight()
    }
}

impl<T: Weight> Weight for Arc<T> {
    fn weight(&self) -> usize {
        (**self).weight()
    }
}

/// Puts a value into a table and counts it instead of the one before.
pub(super) fn put<K, V>(map: &mut HashMap<K, V>, key: K, value: V, weight: &mut usize)
where
    K: Hash + Eq,
    V: Weight,
{
    *weight += value.weight();
    *weight -= map.insert(key, value).map_or(0, |old| old.weight());
}

/// Puts a whole table into another.
pub(super) fn put_all<K, V>(map: &mut HashMap<K, V>, later: HashMap<K, V>, weight: &mut usize)
where
    K: Hash + Eq,
    V: Weight,
{
    for (key, value) in later {
        put(map, key, value, weight);
    }
}

/// Takes a value out of a table and counts it no more.
pub(super) fn take<K, Q, V>(map: &mut HashMap<K, V>, key: &Q, weight: &mut usize) -> Option<V>
where
    K: Hash + Eq + Borrow<Q>,
    Q: Hash + Eq + ?Sized,
    V: Weight,
{
    let old = map.remove(key);
    *weight -= old.as_ref().map_or(0, Weight::weight);
    old
}
