//! The servers: how each is started, and how it wants to be asked.
//!
//! All of them are asked over MCP on stdio. The others start a headless Chromium of their own and
//! drive it over its debugging protocol; Tabwire has its hub start one and drives it through the
//! extension. Everything is left at its defaults but for what makes a server faster and is offered
//! to everybody who reads its help.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{
    client::{Answer, Client},
    place::Place,
};
use crate::shell;

/// Ours; the ratios are to it.
pub const OURS: &str = "Tabwire";
/// The closest to ours; tasks are done with it too.
pub const PLAYWRIGHT: &str = "@playwright/mcp";
/// The same without its wait after each action.
pub const PLAYWRIGHT_AT_ONCE: &str = "@playwright/mcp --timeout-settle 0";
const DEVTOOLS: &str = "chrome-devtools-mcp";
const AGENT_BROWSER: &str = "agent-browser";
/// Everybody, in the order of the table.
pub const NAMES: [&str; 5] = [OURS, PLAYWRIGHT, PLAYWRIGHT_AT_ONCE, DEVTOOLS, AGENT_BROWSER];

/// Where the others are installed.
const FOLDER: &str = "web/peers";
/// The browser of everybody.
const CHROMIUM: &str = "/usr/bin/chromium";

/// Installs the others, in the versions that their lock file names, and no browsers.
pub fn install() -> Result<()> {
    shell::ensure_program("npm", "npm")?;
    let line = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"];
    let no_browsers = [("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"), ("PUPPETEER_SKIP_DOWNLOAD", "1")];
    shell::run_with(FOLDER, &line, &no_browsers)
}

/// Returns what the browser calls itself.
pub fn chromium() -> Result<String> {
    Ok(shell::output("", &[CHROMIUM, "--version"])?.trim().to_owned())
}

/// A running server.
pub struct System {
    client: Client,
    manner: Manner,
    /// The tools, as they are sent.
    pub tools: Vec<Value>,
    /// Goes last: it ends whatever is left.
    place: Place,
}

/// A tool and its arguments.
type Call = (&'static str, Value);

/// How a server wants to be asked.
struct Manner {
    /// With an expression.
    evaluate: fn(&str) -> Call,
    /// As it comes when nothing is asked for in particular.
    snapshot: fn() -> Call,
    /// With a reference from a snapshot.
    click: fn(&str) -> Call,
    /// With an address.
    navigate: fn(&str) -> Call,
    /// With words to look for, where it can.
    find: Option<fn(&str) -> Call>,
    /// With what [`System::before_difference`] took a note of, where it can.
    difference: Option<Difference>,
    /// Of what is in view.
    screenshot: fn() -> Call,
    /// What stands before and after the reference in a line of a snapshot.
    reference: (&'static str, &'static [char]),
    /// The tool that ends its browser, where the end of the conversation does not.
    close: Option<&'static str>,
}

/// How a server tells what differs.
enum Difference {
    /// Since a version, which stands in each snapshot between these.
    Since(&'static str, fn(&str) -> Call),
    /// Since the last time that this was called.
    SinceLast(fn() -> Call),
}

impl System {
    /// Starts a server and its browser.
    pub fn start(name: &str, binary: &str) -> Result<Self> {
        shell::say(&format!("starting {name}"));
        let number = NAMES.iter().position(|known| *known == name).unwrap_or_default();
        let place = Place::create(&number.to_string())?;
        match Self::start_in(&place, name, binary) {
            Ok((client, manner, tools)) => Ok(Self { client, manner, tools, place }),
            Err(why) => match place.complaints() {
                said if said.is_empty() => Err(why),
                said => Err(why.context(said)),
            },
        }
    }

    fn start_in(place: &Place, name: &str, binary: &str) -> Result<(Client, Manner, Vec<Value>)> {
        let (command, manner) = match name {
            PLAYWRIGHT => (playwright(place, &[])?, PLAYWRIGHT_MANNER),
            PLAYWRIGHT_AT_ONCE => {
                (playwright(place, &["--timeout-settle", "0"])?, PLAYWRIGHT_MANNER)
            }
            DEVTOOLS => (devtools(place)?, DEVTOOLS_MANNER),
            AGENT_BROWSER => (agent_browser(place)?, AGENT_BROWSER_MANNER),
            _ => (tabwire(place, binary)?, TABWIRE_MANNER),
        };
        let mut client = Client::start(command)?;
        let tools = client.tools()?;
        match name {
            OURS => {
                let new = json!({"action": "new", "headless": true, "browser": "chromium"});
                client.call("browser_instance", &new)?;
            }
            // Its first page has a number, and it must be started to have one.
            DEVTOOLS => drop(client.call("list_pages", &json!({}))?),
            _ => {}
        }
        Ok((client, manner, tools))
    }

    /// Evaluates an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Result<Answer> {
        self.call((self.manner.evaluate)(expression))
    }

    /// Takes a snapshot.
    pub fn snapshot(&mut self) -> Result<Answer> {
        self.call((self.manner.snapshot)())
    }

    /// Returns the references of what a snapshot has folded. Only Tabwire folds.
    pub fn folded(&self, snapshot: &Answer) -> Vec<String> {
        let text = snapshot.text();
        let marks = text.split("[open=").skip(1).filter_map(|rest| rest.split(']').next());
        marks.map(str::to_owned).collect()
    }

    /// Shows what was folded.
    pub fn open(&mut self, reference: &str) -> Result<Answer> {
        let (tool, mut args) = (self.manner.snapshot)();
        args["open"] = json!(reference);
        self.call((tool, args))
    }

    /// Takes the part of a snapshot that follows another one; `None` after the last. Only Tabwire
    /// gives snapshots in parts.
    pub fn snapshot_after(&mut self, part: &Answer) -> Result<Option<Answer>> {
        let text = part.text();
        let rest = text.rsplit_once("more follows: pass cursor \"");
        let Some(cursor) = rest.and_then(|(_, rest)| rest.split('"').next()) else {
            return Ok(None);
        };
        let (tool, mut args) = (self.manner.snapshot)();
        args["cursor"] = json!(cursor);
        self.call((tool, args)).map(Some)
    }

    /// Looks for words; `None` where there is no tool for it.
    pub fn find(&mut self, words: &str) -> Result<Option<Answer>> {
        self.manner.find.map(|find| self.call(find(words))).transpose()
    }

    /// Takes a note of how the page is now, after a snapshot; `None` where nobody tells what
    /// differs.
    pub fn before_difference(&mut self, snapshot: &Answer) -> Result<Option<String>> {
        match self.manner.difference {
            Some(Difference::Since(before, _)) => {
                let text = snapshot.text();
                let version = text.split_once(before).and_then(|(_, rest)| rest.split(']').next());
                Ok(Some(version.context("a snapshot without its version")?.to_owned()))
            }
            Some(Difference::SinceLast(call)) => {
                self.call(call())?;
                Ok(Some(String::new()))
            }
            None => Ok(None),
        }
    }

    /// Asks what differs since a note was taken.
    pub fn difference(&mut self, note: &str) -> Result<Answer> {
        match self.manner.difference {
            Some(Difference::Since(_, call)) => self.call(call(note)),
            Some(Difference::SinceLast(call)) => self.call(call()),
            None => bail!("nothing tells what differs"),
        }
    }

    /// Takes a picture of what is in view.
    pub fn screenshot(&mut self) -> Result<Answer> {
        self.call((self.manner.screenshot)())
    }

    /// Clicks on what a reference means.
    pub fn click(&mut self, reference: &str) -> Result<Answer> {
        self.call((self.manner.click)(reference))
    }

    /// Goes to an address.
    pub fn navigate(&mut self, url: &str) -> Result<Answer> {
        self.call((self.manner.navigate)(url))
    }

    /// Finds the reference of the first line with these words in a snapshot.
    pub fn reference(&self, snapshot: &Answer, words: &str) -> Result<String> {
        let text = snapshot.text();
        let (before, after) = self.manner.reference;
        let mut lines = text.lines().filter(|line| line.contains(words));
        // A row of a table can have several things, each with its reference behind it.
        let behind = |line: &str| line.find(words).unwrap_or_default();
        let read = |part: &str| {
            let (_, rest) = part.split_once(before)?;
            rest.split(after).next().map(str::to_owned)
        };
        let found = lines.find_map(|line| read(&line[behind(line)..]).or_else(|| read(line)));
        found.with_context(|| format!("{words:?} is not in\n{text}"))
    }

    /// Reads a value from the page itself.
    pub fn read(&mut self, expression: &str) -> Result<String> {
        // Some repeat the expression in their answer, so the marks must not be in it as they are.
        let marked = format!("'<' + '<' + ({expression}) + '>' + '>'");
        let text = self.evaluate(&marked)?.text();
        let inside = text.split("<<").nth(1).and_then(|rest| rest.split(">>").next());
        Ok(inside.with_context(|| format!("{expression}: {text}"))?.to_owned())
    }

    /// Calls a tool that may say that it failed.
    pub fn ask(&mut self, tool: &str, args: &Value) -> Result<Answer> {
        self.client.ask(tool, args)
    }

    /// Returns the folder that the server runs in and may read.
    pub fn folder(&self) -> PathBuf {
        self.place.work()
    }

    /// Ends the server and its browser.
    pub fn close(mut self) {
        if let Some(tool) = self.manner.close {
            // What does not end now is ended with the folder.
            let _ = self.client.call(tool, &json!({}));
        }
        self.client.close();
    }

    fn call(&mut self, (tool, args): Call) -> Result<Answer> {
        self.client.call(tool, &args)
    }
}

/// Returns the version of a package, as it is pinned.
pub fn version(name: &str) -> String {
    let package = name.split(' ').next().unwrap_or_default();
    let text = std::fs::read_to_string(shell::root().join(FOLDER).join("package.json"));
    let manifest: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
    manifest["dependencies"][package].as_str().unwrap_or_default().to_owned()
}

fn module(path: &str) -> PathBuf {
    shell::root().join(FOLDER).join("node_modules").join(path)
}

const TABWIRE_MANNER: Manner = Manner {
    evaluate: |expression| ("browser_execute", json!({"expression": expression})),
    snapshot: || ("browser_snapshot", json!({})),
    click: |reference| ("browser_interact", json!({"action": "click", "ref": reference})),
    navigate: |url| ("browser_navigate", json!({"url": url})),
    find: Some(|words| ("browser_snapshot", json!({"find": words}))),
    difference: Some(Difference::Since("[version=", |version| {
        ("browser_snapshot", json!({"since": version}))
    })),
    screenshot: || ("browser_content", json!({"action": "screenshot"})),
    reference: ("[ref=", &[']', ' ', ',']),
    close: None,
};

/// A hub with the usual settings, started by the first relay as it is for everybody.
fn tabwire(place: &Place, binary: &str) -> Result<Command> {
    let program = shell::root().join(binary);
    ensure!(program.is_file(), "{binary} has not been built");
    let mut command = place.command(&program)?;
    command.args(["stdio", "--port", "0"]).env("TABWIRE_DISCOVERY", place.path().join("run"));
    Ok(command)
}

const PLAYWRIGHT_MANNER: Manner = Manner {
    evaluate: |expression| ("browser_evaluate", json!({"function": format!("() => {expression}")})),
    snapshot: || ("browser_snapshot", json!({})),
    click: |reference| ("browser_click", json!({"target": reference})),
    navigate: |url| ("browser_navigate", json!({"url": url})),
    find: Some(|words| ("browser_find", json!({"text": words}))),
    difference: None,
    screenshot: || ("browser_take_screenshot", json!({})),
    reference: ("[ref=", &[']']),
    close: None,
};

fn playwright(place: &Place, more: &[&str]) -> Result<Command> {
    let mut command = place.command(Path::new("node"))?;
    command.arg(module("@playwright/mcp/cli.js"));
    command.args(["--headless", "--isolated", "--no-sandbox", "--browser", "chromium"]);
    command.args(["--executable-path", CHROMIUM]).args(more);
    Ok(command)
}

const DEVTOOLS_MANNER: Manner = Manner {
    // Its help says to pass `false` when a script only reads; waiting costs 200 ms.
    evaluate: |expression| {
        let function = format!("() => {expression}");
        let args = json!({"pageId": 1, "function": function, "waitForStableDom": false});
        ("evaluate_script", args)
    },
    snapshot: || ("take_snapshot", json!({"pageId": 1})),
    click: |reference| ("click", json!({"pageId": 1, "uid": reference})),
    navigate: |url| ("navigate_page", json!({"pageId": 1, "type": "url", "url": url})),
    find: None,
    difference: None,
    screenshot: || ("take_screenshot", json!({"pageId": 1})),
    reference: ("uid=", &[' ']),
    close: None,
};

fn devtools(place: &Place) -> Result<Command> {
    let mut command = place.command(Path::new("node"))?;
    command.arg(module("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"));
    command.args(["--headless", "--isolated", "--executablePath", CHROMIUM]);
    command.args(["--chromeArg=--no-sandbox", "--no-usage-statistics", "--no-performance-crux"]);
    Ok(command)
}

const AGENT_BROWSER_MANNER: Manner = Manner {
    evaluate: |expression| ("agent_browser_eval", json!({"script": expression})),
    snapshot: || ("agent_browser_snapshot", json!({})),
    click: |reference| ("agent_browser_click", json!({"selector": format!("@{reference}")})),
    navigate: |url| ("agent_browser_open", json!({"url": url})),
    find: None,
    difference: Some(Difference::SinceLast(|| ("agent_browser_snapshot", json!({"delta": true})))),
    screenshot: || ("agent_browser_screenshot", json!({})),
    reference: ("ref=", &[']', ',']),
    close: Some("agent_browser_close"),
};

/// Its program as it is, without the script of its package that would only start it.
fn agent_browser(place: &Place) -> Result<Command> {
    let kind = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    };
    let program = module("agent-browser/bin").join(format!("agent-browser-linux-{kind}"));
    let mut command = place.command(&program)?;
    command.arg("mcp").env("AGENT_BROWSER_EXECUTABLE_PATH", CHROMIUM);
    command.env("AGENT_BROWSER_ARGS", "--no-sandbox");
    command.env("AGENT_BROWSER_SOCKET_DIR", place.path().join("run"));
    Ok(command)
}
