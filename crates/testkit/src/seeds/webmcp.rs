//! A fake of the ripulio/browser-mcp extension (seed 004), faithful down to its defects.
//!
//! It says nothing until the server sends `connect`, tells every server about every tab, and
//! carries out what it is asked in [`tabs`]. It knows one socket per port: where two are open, the
//! one that opened last speaks, and when either ends, the other falls silent.

pub mod tabs;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};

pub use self::tabs::{Load, Tab};
use self::tabs::{Speech, Tabs};
use super::line::{Held, Line, Mouth};
use crate::{Dial, eventually};

/// Where the fake comes from, unless a test says otherwise.
pub const ORIGIN: &str = "chrome-extension://kmbdfhijnopaceglkmbdfhijnopacegl";
/// How often the real one pings.
const PING: Duration = Duration::from_secs(20);

/// An extension that is not connected yet.
#[derive(Clone)]
pub struct WebMcpOptions {
    port: u16,
    origin: Option<String>,
    browser: &'static str,
    label: String,
    tabs: Vec<Tab>,
    ping: Duration,
    scripts: bool,
    everywhere: bool,
}

/// An extension with its sockets.
pub struct WebMcp {
    /// Its sockets to this hub, the oldest first.
    pub lines: Vec<Line>,
    options: WebMcpOptions,
    mind: Arc<Mutex<Mind>>,
}

/// What lives in the worker.
struct Mind {
    tabs: Tabs,
    held: Held,
    /// Answers that are held back, the newest last.
    kept: Vec<Speech>,
    /// The socket that it knows for the port, with its number.
    entry: Option<(usize, Mouth)>,
    /// All sockets, for a test that wants every event twice.
    mouths: Vec<Mouth>,
    everywhere: bool,
}

impl WebMcpOptions {
    /// A browser with one page open.
    pub fn new(port: u16) -> Self {
        Self {
            port,
            origin: Some(ORIGIN.to_owned()),
            browser: "Chrome",
            label: "webmcp".to_owned(),
            tabs: vec![Tab::new(1_201, "Start", "https://start.example/")],
            ping: PING,
            scripts: true,
            everywhere: false,
        }
    }

    /// Comes from somewhere else; `None` sends no origin.
    pub fn origin(mut self, origin: Option<&str>) -> Self {
        self.origin = origin.map(str::to_owned);
        self
    }

    /// Is another browser.
    pub fn browser(mut self, name: &'static str) -> Self {
        self.browser = name;
        self
    }

    /// Marks what its pages' tools answer, so that two browsers can be told apart.
    pub fn label(mut self, label: &str) -> Self {
        self.label = label.to_owned();
        self
    }

    /// Has these tabs open, the last one in front.
    pub fn tabs(mut self, tabs: Vec<Tab>) -> Self {
        self.tabs = tabs;
        self
    }

    /// Pings at another pace.
    pub fn ping_every(mut self, ping: Duration) -> Self {
        self.ping = ping;
        self
    }

    /// Its user has not allowed scripts: no page has tools then.
    pub fn without_scripts(mut self) -> Self {
        self.scripts = false;
        self
    }

    /// Tells every event on every socket.
    pub fn events_everywhere(mut self) -> Self {
        self.everywhere = true;
        self
    }

    /// Returns how it connects.
    pub fn dial(&self) -> Dial {
        let dial = Dial::root(self.port).offer_only(&[]);
        match &self.origin {
            Some(origin) => dial.origin(origin),
            None => dial,
        }
    }

    /// Connects; what follows is the server's to begin.
    pub async fn begin(self) -> WebMcp {
        let tabs = Tabs::new(self.browser, &self.label, self.tabs.clone(), self.scripts);
        let mind = Mind {
            tabs,
            held: Held::default(),
            kept: Vec::new(),
            entry: None,
            mouths: Vec::new(),
            everywhere: self.everywhere,
        };
        let mind = Arc::new(Mutex::new(mind));
        let mut browser = WebMcp { lines: Vec::new(), options: self, mind };
        browser.open_another().await;
        browser
    }

    /// Connects and waits until the server has asked who it is.
    pub async fn connect(self) -> WebMcp {
        let browser = self.begin().await;
        browser.lines[0].until_heard("connect").await;
        browser
    }
}

impl WebMcp {
    /// Connects a browser with one page open.
    pub async fn connect(port: u16) -> Self {
        WebMcpOptions::new(port).connect().await
    }

    /// Opens one more socket, as the real one does when a handshake takes too long.
    pub async fn open_another(&mut self) {
        let socket = self.options.dial().connect().await;
        let (listener, number) = (Arc::clone(&self.mind), self.lines.len());
        let line = Line::open(socket, move |_, message| {
            // Locked for one message; nothing is awaited here.
            listener.lock().unwrap().hear(message);
        });
        line.repeat(self.options.ping, json!({"type": "ping"}));
        let mut mind = self.mind.lock().unwrap();
        mind.entry = Some((number, line.mouth()));
        mind.mouths.push(line.mouth());
        drop(mind);
        self.lines.push(line);
    }

    /// Returns the newest socket.
    pub fn line(&self) -> &Line {
        self.lines.last().unwrap()
    }

    /// Ends a socket. The extension then knows none for the port, whichever it was.
    pub async fn close_line(&mut self, number: usize) {
        self.lines[number].close();
        self.lines[number].ended().await;
        self.mind.lock().unwrap().entry = None;
    }

    /// Says something to the server, as events are said.
    pub fn say(&self, message: Value) {
        self.mind.lock().unwrap().speak(Speech::Event(message));
    }

    /// Returns its open tabs.
    pub fn tabs(&self) -> Vec<Tab> {
        self.mind.lock().unwrap().tabs.open.clone()
    }

    /// Lets the user open a tab.
    pub fn user_opens(&self, tab: Tab) {
        self.act(|tabs| tabs.user_opens(tab));
    }

    /// Lets the user close a tab.
    pub fn user_closes(&self, id: i64) {
        self.act(|tabs| tabs.user_closes(id));
    }

    /// Lets the user go to another page in a tab.
    pub fn user_goes(&self, id: i64, title: &str, url: &str) {
        self.act(|tabs| tabs.user_goes(id, title, url));
    }

    /// Changes the tools of the page in a tab. Nobody is told.
    pub fn change_tools(&self, id: i64, tools: Vec<Value>) {
        self.act(|tabs| {
            if let Some(tab) = tabs.open.iter_mut().find(|tab| tab.id == id) {
                tab.tools = tools;
            }
            Vec::new()
        });
    }

    /// Lets all pages arrive that are on their way.
    pub fn finish_loading(&self) {
        self.act(Tabs::finish_loading);
    }

    /// Changes how new pages load.
    pub fn load(&self, load: Load) {
        self.mind.lock().unwrap().tabs.load = load;
    }

    /// Tells the two endings of a tab in the other order.
    pub fn answer_before_event(&self) {
        self.mind.lock().unwrap().tabs.answer_first = true;
    }

    /// Holds back the answers to requests that mention a word.
    pub fn hold(&self, word: &str) {
        self.mind.lock().unwrap().held.hold(word);
    }

    /// Waits until so many requests are held.
    pub async fn until_held(&self, count: usize) {
        eventually("requests are held", async || {
            (self.mind.lock().unwrap().kept.len() >= count).then_some(())
        })
        .await;
    }

    /// Gives the answers that were held, the newest first, on the socket that it knows by then.
    pub fn release(&self) {
        let mut mind = self.mind.lock().unwrap();
        mind.held.release();
        for speech in std::mem::take(&mut mind.kept).into_iter().rev() {
            mind.speak(speech);
        }
    }

    fn act(&self, act: impl FnOnce(&mut Tabs) -> Vec<Speech>) {
        let mut mind = self.mind.lock().unwrap();
        for speech in act(&mut mind.tabs) {
            mind.speak(speech);
        }
    }
}

impl Mind {
    fn hear(&mut self, message: &Value) {
        let holds = self.held.holds(message);
        for speech in self.tabs.hear(message) {
            match speech {
                Speech::Answer(_) if holds => self.kept.push(speech),
                _ => self.speak(speech),
            }
        }
    }

    /// Says something on the socket that it knows; with none it is lost.
    fn speak(&self, speech: Speech) {
        let (Speech::Event(message) | Speech::Answer(message)) = &speech;
        if self.everywhere && matches!(speech, Speech::Event(_)) {
            for mouth in &self.mouths {
                mouth.say(message.clone());
            }
        } else if let Some((_, mouth)) = &self.entry {
            mouth.say(message.clone());
        }
    }
}
