//! Whose tabs are whose, in a session whose browser shows it.
//!
//! Browsers of other projects keep their own order, or none; there every client may use every tab.

use std::{collections::BTreeSet, sync::Arc};

use model::{Change, ClientId, Code, Effect, Fault, Json, Kind, Level, TabId, json::cut};
use serde_json::{Value, json};

use super::{Core, Session};
use crate::{
    call_request::Caller,
    tabs::{Admission, Holder, SHOWS_OWNERS},
};

/// Events of the browser about whose tab is whose.
const TAKEN: &str = "tabTaken";
const GIVEN: &str = "tabGiven";
const ALL_TAKEN: &str = "tabsTaken";
const STARTED: &str = "browserStarted";
const HIDDEN: &str = "tabsHidden";
/// The event that names the clients to whom a tab can be given.
const CLIENTS: &str = "clients";
/// The event by which the user lets a web app in, or does not.
const APP_ANSWERED: &str = "appAnswered";
/// Characters of a client's name that the browser tells.
const CLIENT_NAME: usize = 128;
/// The event that tells the browser whose a tab is.
const OWNER: &str = "tabOwner";

impl Session {
    /// Returns whether its browser shows whose tabs are whose, so that the hub keeps them apart.
    pub fn keeps_tabs_apart(&self) -> bool {
        self.core.lock().keeps_tabs_apart()
    }

    /// Returns who has a tab.
    pub fn holder(&self, tab: TabId) -> Option<Holder> {
        self.core.lock().tabs.holder(tab).cloned()
    }

    /// Returns how many of its tabs the browser's user keeps to themselves.
    pub fn hidden_tabs(&self) -> u64 {
        self.core.lock().hidden_tabs
    }

    /// Lets go of a client's tab.
    pub fn release_tab(self: &Arc<Self>, client: &ClientId, tab: TabId) -> Result<(), Fault> {
        let mut core = self.core.lock();
        self.check_kept_apart(&core)?;
        core.tabs.release(client, tab)?;
        self.save(&core);
        drop(core);
        self.tell_owner(tab, None);
        Ok(())
    }

    /// Offers a client's tab to the one with this id or name.
    pub fn hand_over_tab(
        self: &Arc<Self>,
        client: &ClientId,
        tab: TabId,
        to: &str,
    ) -> Result<(), Fault> {
        let mut core = self.core.lock();
        self.check_kept_apart(&core)?;
        core.tabs.offer(client, tab, to.to_owned())?;
        self.save(&core);
        drop(core);
        self.tell_owner(tab, Some(to));
        Ok(())
    }

    /// Lets go of all tabs of a client that has left.
    pub(crate) fn client_left(self: &Arc<Self>, client: &ClientId) {
        let mut core = self.core.lock();
        let tabs = core.tabs.client_left(client);
        if tabs.is_empty() {
            return;
        }
        self.save(&core);
        drop(core);
        for tab in tabs {
            self.tell_owner(tab, None);
        }
    }

    /// Lets a client use a tab, or says who has it.
    pub(super) fn admit_to_tab(
        &self,
        core: &mut Core,
        caller: &Caller,
        tab: TabId,
        effect: Effect,
    ) -> Result<(), Fault> {
        if !core.keeps_tabs_apart() {
            return Ok(());
        }
        let lease = self.services.config.load().tab_lease;
        let admission = core.tabs.admit(&caller.client, caller.shown(), tab, effect, lease)?;
        if admission == Admission::Claimed {
            self.save(core);
        }
        Ok(())
    }

    fn check_kept_apart(&self, core: &Core) -> Result<(), Fault> {
        match core.keeps_tabs_apart() {
            true => Ok(()),
            false => Err(Fault::new(
                Code::Unsupported,
                format!("the tabs of {} belong to nobody in particular", self.name),
            )),
        }
    }

    /// Tells a browser that keeps tabs apart who has called.
    pub(crate) fn tell_clients(self: &Arc<Self>) {
        if self.is_connected() && self.keeps_tabs_apart() {
            self.notify(CLIENTS, Level::Info, self.services.clients.told());
        }
    }

    /// Passes on what the user says of web apps, if it is the user's own browser that tells.
    pub(super) fn note_app_answer(&self, core: &Core, change: &Change) {
        let Change::Event { name, data, .. } = change else { return };
        let is_at_home = core.presence.link().is_some_and(|link| link.at_home);
        if name != APP_ANSWERED || !is_at_home || self.kind != Kind::Browser {
            return;
        }
        let data = data.to_value().unwrap_or_default();
        if let (Some(origin), Some(allowed)) = (data["origin"].as_str(), data["allowed"].as_bool())
        {
            // An error means that nobody keeps them.
            let _ = self.services.app_answers.send((origin.to_owned(), allowed));
        }
    }

    /// Tells the browser that nobody has a tab, or for whom it is kept: then it is not the user's
    /// own again.
    fn tell_owner(self: &Arc<Self>, tab: TabId, kept_for: Option<&str>) {
        let mut data = json!({"tabId": tab.0, "client": null});
        if let Some(to) = kept_for {
            data["keptFor"] = json!(to);
        }
        self.notify(OWNER, Level::Info, Json::of(&data));
    }
}

impl Core {
    pub(super) fn keeps_tabs_apart(&self) -> bool {
        self.peer.can(SHOWS_OWNERS)
    }

    /// Takes in what a change says about holders; returns whether any is another.
    pub(super) fn note_holders(&mut self, change: &Change) -> bool {
        if !self.keeps_tabs_apart() {
            return false;
        }
        match change {
            Change::TabClosed(tab) => self.tabs.forget(*tab),
            Change::Event { name, .. } if name == STARTED => self.tabs.clear(),
            Change::Event { name, data, .. } if name == TAKEN || name == GIVEN => {
                let data = data.to_value().unwrap_or_default();
                let Some(tab) = data["tabId"].as_u64().map(TabId) else { return false };
                // Only tabs that are known, whose number is limited.
                let is_known = self.catalog.tabs().any(|known| known.id == tab);
                match (name == TAKEN, given_to(&data["client"])) {
                    (true, _) if is_known => self.tabs.take(tab),
                    (true, _) => return false,
                    (false, Some((client, name))) if is_known => {
                        self.tabs.open(&client, &name, tab);
                        self.catalog.remember(&client, tab);
                    }
                    (false, _) => self.tabs.forget(tab),
                }
            }
            Change::Event { name, data, .. } if name == HIDDEN => {
                let data = data.to_value().unwrap_or_default();
                let count = data["count"].as_u64().unwrap_or_default();
                return std::mem::replace(&mut self.hidden_tabs, count) != count;
            }
            Change::Event { name, data, .. } if name == ALL_TAKEN => {
                let data = data.to_value().unwrap_or_default();
                let told = data["tabIds"].as_array().into_iter().flatten();
                let told: BTreeSet<_> = told.filter_map(Value::as_u64).map(TabId).collect();
                let known = self.catalog.tabs().map(|tab| tab.id);
                let taken = known.filter(|tab| told.contains(tab)).collect();
                return self.tabs.set_taken(&taken);
            }
            _ => return false,
        }
        true
    }
}

/// Reads to whom the user gives a tab.
fn given_to(client: &Value) -> Option<(ClientId, String)> {
    let id = ClientId::parse(client["id"].as_str()?).ok()?;
    let name = client["name"].as_str().unwrap_or_default();
    Some((id, cut(name, CLIENT_NAME)))
}
