//! Which session a call goes to: the named one, the bound one, the only one that can. Never a
//! broadcast, never "the latest".
//!
//! Errors list the choices in a form that can be pasted back.

use std::sync::Arc;

use model::{Code, Effect, Fault, Json, Kind, Reply, Target, Work, json::shorten, page_text};

use crate::{Hub, call_request::CallRequest, session::Session};

/// Choices that an error lists.
const LISTED: usize = 20;

/// How the session of a call is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// Named in the call: id, unique prefix of it, or name.
    pub session: Option<String>,
    /// What the client's endpoint is bound to; counts only if there is such a session.
    pub binding: Option<String>,
}

impl Hub {
    /// Finds the session that a reference means.
    pub fn find(&self, reference: &str) -> Result<Arc<Session>, Fault> {
        let mut fitting = self.registry.read().matching(reference);
        let shown = shorten(reference, 80);
        match fitting.len() {
            1 => Ok(fitting.remove(0)),
            0 => Err(Fault::new(Code::UnknownSession, format!("there is no session {shown:?}"))
                .hint(choices(&self.sessions()))),
            count => {
                let fault =
                    Fault::new(Code::AmbiguousSession, format!("{shown:?} fits {count} sessions"));
                Err(fault.hint(choices_by_id(&fitting)))
            }
        }
    }

    /// Chooses the session for something that only some sessions can do.
    pub fn route(
        &self,
        route: &Route,
        what: &str,
        can: impl Fn(&Session) -> bool,
    ) -> Result<Arc<Session>, Fault> {
        self.route_among(route, what, || self.filtered(can))
    }

    /// Chooses the session for a tool that apps declare.
    pub fn route_to_app(&self, route: &Route, tool: &str) -> Result<Arc<Session>, Fault> {
        self.route_among(route, tool, || self.offering(tool))
    }

    fn route_among(
        &self,
        route: &Route,
        what: &str,
        able: impl FnOnce() -> Vec<Arc<Session>>,
    ) -> Result<Arc<Session>, Fault> {
        if let Some(reference) = &route.session {
            return self.find(reference);
        }
        match route.binding.as_ref().map(|binding| self.find(binding)) {
            Some(Ok(session)) => return Ok(session),
            Some(Err(fault)) if fault.code == Code::AmbiguousSession => return Err(fault),
            Some(Err(_)) | None => {}
        }
        let able = able();
        let (able, strangers) = without_strangers(able);
        let connected: Vec<_> = able.iter().filter(|session| session.is_connected()).collect();
        match (connected.as_slice(), able.as_slice()) {
            ([only], _) => Ok(Arc::clone(only)),
            ([], [only]) if !strangers.is_empty() => {
                let message = format!("{} is away", only.name);
                Err(Fault::new(Code::NotConnected, message).hint(format!(
                    "wait for it; others are there that nobody has vouched for: {}",
                    choices(&strangers)
                )))
            }
            // Nothing is sent to it, and the error of the call says that it is away.
            ([], [only]) => Ok(only.clone()),
            ([], []) => Err(Fault::new(Code::UnknownTool, format!("no session offers {what}"))
                .hint(choices(&self.sessions()))),
            _ => Err(Fault::new(
                Code::AmbiguousSession,
                format!("{} sessions offer {what} and none was named", able.len()),
            )
            .hint(choices(&able))),
        }
    }

    /// Calls a tool: chooses the session and the tab, and waits for the end. What the request says of
    /// its tab is what the client named; its effect is what the tool's owner says.
    pub async fn call_tool(
        &self,
        route: &Route,
        mut request: CallRequest,
    ) -> Result<(Arc<Session>, Json), Fault> {
        let Work::Tool { target, name, .. } = &request.work else {
            return Err(Fault::new(Code::Internal, "only tools are called by name"));
        };
        let is_browser = |session: &Session| session.kind == Kind::Browser;
        let session = match target {
            Target::App => self.route_to_app(route, name)?,
            Target::Command | Target::Page => self.route(route, name, is_browser)?,
        };
        match target {
            Target::App => {
                (request.effect, request.tab) = (session.app_effect(name)?, None);
            }
            Target::Page => {
                let client = &request.caller.client;
                request.tab = Some(session.known_tab(client, request.tab)?);
            }
            Target::Command => {}
        }
        match self.call(&session, request).await? {
            Reply::Result(result) => Ok((session, result)),
            Reply::State(_) | Reply::Tools(_) => {
                Err(Fault::new(Code::MalformedReply, "the browser answered another question"))
            }
        }
    }
}

impl Session {
    fn app_effect(&self, tool: &str) -> Result<Effect, Fault> {
        match self.app_tool(tool) {
            Some(spec) if spec.read_only => Ok(Effect::Read),
            Some(_) => Ok(Effect::Act),
            None => {
                let tools = self.info().tools;
                let names: Vec<_> =
                    tools.iter().take(LISTED).map(|tool| tool.name.as_str()).collect();
                let offers = match names.is_empty() {
                    true => "it offers no tools".to_owned(),
                    false => format!("it offers {}", names.join(", ")),
                };
                let message = format!("{} has no tool {:?}", self.name, shorten(tool, 80));
                Err(Fault::new(Code::UnknownTool, message).hint(offers))
            }
        }
    }
}

/// Leaves out who has not proven to be the one that was meant, where somebody has: a call that names
/// nobody is not for a stranger that came while the user's own browser is away. Returns the strangers
/// that are there besides.
fn without_strangers(able: Vec<Arc<Session>>) -> (Vec<Arc<Session>>, Vec<Arc<Session>>) {
    let (strangers, proven): (Vec<_>, Vec<_>) =
        able.into_iter().partition(|session| session.unproven);
    match proven.is_empty() {
        true => (strangers, proven),
        false => (proven, strangers.into_iter().filter(|it| it.is_connected()).collect()),
    }
}

/// Lists sessions whose names do not tell them apart.
fn choices_by_id(sessions: &[Arc<Session>]) -> String {
    let line = |session: &Arc<Session>| {
        let origin =
            session.origin.as_deref().map(|origin| format!(" of {}", page_text::address(origin)));
        format!("{} ({:?}{})", session.id, session.name, origin.unwrap_or_default())
    };
    let list: Vec<_> = sessions.iter().take(LISTED).map(line).collect();
    format!("name one as `session`: {}", list.join(", "))
}

/// Lists sessions so that one can be pasted back.
fn choices(sessions: &[Arc<Session>]) -> String {
    if sessions.is_empty() {
        return "no browser or app has connected yet".to_owned();
    }
    let line = |session: &Arc<Session>| {
        let away = if session.is_connected() { "" } else { ", away" };
        format!("{:?} ({}{away})", session.name, session.kind.as_str())
    };
    let mut list: Vec<_> = sessions.iter().take(LISTED).map(line).collect();
    if sessions.len() > LISTED {
        list.push(format!("and {} more", sessions.len() - LISTED));
    }
    format!("name one as `session`: {}", list.join(", "))
}
