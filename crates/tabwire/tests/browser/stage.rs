//! A hub, a browser that it has started, an AI client, and a site: what a journey needs.
//!
//! Most journeys borrow hub and browser from [`pool`]; those that break or count them have their
//! own. A journey that fails shows what its page looked like.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{HubOptions, HubProcess, McpHttp, Site, eventually, within};

use crate::pool::{self, Borrowed};

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_tabwire");
/// Where the pages are.
pub const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/pages");
/// How long a browser may take to come up on a busy machine.
const STARTING: Duration = Duration::from_secs(90);
/// When something that does not come back after a death counts as lost. No measure of how soon it
/// does: [`deaths`](crate::deaths) compares that with a start.
const LOST: Duration = Duration::from_secs(90);
/// How long a page may take to be shown after its test has failed.
const LAST_LOOK: Duration = Duration::from_secs(10);

/// Everything that a journey needs.
pub struct Stage {
    pub hub: Borrowed,
    pub site: Site,
    /// An AI client that has not called anything.
    pub client: Driver,
    /// The browser's session.
    pub session: String,
}

/// An AI client that says everything that it does by MCP.
pub struct Driver {
    mcp: McpHttp,
    name: String,
}

impl Stage {
    /// Borrows a hub with a browser, in which no client has a tab.
    pub async fn start() -> Self {
        Self::on(pool::borrow().await).await
    }

    /// Starts a hub and a browser that no other journey has.
    pub async fn alone() -> Self {
        Self::with(&[]).await
    }

    /// Starts a hub with flags, and a browser.
    pub async fn with(flags: &[&str]) -> Self {
        Self::of(HubOptions::new(PROGRAM).flags(flags)).await
    }

    /// Starts a hub that was prepared, and a browser.
    pub async fn of(options: HubOptions) -> Self {
        Self::on(pool::start(options).await).await
    }

    async fn on(hub: Borrowed) -> Self {
        let site = Site::start(PAGES).await;
        let (client, session) = (hub.client(pool::STARTER), hub.session().to_owned());
        Self { hub, site, client, session }
    }

    /// Borrows a hub with a browser, and opens a page.
    pub async fn at(path: &str) -> Self {
        let stage = Self::start().await;
        stage.open(path).await;
        stage
    }

    /// Makes another AI client of the same hub.
    pub fn another_client(&self, name: &str) -> Driver {
        self.hub.client(name)
    }

    /// Opens a page of the site in the client's tab.
    pub async fn open(&self, path: &str) -> Value {
        self.client.go(&self.site.url(path)).await
    }

    /// Returns what the page has seen since it was last asked, in its own words.
    pub async fn seen(&self) -> Vec<String> {
        self.client.seen(&self.site, json!({})).await
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if thread::panicking() {
            self.client.show_page(self.hub.port());
        }
    }
}

impl Driver {
    /// Makes a client of a hub.
    pub fn new(hub: &HubProcess, name: &str) -> Self {
        Self::at(hub.port(), name)
    }

    fn at(port: u16, name: &str) -> Self {
        let mcp = McpHttp::modern(port).named(name).header("Tabwire-Client", name);
        // Nothing takes longer than a browser that comes up.
        Self { mcp: mcp.patient(STARTING), name: name.to_owned() }
    }

    /// Makes a client that is bound to one browser.
    pub fn bound(hub: &HubProcess, name: &str, session: &str) -> Self {
        let driver = Self::new(hub, name);
        Self { mcp: driver.mcp.path(&format!("/mcp/{session}")), ..driver }
    }

    /// Has the hub start a browser; returns its session.
    pub async fn start_browser(&self, more: Value) -> String {
        let args = with(json!({"action": "new", "headless": true}), more);
        let started = within(STARTING, "a browser", self.call("browser_instance", args)).await;
        started["session"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned()
    }

    /// Returns the names of all tools that are listed.
    pub async fn tools(&self) -> Vec<String> {
        let listed = self.mcp.request("tools/list", json!({})).await.result();
        let tools = listed["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Lists the tools.
    pub async fn definitions(&self) -> Vec<Value> {
        let listed = self.mcp.request("tools/list", json!({})).await.result();
        listed["tools"].as_array().cloned().unwrap_or_default()
    }

    /// Calls a tool; returns the whole result, good or bad.
    pub async fn result(&self, tool: &str, args: Value) -> Value {
        self.mcp.call(tool, args).await.result()
    }

    /// Calls a tool that must work; returns the whole result.
    pub async fn works(&self, tool: &str, args: Value) -> Value {
        let shown = format!("{tool} {args}");
        let result = self.result(tool, args).await;
        assert_ne!(result["isError"], true, "{shown}: {result}");
        result
    }

    /// Calls a tool that must work; returns the structured result.
    pub async fn call(&self, tool: &str, args: Value) -> Value {
        self.works(tool, args).await["structuredContent"].clone()
    }

    /// Calls a tool that must work; returns the text for the model.
    pub async fn text(&self, tool: &str, args: Value) -> String {
        text_of(&self.works(tool, args).await)
    }

    /// Calls a tool that must fail with one of these codes, separated by `|`; returns the words.
    pub async fn fails(&self, tool: &str, args: Value, codes: &str) -> String {
        let shown = format!("{tool} {args}");
        let result = self.result(tool, args).await;
        assert_eq!(result["isError"], true, "{shown}: {result}");
        let found = code(&result);
        assert!(codes.split('|').any(|code| code == found), "{shown}: {codes}, not {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Reads a resource.
    pub async fn read(&self, uri: &str) -> Value {
        self.mcp.request("resources/read", json!({ "uri": uri })).await.result()
    }

    /// Goes to an address.
    pub async fn go(&self, url: &str) -> Value {
        self.call("browser_navigate", json!({"url": url})).await
    }

    /// Does something in the page.
    pub async fn interact(&self, action: &str, more: Value) -> Value {
        self.call("browser_interact", with(json!({"action": action}), more)).await
    }

    /// Tries something in the page that must fail; returns the words.
    pub async fn refused(&self, action: &str, more: Value, codes: &str) -> String {
        self.fails("browser_interact", with(json!({"action": action}), more), codes).await
    }

    /// Clicks on what a selector finds.
    pub async fn click(&self, selector: &str) -> Value {
        self.interact("click", json!({"selector": selector})).await
    }

    /// Does something with tabs.
    pub async fn tab(&self, action: &str, more: Value) -> Value {
        self.call("browser_tab", with(json!({"action": action}), more)).await
    }

    /// Waits until the list has a tab that fits, and returns it: tabs are told after what a call
    /// does to them.
    pub async fn listed(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        eventually(what, async || {
            let list = self.tab("list", json!({})).await;
            list["tabs"].as_array().unwrap().iter().find(|entry| fits(entry)).cloned()
        })
        .await
    }

    /// Opens a tab; returns its number.
    pub async fn new_tab(&self, url: &str) -> u64 {
        let opened = self.tab("new", json!({"url": url})).await;
        opened["tab"].as_u64().unwrap_or_else(|| panic!("{opened}"))
    }

    /// Takes a snapshot, as a model reads it.
    pub async fn snapshot(&self) -> String {
        self.text("browser_snapshot", json!({})).await
    }

    /// Finds the reference of the first line of a snapshot that has these words.
    pub async fn reference(&self, words: &str) -> String {
        reference_in(&self.snapshot().await, words)
    }

    /// Prints what the client's page looks like, for a test that fails.
    fn show_page(&self, port: u16) {
        // On a thread of its own: the test's runtime is unwinding.
        let name = self.name.clone();
        let asking = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let driver = Self::at(port, &name);
                let asked = driver.result("browser_snapshot", json!({"timeoutMs": 3000}));
                tokio::time::timeout(LAST_LOOK, asked).await
            })
        });
        match asking.join() {
            Ok(Ok(shown)) => eprintln!("--- the page of {}:\n{}---", self.name, text_of(&shown)),
            _ => eprintln!("--- the page of {} cannot be shown ---", self.name),
        }
    }

    /// Asks the page itself.
    pub async fn evaluate(&self, expression: &str) -> Value {
        let answer = self.call("browser_execute", json!({"expression": expression})).await;
        answer.get("result").cloned().unwrap_or(answer)
    }

    /// Returns what a page with `kit.js` has seen since it was last asked; `tab` may be in `more`.
    pub async fn seen(&self, site: &Site, more: Value) -> Vec<String> {
        static ASKED: AtomicU64 = AtomicU64::new(0);
        let name = format!("seen-{}", ASKED.fetch_add(1, Ordering::Relaxed));
        let ask = json!({"expression": format!("tell('{name}')")});
        self.call("browser_execute", with(ask, more)).await;
        let told = site.report(&name).await;
        told.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    }
}

/// Calls until it works; returns the result.
pub async fn until_it_works(call: impl AsyncFnMut() -> Value) -> Value {
    works_within(LOST, call).await
}

/// Calls until it works, at most for so long; returns the result.
pub async fn works_within(limit: Duration, mut call: impl AsyncFnMut() -> Value) -> Value {
    let started = Instant::now();
    let deadline = started + limit;
    loop {
        let result = call().await;
        if result["isError"] != true {
            eprintln!("works after {:?}", started.elapsed());
            return result;
        }
        assert!(Instant::now() < deadline, "it does not work again: {result}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns the words of a result.
pub fn text_of(result: &Value) -> String {
    let parts = result["content"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Adds fields to an object.
pub fn with(mut object: Value, more: Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        object[name] = value.clone();
    }
    object
}

/// Returns the code of a failed call.
pub fn code(result: &Value) -> &str {
    result["_meta"]["tabwire"]["error"]["code"].as_str().unwrap_or_default()
}

/// Finds the first line that has these words and a reference.
#[track_caller]
pub fn line_in<'a>(snapshot: &'a str, words: &str) -> &'a str {
    let line = snapshot.lines().find(|line| line.contains(words) && line.contains("[ref="));
    line.unwrap_or_else(|| panic!("{words:?} is not in\n{snapshot}"))
}

/// Finds the reference of the first line that has these words: the one that follows them, because
/// a row is one line.
#[track_caller]
pub fn reference_in(snapshot: &str, words: &str) -> String {
    let line = line_in(snapshot, words);
    let after = line.split_once(words).map(|(_, after)| after);
    let after = after.filter(|after| after.contains("[ref=")).unwrap_or(line);
    after.split("[ref=").nth(1).unwrap().split(']').next().unwrap().to_owned()
}

/// Finds where the next part of a page begins, if there is one.
pub fn cursor_in(snapshot: &str) -> Option<String> {
    let (_, rest) = snapshot.split_once("more follows: pass cursor \"")?;
    Some(rest.split('"').next().unwrap().to_owned())
}
