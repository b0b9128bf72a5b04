//! The hub without sockets: what it adds by itself.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use hub::{Attachment, Batch, CallRequest, Caller, Hub, Introduction, Outgoing, StateQuery};
use model::{
    Change, ClientId, Effect, FromBrowser, Hello, InstanceId, Json, Kind, NumberedChange,
    PeerTraits, Reply, StateBody, StateUpdate, Target, ToBrowser, Work,
};
use store::MemoryStore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Times, report::Report};

const ROUNDS: usize = 20_000;

pub async fn measure(report: &mut Report) -> Result<()> {
    let hub = Hub::open(hub::Config::default(), Arc::new(MemoryStore::default()), "bench")?;
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn({
        let (hub, stop) = (hub.clone(), stop.clone());
        async move { hub.run(stop).await }
    });
    let (outbox, outgoing) = hub.outbox();
    let introduction = Introduction {
        hello: hello()?,
        dialect: "native",
        origin: None,
        unproven: false,
        at_home: false,
        carried_by: None,
    };
    let attachment =
        hub.attach(introduction, outbox).await.map_err(|refused| anyhow!("{refused:?}"))?;
    let session = attachment.session().clone();
    let told = attachment.receive(FromBrowser::Changed(NumberedChange {
        sequence: None,
        change: Change::State(StateUpdate {
            body: StateBody::Whole(Json::parse(r##"{"colour":"#cc0000","size":3}"##)?),
            epoch: None,
            version: None,
        }),
    }));
    told.map_err(|refused| anyhow!("{refused:?}"))?;
    tasks.spawn(answer(attachment, outgoing));
    let (mut calls, mut queries) = (Times::default(), Times::default());
    for _ in 0..ROUNDS {
        calls.take(async { Ok(hub.call(&session, request()?).await?) }).await?;
        queries.take(async { Ok(hub.state(&session, &StateQuery::default()).await?) }).await?;
    }
    report.inside(calls.median(), queries.median());
    stop.cancel();
    tasks.shutdown().await;
    Ok(())
}

fn hello() -> Result<Hello> {
    Ok(Hello {
        instance: InstanceId::parse("inside")?,
        kind: Kind::App,
        name: None,
        version: None,
        capabilities: Vec::new(),
        epoch: None,
        position: None,
        resume_token: None,
        tabs: Vec::new(),
        traits: PeerTraits::default(),
    })
}

fn request() -> Result<CallRequest> {
    Ok(CallRequest {
        caller: Caller::new(ClientId::parse("bench")?, "bench"),
        tab: None,
        work: Work::Tool { target: Target::App, name: "noop".to_owned(), args: Json::null() },
        effect: Effect::Act,
        timeout: None,
        progress: None,
    })
}

async fn answer(attachment: Attachment, mut outgoing: Outgoing) {
    while let Batch::Messages(messages) = outgoing.next().await {
        for message in messages {
            if let ToBrowser::Call(call) = message {
                let outcome = Ok(Reply::Result(Json::null()));
                let _ = attachment.receive(FromBrowser::Ended { call: call.id, outcome });
            }
        }
    }
}
