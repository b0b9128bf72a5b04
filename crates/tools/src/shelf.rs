//! The shelf: results that are too large for an answer, kept for a while for whoever asked.
//!
//! An answer carries a link to them, and they are read as a resource or over HTTP, by the same
//! principal only. ShelvedResult in memory, bounded in number of bytes and in time; nothing here survives
//! the hub, and nothing is listed.

use std::{collections::HashMap, sync::Arc, time::Duration};

use model::{Code, Fault, id::random_text, json::shorten};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::definition::Link;

/// How the address of a result begins; what follows is its id.
pub const PREFIX: &str = "tabwire://result/";
/// Bytes of one result at most; what is larger is not kept.
pub const LARGEST: usize = 16 << 20;
/// Bytes of all results together; the least recently used one makes room.
pub const ROOM: usize = 64 << 20;
/// How long a result can be read.
pub const TIME: Duration = Duration::from_secs(15 * 60);
/// Letters of an id: it cannot be guessed.
const ID: usize = 26;

/// Something that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShelvedResult {
    /// A file's name for it.
    pub name: String,
    /// Such as `application/pdf`.
    pub mime_type: String,
    /// Its bytes, whole.
    pub content: Arc<[u8]>,
}

/// What is kept. Clones share it.
#[derive(Clone, Default)]
pub struct Shelf {
    // A blocking mutex: held for a few map operations, never across an await.
    places: Arc<Mutex<ShelfEntries>>,
}

#[derive(Default)]
struct ShelfEntries {
    by_id: HashMap<String, ShelfEntry>,
    bytes: usize,
    /// Counts uses; the smallest is the least recent.
    uses: u64,
}

struct ShelfEntry {
    principal: String,
    kept: ShelvedResult,
    until: Instant,
    used: u64,
}

/// Makes a link to something that is to be kept; `None` means that it is too large for that.
pub(crate) fn link(name: String, mime_type: &str, content: Vec<u8>) -> Option<Link> {
    (content.len() <= LARGEST).then(|| Link {
        uri: format!("{PREFIX}{}", random_text(ID)),
        name,
        mime_type: mime_type.to_owned(),
        bytes: content.len(),
        content: Some(content.into()),
    })
}

impl Shelf {
    /// Keeps what links lead to, for a principal.
    pub(crate) fn keep(&self, principal: &str, links: &mut [Link]) {
        for link in links {
            let (Some(content), Some(id)) = (link.content.take(), link.uri.strip_prefix(PREFIX))
            else {
                continue;
            };
            let (name, mime_type) = (link.name.clone(), link.mime_type.clone());
            let kept = ShelvedResult { name, mime_type, content };
            self.places.lock().put(id, principal, kept);
        }
    }

    /// Returns what an id leads to, for the principal that it is kept for.
    pub fn read(&self, principal: &str, id: &str) -> Result<ShelvedResult, Fault> {
        let mut places = self.places.lock();
        places.clear_away();
        places.uses += 1;
        let now = places.uses;
        match places.by_id.get_mut(id).filter(|place| place.principal == principal) {
            Some(place) => {
                place.used = now;
                Ok(place.kept.clone())
            }
            // What is another's is not told from what never was.
            None => {
                Err(Fault::new(Code::NotFound, format!("there is no result {:?}", shorten(id, 60)))
                    .hint(format!(
                        "results are kept for {} minutes, {} MiB at once; call the tool again",
                        TIME.as_secs() / 60,
                        ROOM >> 20
                    )))
            }
        }
    }

    /// Lets go of what is too old. Cheap where there is nothing.
    pub(crate) fn clear_away(&self) {
        self.places.lock().clear_away();
    }
}

impl ShelfEntries {
    fn put(&mut self, id: &str, principal: &str, kept: ShelvedResult) {
        self.clear_away();
        self.uses += 1;
        self.bytes += kept.content.len();
        let (until, used) = (Instant::now() + TIME, self.uses);
        let place = ShelfEntry { principal: principal.to_owned(), kept, until, used };
        if let Some(before) = self.by_id.insert(id.to_owned(), place) {
            self.bytes -= before.kept.content.len();
        }
        while self.bytes > ROOM {
            let oldest = self.by_id.iter().min_by_key(|(_, place)| place.used);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else { return };
            self.remove(&id);
        }
    }

    fn remove(&mut self, id: &str) {
        if let Some(place) = self.by_id.remove(id) {
            self.bytes -= place.kept.content.len();
        }
    }

    fn clear_away(&mut self) {
        let now = Instant::now();
        let old = self.by_id.iter().filter(|(_, place)| place.until <= now);
        let old: Vec<_> = old.map(|(id, _)| id.clone()).collect();
        for id in old {
            self.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(shelf: &Shelf, principal: &str, bytes: usize) -> String {
        let mut links = [link("a.bin".to_owned(), "application/x", vec![7; bytes]).unwrap()];
        shelf.keep(principal, &mut links);
        assert_eq!(links[0].content, None, "the link lets go of it");
        links[0].uri.strip_prefix(PREFIX).unwrap().to_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_is_read_by_its_principal_for_fifteen_minutes() {
        let shelf = Shelf::default();
        let id = keep(&shelf, "ann", 3);
        assert_eq!(*shelf.read("ann", &id).unwrap().content, [7; 3]);
        for (principal, id) in [("bob", id.as_str()), ("ann", "other"), ("ann", "")] {
            let fault = shelf.read(principal, id).unwrap_err();
            assert_eq!(fault.code, Code::NotFound);
            assert!(fault.to_string().contains("15 minutes"), "{fault}");
        }
        tokio::time::advance(TIME).await;
        assert!(shelf.read("ann", &id).is_err(), "its time is over");
        assert_eq!(shelf.places.lock().bytes, 0);
    }

    #[tokio::test]
    async fn the_least_recently_used_makes_room() {
        let shelf = Shelf::default();
        let ids: Vec<_> = (0..4).map(|_| keep(&shelf, "ann", LARGEST)).collect();
        assert!(shelf.read("ann", &ids[0]).is_ok(), "all four fit");
        let fifth = keep(&shelf, "ann", 1);
        let there: Vec<_> = ids.iter().map(|id| shelf.read("ann", id).is_ok()).collect();
        assert_eq!(there, [true, false, true, true]);
        assert!(shelf.read("ann", &fifth).is_ok());
    }

    #[test]
    fn what_is_larger_than_the_limit_has_no_link() {
        assert!(link(String::new(), "a/b", vec![0; LARGEST + 1]).is_none());
    }
}
