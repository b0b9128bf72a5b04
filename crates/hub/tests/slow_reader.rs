//! A peer that stops reading while 10 MB are produced for it, with the settings that everybody has:
//! what is held for it, on its way to the socket, stays small, and it is cut.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use hub::{Batch, Hub, Introduction};
use model::{CloseReason, Hello, InstanceId, Json, Kind, Level, PeerTraits};
use serde_json::json;
use store::MemoryStore;

const PRODUCED: usize = 10_000_000;
/// All that one such peer may cost.
const MOST: usize = 2 << 20;

#[tokio::test]
async fn a_reader_that_stops_costs_at_most_two_mebibytes_of_queue() {
    for piece in [100, 10_000, 500_000] {
        check(piece).await;
    }
}

async fn check(piece: usize) {
    let hub = Hub::open(hub::Config::default(), Arc::new(MemoryStore::default()), "test").unwrap();
    let (outbox, mut outgoing) = hub.outbox();
    let watched = outbox.clone();
    let introduction = Introduction {
        hello: hello(),
        dialect: "native",
        origin: None,
        unproven: false,
        at_home: false,
        carried_by: None,
    };
    let attachment = hub.attach(introduction, outbox).await.unwrap();
    let data = Json::of(&json!("x".repeat(piece)));
    let mut most = 0;
    // The welcome is written. The next batch is as large as it can be, and its writing never ends.
    assert!(matches!(outgoing.next().await, Batch::Messages(_)));
    let config = hub::Config::default();
    let room = (config.outbox_bytes / (piece + 256)).min(config.outbox_messages);
    for _ in 0..room {
        attachment.session().notify("piece", Level::Info, data.clone());
        most = most.max(watched.held());
    }
    assert!(matches!(outgoing.next().await, Batch::Messages(_)));
    for _ in 0..PRODUCED / piece {
        attachment.session().notify("piece", Level::Info, data.clone());
        most = most.max(watched.held());
    }
    assert!(most > piece && most <= MOST, "{most} bytes were held, in pieces of {piece}");
    let Batch::Close(closing) = outgoing.next().await else { panic!("it is not cut") };
    assert_eq!(closing.reason, CloseReason::SlowConsumer);
    assert_eq!(watched.held(), 0, "nothing is held for who was cut");
}

fn hello() -> Hello {
    Hello {
        instance: InstanceId::parse("slow").unwrap(),
        kind: Kind::App,
        name: None,
        version: None,
        capabilities: Vec::new(),
        epoch: None,
        position: None,
        resume_token: None,
        tabs: Vec::new(),
        traits: PeerTraits::default(),
    }
}
