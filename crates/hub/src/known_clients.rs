//! The clients that have called, for browsers whose user may give one of them a tab.
//!
//! A browser hears of clients that drive it; of the others it would never know. Those that were here
//! last count: a client over HTTP does not say when it leaves.

use model::{ClientId, Json};
use parking_lot::Mutex;
use serde_json::json;

use crate::call_request::Caller;

/// Clients that are told; one more takes the place of the one that came first.
const MOST: usize = 20;

/// Who has called.
#[derive(Default)]
pub(crate) struct KnownClients {
    // A blocking mutex: held for one look or change, never across an await.
    clients: Mutex<Vec<(ClientId, String)>>,
}

impl KnownClients {
    /// Notes that a client calls; returns whether that is news.
    pub fn note(&self, caller: &Caller) -> bool {
        let mut clients = self.clients.lock();
        let shown = caller.shown();
        if clients.iter().any(|(id, name)| *id == caller.client && name == shown) {
            return false;
        }
        clients.retain(|(id, _)| *id != caller.client);
        if clients.len() == MOST {
            clients.remove(0);
        }
        clients.push((caller.client.clone(), shown.to_owned()));
        true
    }

    /// Notes that a client has left; returns whether that is news.
    pub fn forget(&self, client: &ClientId) -> bool {
        let mut clients = self.clients.lock();
        let before = clients.len();
        clients.retain(|(id, _)| id != client);
        clients.len() < before
    }

    /// Returns them for a browser, the newest first.
    pub fn told(&self) -> Json {
        let clients = self.clients.lock();
        let line = |(id, name): &(ClientId, String)| json!({"id": id.as_str(), "name": name});
        Json::of(&json!({"clients": clients.iter().rev().map(line).collect::<Vec<_>>()}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(id: &str, name: &str) -> Caller {
        Caller::new(ClientId::parse(id).unwrap(), "local").named(name)
    }

    #[test]
    fn the_newest_are_told_first_and_the_oldest_go() {
        let known = KnownClients::default();
        assert!(known.note(&caller("a", "Ann")) && !known.note(&caller("a", "Ann")));
        assert!(known.note(&caller("b", "")) && known.note(&caller("a", "Anna")));
        let told = r#"{"clients":[{"id":"a","name":"Anna"},{"id":"b","name":"b"}]}"#;
        assert_eq!(known.told().as_str(), told);
        assert!(known.forget(&caller("b", "").client) && !known.forget(&caller("b", "").client));
        (0..MOST).for_each(|number| assert!(known.note(&caller(&format!("c{number}"), ""))));
        assert!(!known.told().as_str().contains("Anna"));
    }
}
