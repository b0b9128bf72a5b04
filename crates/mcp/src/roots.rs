//! The folders that an older client has announced (`roots/list`), for uploads.
//!
//! Asked for once the client is ready, and again whenever it says that they have changed. A call
//! that comes while the answer is on its way waits a moment for it. Newer revisions have no such
//! question. What the folders are good for is decided in `tools`.

#![expect(deprecated, reason = "older clients still announce roots")]

use std::{path::PathBuf, time::Duration};

use rmcp::{
    Peer, RoleServer,
    model::{ClientResult, ListRootsRequest, ServerRequest},
    service::{PeerRequestOptions, ServiceError},
};
use tokio::{sync::watch, time};

/// How long a client may take to answer, and a call waits for that.
const ROOTS_WITHIN: Duration = Duration::from_secs(2);
/// Folders of one client that count.
const ROOTS_MOST: usize = 64;

/// What a client has announced.
#[derive(Default)]
pub(crate) struct AnnouncedRoots {
    answers: watch::Sender<RootsAnswer>,
}

#[derive(Default)]
struct RootsAnswer {
    /// How often it was asked, and which of that was answered or given up last.
    asked: u64,
    ended: u64,
    folders: Vec<PathBuf>,
}

impl AnnouncedRoots {
    /// Asks a client that has said that it has some. Only the newest answer counts, and none is an
    /// empty one.
    pub(crate) async fn ask(&self, peer: &Peer<RoleServer>) {
        if peer.peer_info().is_none_or(|client| client.capabilities.roots.is_none()) {
            return;
        }
        let mut question = 0;
        self.answers.send_modify(|answer| {
            answer.asked += 1;
            question = answer.asked;
        });
        let folders = list(peer).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "a client does not tell its roots");
            Vec::new()
        });
        self.answers.send_modify(|answer| {
            if answer.asked == question {
                (answer.ended, answer.folders) = (question, folders);
            }
        });
    }

    /// Returns the folders; waits a moment if an answer is on its way.
    pub(crate) async fn folders(&self) -> Vec<PathBuf> {
        let mut answers = self.answers.subscribe();
        let answered = answers.wait_for(|answer| answer.ended == answer.asked);
        match time::timeout(ROOTS_WITHIN, answered).await {
            Ok(Ok(answer)) => answer.folders.clone(),
            _ => Vec::new(),
        }
    }
}

async fn list(peer: &Peer<RoleServer>) -> Result<Vec<PathBuf>, ServiceError> {
    let request = ServerRequest::ListRootsRequest(ListRootsRequest::default());
    let options = PeerRequestOptions::with_timeout(ROOTS_WITHIN);
    let asked = peer.send_request_with_option(request, options).await?;
    match asked.await_response().await? {
        ClientResult::ListRootsResult(told) => {
            let folders = told.roots.iter().filter_map(|root| folder(&root.uri));
            Ok(folders.take(ROOTS_MOST).collect())
        }
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

/// Reads the path out of a `file://` address of this machine.
fn folder(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::new();
    let mut letters = path.bytes();
    while let Some(letter) = letters.next() {
        match letter {
            b'%' => {
                let digits = [letters.next()?, letters.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
            }
            b'?' | b'#' | 0 => return None,
            letter => bytes.push(letter),
        }
    }
    let path = PathBuf::from(String::from_utf8(bytes).ok()?);
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_machine_are_folders() {
        for (uri, path) in [
            ("file:///home/ann/my%20project", Some("/home/ann/my project")),
            ("file://localhost/srv/%C3%BC", Some("/srv/\u{fc}")),
            ("file:///", Some("/")),
            ("file://other/srv", None),
            ("file:relative", None),
            ("file:///a%2", None),
            ("file:///a%zz", None),
            ("file:///a%ff", None),
            ("file:///a?b", None),
            ("https://example.com/", None),
            ("", None),
        ] {
            assert_eq!(folder(uri), path.map(PathBuf::from), "{uri}");
        }
    }
}
