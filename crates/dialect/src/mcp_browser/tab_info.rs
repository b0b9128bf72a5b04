//! Questions about the tab, which have no id, and what has no answer of its own.
//!
//! `get_tab_info` is answered in the order of asking. `navigate` is not answered at all, so the tab
//! is looked at until it has arrived; `scroll` neither, so a look after it shows that the client
//! has taken it. A call that is given up is forgotten: all answers tell the same tab, so one that
//! comes late does no harm to whoever is next.

use std::{collections::VecDeque, time::Duration};

use model::{CallId, TabId};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Output,
    foreign::{
        self,
        pending::Pending,
        tabs::{KnownTabs, WireTab},
    },
};

/// The first look comes this long after a navigation was sent …
const FIRST_LOOK: Duration = Duration::from_millis(100);
/// … and the next ones this long after the last.
const NEXT_LOOK: Duration = Duration::from_millis(200);
/// A tab that is complete at this look ends the wait wherever it is: the page may have come and
/// sent it on between two looks. Such an end is told as not confirmed.
const LAST_LOOK: u32 = 4;
/// Questions that may wait for an answer; beyond that the oldest is forgotten.
const ASKED: usize = 1024;

/// What is known and asked about the tab.
#[derive(Default)]
pub struct TabInfo {
    asked: VecDeque<Asked>,
    moving: Pending<Moving>,
    tabs: KnownTabs,
}

/// What a question was asked for.
enum Asked {
    /// A list of tabs.
    List(CallId),
    /// Proof that a scroll was taken.
    Scrolled(CallId),
    /// Where these navigations are.
    Look(Vec<CallId>),
}

/// A navigation that has not arrived yet.
struct Moving {
    url: String,
    looks: u32,
    /// It has been seen loading, so what is complete now is the new page.
    loading: bool,
}

/// The tab as the client tells it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    #[serde(default)]
    tab_id: Option<u64>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    status: Option<String>,
}

impl TabInfo {
    /// Returns the tab that the client drives, once it was told.
    pub fn controlled(&self) -> Option<TabId> {
        self.tabs.all().next().map(|tab| tab.id)
    }

    /// Sends a navigation.
    pub fn navigate(&mut self, call: CallId, url: String) -> Vec<Output> {
        let frame = foreign::write(&json!({"type": "navigate", "url": url}));
        self.moving.add(call, Moving { url, looks: 0, loading: false });
        vec![frame, Output::WakeAfter(FIRST_LOOK)]
    }

    /// Sends a scroll, and a question after it.
    pub fn scroll(&mut self, call: CallId, direction: &Value) -> Vec<Output> {
        let frame = foreign::write(&json!({"type": "scroll", "direction": direction}));
        vec![frame, self.ask(Asked::Scrolled(call))]
    }

    /// Asks for the one tab there is.
    pub fn list(&mut self, call: CallId) -> Vec<Output> {
        vec![self.ask(Asked::List(call))]
    }

    /// Looks where the navigations are that nobody is looking at.
    pub fn wake(&mut self) -> Vec<Output> {
        let asked = &self.asked;
        let looked_at = |call: CallId| {
            asked.iter().any(|asked| matches!(asked, Asked::Look(calls) if calls.contains(&call)))
        };
        let waiting: Vec<_> =
            self.moving.iter_mut().map(|(call, _)| call).filter(|call| !looked_at(*call)).collect();
        match waiting.is_empty() {
            true => Vec::new(),
            false => vec![self.ask(Asked::Look(waiting))],
        }
    }

    /// Takes an answer.
    pub fn told(&mut self, told: Told) -> Vec<Output> {
        let wire = told.tab_id.map(|id| WireTab {
            active: Some(true),
            ..WireTab::of(TabId(id), told.url.as_deref(), told.title.as_deref())
        });
        let changes = wire.map(|tab| self.tabs.told_all(&[tab])).unwrap_or_default();
        let mut outputs: Vec<_> = changes.into_iter().map(foreign::changed).collect();
        match self.asked.pop_front() {
            Some(Asked::List(call)) => {
                let tab = told.tab_id.map(
                    |id| json!({"id": id, "url": told.url, "title": told.title, "active": true}),
                );
                outputs.push(foreign::done(call, &json!({"tabs": Vec::from_iter(tab)})));
            }
            Some(Asked::Scrolled(call)) => {
                outputs.push(foreign::done(call, &json!({"sent": true, "confirmed": false})));
            }
            Some(Asked::Look(calls)) => outputs.extend(self.look(&calls, &told)),
            None => outputs.push(foreign::alive()),
        }
        outputs
    }

    fn look(&mut self, calls: &[CallId], told: &Told) -> Vec<Output> {
        let complete = told.status.as_deref() == Some("complete");
        let mut arrived = Vec::new();
        for (call, moving) in self.moving.iter_mut().filter(|(call, _)| calls.contains(call)) {
            moving.looks += 1;
            moving.loading |= !complete;
            let there = told.url.as_deref().is_some_and(|url| same_page(url, &moving.url));
            let confirmed = moving.loading || there;
            if complete && (confirmed || moving.looks >= LAST_LOOK) {
                arrived.push((call, confirmed));
            }
        }
        let mut outputs = Vec::new();
        for (call, confirmed) in arrived {
            self.moving.take(call);
            let mut result = json!({"url": told.url, "title": told.title, "status": told.status});
            if !confirmed {
                result["confirmed"] = json!(false);
            }
            outputs.push(foreign::done(call, &result));
        }
        if !self.moving.is_empty() {
            outputs.push(Output::WakeAfter(NEXT_LOOK));
        }
        outputs
    }

    /// Forgets a call that nobody waits for any more.
    pub fn give_up(&mut self, call: CallId) {
        self.moving.take(call);
        self.asked.retain_mut(|asked| match asked {
            Asked::List(known) | Asked::Scrolled(known) => *known != call,
            Asked::Look(calls) => {
                calls.retain(|known| *known != call);
                !calls.is_empty()
            }
        });
    }

    /// Takes out the calls that an error about such a command means.
    pub fn fail(&mut self, command: &str) -> Vec<CallId> {
        let calls = match command {
            "navigate" => Vec::from_iter(self.moving.take_oldest(|_| true).map(|(call, _)| call)),
            // The question that follows a scroll gets an error of its own.
            "get_tab_info" => match self.asked.pop_front() {
                Some(Asked::List(call) | Asked::Scrolled(call)) => vec![call],
                Some(Asked::Look(calls)) => calls,
                None => Vec::new(),
            },
            _ => Vec::new(),
        };
        for call in &calls {
            self.give_up(*call);
        }
        calls
    }

    fn ask(&mut self, asked: Asked) -> Output {
        if self.asked.len() >= ASKED {
            self.asked.pop_front();
        }
        self.asked.push_back(asked);
        foreign::write(&json!({"type": "get_tab_info"}))
    }
}

/// Browsers add a slash to an address without a path.
fn same_page(told: &str, wanted: &str) -> bool {
    told.trim_end_matches('/') == wanted.trim_end_matches('/')
}
