//! A session whose disk takes nothing for a long time.

use model::{Epoch, Hello, PeerTraits};
use store::{EmbeddedStore, Options, Store};

use super::*;
use crate::{Batch, Hub, config::Config};

#[tokio::test]
async fn what_waits_for_the_disk_has_a_limit() {
    let folder = std::env::temp_dir().join(format!("tabwire-{}", model::id::random_text(12)));
    std::fs::create_dir(&folder).unwrap();
    let store = Arc::new(EmbeddedStore::open(Options::new(folder.join("store.db"))).unwrap());
    let config = Config { replay_messages: 100, ..Config::default() };
    let hub = Hub::open(config, store.clone(), "test").unwrap();
    let hello = Hello {
        instance: InstanceId::parse("peer").unwrap(),
        kind: Kind::App,
        name: None,
        version: None,
        capabilities: Vec::new(),
        epoch: Some(Epoch::mint()),
        position: None,
        resume_token: None,
        tabs: Vec::new(),
        traits: PeerTraits::default(),
    };
    let (outbox, mut outgoing) = hub.outbox();
    let introduction = Introduction {
        hello,
        dialect: "native",
        origin: None,
        unproven: false,
        at_home: false,
        carried_by: None,
    };
    let peer = hub.attach(introduction, outbox).await.unwrap();
    let session = peer.session();
    store.set_max_pages(Some(1));
    let data = Json::of(&serde_json::json!("x".repeat(5000)));
    for number in 1..=500 {
        session.notify("e", Level::Info, data.clone());
        let change =
            model::Change::Event { name: "e".into(), level: Level::Info, data: data.clone() };
        let change = NumberedChange { sequence: Some(Sequence(number)), change };
        peer.receive(model::FromBrowser::Changed(change)).unwrap();
        session.send_ack();
    }
    let (acks, unsynced) = {
        let core = session.core.lock();
        core.delivery.waiting()
    };
    let called = session.services.waiting_for_disk.lock().len();
    assert!(acks <= 2 && unsynced <= 100 && called <= 2, "{acks} {unsynced} {called}");
    store.set_max_pages(None);
    let mut told = Vec::new();
    while told.last() != Some(&500) {
        let all = store.write(Vec::new()).unwrap();
        assert!(hub.kept_within(&all, Duration::from_secs(30)).await);
        let Batch::Messages(messages) = outgoing.next().await else { panic!("it was closed") };
        told.extend(messages.iter().filter_map(|message| match message {
            ToBrowser::Changed(change) => change.sequence.map(|sequence| sequence.0),
            _ => None,
        }));
    }
    assert_eq!(told, (401..=500).collect::<Vec<_>>());
}
