//! The tabs of the fake ripulio/browser-mcp extension, and the tools of their pages.
//!
//! A tool answers with the browser's label, its tab, its name and its arguments, so that a test
//! sees where a call went; one whose name begins with `fail` fails.

use serde_json::{Value, json};

/// A tab.
#[derive(Debug, Clone, PartialEq)]
pub struct Tab {
    /// Its number.
    pub id: i64,
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What its page declares.
    pub tools: Vec<Value>,
    /// Its page hangs: nothing that needs it is ever answered.
    pub hangs: bool,
}

impl Tab {
    /// A tab with a page that declares nothing.
    pub fn new(id: i64, title: &str, url: &str) -> Self {
        Self { id, title: title.to_owned(), url: url.to_owned(), tools: Vec::new(), hangs: false }
    }

    /// Declares tools.
    pub fn tools(mut self, tools: Vec<Value>) -> Self {
        self.tools = tools;
        self
    }

    /// Hangs.
    pub fn hanging(mut self) -> Self {
        self.hangs = true;
        self
    }

    fn seen(&self) -> Value {
        json!({"id": self.id, "title": self.title, "url": self.url, "tools": []})
    }
}

/// How new pages load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// At once.
    Fast,
    /// When the test says so.
    Slow,
}

/// What the extension says.
pub enum Speech {
    /// To every server.
    Event(Value),
    /// To the one that asked.
    Answer(Value),
}

/// All tabs.
pub struct Tabs {
    /// Those that are open.
    pub open: Vec<Tab>,
    /// How new pages load.
    pub load: Load,
    /// The answer to `closeTab` comes before the event.
    pub answer_first: bool,
    browser: &'static str,
    label: String,
    scripts: bool,
    next: i64,
    /// Tabs that are on their way, and what is said to whom when they have arrived.
    arriving: Vec<(i64, String, Option<Value>)>,
}

impl Tabs {
    /// A browser with tabs.
    pub fn new(browser: &'static str, label: &str, open: Vec<Tab>, scripts: bool) -> Self {
        let next = open.iter().map(|tab| tab.id).max().unwrap_or(1_200) + 1;
        Self {
            open,
            load: Load::Fast,
            answer_first: false,
            browser,
            label: label.to_owned(),
            scripts,
            next,
            arriving: Vec::new(),
        }
    }

    /// Carries out a message; returns what is said to that.
    pub fn hear(&mut self, message: &Value) -> Vec<Speech> {
        let tab = message["tabId"].as_i64().unwrap_or(-1);
        match message["type"].as_str().unwrap_or_default() {
            "connect" => {
                let tabs: Vec<_> = self.open.iter().map(Tab::seen).collect();
                let browser = json!({"name": self.browser, "version": "156.0.0.0"});
                vec![answer(
                    message,
                    json!({"type": "connected", "browser": browser, "tabs": tabs}),
                )]
            }
            "openTab" => self.open_tab(message),
            "closeTab" => self.close_tab(tab, message),
            "focusTab" => match self.find(tab) {
                Some(found) => {
                    let tools = found.tools.clone();
                    vec![answer(
                        message,
                        json!({"type": "tabFocused", "tabId": tab, "tools": tools}),
                    )]
                }
                None => Vec::new(),
            },
            "discoverTools" => self.discover(tab, message),
            "callTool" => self.call(tab, message),
            _ => Vec::new(),
        }
    }

    /// Opens a tab for the user.
    pub fn user_opens(&mut self, tab: Tab) -> Vec<Speech> {
        let created = json!({"id": tab.id, "title": "", "url": "", "tools": []});
        let updated = tab.seen();
        self.next = self.next.max(tab.id + 1);
        self.open.push(tab);
        vec![
            Speech::Event(json!({"type": "tabCreated", "tab": created})),
            Speech::Event(json!({"type": "tabUpdated", "tab": updated})),
        ]
    }

    /// Closes a tab for the user.
    pub fn user_closes(&mut self, id: i64) -> Vec<Speech> {
        self.open.retain(|tab| tab.id != id);
        vec![Speech::Event(json!({"type": "tabClosed", "tabId": id}))]
    }

    /// Goes to another page: the address first, the title later.
    pub fn user_goes(&mut self, id: i64, title: &str, url: &str) -> Vec<Speech> {
        let Some(tab) = self.open.iter_mut().find(|tab| tab.id == id) else { return Vec::new() };
        tab.url = url.to_owned();
        let first = tab.seen();
        tab.title = title.to_owned();
        vec![
            Speech::Event(json!({"type": "tabUpdated", "tab": first})),
            Speech::Event(json!({"type": "tabUpdated", "tab": tab.seen()})),
        ]
    }

    /// Lets every page arrive.
    pub fn finish_loading(&mut self) -> Vec<Speech> {
        let mut speeches = Vec::new();
        for (id, url, focused) in std::mem::take(&mut self.arriving) {
            let title = format!("{} at {url}", self.label);
            speeches.extend(self.user_goes(id, &title, &url));
            speeches.extend(focused.map(Speech::Answer));
        }
        speeches
    }

    fn open_tab(&mut self, message: &Value) -> Vec<Speech> {
        let url = message["url"].as_str().unwrap_or("about:blank").to_owned();
        let id = self.next;
        self.next += 1;
        self.open.push(Tab::new(id, "", ""));
        // The event comes first, and knows nothing but the number.
        let bare = json!({"id": id, "title": "", "url": "", "tools": []});
        let mut speeches = vec![Speech::Event(json!({"type": "tabCreated", "tab": bare}))];
        let mut focused = None;
        if message["focus"] == true {
            let mut body = json!({"type": "tabFocused", "tabId": id, "tools": []});
            copy(message, &mut body, &["sessionId", "requestId"]);
            focused = Some(body);
        } else {
            let tab = json!({"id": id, "title": "", "url": url, "tools": []});
            let mut body = json!({"type": "tabCreated", "tab": tab});
            copy(message, &mut body, &["sessionId", "requestId"]);
            speeches.push(Speech::Answer(body));
        }
        self.arriving.push((id, url, focused));
        if self.load == Load::Fast {
            speeches.extend(self.finish_loading());
        }
        speeches
    }

    fn close_tab(&mut self, id: i64, message: &Value) -> Vec<Speech> {
        if self.find(id).is_none() {
            return Vec::new();
        }
        let mut speeches = self.user_closes(id);
        speeches.push(answer(message, json!({"type": "tabClosed", "tabId": id})));
        if self.answer_first {
            speeches.reverse();
        }
        speeches
    }

    fn discover(&mut self, id: i64, message: &Value) -> Vec<Speech> {
        let scripts = self.scripts;
        let tools = match self.find(id) {
            Some(tab) if tab.hangs => return Vec::new(),
            Some(tab) if scripts && tab.url.starts_with("http") => tab.tools.clone(),
            _ => Vec::new(),
        };
        let mut body = json!({"type": "toolsDiscovered", "tabId": id, "tools": tools});
        copy(message, &mut body, &["sessionId", "callId"]);
        vec![Speech::Answer(body)]
    }

    fn call(&mut self, id: i64, message: &Value) -> Vec<Speech> {
        let (label, scripts) = (self.label.clone(), self.scripts);
        let name = message["toolName"].as_str().unwrap_or_default();
        let declares = |tab: &Tab| tab.tools.iter().any(|tool| tool["name"] == name);
        let outcome = match self.find(id) {
            Some(tab) if tab.hangs => return Vec::new(),
            _ if !scripts => Err("Cannot read properties of undefined (reading 'execute')".into()),
            None => Err(format!("No tab with id: {id}.")),
            Some(tab) if !declares(tab) => Err(format!("Tool not found: {name}")),
            Some(_) if name.starts_with("fail") => Err(format!("{name}: the page is out of order")),
            Some(_) => Ok(json!({"from": label, "tab": id, "tool": name, "args": message["args"]})),
        };
        let mut body = json!({"type": "toolResult", "result": null});
        match outcome {
            Ok(result) => body["result"] = result,
            Err(error) => body["error"] = json!(error),
        }
        copy(message, &mut body, &["sessionId", "callId"]);
        vec![Speech::Answer(body)]
    }

    fn find(&mut self, id: i64) -> Option<&mut Tab> {
        self.open.iter_mut().find(|tab| tab.id == id)
    }
}

/// Answers with the session of the question, where it names one.
fn answer(to: &Value, mut body: Value) -> Speech {
    copy(to, &mut body, &["sessionId"]);
    Speech::Answer(body)
}

fn copy(from: &Value, into: &mut Value, keys: &[&str]) {
    for key in keys {
        if let Some(value) = from.get(*key) {
            into[*key] = value.clone();
        }
    }
}
