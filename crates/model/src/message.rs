//! What browsers say and what they are told, as meaning and not as bytes.
//!
//! Dialects translate frames into these and back. Numbered are only the [`Change`]s; all else
//! is correlated by call id or is about the connection, and is never replayed.

use std::time::Duration;

use crate::{
    CallId, CallProgress, ClientId, Closing, Epoch, Fault, InstanceId, Json, Position, Reply,
    Sequence, SessionId, TabId, Work,
};

/// What kind of peer a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Has tabs: an extension, or a browser that we started.
    Browser,
    /// One page with state and tools of its own.
    App,
}

impl Kind {
    /// Returns the word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::App => "app",
        }
    }
}

/// How a peer introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// Its own name for itself.
    pub instance: InstanceId,
    /// Whether it has tabs or is one page.
    pub kind: Kind,
    /// What people call it; reduced to a session name by the hub.
    pub name: Option<String>,
    /// Its version, for display.
    pub version: Option<String>,
    /// What it can do beyond the minimum.
    pub capabilities: Vec<String>,
    /// The log in which it numbers what it sends; none where the dialect has no numbers.
    pub epoch: Option<Epoch>,
    /// How far it has seen the hub's log.
    pub position: Option<Position>,
    /// Proves that it is the one who had this session before.
    pub resume_token: Option<String>,
    /// The tabs it has now, where the dialect tells them at once.
    pub tabs: Vec<Tab>,
    /// What is particular about it.
    pub traits: PeerTraits,
}

/// What is particular about a peer that was not made for us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeerTraits {
    /// The commands that it can do; empty means that it has not said.
    pub commands: Vec<String>,
    /// It has no lasting name of its own, so it gets the first free place of its dialect and
    /// origin; its instance id is only what it is called at present.
    pub nameless: bool,
    /// Two sockets of one peer may live side by side, and closing one makes it open another.
    pub may_double: bool,
    /// It keeps a tab for each client by itself, so clients do not wait for each other.
    pub tab_per_client: bool,
    /// It has one tab, whether that is named or not.
    pub one_tab: bool,
    /// What it has seen last of the hub's log, where it knows no epochs.
    pub last_sequence: Option<Sequence>,
}

/// The first word of a peer that wants the hub to prove itself before it says more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// Its own name for itself.
    pub instance: InstanceId,
    /// Whether it has tabs or is one page.
    pub kind: Kind,
    /// What the hub's proof must be about.
    pub nonce: String,
    /// Where it dialled; older extensions do not say.
    pub address: Option<String>,
    /// The proof is made with a pairing code.
    pub pairing: bool,
    /// Whose page it is, where somebody else connects it.
    pub carried: Option<Carriage>,
}

/// A page that a paired browser connects on its behalf, because it may not do so itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carriage {
    /// Who carries it, and proves that with its own key.
    pub carrier: InstanceId,
    /// Where the page comes from: the carrier's word, which it has from its browser.
    pub origin: String,
}

/// The hub's answer to a [`Hello`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// The session it has from now on.
    pub session: SessionId,
    /// The session's readable name.
    pub name: String,
    /// The hub's version, for display.
    pub server_version: String,
    /// The hub's log for this session, and its newest number.
    pub current: Position,
    /// How far the hub has seen the peer's log: what comes after must be sent again.
    pub received: Option<Position>,
    /// What the peer missed, or why that cannot be told.
    pub replay: ReplayPage,
    /// To be presented at the next hello; valid once.
    pub resume_token: String,
}

/// Something that happened, numbered by its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedChange {
    /// The sender's number; none where a dialect has no numbers and order of arrival counts.
    pub sequence: Option<Sequence>,
    /// What happened, without its number.
    pub change: Change,
}

/// Everything that can happen in a session, and is numbered and replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The app's state is another.
    State(StateUpdate),
    /// A tab exists now.
    TabCreated(Tab),
    /// A tab's title, address or state is another.
    TabUpdated(Tab),
    /// A tab is gone.
    TabClosed(TabId),
    /// A tab is in front now.
    TabFocused(TabId),
    /// The tools of an app (no tab) or of the page in a tab are others.
    ToolsChanged {
        /// The tab of the page; none for an app's own tools.
        tab: Option<TabId>,
        /// All of them now.
        tools: Vec<ToolSpec>,
    },
    /// Anything else, by name.
    Event {
        /// Such as `console`, `dialog`, `download`.
        name: String,
        /// How bad it is.
        level: Level,
        /// Carried as it came.
        data: Json,
    },
}

impl Change {
    /// Returns the message type, as selections name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::State(_) => "stateUpdate",
            Self::TabCreated(_) => "tabCreated",
            Self::TabUpdated(_) => "tabUpdated",
            Self::TabClosed(_) => "tabClosed",
            Self::TabFocused(_) => "tabFocused",
            Self::ToolsChanged { .. } => "toolsChanged",
            Self::Event { .. } => "event",
        }
    }
}

/// How bad an event is; errors can be asked for first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing, and nothing to do.
    #[default]
    Info,
    /// Something is odd, and went on.
    Warning,
    /// Something failed; replay can bring these first.
    Error,
}

/// A new state, whole or as a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateUpdate {
    /// The state or what changed in it.
    pub body: StateBody,
    /// The life of the page that numbers its versions; none where the hub numbers by arrival.
    pub epoch: Option<Epoch>,
    /// Grows by one with each update within an epoch.
    pub version: Option<u64>,
}

/// A state, whole or as a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateBody {
    /// The whole state, in place of the one before.
    Whole(Json),
    /// A JSON Patch (RFC 6902) against the version before.
    Patch(Json),
}

/// One tab of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    /// The browser's number for it.
    pub id: TabId,
    /// May be empty while loading.
    pub title: String,
    /// May be empty while loading.
    pub url: String,
    /// Whether it is in front.
    pub active: bool,
}

/// A tool that an app or page declares. Text from pages is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    /// 1 to 128 of letters, digits, `_ . -`.
    pub name: String,
    /// What it does, in the declarer's words; may be empty.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Json,
    /// The declarer's word that it changes nothing.
    pub read_only: bool,
    /// Of a tool in a frame of a page, where that frame comes from, by the browser's word.
    pub origin: Option<String>,
}

impl ToolSpec {
    /// Returns how many bytes of text it has.
    pub fn size(&self) -> usize {
        let origin = self.origin.as_ref().map_or(0, String::len);
        self.name.len() + self.description.len() + self.input_schema.size() + origin
    }
}

/// A call as it is sent: the work with its id, place and remaining time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The hub's id; an executor never runs the same one twice.
    pub id: CallId,
    /// Where in the browser; none for apps.
    pub tab: Option<TabId>,
    /// On whose behalf, for peers that keep something for each client.
    pub client: ClientId,
    /// What people call that client.
    pub client_name: String,
    /// What is to be done.
    pub work: Work,
    /// Remaining time; the executor refuses a call that has none left.
    pub deadline: Duration,
}

/// What an executor knows of a call after a reconnect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutorStatus {
    /// Never received, or forgotten.
    Unknown,
    /// Received and not finished; its end will be told.
    Running,
    /// Finished; this is the end it would have told.
    Ended(Result<Json, Fault>),
}

/// Asks for what follows a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayRequest {
    /// The last place that was seen.
    pub from: Position,
    /// Only these message types or event names; empty means all.
    pub types: Vec<String>,
    /// Errors before the rest.
    pub errors_first: bool,
}

/// A page of missed messages, or the plain word that they cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayPage {
    /// The log, and the number up to which this page (with all before it) reaches.
    pub upto: Position,
    /// Oldest first, without holes unless `partial`.
    pub messages: Vec<NumberedChange>,
    /// There are further pages.
    pub more: bool,
    /// A selection or another order: does not move the receiver's position.
    pub partial: bool,
    /// Set when the log cannot continue from there: no messages, and a full sync is due.
    pub refused: Option<RefusedResume>,
}

/// Why a log cannot continue from a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusedResume {
    /// Messages in between were dropped because there were too many.
    Gap,
    /// Messages in between were dropped because they were too old.
    Expired,
    /// The position is in another log.
    EpochChanged,
    /// The position is beyond the newest message.
    FutureSequence,
}

impl RefusedResume {
    /// All of them, for tables and tests.
    pub const ALL: [Self; 4] = [Self::Gap, Self::Expired, Self::EpochChanged, Self::FutureSequence];

    /// Returns the word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Expired => "expired",
            Self::EpochChanged => "epoch_changed",
            Self::FutureSequence => "future_sequence",
        }
    }
}

/// What a browser or app says.
#[derive(Debug, Clone, PartialEq)]
pub enum FromBrowser {
    /// The introduction of a peer that proves nothing.
    Hello(Box<Hello>),
    /// The introduction of a peer that proves itself, and wants proof: the hub answers with
    /// [`ToBrowser::Challenge`].
    Greeting(Greeting),
    /// The answer to the challenge, with the introduction.
    Proof {
        /// To be checked before anything else.
        proof: String,
        /// Counts only if the proof is right.
        hello: Box<Hello>,
    },
    /// A call has ended.
    Ended {
        /// The call, by the hub's id.
        call: CallId,
        /// What came of it.
        outcome: Result<Reply, Fault>,
    },
    /// A call is under way.
    Progress {
        /// The call, by the hub's id.
        call: CallId,
        /// How far it is; grows with each report.
        progress: CallProgress,
    },
    /// What the executor knows of a call.
    Status {
        /// The call that the hub asked about.
        call: CallId,
        /// Whether it is unknown, running or ended.
        status: ExecutorStatus,
    },
    /// Something happened on its side.
    Changed(NumberedChange),
    /// It missed something, and wants it again.
    ReplayRequest(ReplayRequest),
    /// What the hub had missed.
    ReplayPage(ReplayPage),
    /// It has seen everything up to here.
    Ack(Position),
    /// Only a sign of life.
    Alive,
    /// It leaves on purpose.
    Bye {
        /// Why, for the log.
        message: String,
    },
    /// An answer for nobody: its call id is not one of ours.
    Stray,
}

/// What a browser or app is told.
#[derive(Debug, Clone, PartialEq)]
pub enum ToBrowser {
    /// The hub's proof, and what it wants proven.
    Challenge {
        /// What the peer's proof must be about.
        nonce: String,
        /// That the hub knows the key.
        proof: String,
    },
    /// It has a session now.
    Welcome(Box<Welcome>),
    /// Run this, and tell its end.
    Call(Box<Call>),
    /// Stop this; its end is told all the same.
    Cancel(CallId),
    /// What became of this?
    CallQuery(CallId),
    /// Something happened on the hub's side.
    Changed(NumberedChange),
    /// Something to show now, and never again: not numbered, lost with the connection.
    Mention {
        /// Such as `toolCall`.
        name: String,
        /// Any JSON that the name calls for.
        data: Json,
    },
    /// The hub missed something.
    ReplayRequest(ReplayRequest),
    /// What the browser had missed.
    ReplayPage(ReplayPage),
    /// The hub has seen everything up to here.
    Ack(Position),
    /// Asks for a sign of life.
    Ping,
    /// The hub ends the connection; the close frame follows.
    Bye(Closing),
}

impl ToBrowser {
    /// Returns about how many bytes it takes in a queue, for queue limits.
    pub fn size(&self) -> usize {
        const ENVELOPE: usize = 128;
        let page = |page: &ReplayPage| page.messages.iter().map(change_size).sum::<usize>();
        ENVELOPE
            + match self {
                Self::Welcome(welcome) => page(&welcome.replay),
                Self::Call(call) => call.work.size(),
                Self::Changed(change) => change_size(change),
                Self::ReplayPage(replay) => page(replay),
                Self::Bye(closing) => closing.message.len(),
                Self::Mention { name, data } => name.len() + data.size(),
                Self::Challenge { .. }
                | Self::Cancel(_)
                | Self::CallQuery(_)
                | Self::ReplayRequest(_)
                | Self::Ack(_)
                | Self::Ping => 0,
            }
    }
}

fn change_size(change: &NumberedChange) -> usize {
    match &change.change {
        Change::Event { name, data, .. } => name.len() + data.size(),
        Change::State(StateUpdate {
            body: StateBody::Whole(json) | StateBody::Patch(json),
            ..
        }) => json.size(),
        Change::TabCreated(tab) | Change::TabUpdated(tab) => tab.title.len() + tab.url.len(),
        Change::ToolsChanged { tools, .. } => tools.iter().map(ToolSpec::size).sum(),
        Change::TabClosed(_) | Change::TabFocused(_) => 0,
    }
}
