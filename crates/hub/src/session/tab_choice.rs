//! Which tab a call is for: the one that it names, else the client's last one, else the browser's own
//! choice, or none.
//!
//! Browsers differ in what the hub knows. One of ours tells its tabs and shows whose they are; one of
//! another project may tell them without that, have a command for listing them, or keep a tab for each
//! client by itself.

use model::{ClientId, Effect, Fault, Kind, TabId};

use super::{Core, Session};
use crate::{call_request::Caller, tabs::Holder};

/// The command of a browser that lists its tabs only when it is asked.
const LISTS_TABS: &str = "browser_tab_list";
/// The capability of a browser that tells its tabs and is asked for the tools of each.
const DISCOVERS_TOOLS: &str = "discover_tools";

impl Session {
    /// Returns the tab that a client means and the hub knows, and remembers it as the one used last.
    pub fn known_tab(&self, client: &ClientId, named: Option<TabId>) -> Result<TabId, Fault> {
        self.core.lock().known_tab(client, named)
    }

    /// Chooses the tab for a client's command; none where the browser chooses. One that is
    /// `about_tab` does not want whatever the browser would choose.
    pub fn choose_tab(
        &self,
        client: &ClientId,
        named: Option<TabId>,
        effect: Effect,
        about_tab: bool,
    ) -> Result<Option<TabId>, Fault> {
        let mut core = self.core.lock();
        let fault = match core.known_tab(client, named) {
            Ok(tab) => return Ok(Some(tab)),
            Err(fault) => fault,
        };
        let tells_tabs = self.tells_all_tabs(&core);
        match named {
            Some(_) if tells_tabs => Err(fault),
            Some(tab) => {
                core.catalog.remember(client, tab);
                Ok(Some(tab))
            }
            None if core.keeps_tabs_apart() => Err(fault),
            None if about_tab && core.peer.can(DISCOVERS_TOOLS) => Err(fault),
            None if tells_tabs => Ok(None),
            None => match core.catalog.last_used(client) {
                // Its own tab is gone: whatever is in front is somebody else's.
                Some(None) if effect != Effect::Read => Err(fault),
                // The browser has restarted and has not told its tabs again; it knows best.
                Some(tab) => Ok(tab),
                None => Ok(None),
            },
        }
    }

    /// Makes a tab that was just opened for a client its own, and the one it used last. A browser
    /// that does not show whose tabs are whose keeps it for the client by itself.
    pub fn tab_opened(&self, caller: &Caller, tab: TabId) {
        let mut core = self.core.lock();
        if !core.keeps_tabs_apart() {
            if core.catalog.has_tab(tab) {
                core.catalog.remember(&caller.client, tab);
            }
            return;
        }
        core.catalog.remember(&caller.client, tab);
        core.tabs.open(&caller.client, caller.shown(), tab);
        self.save(&core);
    }

    /// Makes a tab that a client's own has opened the client's too.
    pub fn tab_spawned(&self, caller: &Caller, tab: TabId) {
        let mut core = self.core.lock();
        if core.keeps_tabs_apart() && core.tabs.holder(tab).is_none() {
            core.tabs.open(&caller.client, caller.shown(), tab);
            self.save(&core);
        }
    }

    /// Returns whether a browser tells its tabs by itself, so that the hub knows them all. One with
    /// a command for listing them has to be asked.
    pub fn tells_tabs(&self) -> bool {
        self.tells_all_tabs(&self.core.lock())
    }

    fn tells_all_tabs(&self, core: &Core) -> bool {
        let commands = &core.peer.traits.commands;
        match commands.is_empty() {
            true => self.kind == Kind::Browser && core.catalog.tabs().next().is_some(),
            false => !commands.iter().any(|name| name == LISTS_TABS),
        }
    }

    /// Returns whether a browser tells its tabs and is asked for the tools of each.
    pub fn discovers_tools(&self) -> bool {
        self.has_capability(DISCOVERS_TOOLS)
    }
}

impl Core {
    fn known_tab(&mut self, client: &ClientId, named: Option<TabId>) -> Result<TabId, Fault> {
        // One that another has is refused later, and must not become this client's own.
        if let Some(tab) = named.filter(|tab| self.is_anothers(client, *tab)) {
            return Ok(tab);
        }
        // After a restart of the hub only whose tab is whose is known.
        let last = || self.catalog.last_used(client).unwrap_or_else(|| self.tabs.last_of(client));
        let meant = named.or_else(last).filter(|tab| self.catalog.has_tab(*tab));
        let tab = meant.ok_or_else(|| self.catalog.no_tab(named))?;
        self.catalog.remember(client, tab);
        Ok(tab)
    }

    /// Returns whether a tab is known to be somebody else's.
    fn is_anothers(&self, client: &ClientId, tab: TabId) -> bool {
        self.keeps_tabs_apart()
            && match self.tabs.holder(tab) {
                Some(Holder::Client { id, .. }) => id != client,
                Some(Holder::User) => true,
                Some(Holder::Offered { .. }) | None => false,
            }
    }
}
