//! Dialect `webmcp`: the extension of ripulio/browser-mcp, which runs the tools that pages declare.
//!
//! The client waits for `connect` and answers with its browser and tabs; it tells of tabs before
//! that too, which nobody needs. Tools of pages meet by `callId`; opening a tab by `requestId`,
//! in one of two messages; closing and focusing only by the tab, and a tab that does not exist
//! gets no answer at all. It tells the same event several times.
//!
//! - [`frames`]: its messages as they stand on the wire.

pub mod frames;

use std::time::Duration;

use model::{
    Call, CallId, Change, Code, Fault, FromBrowser, Json, Kind, Reply, TabId, Target, ToBrowser,
    Work, json::cut,
};
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    Dialect, DialectInfo, Frame, Liveness, Output, PingBy,
    foreign::{
        self,
        args::Args,
        pending::Pending,
        tabs::{self, KnownTabs, TABS, WireTab},
    },
};
use frames::{AboutTab, AboutTabId, CallTool, Connected, ToolResult};

/// Its name in configuration, logs and metrics.
pub const NAME: &str = "webmcp";

/// Its entry in the register.
pub const INFO: DialectInfo = DialectInfo {
    name: NAME,
    serves: "the extension of ripulio/browser-mcp",
    subprotocol: None,
    kind: Some(Kind::Browser),
    compat_port: None,
    liveness: LIVENESS,
    start: |_| Box::<Webmcp>::default(),
};

/// The client pings every 20 s by itself.
const LIVENESS: Liveness = Liveness {
    ask_after: Duration::from_secs(30),
    dead_after: Duration::from_secs(15),
    ping_by: PingBy::Protocol,
};

/// What we call ourselves in every message; the client only repeats it.
const SESSION: &str = "tabwire";
/// Characters of a version that are shown.
const VERSION: usize = 64;

/// The commands that it can do.
const COMMANDS: &[&str] = &["browser_tab_new", "browser_tab_close", "browser_tab_activate"];

/// One connection's machine.
#[derive(Default)]
pub struct Webmcp {
    introduced: bool,
    tabs: KnownTabs,
    pending: Pending<Waiting>,
}

/// What a call waits for that its answer does not tell by itself.
#[derive(PartialEq)]
enum Waiting {
    /// A tab with this address.
    Open(String),
    /// The end of a tab.
    Close(TabId),
    /// A tab in front.
    Focus(TabId),
    /// The page in a tab.
    Page(TabId),
}

impl Dialect for Webmcp {
    fn open(&mut self) -> Vec<Output> {
        vec![foreign::write(&json!({"type": "connect", "sessionId": SESSION}))]
    }

    fn receive(&mut self, frame: Frame<'_>) -> Vec<Output> {
        let taken = foreign::taken(frame, |kind, text| self.take(kind, text));
        taken.unwrap_or_else(|why| {
            vec![foreign::write(&json!({"type": "error", "sessionId": SESSION, "message": why}))]
        })
    }

    fn send(&mut self, message: ToBrowser) -> Vec<Output> {
        match message {
            ToBrowser::Call(call) => {
                vec![self.call(&call).unwrap_or_else(|fault| foreign::failed(call.id, fault))]
            }
            other => foreign::send_other(other, &mut self.pending),
        }
    }
}

impl Webmcp {
    fn take(&mut self, kind: &str, text: &str) -> Result<Vec<Output>, String> {
        match kind {
            "connected" => return Ok(self.connected(foreign::read(text)?)),
            "ping" => {
                return Ok(vec![foreign::write(&json!({"type": "pong"})), foreign::alive()]);
            }
            // Tabs that are told before the introduction are in its list too.
            "tabCreated" | "tabUpdated" | "tabClosed" | "tabFocused" | "toolsChanged"
                if !self.introduced =>
            {
                return Ok(Vec::new());
            }
            _ => {}
        }
        Ok(match kind {
            "disconnected" => {
                let message = "the extension says that it is disconnected".to_owned();
                vec![Output::Deliver(FromBrowser::Bye { message })]
            }
            "tabCreated" | "tabUpdated" => self.told_tab(foreign::read(text)?),
            "tabClosed" => self.told_closed(TabId(foreign::read::<AboutTabId>(text)?.tab_id)),
            "tabFocused" => self.told_focused(foreign::read(text)?),
            "toolsChanged" => {
                let AboutTabId { tab_id, tools, .. } = foreign::read(text)?;
                self.declared(TabId(tab_id), tools.as_deref(), true).into_iter().collect()
            }
            "toolsDiscovered" => self.told_tools(foreign::read(text)?),
            "toolResult" => vec![self.told_result(foreign::read(text)?)],
            other => return Err(format!("there is no message type {other:?} here")),
        })
    }

    fn connected(&mut self, told: Connected) -> Vec<Output> {
        let tabs: Vec<WireTab> = foreign::each(told.tabs.as_deref(), TABS);
        let changes = self.tabs.told_all(&tabs);
        let mut outputs: Vec<_> = match self.introduced {
            true => {
                let gone: Vec<_> = changes.iter().filter_map(closed).collect();
                let told: Vec<_> = changes.into_iter().map(foreign::changed).collect();
                let ended = gone.into_iter().flat_map(|id| self.ended_with(id));
                told.into_iter().chain(ended).collect()
            }
            false => {
                let name = told.browser["name"].as_str().unwrap_or(NAME);
                let mut hello = foreign::browser(foreign::place(NAME), name, COMMANDS);
                hello.version =
                    told.browser["version"].as_str().map(|version| cut(version, VERSION));
                hello.capabilities = vec!["discover_tools".to_owned()];
                hello.tabs = self.tabs.all().cloned().collect();
                hello.traits.nameless = true;
                hello.traits.may_double = true;
                vec![Output::Deliver(FromBrowser::Hello(hello.into()))]
            }
        };
        self.introduced = true;
        for tab in &tabs {
            outputs.extend(self.declared(TabId(tab.id), tab.tools.as_deref(), false));
        }
        outputs
    }

    fn told_tab(&mut self, told: AboutTab) -> Vec<Output> {
        let id = TabId(told.tab.id);
        let mut outputs: Vec<_> =
            self.tabs.told(&told.tab).map(foreign::changed).into_iter().collect();
        outputs.extend(self.declared(id, told.tab.tools.as_deref(), false));
        outputs.extend(self.opened(id, &told.request_id));
        outputs
    }

    fn told_closed(&mut self, id: TabId) -> Vec<Output> {
        let told = self.tabs.closed(id).map(foreign::changed);
        told.into_iter().chain(self.ended_with(id)).collect()
    }

    /// Ends the calls that were about a tab which is gone.
    fn ended_with(&mut self, id: TabId) -> Vec<Output> {
        let mut outputs = Vec::new();
        for call in self.pending.take_all(|waiting| *waiting == Waiting::Close(id)) {
            outputs.push(foreign::done(call, &json!({"tab": id.0, "closed": true})));
        }
        for call in self.pending.take_all(|waiting| *waiting == Waiting::Focus(id)) {
            outputs.push(foreign::failed(call, unknown(id)));
        }
        // The page that was asked is gone, and the client says nothing more about it.
        for call in self.pending.take_all(|waiting| *waiting == Waiting::Page(id)) {
            let message = format!("tab {id} was closed before its page answered");
            let fault = Fault::new(Code::OutcomeUnknown, message);
            outputs.push(foreign::failed(call, fault));
        }
        outputs
    }

    fn told_focused(&mut self, told: AboutTabId) -> Vec<Output> {
        let id = TabId(told.tab_id);
        let mut changes = Vec::new();
        if self.tabs.get(id).is_none() {
            changes.extend(self.tabs.told(&WireTab::of(id, None, None)));
        }
        changes.extend(self.tabs.focused(id));
        let mut outputs: Vec<_> = changes.into_iter().map(foreign::changed).collect();
        outputs.extend(self.declared(id, told.tools.as_deref(), false));
        for call in self.pending.take_all(|waiting| *waiting == Waiting::Focus(id)) {
            outputs.push(foreign::done(call, &json!({"tab": id.0, "focused": true})));
        }
        outputs.extend(self.opened(id, &told.request_id));
        outputs
    }

    /// Ends the call that opened a tab, if this is the answer to one.
    fn opened(&mut self, id: TabId, request: &Value) -> Option<Output> {
        if request.is_null() {
            return None;
        }
        let Some(call) = foreign::call_of(request) else { return Some(foreign::stray()) };
        let asked = match self.pending.take(call) {
            Some(Waiting::Open(url)) => Some(url),
            _ => None,
        };
        let known = self.tabs.get(id);
        let url = known.map(|tab| tab.url.clone()).filter(|url| !url.is_empty()).or(asked);
        let mut result = Map::from_iter([("tab".to_owned(), json!(id.0))]);
        result.extend(url.map(|url| ("url".to_owned(), json!(url))));
        let title = known.map(|tab| &tab.title).filter(|title| !title.is_empty());
        result.extend(title.map(|title| ("title".to_owned(), json!(title))));
        Some(foreign::done(call, &Value::Object(result)))
    }

    fn told_tools(&mut self, told: AboutTabId) -> Vec<Output> {
        let id = TabId(told.tab_id);
        let Some(call) = foreign::call_of(&told.call_id) else { return vec![foreign::stray()] };
        self.pending.take(call);
        let declared = self.declared(id, told.tools.as_deref(), true);
        let tools = tabs::tools(told.tools.as_deref());
        let end = foreign::ended(call, Ok(Reply::Tools(tools)));
        declared.into_iter().chain([end]).collect()
    }

    fn told_result(&mut self, told: ToolResult) -> Output {
        let Some(call) = foreign::call_of(&told.call_id) else { return foreign::stray() };
        self.pending.take(call);
        match &told.error {
            // An empty text is no error for this client.
            Value::Null => foreign::carried(call, told.result),
            Value::String(text) if text.is_empty() => foreign::carried(call, told.result),
            error => foreign::failed(call, foreign::failure(None, &foreign::words(error))),
        }
    }

    /// Delivers the tools of a page. In news about tabs the client always leaves them empty,
    /// which says nothing; only where tools are the subject does an empty list mean none.
    fn declared(&mut self, id: TabId, told: Option<&RawValue>, even_none: bool) -> Option<Output> {
        let tools = tabs::tools(told);
        if tools.is_empty() && !even_none {
            return None;
        }
        self.tabs.declared(id, tools).map(foreign::changed)
    }

    fn call(&mut self, call: &Call) -> Result<Output, Fault> {
        match &call.work {
            Work::Tool { target: Target::Page, name, args } => {
                let tab = self.known(call.tab)?;
                self.pending.add(call.id, Waiting::Page(tab));
                Ok(foreign::write(&CallTool {
                    kind: "callTool",
                    session_id: SESSION,
                    call_id: call.id.to_string(),
                    tab_id: tab.0,
                    tool_name: name,
                    args: args.raw(),
                }))
            }
            Work::Tool { target: Target::Command, name, args } => self.command(call, name, args),
            Work::OpenTab { url, focus } => Ok(self.open_tab(call.id, url, *focus)),
            Work::CloseTab => self.close_tab(call),
            Work::FocusTab => self.focus_tab(call),
            Work::DiscoverTools => {
                let tab = self.known(call.tab)?;
                self.pending.add(call.id, Waiting::Page(tab));
                Ok(foreign::write(&json!({
                    "type": "discoverTools",
                    "sessionId": SESSION,
                    "callId": call.id.to_string(),
                    "tabId": tab.0,
                })))
            }
            work => Err(foreign::cannot(NAME, foreign::name_of(work), &can())),
        }
    }

    fn command(&mut self, call: &Call, name: &str, args: &Json) -> Result<Output, Fault> {
        let mut args = Args::of(args);
        match name {
            "browser_tab_new" => {
                args.only(NAME, name, &["url", "active"])?;
                let url = args.text("url").unwrap_or_else(|| "about:blank".to_owned());
                Ok(self.open_tab(call.id, &url, args.take("active") == Some(json!(true))))
            }
            "browser_tab_close" => self.close_tab(call),
            "browser_tab_activate" => self.focus_tab(call),
            other => Err(foreign::cannot(NAME, other, &can())),
        }
    }

    fn open_tab(&mut self, call: CallId, url: &str, focus: bool) -> Output {
        self.pending.add(call, Waiting::Open(url.to_owned()));
        foreign::write(&json!({
            "type": "openTab",
            "sessionId": SESSION,
            "requestId": call.to_string(),
            "url": url,
            "focus": focus,
        }))
    }

    fn close_tab(&mut self, call: &Call) -> Result<Output, Fault> {
        let tab = self.known(call.tab)?;
        self.pending.add(call.id, Waiting::Close(tab));
        Ok(foreign::write(&json!({"type": "closeTab", "sessionId": SESSION, "tabId": tab.0})))
    }

    fn focus_tab(&mut self, call: &Call) -> Result<Output, Fault> {
        let tab = self.known(call.tab)?;
        self.pending.add(call.id, Waiting::Focus(tab));
        Ok(foreign::write(&json!({"type": "focusTab", "sessionId": SESSION, "tabId": tab.0})))
    }

    /// Returns the call's tab; of one that does not exist the client would never say a word.
    fn known(&self, tab: Option<TabId>) -> Result<TabId, Fault> {
        let tab = foreign::tab_of(tab)?;
        self.tabs.get(tab).map(|known| known.id).ok_or_else(|| unknown(tab))
    }
}

fn closed(change: &Change) -> Option<TabId> {
    match change {
        Change::TabClosed(id) => Some(*id),
        _ => None,
    }
}

fn unknown(tab: TabId) -> Fault {
    Fault::new(Code::UnknownTab, format!("there is no tab {tab}"))
        .hint("browser_tab list shows the tabs")
}

fn can() -> Vec<&'static str> {
    COMMANDS.iter().copied().chain(["the tools that pages declare"]).collect()
}

#[cfg(test)]
mod tests;
