//! Running commands: which session, which tab, for how long, and what came of it.
//!
//! The arguments of a tool whose `action` picks a command become an order; it finds its session and
//! tab, is sent and is shown. What a browser cannot do is said with what it can. A command's
//! name on the wire is a dialect's matter.

use std::{sync::Arc, time::Duration};

use hub::{CallRequest, Hub, Route, Session};
use model::{Code, Effect, Fault, Json, Kind, Reply, TabId, Target, Work};
use serde_json::{Map, Value};
use tokio::task::JoinSet;

use crate::{
    TOOLS, Toolbox,
    action::{Action, invalid},
    answer,
    command_results::action_report,
    definition::{Client, CoreTool, Output},
};

/// What a call may take beyond the time that the browser was told to wait; one that is busy still
/// has the time to say what it waited for.
const SLACK: Duration = Duration::from_secs(5);
/// What a call may take beyond the time that it lets pass, when nothing else is said.
const USUAL: Duration = Duration::from_secs(30);
/// Browsers whose abilities an error lists.
const LISTED: usize = 5;

/// A command that a client wants done: what, with what, where, and for how long.
pub(crate) struct CommandCall<'a> {
    pub toolbox: &'a Toolbox,
    pub client: &'a Client,
    tool: &'static str,
    pub action: &'static Action,
    /// Whether it waits for others of its tab, and whether it only looks.
    pub effect: Effect,
    /// The session as the client named it.
    pub session: Option<String>,
    /// The tab that the client named.
    pub tab: Option<TabId>,
    timeout: Option<Duration>,
    /// What the command takes.
    pub args: Map<String, Value>,
}

impl<'a> CommandCall<'a> {
    /// Reads arguments that were checked.
    pub fn read(
        toolbox: &'a Toolbox,
        client: &'a Client,
        tool: &'static CoreTool,
        args: Value,
    ) -> Result<Self, Fault> {
        let Value::Object(mut args) = args else {
            return Err(invalid("the arguments must be an object".to_owned()));
        };
        let word = args.remove("action");
        let word = word.as_ref().and_then(Value::as_str).unwrap_or_default();
        let action = tool.actions().iter().find(|action| action.name == word);
        let action = action.ok_or_else(|| invalid(format!("there is no action {word:?}")))?;
        let session = match args.remove("session") {
            Some(Value::String(session)) => Some(session),
            _ => None,
        };
        let tab = args.remove("tab").map(|tab| whole("tab", &tab, 0)).transpose()?.map(TabId);
        let timeout = args.get("timeoutMs").map(|time| whole("timeoutMs", time, 1)).transpose()?;
        if !action.takes("timeoutMs") {
            args.remove("timeoutMs");
        }
        toolbox.check_command(action.command, &args)?;
        action.name_for_command(&mut args);
        let timeout = timeout.map(Duration::from_millis);
        let (effect, tool) = (action.effect, tool.name);
        Ok(Self { toolbox, client, tool, action, effect, session, tab, timeout, args })
    }

    /// Allows it a time, where the client has not said any.
    pub fn patient(mut self, usual: Duration) -> Self {
        self.timeout.get_or_insert(usual);
        self
    }

    /// Does it in the session and tab that it is for.
    pub async fn run(self) -> Result<Output, Fault> {
        let session = self.find_session()?;
        self.run_in(&session).await
    }

    /// Does it in a session, in the tab that it is for.
    pub async fn run_in(&self, session: &Arc<Session>) -> Result<Output, Fault> {
        let tab = self.choose_tab(session)?;
        self.run_in_tab(session, tab).await
    }

    /// Does it in a tab of a session.
    pub async fn run_in_tab(
        &self,
        session: &Arc<Session>,
        tab: Option<TabId>,
    ) -> Result<Output, Fault> {
        let result = self.send(session, tab, self.action.command, &self.args).await?;
        if !self.action.gives_value {
            action_report::note_new_tab(session, &self.client.caller, &result);
        }
        Ok(answer::show(session, self.action, &result))
    }

    /// Returns the action as a client calls it, such as `browser_tab new`.
    pub fn what(&self) -> String {
        match self.action.name {
            "" => self.tool.to_owned(),
            name => format!("{} {name}", self.tool),
        }
    }

    /// Finds the session: the named one, the bound one, or the only one that can.
    pub fn find_session(&self) -> Result<Arc<Session>, Fault> {
        let route = Route { session: self.session.clone(), binding: self.client.binding.clone() };
        let fits = |session: &Session| self.action.fits(session);
        match self.toolbox.hub.route(&route, &self.what(), fits) {
            Ok(session) if fits(&session) => Ok(session),
            Ok(session) => Err(self.unable(&session)),
            Err(fault) if fault.code == Code::UnknownTool => Err(self.nobody()),
            Err(fault) => Err(fault),
        }
    }

    /// Chooses the tab, for a command that is in one.
    pub fn choose_tab(&self, session: &Session) -> Result<Option<TabId>, Fault> {
        if !self.action.is_in_tab() {
            return Ok(None);
        }
        let Action { effect, wants_tab, .. } = *self.action;
        session.choose_tab(&self.client.caller.client, self.tab, effect, wants_tab)
    }

    /// Has a command executed and returns what the browser answered.
    pub async fn send(
        &self,
        session: &Arc<Session>,
        tab: Option<TabId>,
        command: &str,
        args: &Map<String, Value>,
    ) -> Result<Json, Fault> {
        let request = self.request(tab, command, args);
        result(self.toolbox.hub.call(session, request).await?)
    }

    /// Writes the request for a command.
    pub fn request(
        &self,
        tab: Option<TabId>,
        command: &str,
        args: &Map<String, Value>,
    ) -> CallRequest {
        let args = Json::of(&Value::Object(args.clone()));
        CallRequest {
            caller: self.client.caller.clone(),
            tab,
            work: Work::Tool { target: Target::Command, name: command.to_owned(), args },
            effect: self.effect,
            timeout: self.limit(),
            progress: self.client.progress.clone(),
        }
    }

    /// How long the call may take. The browser's own waiting must end first, so that it can say
    /// what it waited for.
    pub fn limit(&self) -> Option<Duration> {
        let passing = self.args.get("timeMs").and_then(Value::as_u64).map(Duration::from_millis);
        match (self.timeout, passing) {
            (Some(time), _) if self.action.takes("timeoutMs") => Some(time + SLACK),
            (Some(time), _) => Some(time),
            (None, Some(time)) => Some(time + self.client.timeout.unwrap_or(USUAL)),
            (None, None) => self.client.timeout,
        }
    }

    /// The error of a session that cannot do it.
    pub fn unable(&self, session: &Session) -> Fault {
        let message = format!("{} cannot do {}", session.name, self.what());
        let hint = match session.kind {
            Kind::App => "it is an app and no browser; it has tools of its own".to_owned(),
            Kind::Browser => format!("it can: {}", abilities(session)),
        };
        Fault::new(Code::Unsupported, message).hint(hint)
    }

    /// The error of a hub where nobody can do it.
    pub fn nobody(&self) -> Fault {
        let is_here = |session: &Session| session.kind == Kind::Browser && session.is_connected();
        let browsers = self.toolbox.hub.filtered(is_here);
        if browsers.is_empty() {
            let message = format!("no browser is connected that could do {}", self.what());
            return Fault::new(Code::NotConnected, message)
                .hint("connect one; browser_instance shows who is there");
        }
        let list: Vec<_> = browsers
            .iter()
            .take(LISTED)
            .map(|session| format!("{} can: {}", session.name, abilities(session)))
            .collect();
        Fault::new(Code::Unsupported, format!("no browser here can do {}", self.what()))
            .hint(list.join(". "))
    }
}

/// Takes a command's result out of a reply.
pub(crate) fn result(reply: Reply) -> Result<Json, Fault> {
    match reply {
        Reply::Result(result) => Ok(result),
        Reply::State(_) | Reply::Tools(_) => {
            Err(Fault::new(Code::MalformedReply, "the browser answered another question"))
        }
    }
}

/// Asks several sessions or tabs at once; the answers come in the order of the requests.
pub(crate) async fn ask_all(
    hub: &Hub,
    requests: Vec<(Arc<Session>, CallRequest)>,
) -> Vec<Result<Reply, Fault>> {
    let lost = || Err(Fault::new(Code::Internal, "the answer was lost"));
    let mut answers: Vec<_> = requests.iter().map(|_| lost()).collect();
    // Dropped with this future, which withdraws what is still under way.
    let mut asking = JoinSet::new();
    for (place, (session, request)) in requests.into_iter().enumerate() {
        let hub = hub.clone();
        asking.spawn(async move { (place, hub.call(&session, request).await) });
    }
    while let Some(joined) = asking.join_next().await {
        if let Ok((place, answer)) = joined {
            answers[place] = answer;
        }
    }
    answers
}

/// Returns whether a peer says that it can do something beyond the minimum.
pub(crate) fn has_capability(session: &Session, name: &str) -> bool {
    session.has_capability(name)
}

/// Lists what a browser can do, in the words of the tools.
fn abilities(session: &Session) -> String {
    let mut groups = Vec::new();
    for tool in TOOLS {
        let able = tool.actions().iter().filter(|action| action.fits(session));
        let names: Vec<_> = able.map(|action| action.name).collect();
        if !names.is_empty() {
            groups.push(format!("{} {}", tool.name, names.join(", ")).trim_end().to_owned());
        }
    }
    match groups.is_empty() {
        true => "none of these tools".to_owned(),
        false => groups.join("; "),
    }
}

/// Reads a whole number, also where it was written as `7.0`.
fn whole(name: &str, value: &Value, least: u64) -> Result<u64, Fault> {
    let number = value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0)?;
        Some(number as u64)
    });
    number.filter(|number| *number >= least).ok_or_else(|| {
        invalid(format!("`{name}` must be a whole number from {least}, not {value}"))
    })
}
