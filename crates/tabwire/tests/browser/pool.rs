//! Hubs with a browser each, lent to one journey at a time: starting them takes longer than most
//! journeys.
//!
//! A journey gives its set back clean enough for the next one: its clients' tabs are closed when it
//! is lent again, and its site was on a port of its own. Cookies do not know ports, so journeys
//! about cookies have sets of their own. A set whose journey failed, or that cannot be cleaned, is
//! ended. Those that are left when all tests are over are ended by a shell that waits for the end of
//! this process.

use std::{
    ops::{Deref, DerefMut},
    process::{Child, Command, Stdio},
    sync::Mutex,
    thread,
};

use serde_json::{Value, json};
use testkit::{HubOptions, HubProcess};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{
    processes,
    stage::{Driver, PROGRAM},
};

/// The sets that nobody has. Held for one push or pop.
static IDLE: Mutex<Vec<Running>> = Mutex::new(Vec::new());
/// How many sets are in use at a time, however many tests run: a browser keeps more than half a
/// core busy, and more of them only slow each other down.
static AT_ONCE: Semaphore = Semaphore::const_new(3);
/// How many journeys one set may serve, so that none depends on a browser that is old.
const USES: usize = 20;
/// The client that has a set's browser started, and that most journeys are made with.
pub const STARTER: &str = "claude";
/// Ends a hub and removes its folder when the pipe to it is closed. A hub that is told to stop ends
/// its browsers itself.
const WATCHMAN: &str = "cat; kill -TERM $HUB 2>/dev/null; \
    for n in 1 2 3 4 5 6 7 8 9 10; do kill -0 $HUB 2>/dev/null || break; sleep 0.5; done; \
    kill -KILL $HUB 2>/dev/null; rm -rf \"$PLACE\"";

/// A hub and the browser that it has started.
struct Running {
    hub: HubProcess,
    session: String,
    uses: usize,
    /// The clients of the last journey.
    clients: Vec<String>,
    watchman: Option<Child>,
}

/// A set, for as long as a journey has it.
pub struct Borrowed {
    running: Option<Running>,
    goes_back: bool,
    clients: Mutex<Vec<String>>,
    _turn: SemaphorePermit<'static>,
}

/// Returns a set that nobody else has.
pub async fn borrow() -> Borrowed {
    let turn = turn().await;
    loop {
        let idle = IDLE.lock().unwrap().pop();
        let Some(mut running) = idle else { break };
        match running.clean().await {
            Ok(()) => return running.lend(true, turn),
            Err(why) => eprintln!("a browser that cannot be used again: {why}"),
        }
    }
    let mut running = Running::start(HubOptions::new(PROGRAM)).await;
    running.watchman = Some(watch_over(&running.hub));
    running.lend(true, turn)
}

/// Starts a set that is ended after its journey.
pub async fn start(options: HubOptions) -> Borrowed {
    let turn = turn().await;
    Running::start(options).await.lend(false, turn)
}

/// Waits until another set may be in use.
async fn turn() -> SemaphorePermit<'static> {
    AT_ONCE.acquire().await.expect("it is never closed")
}

impl Running {
    async fn start(options: HubOptions) -> Self {
        let hub = options.start().await;
        let session = Driver::new(&hub, STARTER).start_browser(json!({})).await;
        Self { hub, session, uses: 0, clients: Vec::new(), watchman: None }
    }

    fn lend(mut self, goes_back: bool, turn: SemaphorePermit<'static>) -> Borrowed {
        self.uses += 1;
        self.clients.clear();
        Borrowed { running: Some(self), goes_back, clients: Mutex::default(), _turn: turn }
    }

    /// Closes the tabs of the last journey.
    async fn clean(&mut self) -> Result<(), Value> {
        for name in self.clients.drain(..) {
            let client = Driver::new(&self.hub, &name);
            let list = works(&client, "browser_tab", json!({"action": "list"})).await?;
            let tabs = list["tabs"].as_array().cloned().unwrap_or_default();
            for tab in tabs.iter().filter(|tab| tab["owner"] == "yours") {
                let close = json!({"action": "close", "tab": tab["tab"]});
                works(&client, "browser_tab", close).await?;
            }
        }
        Ok(())
    }
}

/// Calls a tool; an error is the result of a call that failed.
async fn works(client: &Driver, tool: &str, args: Value) -> Result<Value, Value> {
    let result = client.result(tool, args).await;
    if result["isError"] == true { Err(result) } else { Ok(result["structuredContent"].clone()) }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A hub that is killed leaves its browsers behind.
        self.hub.kill();
        processes::end_browsers(&self.hub);
        if let Some(mut watchman) = self.watchman.take() {
            drop(watchman.stdin.take());
            let _ = watchman.wait();
        }
    }
}

impl Borrowed {
    /// Makes an AI client.
    pub fn client(&self, name: &str) -> Driver {
        // Those of earlier journeys must not be met again.
        let uses = self.running().uses;
        let name = if self.goes_back { format!("{name}-{uses}") } else { name.to_owned() };
        self.clients.lock().unwrap().push(name.clone());
        Driver::new(self, &name)
    }

    /// Returns the browser's session.
    pub fn session(&self) -> &str {
        &self.running().session
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("it is there until it is dropped")
    }
}

impl Deref for Borrowed {
    type Target = HubProcess;

    fn deref(&self) -> &HubProcess {
        &self.running().hub
    }
}

impl DerefMut for Borrowed {
    fn deref_mut(&mut self) -> &mut HubProcess {
        &mut self.running.as_mut().expect("it is there until it is dropped").hub
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        if self.goes_back && !thread::panicking() && running.uses < USES {
            running.clients = std::mem::take(self.clients.get_mut().unwrap());
            IDLE.lock().unwrap().push(running);
        }
    }
}

fn watch_over(hub: &HubProcess) -> Child {
    let mut shell = Command::new("sh");
    shell.args(["-c", WATCHMAN]).env("HUB", hub.pid().to_string()).env("PLACE", hub.place().path());
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn().unwrap()
}
