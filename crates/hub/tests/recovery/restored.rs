//! Sessions that a restart brought back.

use std::{sync::Arc, time::Duration};

use hub::Hub;
use model::Epoch;
use store::{MemoryStore, Store};
use tokio_util::sync::CancellationToken;

use crate::scene::attach;

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
