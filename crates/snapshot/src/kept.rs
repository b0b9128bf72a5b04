//! Snapshots that are kept, so that a client can ask for the difference.
//!
//! Few and not for long: what was not asked for longest goes first. They are in memory only; a
//! client that asks for one that is gone gets the whole page, so nothing depends on them.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use model::{SessionId, TabId};
use parking_lot::Mutex;

use crate::{Node, Page};

/// Snapshots that are kept at most.
pub const SNAPSHOTS: usize = 64;
/// Bytes that they take at most, all together.
pub const BYTES: usize = 16 << 20;

/// What a snapshot is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotKey {
    /// The session that the page is in.
    pub session: SessionId,
    /// The tab, where the browser has several.
    pub tab: Option<TabId>,
    /// What the browser was asked for.
    pub scope: String,
}

struct Entry {
    place: SnapshotKey,
    version: String,
    page: Arc<Page>,
    bytes: usize,
}

/// The kept snapshots, the newest last.
#[derive(Default)]
pub struct KeptSnapshots {
    // A blocking mutex: held while a few entries are looked at, never across an await.
    entries: Mutex<VecDeque<Entry>>,
}

impl KeptSnapshots {
    /// Keeps a snapshot; others go where there are too many.
    pub fn keep(&self, place: SnapshotKey, version: &str, page: Arc<Page>) {
        let bytes = size(&page) + place.scope.len();
        if bytes > BYTES {
            return;
        }
        let mut entries = self.entries.lock();
        entries.retain(|entry| entry.version != version || entry.place != place);
        entries.push_back(Entry { place, version: version.to_owned(), page, bytes });
        let mut total: usize = entries.iter().map(|entry| entry.bytes).sum();
        while entries.len() > SNAPSHOTS || total > BYTES {
            total -= entries.pop_front().map_or(0, |entry| entry.bytes);
        }
    }

    /// Returns a snapshot, which is then the newest.
    pub fn find(&self, place: &SnapshotKey, version: &str) -> Option<Arc<Page>> {
        let mut entries = self.entries.lock();
        let at =
            entries.iter().position(|entry| entry.version == version && entry.place == *place)?;
        let entry = entries.remove(at)?;
        let page = entry.page.clone();
        entries.push_back(entry);
        Some(page)
    }
}

/// Returns the version of a page: the same for the same content, looked at in the same way.
pub fn version(page: &Page, scope: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (scope, &page.url, &page.title, page.truncated).hash(&mut hasher);
    for node in &page.nodes {
        (node.doc, node.reference, node.depth).hash(&mut hasher);
        (&node.role, &node.name, &node.value, &node.flags).hash(&mut hasher);
    }
    format!("v{:07x}", hasher.finish() >> 36)
}

/// Bytes that a page takes, roughly.
fn size(page: &Page) -> usize {
    let texts = |node: &Node| {
        let value = node.value.as_ref().map_or(0, String::len);
        let flags: usize = node.flags.iter().map(|flag| flag.len() + size_of::<String>()).sum();
        node.role.len() + node.name.len() + value + flags
    };
    let nodes: usize = page.nodes.iter().map(|node| size_of_val(node) + texts(node)).sum();
    nodes + page.url.len() + page.title.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(tab: u64) -> SnapshotKey {
        SnapshotKey {
            session: SessionId::parse("s1-test-0001").unwrap(),
            tab: Some(TabId(tab)),
            scope: "{}".into(),
        }
    }

    fn page(bytes: usize) -> Arc<Page> {
        let node = Node { name: "x".repeat(bytes), ..Default::default() };
        Arc::new(Page { nodes: vec![node], ..Default::default() })
    }

    #[test]
    fn no_more_are_kept_than_there_is_room_for_and_the_longest_unused_goes() {
        let kept = KeptSnapshots::default();
        for tab in 0..SNAPSHOTS as u64 {
            kept.keep(place(tab), "v1", page(10));
        }
        assert!(kept.find(&place(0), "v1").is_some(), "used, so it stays");
        kept.keep(place(1000), "v1", page(10));
        assert!(kept.find(&place(0), "v1").is_some() && kept.find(&place(1000), "v1").is_some());
        assert!(kept.find(&place(1), "v1").is_none(), "the longest unused");
        assert!(kept.find(&place(2), "v1").is_some());
        assert!(kept.find(&place(2), "v2").is_none(), "another version");
    }

    #[test]
    fn no_more_bytes_are_kept_than_the_limit() {
        let kept = KeptSnapshots::default();
        for tab in 0..3 {
            kept.keep(place(tab), "v1", page(BYTES / 2 - 10_000));
        }
        assert!(kept.find(&place(0), "v1").is_none());
        assert!(kept.find(&place(1), "v1").is_some() && kept.find(&place(2), "v1").is_some());
        kept.keep(place(9), "v1", page(BYTES + 1));
        assert!(kept.find(&place(9), "v1").is_none(), "too large alone");
        assert!(kept.find(&place(2), "v1").is_some(), "and it costs nobody else");
    }

    #[test]
    fn a_version_is_of_the_content_and_of_what_was_asked_for() {
        let (one, other) = (page(3), page(4));
        assert_eq!(version(&one, "{}"), version(&page(3), "{}"));
        assert_ne!(version(&one, "{}"), version(&other, "{}"));
        assert_ne!(version(&one, "{}"), version(&one, "{\"ref\":\"e1\"}"));
        assert_eq!(version(&one, "{}").len(), 8);
    }
}
