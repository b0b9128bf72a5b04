//! Sessions that a restart brought back.

use std::{sync::Arc, time::Duration};

use hub::{Config, Hub};
use model::{Epoch, SessionId, record::SessionRecord};
use store::{MemoryStore, Store, StoreWrite, wall_clock_ms};
use tokio_util::sync::CancellationToken;

use crate::scene::attach;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// Starts the next hub over what is kept; sessions are kept for an hour.
fn open(store: &Arc<MemoryStore>) -> Hub {
    let config = Config { session_retention: HOUR, ..Config::default() };
    Hub::open(config, store.clone(), "test").unwrap()
}

/// Lets a hub work for so long.
async fn run(hub: &Hub, time: Duration) {
    let stop = CancellationToken::new();
    let run = tokio::spawn({
        let (hub, stop) = (hub.clone(), stop.clone());
        async move { hub.run(stop).await }
    });
    tokio::time::sleep(time).await;
    stop.cancel();
    run.await.unwrap();
}

/// The one session, as it is kept.
fn kept(store: &MemoryStore) -> SessionRecord {
    let id = store.sessions().unwrap().remove(0);
    store.load(&id).unwrap().record.unwrap()
}

/// Since when the one session is away, as it is kept.
fn away_since(store: &MemoryStore) -> Option<u64> {
    kept(store).away_since_ms
}

/// Says that the one session has been away for so long already; the wall clock cannot be paused.
fn away_for(store: &MemoryStore, time: Duration) {
    let mut record = kept(store);
    record.away_since_ms = Some(wall_clock_ms() - time.as_millis() as u64);
    let id = SessionId::parse(&record.id).unwrap();
    store.write(vec![StoreWrite::Session(id, Box::new(record))]).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_brought_back_is_forgotten_too() {
    let store = Arc::new(MemoryStore::default());
    drop(attach(&open(&store), &Epoch::mint()).await);
    let hub = open(&store);
    assert_eq!(hub.sessions().len(), 1);
    run(&hub, 61 * MINUTE).await;
    assert_eq!(hub.sessions().len(), 0);
    assert_eq!(store.sessions().unwrap().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn retention_goes_on_where_the_last_hub_left_it() {
    let store = Arc::new(MemoryStore::default());
    drop(attach(&open(&store), &Epoch::mint()).await);
    away_for(&store, 50 * MINUTE);
    let since = away_since(&store);
    let hub = open(&store);
    assert!(hub.sessions()[0].info().for_time >= 50 * MINUTE);
    run(&hub, 8 * MINUTE).await;
    assert_eq!(hub.sessions().len(), 1, "58 of 60 minutes");
    assert_eq!(away_since(&store), since, "another hub counts from the same moment");
    run(&hub, 3 * MINUTE).await;
    assert_eq!(hub.sessions().len(), 0, "not another hour");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_there_when_the_hub_died_is_away_since_the_next_start() {
    let store = Arc::new(MemoryStore::default());
    let first = open(&store);
    let there = attach(&first, &Epoch::mint()).await;
    assert_eq!(away_since(&store), None);
    open(&store);
    let since = away_since(&store);
    assert!(since.is_some());
    open(&store);
    assert_eq!(away_since(&store), since);
    drop(there);
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_back_is_no_longer_away() {
    let store = Arc::new(MemoryStore::default());
    let epoch = Epoch::mint();
    drop(attach(&open(&store), &epoch).await);
    away_for(&store, 50 * MINUTE);
    let hub = open(&store);
    let there = attach(&hub, &epoch).await;
    assert_eq!(away_since(&store), None);
    run(&hub, 30 * MINUTE).await;
    drop(there);
    run(&hub, 50 * MINUTE).await;
    assert_eq!(hub.sessions().len(), 1, "it counts from when it left");
}

#[tokio::test(start_paused = true)]
async fn however_long_a_peer_was_away_it_has_five_minutes_after_a_start() {
    let store = Arc::new(MemoryStore::default());
    drop(attach(&open(&store), &Epoch::mint()).await);
    away_for(&store, 30 * 24 * HOUR);
    let hub = open(&store);
    run(&hub, 4 * MINUTE).await;
    assert_eq!(hub.sessions().len(), 1, "it could not come back while there was no hub");
    run(&hub, 2 * MINUTE).await;
    assert_eq!(hub.sessions().len(), 0);
}
