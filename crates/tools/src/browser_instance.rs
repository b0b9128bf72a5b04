//! Tool `browser_instance`: which browsers and apps there are; starting and closing browsers.
//!
//! The work of starting and closing is in [`crate::launching`].

use hub::{Session, SessionInfo};
use launch::{BrowserInfo, Family};
use model::{Code, Fault};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Toolbox,
    definition::{Annotations, Client, CoreTool, Definition, Output, Work, decode},
    launching::{self, NewBrowser},
};

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool = CoreTool::own("browser_instance", "browse", define, run);

#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Action {
    #[default]
    List,
    New,
    Close,
    Profiles,
}

impl Action {
    fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::New => "new",
            Self::Close => "close",
            Self::Profiles => "profiles",
        }
    }
}

#[derive(Deserialize)]
struct Args {
    #[serde(default)]
    action: Action,
    headless: Option<bool>,
    profile: Option<String>,
    name: Option<String>,
    browser: Option<String>,
    url: Option<String>,
    session: Option<String>,
}

fn define() -> Definition {
    let families: Vec<_> = Family::ALL.iter().map(|family| family.as_str()).collect();
    Definition {
        name: TOOL.name.to_owned(),
        title: String::new(),
        description: "Connected browsers and apps: the names that `session` takes everywhere, \
            needed where several fit. new: starts a browser. close: ends one that was started."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "action": {"enum": ["list", "new", "close", "profiles"]},
                "headless": {"type": "boolean", "description": "no window"},
                "profile": {"type": "string", "description": "to keep; else thrown away"},
                "name": {"type": "string", "description": "of the new one", "unlisted": true},
                "browser": {"enum": families, "description": "new: which", "unlisted": true},
                "url": {"type": "string", "description": "to open"},
                "session": {"type": "string", "description": "to close"},
            },
            "additionalProperties": false,
        }),
        output_schema: Some(json!({
            "type": "object",
            "properties": {
                "sessions": {"type": "array", "items": {"type": "object", "properties": {
                    "session": {"type": "string"},
                    "id": {"type": "string"},
                    "kind": {"enum": ["browser", "app"]},
                    "connected": {"type": "boolean"},
                    "origin": {"type": ["string", "null"]},
                    "tools": {"type": "array", "items": {"type": "string"}},
                    "tabs": {"type": "array", "items": {"type": "object"}},
                }}},
                "browsers": {"type": "array", "items": {"type": "object"}},
                "session": {"type": "string"},
                "browser": {"type": "object"},
                "closed": {"type": "string"},
                "profiles": {"type": "array", "items": {"type": "object"}},
            },
        })),
        annotations: Annotations::reaching_pages(false),
    }
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let args: Args = decode(args)?;
        args.check()?;
        match args.action {
            Action::List => list(toolbox).await,
            Action::Profiles => launching::profiles(toolbox).await,
            Action::Close => {
                launching::close(toolbox, args.session.as_deref(), args.name.as_deref()).await
            }
            Action::New => {
                let browser = args.browser.as_deref().and_then(Family::parse);
                let Args { headless, profile, name, url, .. } = args;
                let new = NewBrowser { headless, profile, name, browser, url };
                launching::open(toolbox, client, new).await
            }
        }
    })
}

impl Args {
    /// Refuses arguments that the action would not look at.
    fn check(&self) -> Result<(), Fault> {
        use Action::{Close, New};
        let given = [
            ("headless", self.headless.is_some(), &[New][..]),
            ("profile", self.profile.is_some(), &[New]),
            ("browser", self.browser.is_some(), &[New]),
            ("url", self.url.is_some(), &[New]),
            ("name", self.name.is_some(), &[New, Close]),
            ("session", self.session.is_some(), &[Close]),
        ];
        match given.iter().find(|(_, given, by)| *given && !by.contains(&self.action)) {
            None => Ok(()),
            Some((name, _, by)) => {
                let by: Vec<_> = by.iter().map(|action| action.as_str()).collect();
                let (action, by) = (self.action.as_str(), by.join(" and "));
                let message = format!("{action} does not take `{name}`; it is for {by}");
                Err(Fault::new(Code::InvalidArgument, message))
            }
        }
    }
}

async fn list(toolbox: &Toolbox) -> Result<Output, Fault> {
    let sessions: Vec<_> =
        toolbox.hub.sessions().iter().map(|session| Session::info(session)).collect();
    let started: Vec<_> = launching::running(toolbox).await?;
    let (mut browsers, mut lines) = (Vec::new(), Vec::new());
    let mut marks = std::collections::HashMap::new();
    for BrowserInfo { record, adopted } in &started {
        let session = match &toolbox.launcher {
            Some(launcher) => launching::session_of(toolbox, launcher, &record.launch).await,
            None => None,
        };
        let mut shown = launching::show(record, session.as_deref());
        shown["adopted"] = json!(adopted);
        browsers.push(shown);
        let mark = format!(", started by us{}", launching::kind(record));
        match session {
            Some(session) => drop(marks.insert(session.id.clone(), mark)),
            None => lines.push(format!("- {} (browser, not connected{mark})", record.name)),
        }
    }
    let mark = |info: &SessionInfo| marks.get(&info.id).map_or("", String::as_str);
    let mut text: Vec<_> = sessions.iter().map(|info| line(info, mark(info))).collect();
    text.append(&mut lines);
    if text.is_empty() {
        text.push("no browser or app has connected yet".to_owned());
    }
    let list: Vec<_> = sessions.iter().map(show).collect();
    let mut structured = json!({ "sessions": list });
    if !browsers.is_empty() {
        structured["browsers"] = json!(browsers);
    }
    Ok(Output { text: text.join("\n"), structured, ..Output::default() })
}

fn line(info: &SessionInfo, mark: &str) -> String {
    let away = if info.connected { "" } else { ", away" };
    let tools: Vec<_> = info.tools.iter().map(|tool| tool.name.as_str()).collect();
    let tools = if tools.is_empty() { String::new() } else { format!(": {}", tools.join(", ")) };
    let tabs = match info.tabs.len() {
        0 => String::new(),
        count => format!(", {count} tabs"),
    };
    format!("- {} ({}{away}{tabs}{mark}){tools}", info.name, info.kind.as_str())
}

/// Shows a session to a program, in this tool and wherever else an AI client meets it.
pub fn show(info: &SessionInfo) -> Value {
    let tools: Vec<_> = info.tools.iter().map(|tool| tool.name.as_str()).collect();
    let tabs: Vec<_> = info
        .tabs
        .iter()
        .map(|tab| json!({"tab": tab.id.0, "title": tab.title, "url": tab.url, "active": tab.active}))
        .collect();
    json!({
        "session": info.name,
        "id": info.id.as_str(),
        "kind": info.kind.as_str(),
        "connected": info.connected,
        "origin": info.origin,
        "tools": tools,
        "tabs": tabs,
    })
}
