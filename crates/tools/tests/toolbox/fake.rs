//! Apps that are tasks: attached to a real hub, answering every call with what they were asked.
//! A tool named `never` is never answered.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use hub::{Attachment, Batch, Caller, Hub, Introduction, Outgoing};
use model::{
    Change, ClientId, Fault, FromBrowser, Habits, Hello, InstanceId, Json, Kind, Level,
    NumberedChange, Reply, StateBody, StateUpdate, ToBrowser, ToolSpec, Work,
};
use serde_json::{Value, json};
use store::MemoryStore;
use tokio::{sync::Notify, task::JoinSet};
use tokio_util::sync::CancellationToken;
use tools::{Client, Output, Toolbox};

/// A hub with a toolbox.
pub struct Stage {
    pub toolbox: Toolbox,
    _running: JoinSet<()>,
}

/// A peer of the hub; it goes away when this is dropped.
pub struct Peer {
    attachment: Arc<Attachment>,
    seen: Arc<Seen>,
    _answering: JoinSet<()>,
}

#[derive(Default)]
struct Seen {
    calls: AtomicUsize,
    cancelled: Notify,
}

impl Stage {
    pub fn start() -> Self {
        let store = Arc::new(MemoryStore::default());
        let hub = Hub::open(hub::Config::default(), store, "test").unwrap();
        let mut running = JoinSet::new();
        let task = hub.clone();
        running.spawn(async move { task.run(CancellationToken::new()).await });
        Self { toolbox: Toolbox::new(hub), _running: running }
    }

    pub async fn call(&self, tool: &str, args: Value) -> Result<Output, Fault> {
        self.toolbox.call(&client(), tool, args).await
    }

    pub async fn app(&self, name: &str) -> Peer {
        self.peer(name, Kind::App).await
    }

    pub async fn browser(&self, name: &str) -> Peer {
        self.peer(name, Kind::Browser).await
    }

    async fn peer(&self, name: &str, kind: Kind) -> Peer {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let instance = format!("peer-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let hello = Hello {
            instance: InstanceId::parse(&instance).unwrap(),
            kind,
            name: Some(name.to_owned()),
            version: None,
            capabilities: Vec::new(),
            epoch: None,
            position: None,
            resume_token: None,
            tabs: Vec::new(),
            habits: Habits::default(),
        };
        let (outbox, outgoing) = self.toolbox.hub.outbox();
        let introduction = Introduction { hello, dialect: "native", origin: None, unproven: false };
        let attachment = Arc::new(self.toolbox.hub.attach(introduction, outbox).await.unwrap());
        let seen = Arc::new(Seen::default());
        let mut answering = JoinSet::new();
        // Weak: the peer goes away with its handle, not with its task.
        answering.spawn(answer(Arc::downgrade(&attachment), outgoing, seen.clone()));
        Peer { attachment, seen, _answering: answering }
    }
}

async fn answer(attachment: std::sync::Weak<Attachment>, mut outgoing: Outgoing, seen: Arc<Seen>) {
    while let Batch::Messages(messages) = outgoing.next().await {
        let Some(attachment) = attachment.upgrade() else { return };
        for message in messages {
            match message {
                ToBrowser::Call(call) => {
                    let Work::Tool { name, args, .. } = &call.work else { continue };
                    seen.calls.fetch_add(1, Ordering::Relaxed);
                    if name != "never" {
                        let result = json!({"did": name, "args": args.to_value().unwrap()});
                        let outcome = Ok(Reply::Result(Json::of(&result)));
                        attachment.receive(FromBrowser::Ended { call: call.id, outcome }).unwrap();
                    }
                }
                ToBrowser::Cancel(_) => seen.cancelled.notify_one(),
                _ => {}
            }
        }
    }
}

impl Peer {
    pub fn change(&self, change: Change) {
        let change = NumberedChange { sequence: None, change };
        self.attachment.receive(FromBrowser::Changed(change)).unwrap();
    }

    pub fn offer(&self, tools: &[ToolSpec]) {
        self.change(Change::ToolsChanged { tab: None, tools: tools.to_vec() });
    }

    pub fn push_state(&self, state: Value) {
        let body = StateBody::Whole(Json::of(&state));
        self.change(Change::State(StateUpdate { body, epoch: None, version: None }));
    }

    pub fn event(&self, name: &str, data: Value) {
        let data = Json::of(&data);
        self.change(Change::Event { name: name.to_owned(), level: Level::Info, data });
    }

    pub fn calls(&self) -> usize {
        self.seen.calls.load(Ordering::Relaxed)
    }

    pub async fn cancelled(&self) {
        let heard = self.seen.cancelled.notified();
        tokio::time::timeout(Duration::from_secs(5), heard).await.unwrap();
    }
}

pub fn client() -> Client {
    let client = ClientId::parse("test").unwrap();
    let caller = Caller::new(client, "local");
    Client { caller, binding: None, progress: None, timeout: None }
}

pub fn spec(name: &str, read_only: bool) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("does {name}"),
        input_schema: Json::of(&json!({
            "type": "object",
            "properties": {"color": {"type": "string"}},
            "required": ["color"],
            "additionalProperties": false,
        })),
        read_only,
    }
}
