//! Apps and browsers that are tasks: attached to a real hub, answering every call with what they
//! were asked, or with what they were told to answer. A tool named `never` is never answered, and
//! neither is a page that was not told its tools.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use guard::HubSecret;
use hub::{Attachment, Batch, Caller, Hub, Introduction, Outgoing};
use model::{
    Call, Change, ClientId, Closing, Fault, FromBrowser, Hello, InstanceId, Json, Kind, Level,
    NumberedChange, PeerTraits, Reply, StateBody, StateUpdate, Tab, TabId, ToBrowser, ToolSpec,
    Work,
};
use serde_json::{Value, json};
use store::MemoryStore;
use tokio::{sync::Notify, task::JoinSet};
use tokio_util::sync::CancellationToken;
use tools::{Client, Output, Toolbox, ToolboxSettings, Workplace};

/// A hub with a toolbox.
pub struct Stage {
    pub toolbox: Toolbox,
    /// Where clients are.
    pub workplace: Workplace,
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
    last: Mutex<Option<Call>>,
    /// The arguments of every call of a command or tool, by its name.
    args: Mutex<HashMap<String, Vec<Value>>>,
    /// What is answered to what; none means nothing at all.
    answers: Mutex<HashMap<String, Option<Result<Value, Fault>>>>,
    /// How long an answer takes.
    delays: Mutex<HashMap<String, Duration>>,
    page_tools: Mutex<HashMap<TabId, Vec<ToolSpec>>>,
}

/// What a browser says that it can do.
#[derive(Default, Clone, Copy)]
pub struct Abilities<'a> {
    /// None means that it has not said.
    pub commands: &'a [&'a str],
    pub capabilities: &'a [&'a str],
    /// The tabs it tells of, each at an address of its own.
    pub tabs: &'a [u64],
    /// Whether it is paired and on this machine.
    pub at_home: bool,
}

impl Stage {
    pub fn start() -> Self {
        let store = Arc::new(MemoryStore::default());
        let hub = Hub::open(hub::Config::default(), store, "test").unwrap();
        let mut running = JoinSet::new();
        let task = hub.clone();
        running.spawn(async move { task.run(CancellationToken::new()).await });
        let toolbox = Toolbox::new(hub, None, HubSecret::default(), ToolboxSettings::default());
        Self { toolbox, workplace: Workplace::default(), _running: running }
    }

    pub async fn call(&self, tool: &str, args: Value) -> Result<Output, Fault> {
        let client = Client { workplace: self.workplace.clone(), ..client() };
        self.toolbox.call(&client, tool, args).await
    }

    pub async fn app(&self, name: &str) -> Peer {
        self.claiming_app(name, Abilities::default()).await
    }

    /// An app that says of itself what only browsers can.
    pub async fn claiming_app(&self, name: &str, abilities: Abilities<'_>) -> Peer {
        self.peer(name, Kind::App, abilities).await
    }

    pub async fn browser(&self, name: &str) -> Peer {
        self.able(name, Abilities::default()).await
    }

    pub async fn able(&self, name: &str, abilities: Abilities<'_>) -> Peer {
        self.peer(name, Kind::Browser, abilities).await
    }

    async fn peer(&self, name: &str, kind: Kind, abilities: Abilities<'_>) -> Peer {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let instance = format!("peer-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let hello = Hello {
            instance: InstanceId::parse(&instance).unwrap(),
            kind,
            name: Some(name.to_owned()),
            version: None,
            capabilities: owned(abilities.capabilities),
            epoch: None,
            position: None,
            resume_token: None,
            tabs: abilities.tabs.iter().copied().map(tab).collect(),
            traits: PeerTraits { commands: owned(abilities.commands), ..PeerTraits::default() },
        };
        let (outbox, outgoing) = self.toolbox.hub.outbox();
        let introduction = Introduction {
            hello,
            dialect: "native",
            origin: None,
            unproven: false,
            at_home: abilities.at_home,
            carried_by: None,
        };
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
                    seen.calls.fetch_add(1, Ordering::Relaxed);
                    seen.note(&call);
                    if let Some(delay) = seen.delay(&call) {
                        tokio::time::sleep(delay).await;
                    }
                    if let Some(outcome) = seen.outcome(&call) {
                        attachment.receive(FromBrowser::Ended { call: call.id, outcome }).unwrap();
                    }
                    *seen.last.lock().unwrap() = Some(*call);
                }
                ToBrowser::Cancel(_) => seen.cancelled.notify_one(),
                _ => {}
            }
        }
    }
}

impl Seen {
    fn delay(&self, call: &Call) -> Option<Duration> {
        let Work::Tool { name, .. } = &call.work else { return None };
        self.delays.lock().unwrap().get(name).copied()
    }

    fn note(&self, call: &Call) {
        if let Work::Tool { name, args, .. } = &call.work {
            let mut all = self.args.lock().unwrap();
            all.entry(name.clone()).or_default().push(args.to_value().unwrap());
        }
    }

    fn outcome(&self, call: &Call) -> Option<Result<Reply, Fault>> {
        match &call.work {
            Work::Tool { name, args, .. } if name != "never" => {
                let told = self.answers.lock().unwrap().get(name).cloned();
                let echo = || Some(Ok(json!({"did": name, "args": args.to_value().unwrap()})));
                let answer = told.unwrap_or_else(echo)?;
                Some(answer.map(|result| Reply::Result(Json::of(&result))))
            }
            Work::DiscoverTools => {
                let tools = self.page_tools.lock().unwrap().get(&call.tab?).cloned();
                Some(Ok(Reply::Tools(tools?)))
            }
            _ => None,
        }
    }
}

impl Peer {
    /// What a command or tool is answered with from now on.
    pub fn answers(&self, name: &str, answer: Result<Value, Fault>) {
        self.seen.answers.lock().unwrap().insert(name.to_owned(), Some(answer));
    }

    /// Lets each answer to a command or tool take so long from now on.
    pub fn takes(&self, name: &str, time: Duration) {
        self.seen.delays.lock().unwrap().insert(name.to_owned(), time);
    }

    /// Leaves a command or tool without an answer from now on.
    pub fn answers_never(&self, name: &str) {
        self.seen.answers.lock().unwrap().insert(name.to_owned(), None);
    }

    /// What the page in a tab declares when it is asked.
    pub fn declares(&self, tab: u64, tools: &[ToolSpec]) {
        self.seen.page_tools.lock().unwrap().insert(TabId(tab), tools.to_vec());
    }

    /// The name, arguments and tab of the newest call.
    pub fn last(&self) -> (String, Value, Option<u64>) {
        let call = self.last_call();
        match call.work {
            Work::Tool { name, args, .. } => {
                (name, args.to_value().unwrap(), call.tab.map(|tab| tab.0))
            }
            work => panic!("{work:?}"),
        }
    }

    /// The arguments of all calls of a command or tool.
    pub fn args_of(&self, name: &str) -> Vec<Value> {
        self.seen.args.lock().unwrap().get(name).cloned().unwrap_or_default()
    }

    pub fn last_call(&self) -> Call {
        self.seen.last.lock().unwrap().clone().unwrap()
    }

    pub fn change(&self, change: Change) {
        self.try_change(change).unwrap();
    }

    /// Tells of a change; an error is why the hub would close the socket.
    pub fn try_change(&self, change: Change) -> Result<(), Closing> {
        let change = NumberedChange { sequence: None, change };
        self.attachment.receive(FromBrowser::Changed(change))
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
        tokio::time::timeout(Duration::from_secs(30), heard).await.unwrap();
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

pub fn tab(id: u64) -> Tab {
    let url = format!("https://{id}.example/");
    Tab { id: TabId(id), title: format!("page {id}"), url, active: false }
}

pub fn client() -> Client {
    let client = ClientId::parse("test").unwrap();
    let caller = Caller::new(client, "local");
    let workplace = Workplace::default();
    Client { caller, binding: None, progress: None, timeout: None, key: None, workplace }
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
        origin: None,
    }
}
