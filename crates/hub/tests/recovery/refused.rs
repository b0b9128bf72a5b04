//! A store that takes no more: what it refuses is not acked and comes again.

use std::{sync::Arc, time::Duration};

use hub::{Batch, Hub, Outgoing};
use model::{
    Change, Epoch, FromBrowser, Json, Level, NumberedChange, Position, ReplayPage, Sequence,
    ToBrowser,
};
use serde_json::json;
use store::{EmbeddedStore, Options};
use tokio_util::sync::CancellationToken;

use crate::scene::{attach, scratch};

fn numbered(sequence: u64, bytes: usize) -> NumberedChange {
    let data = Json::of(&json!("x".repeat(bytes)));
    let change = Change::Event { name: "e".into(), level: Level::Info, data };
    NumberedChange { sequence: Some(Sequence(sequence)), change }
}

fn event(sequence: u64, bytes: usize) -> FromBrowser {
    FromBrowser::Changed(numbered(sequence, bytes))
}

/// Hears acks and requests for a replay, until there are so many.
async fn hear(outgoing: &mut Outgoing, count: usize) -> Vec<ToBrowser> {
    let mut heard = Vec::new();
    while heard.len() < count {
        let next = tokio::time::timeout(Duration::from_secs(30), outgoing.next()).await.unwrap();
        let Batch::Messages(more) = next else { panic!("{next:?}") };
        let counts = |message: &ToBrowser| {
            matches!(message, ToBrowser::Ack(_) | ToBrowser::ReplayRequest(_))
        };
        heard.extend(more.into_iter().filter(counts));
    }
    heard
}

#[tokio::test]
async fn what_the_store_refuses_is_not_acked_and_asked_for_again() {
    let options = Options { queue_bytes: 20_000, ..Options::new(scratch()) };
    let store = Arc::new(EmbeddedStore::open(options).unwrap());
    let hub = Hub::open(hub::Config::default(), store, "test").unwrap();
    let stop = CancellationToken::new();
    let run = tokio::spawn({
        let (hub, stop) = (hub.clone(), stop.clone());
        async move { hub.run(stop).await }
    });
    let epoch = Epoch::mint();
    let (peer, mut out) = attach(&hub, &epoch).await;
    let session = peer.session().clone();
    let kept = || {
        let (_, feed) = session.feed_after(Sequence(0), 100);
        feed.iter().filter(|entry| entry.name == "e").count()
    };
    // The second does not fit into what may wait for the disk.
    for (number, bytes) in [(1, 5), (2, 30_000), (3, 5)] {
        peer.receive(event(number, bytes)).unwrap();
    }
    assert_eq!(kept(), 1);
    let at = |sequence| Position { epoch: epoch.clone(), sequence: Sequence(sequence) };
    let mut heard = hear(&mut out, 2).await;
    // The ack waits for the disk, which may take longer than it is until it is asked again.
    heard.sort_by_key(|told| matches!(told, ToBrowser::ReplayRequest(_)));
    let [ToBrowser::Ack(acked), ToBrowser::ReplayRequest(asked)] = &heard[..] else {
        panic!("{heard:?}")
    };
    assert_eq!((acked, &asked.from), (&at(1), &at(1)));
    // By now there is room for it.
    peer.receive(FromBrowser::ReplayPage(ReplayPage {
        upto: at(3),
        messages: vec![numbered(2, 300), numbered(3, 5)],
        more: false,
        partial: false,
        refused: None,
    }))
    .unwrap();
    assert_eq!(kept(), 3);
    assert_eq!(hear(&mut out, 1).await, [ToBrowser::Ack(at(3))]);
    stop.cancel();
    run.await.unwrap();
}

#[tokio::test]
async fn an_event_that_the_store_refuses_is_not_said_to_be_kept() {
    let options = Options { queue_bytes: 20_000, ..Options::new(scratch()) };
    let store = Arc::new(EmbeddedStore::open(options).unwrap());
    let hub = Hub::open(hub::Config::default(), store, "test").unwrap();
    let (peer, _out) = attach(&hub, &Epoch::mint()).await;
    let notify = |bytes| {
        let data = Json::of(&json!("x".repeat(bytes)));
        peer.session().notify("e", Level::Info, data).1
    };
    assert!(notify(30_000).is_none(), "there is no room for it");
    let ticket = notify(5).unwrap();
    assert!(hub.kept_within(&ticket, Duration::from_secs(30)).await);
}
