//! A peer that attaches to a hub without a socket, and a place for a store.

use std::path::PathBuf;

use hub::{Attachment, Hub, Introduction, Outgoing};
use model::{Epoch, Hello, InstanceId, Kind, PeerTraits};

/// Attaches the one peer, in this life of it.
pub async fn attach(hub: &Hub, epoch: &Epoch) -> (Attachment, Outgoing) {
    let (outbox, outgoing) = hub.outbox();
    let introduction = Introduction {
        hello: hello(epoch),
        dialect: "native",
        origin: None,
        unproven: false,
        at_home: false,
        carried_by: None,
    };
    (hub.attach(introduction, outbox).await.unwrap(), outgoing)
}

fn hello(epoch: &Epoch) -> Hello {
    Hello {
        instance: InstanceId::parse("peer").unwrap(),
        kind: Kind::App,
        name: None,
        version: None,
        capabilities: vec!["results".to_owned()],
        epoch: Some(epoch.clone()),
        position: None,
        resume_token: None,
        tabs: Vec::new(),
        traits: PeerTraits::default(),
    }
}

/// Returns a file for a store in a folder of its own.
pub fn scratch() -> PathBuf {
    let path = std::env::temp_dir().join(format!("tabwire-{}", model::id::random_text(12)));
    std::fs::create_dir(&path).unwrap();
    path.join("store.db")
}
