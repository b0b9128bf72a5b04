//! Calls with a key, and a store that does not take what they leave.

use std::sync::Arc;

use hub::{
    Hub,
    once::{Done, Keyed},
};
use model::Code;
use store::{EmbeddedStore, MemoryStore, Options};
use tokio::task::JoinSet;

use crate::scene::scratch;

#[tokio::test]
async fn an_answer_that_cannot_be_kept_is_still_told() {
    let options = Options { queue_bytes: 20_000, ..Options::new(scratch()) };
    let store = Arc::new(EmbeddedStore::open(options).unwrap());
    let hub = Hub::open(hub::Config::default(), store, "test").unwrap();
    let keyed = Keyed::new("local", "k", "digest".into()).unwrap();
    let body = "x".repeat(30_000);
    let work = || {
        let body = body.clone();
        async { Done { body, void: false } }
    };
    let mut told = hub.once(&keyed, work()).await;
    // A busy disk may take longer than a call waits for it: then nothing was done, and it is tried
    // again.
    for _ in 0..15 {
        if told.as_ref().is_err_and(|fault| fault.code == Code::Internal) {
            told = hub.once(&keyed, work()).await;
        }
    }
    assert_eq!(told.unwrap(), body);
    let again = hub.once(&keyed, work()).await.unwrap_err();
    assert_eq!(again.code, Code::OutcomeUnknown, "and nothing is done twice");
}

#[tokio::test]
async fn work_goes_on_when_whoever_asked_first_goes_away() {
    // Without a disk, which may be slower than a call waits for it.
    let store = Arc::new(MemoryStore::default());
    let hub = Hub::open(hub::Config::default(), store, "test").unwrap();
    let keyed = Keyed::new("local", "k", "digest".into()).unwrap();
    let (begin, begun) = tokio::sync::oneshot::channel();
    let (finish, finished) = tokio::sync::oneshot::channel::<()>();
    let leader = tokio::spawn({
        let (hub, keyed) = (hub.clone(), keyed.clone());
        async move {
            let work = async move {
                begin.send(()).unwrap();
                finished.await.unwrap();
                Done { body: "the one answer".into(), void: false }
            };
            hub.once(&keyed, work).await
        }
    });
    begun.await.unwrap();
    leader.abort();
    assert!(leader.await.unwrap_err().is_cancelled());
    let again = hub.once(&keyed, async { panic!("done twice") });
    let (answer, _) = tokio::join!(again, async { finish.send(()).unwrap() });
    assert_eq!(answer.unwrap(), "the one answer");
}

#[tokio::test]
async fn kept_answers_are_limited_and_one_more_is_refused_before_it_begins() {
    // Without a disk: writing so much takes longer than a call waits for it on a busy machine.
    let store = Arc::new(MemoryStore::default());
    let hub = Hub::open(hub::Config::default(), store, "test").unwrap();
    let size = hub::once::MOST_BYTES / 4 + 1;
    for number in 0..4 {
        let keyed = Keyed::new("local", &format!("k{number}"), "digest".into()).unwrap();
        let body = "x".repeat(size);
        let answer = hub.once(&keyed, async { Done { body, void: false } }).await.unwrap();
        assert_eq!(answer.len(), size);
    }
    let keyed = Keyed::new("local", "one more", "digest".into()).unwrap();
    let refused = hub.once(&keyed, async { panic!("it was begun") }).await.unwrap_err();
    assert_eq!(refused.code, Code::Busy);
    let known = Keyed::new("local", "k0", "digest".into()).unwrap();
    let again = hub.once(&known, async { panic!("done twice") }).await.unwrap();
    assert_eq!(again.len(), size, "what is kept is still told");
}

#[tokio::test]
async fn keys_are_counted_with_those_that_have_no_answer_yet_and_over_a_restart() {
    let store = Arc::new(MemoryStore::default());
    let hub = Hub::open(hub::Config::default(), store.clone(), "test").unwrap();
    let keyed = |number| Keyed::new("local", &format!("k{number}"), "digest".into()).unwrap();
    let half = hub::once::MOST_KEYS / 2;
    for number in 0..half {
        let done = async { Done { body: "1".into(), void: false } };
        hub.once(&keyed(number), done).await.unwrap();
    }
    let mut waiting = JoinSet::new();
    let (begin, mut begun) = tokio::sync::mpsc::unbounded_channel();
    for number in half..2 * half {
        let (hub, keyed, begin) = (hub.clone(), keyed(number), begin.clone());
        let work = async move {
            begin.send(()).unwrap();
            std::future::pending().await
        };
        waiting.spawn(async move { hub.once(&keyed, work).await });
    }
    for _ in 0..half {
        begun.recv().await.unwrap();
    }
    let refused = hub.once(&keyed(2 * half), async { panic!("it was begun") }).await.unwrap_err();
    assert_eq!(refused.code, Code::Busy);
    assert!(refused.message.contains("10000 keys"), "{refused}");
    drop((waiting, hub));
    let hub = Hub::open(hub::Config::default(), store, "test").unwrap();
    let refused = hub.once(&keyed(2 * half), async { panic!("it was begun") }).await.unwrap_err();
    assert_eq!(refused.code, Code::Busy, "what was begun counts too: nobody knows its end");
}
