//! Whose tab is whose: one client drives a tab until it lets go of it, and the user comes first.
//!
//! Between clients of one principal this is coordination, not security. A tab that nobody has can
//! be read by all and belongs to the first who acts in it. A client that has not touched its
//! tab for the lease has let go of it. The user takes a tab back and gives it again in the browser;
//! what they took no client gets by itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use model::{ClientId, Code, Effect, Fault, TabId, page_text::quoted, record::HolderRecord};
use tokio::time::Instant;

/// The capability of a browser that shows whose tabs are whose.
pub const SHOWS_OWNERS: &str = "tab_owners";

/// Who has a tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// A client, since it acted in it.
    Client {
        /// Which.
        id: ClientId,
        /// What people call it.
        name: String,
    },
    /// Whoever has this id or name and touches it first.
    Offered {
        /// The id or name.
        to: String,
        /// Who gave it away, and may take it back.
        by: ClientId,
    },
    /// The user, who took it back.
    User,
}

/// The holders of one browser's tabs.
#[derive(Default)]
pub struct TabTable {
    held: BTreeMap<TabId, Held>,
}

struct Held {
    holder: Holder,
    /// When it was used last; a lease counts from here.
    used: Instant,
}

/// What became of a wish to use a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Nothing is another.
    AsBefore,
    /// It belongs to the client from now on.
    Claimed,
}

impl TabTable {
    /// Brings holders back as they were written down.
    pub fn restore(records: Vec<HolderRecord>) -> Self {
        let used = Instant::now();
        let held = |record: HolderRecord| {
            let client = record.client.and_then(|id| ClientId::parse(&id).ok());
            let holder = match (client, record.offered_to) {
                (Some(by), Some(to)) => Holder::Offered { to, by },
                (Some(id), None) => Holder::Client { id, name: record.name.unwrap_or_default() },
                (None, _) => Holder::User,
            };
            (TabId(record.tab), Held { holder, used })
        };
        Self { held: records.into_iter().map(held).collect() }
    }

    /// Writes the holders down.
    pub fn record(&self) -> Vec<HolderRecord> {
        let record = |(tab, held): (&TabId, &Held)| {
            let (client, name, offered_to) = match &held.holder {
                Holder::Client { id, name } => (Some(id.to_string()), Some(name.clone()), None),
                Holder::Offered { to, by } => (Some(by.to_string()), None, Some(to.clone())),
                Holder::User => (None, None, None),
            };
            HolderRecord { tab: tab.0, client, name, offered_to }
        };
        self.held.iter().map(record).collect()
    }

    /// Lets a client use a tab, or says who has it.
    pub fn admit(
        &mut self,
        client: &ClientId,
        name: &str,
        tab: TabId,
        effect: Effect,
        lease: Duration,
    ) -> Result<Admission, Fault> {
        self.let_go_of_idle(tab, lease);
        let used = Instant::now();
        let own = || Holder::Client { id: client.clone(), name: name.to_owned() };
        match self.held.get_mut(&tab) {
            None if effect == Effect::Read => Ok(Admission::AsBefore),
            None => {
                self.held.insert(tab, Held { holder: own(), used });
                Ok(Admission::Claimed)
            }
            Some(held) => match &held.holder {
                Holder::Client { id, .. } if id == client => {
                    held.used = used;
                    Ok(Admission::AsBefore)
                }
                Holder::Offered { to, .. } if to == client.as_str() || to == name => {
                    *held = Held { holder: own(), used };
                    Ok(Admission::Claimed)
                }
                other => Err(occupied(tab, other)),
            },
        }
    }

    /// Makes a tab that was just opened a client's own.
    pub fn open(&mut self, client: &ClientId, name: &str, tab: TabId) {
        let holder = Holder::Client { id: client.clone(), name: name.to_owned() };
        self.held.insert(tab, Held { holder, used: Instant::now() });
    }

    /// Lets go of a tab for a client.
    pub fn release(&mut self, client: &ClientId, tab: TabId) -> Result<(), Fault> {
        self.check_own(client, tab)?;
        self.held.remove(&tab);
        Ok(())
    }

    /// Offers a client's tab to another.
    pub fn offer(&mut self, client: &ClientId, tab: TabId, to: String) -> Result<(), Fault> {
        self.check_own(client, tab)?;
        let holder = Holder::Offered { to, by: client.clone() };
        self.held.insert(tab, Held { holder, used: Instant::now() });
        Ok(())
    }

    /// Lets go of everything that a client has; returns the tabs.
    pub fn client_left(&mut self, client: &ClientId) -> Vec<TabId> {
        let is_its = |holder: &Holder| match holder {
            Holder::Client { id, .. } => id == client,
            Holder::Offered { .. } | Holder::User => false,
        };
        let its = self.held.iter().filter(|(_, held)| is_its(&held.holder));
        let tabs: Vec<_> = its.map(|(tab, _)| *tab).collect();
        for tab in &tabs {
            self.held.remove(tab);
        }
        tabs
    }

    /// The user has a tab for themselves.
    pub fn take(&mut self, tab: TabId) {
        self.held.insert(tab, Held { holder: Holder::User, used: Instant::now() });
    }

    /// The user has these tabs for themselves and no others; returns whether that is news.
    pub fn set_taken(&mut self, tabs: &BTreeSet<TabId>) -> bool {
        let before = self.record();
        self.held.retain(|tab, held| held.holder != Holder::User || tabs.contains(tab));
        for tab in tabs {
            self.take(*tab);
        }
        self.record() != before
    }

    /// The tab is gone, or free for all again.
    pub fn forget(&mut self, tab: TabId) {
        self.held.remove(&tab);
    }

    /// The browser was started anew: its numbers mean other tabs.
    pub fn clear(&mut self) {
        self.held.clear();
    }

    /// Returns who has a tab.
    pub fn holder(&self, tab: TabId) -> Option<&Holder> {
        self.held.get(&tab).map(|held| &held.holder)
    }

    /// Returns the tab of a client's own that it used last; of several that are equally old the
    /// newest tab.
    pub fn last_of(&self, client: &ClientId) -> Option<TabId> {
        let is_its = |holder: &Holder| matches!(holder, Holder::Client { id, .. } if id == client);
        let its = self.held.iter().filter(|(_, held)| is_its(&held.holder));
        its.max_by_key(|(tab, held)| (held.used, **tab)).map(|(tab, _)| *tab)
    }

    /// Returns all holders.
    pub fn holders(&self) -> impl Iterator<Item = (TabId, &Holder)> {
        self.held.iter().map(|(tab, held)| (*tab, &held.holder))
    }

    fn let_go_of_idle(&mut self, tab: TabId, lease: Duration) {
        let idle = |held: &Held| held.holder != Holder::User && held.used.elapsed() > lease;
        if self.held.get(&tab).is_some_and(idle) {
            self.held.remove(&tab);
        }
    }

    fn check_own(&self, client: &ClientId, tab: TabId) -> Result<(), Fault> {
        match self.holder(tab) {
            Some(Holder::Client { id, .. } | Holder::Offered { by: id, .. }) if id == client => {
                Ok(())
            }
            Some(other) => Err(occupied(tab, other)),
            None => Err(Fault::new(Code::InvalidArgument, format!("tab {tab} belongs to nobody"))
                .hint("acting in it makes it yours")),
        }
    }
}

fn occupied(tab: TabId, holder: &Holder) -> Fault {
    let own = "open a tab of your own with browser_tab new";
    match holder {
        Holder::Client { name, .. } => Fault::new(
            Code::TabOccupied,
            format!("tab {tab} belongs to the client {}", quoted(name)),
        )
        .hint(format!(
            "{own}, or have that client release it or hand it over (browser_tab release, hand_over)"
        )),
        Holder::Offered { to, .. } => Fault::new(
            Code::TabOccupied,
            format!("tab {tab} is kept for the client {}", quoted(to)),
        )
        .hint(own),
        Holder::User => Fault::new(Code::TabOccupied, format!("the user took tab {tab} back"))
            .hint(format!("{own}; they can give it again in the extension's window")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(60);
    const TAB: TabId = TabId(7);

    fn client(name: &str) -> ClientId {
        ClientId::parse(name).unwrap()
    }

    #[track_caller]
    fn check(table: &mut TabTable, who: &str, effect: Effect, expected: Result<Admission, &str>) {
        let found = table.admit(&client(who), who, TAB, effect, LEASE);
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(fault), Err(words)) => {
                assert_eq!(fault.code, Code::TabOccupied);
                assert!(fault.to_string().contains(words), "{fault}");
            }
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_acts_first_has_the_tab_until_it_lets_go() {
        let mut table = TabTable::default();
        check(&mut table, "a", Effect::Read, Ok(Admission::AsBefore));
        check(&mut table, "b", Effect::Act, Ok(Admission::Claimed));
        check(&mut table, "b", Effect::Read, Ok(Admission::AsBefore));
        for effect in [Effect::Read, Effect::Act, Effect::Add] {
            check(&mut table, "a", effect, Err("belongs to the client \"b\""));
        }
        assert!(table.release(&client("a"), TAB).is_err());
        table.release(&client("b"), TAB).unwrap();
        check(&mut table, "a", Effect::Act, Ok(Admission::Claimed));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_ends_without_use() {
        let mut table = TabTable::default();
        check(&mut table, "a", Effect::Act, Ok(Admission::Claimed));
        tokio::time::advance(LEASE).await;
        check(&mut table, "a", Effect::Read, Ok(Admission::AsBefore));
        tokio::time::advance(LEASE).await;
        check(&mut table, "b", Effect::Act, Err("\"a\""));
        tokio::time::advance(Duration::from_secs(1)).await;
        check(&mut table, "b", Effect::Act, Ok(Admission::Claimed));
    }

    #[tokio::test(start_paused = true)]
    async fn a_tab_is_handed_over_by_name_and_can_be_taken_back_before() {
        let mut table = TabTable::default();
        check(&mut table, "a", Effect::Act, Ok(Admission::Claimed));
        table.offer(&client("a"), TAB, "b".into()).unwrap();
        check(&mut table, "a", Effect::Act, Err("kept for the client \"b\""));
        table.release(&client("a"), TAB).unwrap();
        check(&mut table, "a", Effect::Act, Ok(Admission::Claimed));
        table.offer(&client("a"), TAB, "b".into()).unwrap();
        check(&mut table, "c", Effect::Act, Err("kept for"));
        check(&mut table, "b", Effect::Read, Ok(Admission::Claimed));
        check(&mut table, "a", Effect::Read, Err("belongs to the client \"b\""));
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_user_took_no_client_gets_and_no_lease_ends() {
        let mut table = TabTable::default();
        check(&mut table, "a", Effect::Act, Ok(Admission::Claimed));
        table.take(TAB);
        tokio::time::advance(LEASE * 1000).await;
        check(&mut table, "a", Effect::Read, Err("the user took tab 7 back"));
        assert_eq!(table.client_left(&client("a")), []);
        table.forget(TAB);
        check(&mut table, "b", Effect::Act, Ok(Admission::Claimed));
        // What the browser says of all of them at once counts.
        table.take(TabId(8));
        assert!(table.set_taken(&[TAB].into()));
        check(&mut table, "b", Effect::Act, Err("the user took tab 7 back"));
        assert_eq!(table.holder(TabId(8)), None);
        assert!(!table.set_taken(&[TAB].into()), "nothing new");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_leaves_lets_go_and_holders_survive_being_written_down() {
        let mut table = TabTable::default();
        table.open(&client("a"), "claude", TabId(1));
        table.open(&client("a"), "claude", TabId(2));
        table.open(&client("b"), "cursor", TabId(3));
        table.offer(&client("b"), TabId(3), "claude".into()).unwrap();
        table.take(TabId(4));
        let mut table = TabTable::restore(table.record());
        assert_eq!(table.holders().count(), 4);
        assert_eq!(table.holder(TabId(4)), Some(&Holder::User));
        assert!(
            matches!(table.holder(TabId(3)), Some(Holder::Offered { to, .. }) if to == "claude")
        );
        assert_eq!(table.last_of(&client("a")), Some(TabId(2)));
        assert_eq!(table.last_of(&client("b")), None, "what is offered is not its own");
        assert_eq!(table.client_left(&client("a")), [TabId(1), TabId(2)]);
        assert_eq!(table.holders().count(), 2);
    }
}
