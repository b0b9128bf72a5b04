//! Tells MCP's listeners what changed in the hub: lists, states, tabs, events.

use hub::{
    Hub,
    feed::{FeedItem, Watched},
};
use tokio_util::sync::CancellationToken;

use super::resources::{SESSIONS, uri};
use crate::{Change, Changes};

/// Passes on what happens in the hub until told to stop.
pub async fn announce(hub: Hub, changes: Changes, stop: CancellationToken) {
    let mut offers = hub.offers();
    let mut watcher = hub.watch();
    loop {
        // All arms are cancel-safe: both watchers keep what was not returned.
        tokio::select! {
            () = stop.cancelled() => return,
            changed = offers.changed() => match changed {
                Ok(()) => {
                    for change in [Change::Tools, Change::Resources, sessions()] {
                        changes.announce(&change);
                    }
                }
                Err(_) => return,
            },
            watched = watcher.next() => match watched {
                Some(Watched::Item(item)) => tell(&changes, &item),
                // Whoever listens reads again what it listens to: better once too often.
                Some(Watched::Missed(_)) => {
                    for session in hub.sessions() {
                        for part in ["state", "tabs", "events"] {
                            part_changed(&changes, &session.name, session.id.as_str(), part);
                        }
                    }
                }
                None => return,
            },
        }
    }
}

fn tell(changes: &Changes, item: &FeedItem) {
    let part = match item.entry.kind.as_str() {
        "stateUpdate" => Some("state"),
        "tabCreated" | "tabUpdated" | "tabClosed" | "tabFocused" | "toolsChanged" => Some("tabs"),
        _ => None,
    };
    for part in part.into_iter().chain(["events"]) {
        part_changed(changes, &item.name, item.session.as_str(), part);
    }
}

/// A listener may have named the session either way.
fn part_changed(changes: &Changes, name: &str, id: &str, part: &str) {
    for session in [name, id] {
        changes.announce(&Change::Resource(uri(session, part)));
    }
}

fn sessions() -> Change {
    Change::Resource(SESSIONS.to_owned())
}
