//! Pages that are tasks: attached to a real hub in the dialect of a manifest, doing what the real
//! page does with a state, a command and a notice.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use guard::HubSecret;
use hub::{Attachment, Batch, Caller, Hub, Introduction, Outgoing};
use model::{
    Change, ClientId, Fault, FromBrowser, Hello, InstanceId, Json, Kind, NumberedChange,
    PeerTraits, Reply, StateBody, StateUpdate, ToBrowser, Work,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use store::MemoryStore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tools::{
    Client, Output, Toolbox, ToolboxSettings, Workplace,
    manifest::{self, Apps, Manifest},
};

/// A hub with a toolbox and the shipped manifests.
pub struct Stage {
    pub toolbox: Toolbox,
    pub apps: Apps,
    _running: JoinSet<()>,
}

/// How a page takes commands.
#[derive(Clone, Copy, PartialEq)]
pub enum Manner {
    /// Does them and pushes its state.
    Willing,
    /// The same after a while, as a page does that the machine has no time for.
    Slow(Duration),
    /// Says nothing, to state queries neither.
    Silent,
    /// Goes away when it gets one.
    Leaving,
}

/// A page; it goes away when this is dropped.
pub struct Page {
    attachment: Arc<Mutex<Option<Arc<Attachment>>>>,
    seen: Arc<Mutex<Seen>>,
    _answering: JoinSet<()>,
}

/// What a page got.
#[derive(Default)]
struct Seen {
    commands: Vec<(String, Value)>,
    events: Vec<(String, Value)>,
    state: Value,
    state_queries: usize,
}

impl Stage {
    pub fn start() -> Self {
        let stage = Self::with(manifest::shipped());
        assert!(stage.apps.has(&stage.toolbox.hub, "get_model_color"));
        stage
    }

    pub fn with(manifests: Vec<Manifest>) -> Self {
        let store = Arc::new(MemoryStore::default());
        let hub = Hub::open(hub::Config::default(), store, "test").unwrap();
        let mut running = JoinSet::new();
        let task = hub.clone();
        running.spawn(async move { task.run(CancellationToken::new()).await });
        let apps = Apps::default();
        assert_eq!(apps.set(manifests), []);
        let toolbox = Toolbox::new(hub, None, HubSecret::default(), ToolboxSettings::default());
        Self { toolbox, apps, _running: running }
    }

    pub async fn call(&self, tool: &str, args: Value) -> Result<Output, Fault> {
        self.call_as(&client("test"), tool, args).await
    }

    pub async fn call_as(&self, client: &Client, tool: &str, args: Value) -> Result<Output, Fault> {
        manifest::call(&self.apps, &self.toolbox, client, tool, args).await.unwrap()
    }

    /// A page that has pushed its state.
    pub async fn page(&self, instance: &str) -> Page {
        let page = self.peer(instance, "hello3d", Manner::Willing).await;
        page.push_state(state());
        page
    }

    /// A page of our own that says which manifest describes it, and has pushed its state.
    pub async fn own_page(&self, instance: &str, capability: &str) -> Page {
        self.own_page_that(instance, capability, Manner::Willing).await
    }

    /// The same, with a manner of its own.
    pub async fn own_page_that(&self, instance: &str, capability: &str, manner: Manner) -> Page {
        let page = self.capable_peer(instance, "native", manner, &[capability]).await;
        page.push_state(state());
        page
    }

    pub async fn peer(&self, instance: &str, dialect: &'static str, manner: Manner) -> Page {
        self.capable_peer(instance, dialect, manner, &[]).await
    }

    async fn capable_peer(
        &self,
        instance: &str,
        dialect: &'static str,
        manner: Manner,
        capabilities: &[&str],
    ) -> Page {
        let hello = Hello {
            instance: InstanceId::parse(instance).unwrap(),
            kind: Kind::App,
            name: Some(dialect.to_owned()),
            version: None,
            capabilities: capabilities.iter().map(|word| (*word).to_owned()).collect(),
            epoch: None,
            position: None,
            resume_token: None,
            tabs: Vec::new(),
            traits: PeerTraits::default(),
        };
        let (outbox, outgoing) = self.toolbox.hub.outbox();
        let introduction = Introduction {
            hello,
            dialect,
            origin: None,
            unproven: false,
            at_home: false,
            carried_by: None,
        };
        let attachment = Arc::new(self.toolbox.hub.attach(introduction, outbox).await.unwrap());
        let held = Arc::new(Mutex::new(Some(attachment)));
        let seen = Arc::new(Mutex::new(Seen { state: state(), ..Seen::default() }));
        let mut answering = JoinSet::new();
        // Weak: the page goes away with its handle, not with its task.
        answering.spawn(answer(Arc::downgrade(&held), outgoing, seen.clone(), manner));
        Page { attachment: held, seen, _answering: answering }
    }
}

type Held = Mutex<Option<Arc<Attachment>>>;

async fn answer(held: Weak<Held>, mut outgoing: Outgoing, seen: Arc<Mutex<Seen>>, manner: Manner) {
    while let Batch::Messages(messages) = outgoing.next().await {
        for message in messages {
            let Some(attachment) = held.upgrade().and_then(|held| held.lock().clone()) else {
                return;
            };
            match message {
                ToBrowser::Call(call) => match &call.work {
                    Work::Tool { name, args, .. } => {
                        let args = args.to_value().unwrap();
                        seen.lock().commands.push((name.clone(), args));
                        if let Manner::Slow(time) = manner {
                            tokio::time::sleep(time).await;
                        }
                        match manner {
                            Manner::Silent => {}
                            Manner::Leaving => {
                                held.upgrade().map(|held| held.lock().take());
                            }
                            Manner::Willing | Manner::Slow(_) => {
                                push(&attachment, seen.lock().state.clone());
                                let done = Reply::Result(Json::of(&json!({"confirmed": true})));
                                end(&attachment, call.id, done);
                            }
                        }
                    }
                    Work::State { .. } => {
                        seen.lock().state_queries += 1;
                        if manner != Manner::Silent {
                            let body = whole(seen.lock().state.clone());
                            end(&attachment, call.id, Reply::State(body));
                        }
                    }
                    _ => {}
                },
                ToBrowser::Mention { name, data } => {
                    seen.lock().events.push((name, data.to_value().unwrap()));
                }
                _ => {}
            }
        }
    }
}

fn end(attachment: &Attachment, call: model::CallId, reply: Reply) {
    attachment.receive(FromBrowser::Ended { call, outcome: Ok(reply) }).unwrap();
}

fn push(attachment: &Attachment, state: Value) {
    let change = NumberedChange { sequence: None, change: Change::State(whole(state)) };
    attachment.receive(FromBrowser::Changed(change)).unwrap();
}

fn whole(state: Value) -> StateUpdate {
    StateUpdate { body: StateBody::Whole(Json::of(&state)), epoch: None, version: None }
}

impl Page {
    /// Pushes a state without being asked.
    pub fn push_state(&self, state: Value) {
        self.change_unseen(state.clone());
        push(self.attachment.lock().as_ref().unwrap(), state);
    }

    /// Changes the state as a hand on the mouse does: nobody is told.
    pub fn change_unseen(&self, state: Value) {
        self.seen.lock().state = state;
    }

    pub fn commands(&self) -> Vec<(String, Value)> {
        self.seen.lock().commands.clone()
    }

    pub fn events(&self) -> Vec<(String, Value)> {
        self.seen.lock().events.clone()
    }

    pub fn state_queries(&self) -> usize {
        self.seen.lock().state_queries
    }
}

/// The state of the cases.
pub fn state() -> Value {
    crate::cases::cases()["state"].clone()
}

pub fn client(id: &str) -> Client {
    let caller = Caller::new(ClientId::parse(id).unwrap(), "local");
    let workplace = Workplace::default();
    Client { caller, binding: None, progress: None, timeout: None, key: None, workplace }
}
