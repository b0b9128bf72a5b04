//! Calls of a browser that loses its connection and comes back: the same one, or another life of it.

use std::{sync::Arc, time::Duration};

use hub::{Batch, CallRequest, Caller, Hub, Outgoing};
use model::{
    CallId, ClientId, Code, Effect, Epoch, ExecutorStatus, FromBrowser, Json, TabId, Target,
    ToBrowser, Work,
};
use store::MemoryStore;

use crate::scene::attach;

fn request() -> CallRequest {
    CallRequest {
        caller: Caller::new(ClientId::parse("tests").unwrap(), "local"),
        tab: Some(TabId(1)),
        work: Work::Tool { target: Target::App, name: "act".into(), args: Json::null() },
        effect: Effect::Act,
        timeout: None,
        progress: None,
    }
}

/// Waits for a message that is wanted, and returns it.
async fn hear(outgoing: &mut Outgoing, wanted: impl Fn(&ToBrowser) -> bool) -> ToBrowser {
    loop {
        let next = tokio::time::timeout(Duration::from_secs(30), outgoing.next()).await.unwrap();
        let Batch::Messages(messages) = next else { panic!("{next:?}") };
        if let Some(found) = messages.into_iter().find(&wanted) {
            return found;
        }
    }
}

/// Waits for a call.
async fn hear_call(outgoing: &mut Outgoing) -> CallId {
    match hear(outgoing, |message| matches!(message, ToBrowser::Call(_))).await {
        ToBrowser::Call(call) => call.id,
        other => panic!("{other:?}"),
    }
}

/// Returns what is said until nothing more comes, for what must not be among it.
async fn heard(outgoing: &mut Outgoing) -> Vec<ToBrowser> {
    let mut all = Vec::new();
    while let Ok(Batch::Messages(more)) =
        tokio::time::timeout(Duration::from_millis(30), outgoing.next()).await
    {
        all.extend(more);
    }
    all
}

fn calls(messages: &[ToBrowser]) -> Vec<CallId> {
    messages
        .iter()
        .filter_map(|message| match message {
            ToBrowser::Call(call) => Some(call.id),
            _ => None,
        })
        .collect()
}

fn memory_hub() -> Hub {
    Hub::open(hub::Config::default(), Arc::new(MemoryStore::default()), "test").unwrap()
}

#[tokio::test]
async fn an_act_of_an_earlier_life_is_never_sent_to_a_later_one() {
    let hub = memory_hub();
    let (one, two) = (Epoch::mint(), Epoch::mint());
    let (first, mut out) = attach(&hub, &one).await;
    let session = first.session().clone();
    let call = tokio::spawn({
        let (hub, session) = (hub.clone(), session.clone());
        async move { hub.call(&session, request()).await }
    });
    let id = hear_call(&mut out).await;
    // The page acts, and is reloaded before it can say so.
    drop((first, out));
    let (second, mut out) = attach(&hub, &two).await;
    hear(&mut out, |message| *message == ToBrowser::CallQuery(id)).await;
    // The new page's first socket dies before it has answered.
    drop((second, out));
    let (third, mut out) = attach(&hub, &two).await;
    hear(&mut out, |message| *message == ToBrowser::CallQuery(id)).await;
    third.receive(FromBrowser::Status { call: id, status: ExecutorStatus::Unknown }).unwrap();
    assert_eq!(calls(&heard(&mut out).await), [], "it may have happened already");
    let fault = call.await.unwrap().unwrap_err();
    assert_eq!(fault.code, Code::OutcomeUnknown);
}

#[tokio::test]
async fn a_call_withdrawn_while_the_browser_is_away_is_cancelled_when_it_is_back() {
    let hub = memory_hub();
    let epoch = Epoch::mint();
    let (first, mut out) = attach(&hub, &epoch).await;
    let session = first.session().clone();
    let call = tokio::spawn({
        let (hub, session) = (hub.clone(), session.clone());
        async move { hub.call(&session, request()).await }
    });
    let id = hear_call(&mut out).await;
    drop((first, out));
    call.abort();
    let _ = call.await;
    let (_second, mut out) = attach(&hub, &epoch).await;
    hear(&mut out, |message| *message == ToBrowser::Cancel(id)).await;
}

#[tokio::test]
async fn a_reserved_tab_stays_reserved_over_a_reconnect() {
    let hub = memory_hub();
    let epoch = Epoch::mint();
    let (first, mut out) = attach(&hub, &epoch).await;
    let session = first.session().clone();
    let begin = || {
        let (hub, session) = (hub.clone(), session.clone());
        tokio::spawn(async move { hub.call(&session, request()).await })
    };
    let call = begin();
    hear_call(&mut out).await;
    call.abort();
    let _ = call.await;
    drop((first, out));
    let (_second, mut out) = attach(&hub, &epoch).await;
    let _next = begin();
    assert_eq!(calls(&heard(&mut out).await), [], "the page may still be at the first");
}
