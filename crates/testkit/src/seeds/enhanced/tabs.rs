//! The tabs of the fake browsermcp-enhanced extension, and its commands in them.
//!
//! Windows number their tabs anew, and a tab is closed by that number only. Each AI session has a last tab of its own; the first command of a session that
//! names no tab opens one.

use std::collections::HashMap;

use serde_json::{Value, json};

/// The commands that it knows.
pub const KNOWN: &[&str] = &[
    "browser_navigate",
    "browser_go_back",
    "browser_go_forward",
    "browser_refresh",
    "browser_wait",
    "browser_tabs_list",
    "browser_activate_tab",
    "tabs.list",
    "tabs.select",
    "tabs.new",
    "tabs.close",
    "snapshot.accessibility",
    "dom.click",
    "dom.hover",
    "dom.type",
    "dom.select",
    "screenshot.capture",
    "js.execute",
];
/// The commands that a later version knows besides.
pub const LATER: &[&str] = &["browser_screenshot"];
/// A picture of one pixel.
pub const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// One tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    /// Its number.
    pub id: i64,
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// Whether it is in front of its window.
    pub active: bool,
    /// Its window.
    pub window: u32,
}

/// All tabs, and whose they are.
pub struct Tabs {
    /// Those that are open, in their order.
    pub open: Vec<Tab>,
    label: String,
    able: bool,
    next: i64,
    /// The window in which tabs are opened.
    window: u32,
    /// Per AI session: its tabs, the last one used at the end.
    sessions: HashMap<Option<String>, Vec<i64>>,
}

type Outcome = Result<Value, String>;

impl Tabs {
    /// A browser in which the user has one page open. Titles carry the label.
    pub fn new(label: &str, able: bool) -> Self {
        let mut tabs = Self {
            open: Vec::new(),
            label: label.to_owned(),
            able,
            // Tab ids of different browsers may well be the same.
            next: 101,
            window: 1,
            sessions: HashMap::new(),
        };
        tabs.create("https://mail.example/");
        tabs
    }

    /// Opens a window with one page for the user; returns its tab.
    pub fn open_window(&mut self, url: &str) -> i64 {
        let before = self.window;
        self.window = self.open.iter().map(|tab| tab.window).max().unwrap_or(0) + 1;
        let id = self.create(url);
        self.window = before;
        id
    }

    /// Carries out a command; returns the tab that was chosen and how it ended.
    pub fn run(
        &mut self,
        session: Option<&str>,
        tab: Option<i64>,
        name: &str,
        payload: &Value,
    ) -> (i64, Outcome) {
        let chosen = tab.unwrap_or_else(|| self.tab_of(session));
        self.remember(session, chosen);
        let outcome = self.carry_out(session, chosen, name, payload).map(|mut data| {
            if data.get("tabId").is_none() {
                data["tabId"] = json!(chosen);
            }
            data
        });
        (chosen, outcome)
    }

    /// Returns what it tells about itself after a success.
    pub fn debug(&self, session: Option<&str>, action: &str, tab: i64) -> Value {
        let tabs = self.sessions.get(&session.map(str::to_owned));
        json!({
            "where": "background", "action": action, "resolvedTabId": tab, "sessionId": session,
            "tabs": tabs, "lastFocused": tabs.and_then(|tabs| tabs.last()),
        })
    }

    fn carry_out(
        &mut self,
        session: Option<&str>,
        tab: i64,
        name: &str,
        payload: &Value,
    ) -> Outcome {
        match name {
            "browser_navigate" => self.navigate(tab, payload),
            "browser_go_back" | "browser_go_forward" => Ok(json!({"tabId": tab})),
            "browser_refresh" => self.find(tab).map(|_| json!({"tabId": tab})),
            "browser_wait" => Ok(json!({"success": true})),
            "browser_tabs_list" | "tabs.list" => Ok(json!({"tabs": self.list()})),
            "browser_activate_tab" => {
                let wanted = payload["tabId"].as_i64().ok_or("tabId required")?;
                self.activate(wanted)?;
                self.remember(session, wanted);
                Ok(json!({"success": true, "tabId": wanted}))
            }
            "tabs.select" => {
                let wanted = self.at(&payload["index"]).ok_or("Tab index not found")?;
                let wanted = self.open[wanted].id;
                self.activate(wanted)?;
                self.remember(session, wanted);
                Ok(json!({"success": true, "tabId": wanted}))
            }
            "tabs.new" => {
                let id = self.create(payload["url"].as_str().unwrap_or("about:blank"));
                self.remember(session, id);
                Ok(json!({"tabId": id, "index": self.index(self.open.len() - 1)}))
            }
            "tabs.close" => Ok(json!({"success": self.close(payload)})),
            "snapshot.accessibility" => self.snapshot(tab, payload),
            "dom.click" | "dom.hover" | "dom.type" | "dom.select" => {
                self.scriptable(tab)?;
                Ok(json!({"success": self.able, "tabId": tab}))
            }
            "screenshot.capture" | "browser_screenshot" => {
                Ok(json!({"data": format!("data:image/png;base64,{PIXEL}"), "tabId": tab}))
            }
            _ => self.execute(tab, payload),
        }
    }

    fn navigate(&mut self, tab: i64, payload: &Value) -> Outcome {
        match payload["action"].as_str().unwrap_or("goto") {
            "goto" => {
                let url = payload["url"].as_str().ok_or("browser_navigate requires url")?;
                let title = format!("{} at {url}", self.label);
                let found = self.find(tab)?;
                (found.url, found.title) = (url.to_owned(), title);
                self.activate(tab)?;
                Ok(json!({"url": url, "tabId": tab}))
            }
            "back" | "forward" => Ok(json!({"tabId": tab})),
            "refresh" => self.find(tab).map(|_| json!({"tabId": tab})),
            action => Err(format!("Unknown navigation action: {action}")),
        }
    }

    fn close(&mut self, payload: &Value) -> bool {
        let found = match payload["index"].is_number() {
            true => self.at(&payload["index"]),
            false => self.open.iter().position(|tab| tab.active),
        };
        let Some(found) = found else { return false };
        let closed = self.open.remove(found);
        for tabs in self.sessions.values_mut() {
            tabs.retain(|id| *id != closed.id);
        }
        let mut left = self.open.iter_mut().filter(|tab| tab.window == closed.window);
        if closed.active
            && let Some(next) = left.next_back()
        {
            next.active = true;
        }
        true
    }

    /// Returns the first tab with a number, in whichever window.
    fn at(&self, index: &Value) -> Option<usize> {
        (0..self.open.len()).find(|place| json!(self.index(*place)) == *index)
    }

    /// Returns the number of a tab in its window.
    fn index(&self, place: usize) -> usize {
        let window = self.open[place].window;
        self.open[..place].iter().filter(|tab| tab.window == window).count()
    }

    fn snapshot(&mut self, tab: i64, payload: &Value) -> Outcome {
        let page = self.scriptable(tab)?;
        let head = format!("Page: {}\nURL: {}", page.title, page.url);
        let text = match payload["mode"].as_str() {
            Some("scaffold") => format!(
                "{head}\n[Enhanced Scaffold: 1 regions, 1 elements found]\nmain [ref=ref1]\n  \
                 <button> [ref=ref2] \"Buy now\"\n[Key Elements]"
            ),
            _ => format!(
                "{head}\n[Enhanced Minimal: 1 interactive elements found]\nmain [ref=ref1]\n  \
                 button [ref=ref2] \"Buy now\" {{type:button}}\n[Execution: 1ms, 2 nodes kept]"
            ),
        };
        Ok(json!({"snapshot": text, "tabId": tab}))
    }

    fn execute(&mut self, tab: i64, payload: &Value) -> Outcome {
        if payload["unsafe"] == true {
            return Err("Unsafe mode not enabled".to_owned());
        }
        if !self.able {
            return Err("Evaluating a string as JavaScript violates the following Content \
                        Security Policy directive because 'unsafe-eval' is not an allowed \
                        source of script: \"script-src 'self'\"."
                .to_owned());
        }
        self.scriptable(tab)?;
        Ok(json!({"result": format!("{} ran {}", self.label, payload["code"])}))
    }

    fn create(&mut self, url: &str) -> i64 {
        let id = self.next;
        self.next += 1;
        let title =
            if url == "about:blank" { String::new() } else { format!("{} at {url}", self.label) };
        let window = self.window;
        self.open.push(Tab { id, title, url: url.to_owned(), active: false, window });
        let _ = self.activate(id);
        id
    }

    fn activate(&mut self, id: i64) -> Result<(), String> {
        let window = self.find(id)?.window;
        for tab in self.open.iter_mut().filter(|tab| tab.window == window) {
            tab.active = tab.id == id;
        }
        Ok(())
    }

    fn find(&mut self, id: i64) -> Result<&mut Tab, String> {
        self.open.iter_mut().find(|tab| tab.id == id).ok_or(format!("No tab with id: {id}."))
    }

    /// Returns a tab in which scripts may run.
    fn scriptable(&mut self, id: i64) -> Result<&mut Tab, String> {
        let tab = self.find(id)?;
        match tab.url.starts_with("http") {
            true => Ok(tab),
            false => Err(format!("Cannot access contents of url \"{}\".", tab.url)),
        }
    }

    fn tab_of(&mut self, session: Option<&str>) -> i64 {
        let last = self.sessions.get(&session.map(str::to_owned)).and_then(|tabs| tabs.last());
        match last.copied().filter(|last| self.open.iter().any(|tab| tab.id == *last)) {
            Some(last) => last,
            None => self.create("about:blank"),
        }
    }

    fn remember(&mut self, session: Option<&str>, tab: i64) {
        let tabs = self.sessions.entry(session.map(str::to_owned)).or_default();
        tabs.retain(|known| *known != tab);
        tabs.push(tab);
    }

    fn list(&self) -> Vec<Value> {
        let entry = |(place, tab): (usize, &Tab)| {
            json!({
                "id": tab.id, "index": self.index(place), "title": tab.title, "url": tab.url,
                "active": tab.active,
            })
        };
        self.open.iter().enumerate().map(entry).collect()
    }
}
