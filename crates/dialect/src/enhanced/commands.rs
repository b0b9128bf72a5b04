//! What the extension of browsermcp-enhanced can do, and our commands in its words.
//!
//! It finds elements by the references of its own snapshots and by nothing else. A tab is closed by
//! its place in the window, so its place is looked up first.

use model::{Call, Code, Fault, Json, TabId, Target, Work};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::NAME;
use crate::foreign::{self, args::Args};

/// The commands that it can do.
pub const NAMES: &[&str] = &[
    "browser_tab_list",
    "browser_tab_new",
    "browser_tab_close",
    "browser_tab_activate",
    "browser_navigate",
    "browser_reload",
    "browser_go_back",
    "browser_go_forward",
    "browser_wait_for",
    "browser_snapshot",
    "browser_mouse_click",
    "browser_hover",
    "browser_type",
    "browser_select",
    "browser_screenshot",
    "browser_evaluate",
];

/// One frame to the client, without its envelope.
#[derive(Debug)]
pub struct Command {
    /// The client's name for it.
    pub name: &'static str,
    /// What it is given.
    pub payload: Map<String, Value>,
    /// The tab that the call names; none where it names none.
    pub tab: Option<TabId>,
    /// What its answer means.
    pub step: Step,
}

/// What the answer to a frame means.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// The result as it came.
    Plain,
    /// A picture, whose bytes get our own shape.
    Picture,
    /// A list of tabs, which is taken note of.
    Tabs,
    /// All tabs, of which this one is to be closed.
    CloseAfterList(TabId),
    /// A tab that was opened, with the address that was asked for.
    Opened(Option<String>),
    /// This tab was closed.
    Closed(TabId),
    /// This tab was brought to the front.
    Focused(TabId),
}

impl Command {
    fn new(name: &'static str, tab: Option<TabId>, step: Step) -> Self {
        Self { name, payload: Map::new(), tab, step }
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.payload.insert(name.to_owned(), value.into());
        self
    }
}

/// Translates a call into its first frame.
pub fn translate(call: &Call) -> Result<Command, Fault> {
    let nothing = || Json::of(&json!({}));
    let (name, args) = match &call.work {
        Work::Tool { target: Target::Command, name, args } => (name.as_str(), args.clone()),
        Work::OpenTab { url, .. } => ("browser_tab_new", Json::of(&json!({ "url": url }))),
        Work::CloseTab => ("browser_tab_close", nothing()),
        Work::FocusTab => ("browser_tab_activate", nothing()),
        work => return Err(foreign::cannot(NAME, foreign::name_of(work), NAMES)),
    };
    let mut args = Args::of(&args);
    match name {
        "browser_tab_list" | "browser_tab_new" | "browser_tab_close" | "browser_tab_activate" => {
            about_tabs(name, &mut args, call.tab)
        }
        "browser_navigate" | "browser_reload" | "browser_go_back" | "browser_go_forward"
        | "browser_wait_for" => moving(name, &mut args, call.tab),
        "browser_mouse_click" | "browser_hover" | "browser_type" | "browser_select" => {
            by_reference(name, &mut args, call.tab)
        }
        "browser_snapshot" | "browser_screenshot" | "browser_evaluate" => {
            looking(name, &mut args, call.tab)
        }
        other => Err(foreign::cannot(NAME, other, NAMES)),
    }
}

fn about_tabs(name: &str, args: &mut Args, tab: Option<TabId>) -> Result<Command, Fault> {
    Ok(match name {
        "browser_tab_list" => Command::new("tabs.list", tab, Step::Tabs),
        "browser_tab_new" => {
            // A new tab always comes to the front.
            args.skip(&["active"]);
            args.only(NAME, name, &["url"])?;
            let url = args.text("url");
            let command = Command::new("tabs.new", None, Step::Opened(url.clone()));
            match url {
                Some(url) => command.with("url", url),
                None => command,
            }
        }
        "browser_tab_close" => {
            let tab = foreign::tab_of(tab)?;
            Command::new("tabs.list", Some(tab), Step::CloseAfterList(tab))
        }
        _ => {
            let tab = foreign::tab_of(tab)?;
            Command::new("browser_activate_tab", Some(tab), Step::Focused(tab)).with("tabId", tab.0)
        }
    })
}

/// Closes a tab by its place, which is not unique when there are several windows: the client takes
/// the first tab with that place, or the first of those in front.
pub fn close(wanted: TabId, list: &RawValue) -> Result<Command, Fault> {
    #[derive(Deserialize)]
    struct Placed {
        id: u64,
        #[serde(default)]
        index: Option<u64>,
        #[serde(default)]
        active: bool,
    }
    let tabs: Vec<Placed> = foreign::each(Some(list), usize::MAX);
    let is_it = |tab: &&Placed| tab.id == wanted.0;
    let Some(tab) = tabs.iter().find(is_it) else {
        return Err(Fault::new(Code::UnknownTab, format!("there is no tab {wanted}"))
            .hint("browser_tab list shows the tabs"));
    };
    let command = Command::new("tabs.close", Some(wanted), Step::Closed(wanted));
    let first_there = tabs.iter().find(|other| other.index == tab.index);
    match tab.index {
        Some(index) if first_there.as_ref().is_some_and(is_it) => Ok(command.with("index", index)),
        _ if tabs.iter().find(|tab| tab.active).as_ref().is_some_and(is_it) => Ok(command),
        _ => Err(Fault::new(
            Code::Unsupported,
            format!("{NAME} closes a tab by its place, and another window has one there too"),
        )
        .hint("close it by hand, or move it to the first window")),
    }
}

fn moving(name: &str, args: &mut Args, tab: Option<TabId>) -> Result<Command, Fault> {
    let plain = |name| Command::new(name, tab, Step::Plain);
    Ok(match name {
        "browser_navigate" => {
            // It waits until the page has loaded, and the earlier moment is over by then.
            args.only_values(NAME, "waitUntil", &["load", "domcontentloaded"])?;
            args.skip(&["waitUntil", "timeoutMs"]);
            args.only(NAME, name, &["url"])?;
            plain("browser_navigate").with("action", "goto").with("url", args.need("url")?)
        }
        "browser_reload" => {
            args.usual("ignoreCache", false);
            args.only(NAME, name, &[])?;
            plain("browser_refresh")
        }
        "browser_go_back" => plain("browser_go_back"),
        "browser_go_forward" => plain("browser_go_forward"),
        _ => {
            args.skip(&["timeoutMs"]);
            args.only(NAME, name, &["timeMs"])?;
            // The client counts milliseconds, whatever its own server's tool says.
            plain("browser_wait").with("time", args.need("timeMs")?)
        }
    })
}

fn by_reference(name: &str, args: &mut Args, tab: Option<TabId>) -> Result<Command, Fault> {
    let (wire, takes): (_, &[&str]) = match name {
        "browser_mouse_click" => ("dom.click", &["ref"]),
        "browser_hover" => ("dom.hover", &["ref"]),
        "browser_type" => ("dom.type", &["ref", "text", "submit"]),
        _ => ("dom.select", &["ref", "value", "label", "values"]),
    };
    if name == "browser_mouse_click" {
        args.usual("button", "left");
        args.usual("clickCount", 1);
    }
    // It sets the whole text at once.
    args.skip(&["delayMs"]);
    if !args.has("ref") {
        let message = format!("{NAME} finds elements only by the `ref` of its snapshot");
        return Err(Fault::new(Code::Unsupported, message)
            .hint("take a snapshot and give the ref of the element"));
    }
    args.only(NAME, name, takes)?;
    let mut command =
        Command::new(wire, tab, Step::Plain).with("ref", args.take("ref").unwrap_or_default());
    match wire {
        "dom.type" => {
            command = command.with("text", args.need("text")?);
            command = command.with("submit", args.take("submit") == Some(json!(true)));
        }
        "dom.select" => command = command.with("values", chosen(args)?),
        _ => {}
    }
    Ok(command)
}

/// The client compares each with the values and the visible texts of the options.
fn chosen(args: &mut Args) -> Result<Value, Fault> {
    if let Some(values) = args.take("values") {
        return Ok(values);
    }
    let one = args.take("value").or_else(|| args.take("label"));
    one.map(|one| json!([one])).ok_or_else(|| {
        Fault::new(Code::InvalidArgument, "which option to select is missing")
            .hint("give value, label or values")
    })
}

fn looking(name: &str, args: &mut Args, tab: Option<TabId>) -> Result<Command, Fault> {
    match name {
        "browser_snapshot" => {
            args.only(NAME, name, &["mode", "level"])?;
            let mut command = Command::new("snapshot.accessibility", tab, Step::Plain);
            for name in ["mode", "level"] {
                if let Some(value) = args.take(name) {
                    command = command.with(name, value);
                }
            }
            Ok(command)
        }
        "browser_screenshot" => {
            args.usual("fullPage", false);
            args.only(NAME, name, &["format", "quality"])?;
            // Both are left out: the result says what kind of picture it is.
            Ok(Command::new("screenshot.capture", tab, Step::Picture))
        }
        _ => {
            // The client waits for whatever comes back.
            args.skip(&["awaitPromise"]);
            args.only(NAME, name, &["expression"])?;
            let code = args.need("expression")?;
            Ok(Command::new("js.execute", tab, Step::Plain).with("code", code))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_close(wanted: u64, tabs: Value, expected: Result<Value, &str>) {
        let list = serde_json::value::to_raw_value(&tabs).unwrap();
        let closed = close(TabId(wanted), &list)
            .map(|command| Value::Object(command.payload))
            .map_err(|fault| fault.code.as_str().to_owned());
        assert_eq!(closed, expected.map_err(str::to_owned), "{tabs}");
    }

    #[test]
    fn no_other_tab_than_the_wanted_one_is_closed() {
        let tabs = json!([
            {"id": 1, "index": 0, "active": false}, {"id": 2, "index": 1, "active": true},
            {"id": 3, "index": 0, "active": true}, {"id": 4, "index": 2, "active": false},
        ]);
        check_close(1, tabs.clone(), Ok(json!({"index": 0})));
        check_close(4, tabs.clone(), Ok(json!({"index": 2})));
        check_close(3, tabs.clone(), Err("unsupported"));
        check_close(9, tabs, Err("unknown_tab"));
        let front = json!([{"id": 5, "index": 0}, {"id": 6, "index": 0, "active": true}]);
        check_close(6, front, Ok(json!({})));
    }
}
