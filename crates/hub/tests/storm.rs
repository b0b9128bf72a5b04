//! Ten thousand calls at the same time over a hundred sessions, answered in disorder: some answers
//! are lost, some come twice. Each call ends once, with its own payload, and nothing is left over.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::{collections::HashMap, sync::Arc, time::Duration};

use hub::{Attachment, Batch, CallRequest, Caller, Hub, Introduction, Outgoing};
use model::{
    Call, ClientId, Code, Effect, FromBrowser, Hello, InstanceId, Json, Kind, PeerTraits, Reply,
    TabId, Target, ToBrowser, Work,
};
use serde_json::json;
use store::MemoryStore;
use tokio::task::JoinSet;

const SESSIONS: u64 = 100;
const CALLS: u64 = 100;

/// A small generator of numbers that look random; the seed is all there is.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_at_once_each_end_once_with_their_own_payload() {
    let config = hub::Config {
        // Lost ones take all of it; whoever is answered must not, on a busy machine either.
        call_timeout: Duration::from_secs(20),
        calls_per_session: CALLS as usize,
        ..hub::Config::default()
    };
    let hub = Hub::open(config, Arc::new(MemoryStore::default()), "test").unwrap();
    let mut peers = JoinSet::new();
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let (attachment, outgoing) = attach(&hub, number).await;
        sessions.push(attachment.session().clone());
        peers.spawn(answer_in_disorder(attachment, outgoing, Dice(number + 1)));
    }
    let mut callers = JoinSet::new();
    for (number, session) in sessions.iter().enumerate() {
        for call in 0..CALLS {
            let (hub, session) = (hub.clone(), session.clone());
            callers.spawn(async move {
                let payload = format!("{number}/{call}");
                let outcome = hub.call(&session, request(call, &payload)).await;
                (payload, outcome)
            });
        }
    }
    let mut endings: HashMap<&str, u64> = HashMap::new();
    while let Some(ended) = callers.join_next().await {
        let (payload, outcome) = ended.unwrap();
        match outcome {
            Ok(Reply::Result(result)) => {
                assert_eq!(result.to_value().unwrap(), json!({ "echo": payload }));
                *endings.entry("done").or_default() += 1;
            }
            Ok(other) => panic!("{other:?}"),
            Err(fault) => {
                assert_eq!(fault.code, Code::TimedOut, "{payload}: {fault}");
                *endings.entry("lost").or_default() += 1;
            }
        }
    }
    let (done, lost) = (endings["done"], endings["lost"]);
    assert_eq!(done + lost, SESSIONS * CALLS, "one end each");
    assert!((50..=200).contains(&lost), "about one in a hundred was lost: {lost}");
    assert_eq!(hub.metrics().in_flight.get(), 0);
    for session in sessions {
        assert_eq!(session.info().calls_in_flight, 0, "nothing is pending in {}", session.name);
    }
}

async fn attach(hub: &Hub, number: u64) -> (Attachment, Outgoing) {
    let hello = Hello {
        instance: InstanceId::parse(&format!("peer-{number}")).unwrap(),
        kind: Kind::Browser,
        name: None,
        version: None,
        capabilities: Vec::new(),
        epoch: None,
        position: None,
        resume_token: None,
        tabs: Vec::new(),
        traits: PeerTraits::default(),
    };
    let (outbox, outgoing) = hub.outbox();
    let introduction = Introduction {
        hello,
        dialect: "native",
        origin: None,
        unproven: false,
        at_home: false,
        carried_by: None,
    };
    (hub.attach(introduction, outbox).await.unwrap(), outgoing)
}

/// Every call in a tab of its own, so that all of them are under way at the same time.
fn request(tab: u64, payload: &str) -> CallRequest {
    let client = ClientId::parse("storm").unwrap();
    let args = Json::of(&json!({ "echo": payload }));
    CallRequest {
        caller: Caller::new(client, "local"),
        tab: Some(TabId(tab)),
        work: Work::Tool { target: Target::Command, name: "echo".to_owned(), args },
        effect: Effect::Act,
        timeout: None,
        progress: None,
    }
}

/// Waits until it has all calls, then answers them in disorder.
async fn answer_in_disorder(attachment: Attachment, mut outgoing: Outgoing, mut dice: Dice) {
    let mut waiting: Vec<Call> = Vec::new();
    while let Batch::Messages(messages) = outgoing.next().await {
        for message in messages {
            if let ToBrowser::Call(call) = message {
                waiting.push(*call);
            }
        }
        if waiting.len() < CALLS as usize {
            continue;
        }
        for last in (1..waiting.len()).rev() {
            waiting.swap(last, dice.roll(last as u64 + 1) as usize);
        }
        for call in waiting.drain(..) {
            let Work::Tool { args, .. } = call.work else { continue };
            let times = match dice.roll(100) {
                0 => 0,
                1 => 2,
                _ => 1,
            };
            for _ in 0..times {
                let outcome = Ok(Reply::Result(args.clone()));
                attachment.receive(FromBrowser::Ended { call: call.id, outcome }).unwrap();
            }
        }
    }
}
