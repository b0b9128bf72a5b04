//! Sessions that a restart brought back.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::{sync::Arc, time::Duration};

use hub::{Attachment, Hub, Introduction, Outgoing};
use model::{Epoch, Habits, Hello, InstanceId, Kind};
use store::{MemoryStore, Store};
use tokio_util::sync::CancellationToken;

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
        habits: Habits::default(),
    }
}

async fn attach(hub: &Hub, epoch: &Epoch) -> (Attachment, Outgoing) {
    let (outbox, outgoing) = hub.outbox();
    let introduction =
        Introduction { hello: hello(epoch), dialect: "native", origin: None, unproven: false };
    (hub.attach(introduction, outbox).await.unwrap(), outgoing)
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_brought_back_is_forgotten_too() {
    let store = Arc::new(MemoryStore::default());
    let hub = Hub::open(hub::Config::default(), store.clone(), "test").unwrap();
    drop(attach(&hub, &Epoch::mint()).await);
    let hub = Hub::open(hub::Config::default(), store.clone(), "test").unwrap();
    assert_eq!(hub.sessions().len(), 1);
    let stop = CancellationToken::new();
    let run = tokio::spawn({
        let (hub, stop) = (hub.clone(), stop.clone());
        async move { hub.run(stop).await }
    });
    tokio::time::sleep(Duration::from_secs(25 * 3600)).await;
    stop.cancel();
    run.await.unwrap();
    assert_eq!(hub.sessions().len(), 0);
    assert_eq!(store.sessions().unwrap().len(), 0);
}
