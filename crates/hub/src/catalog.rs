//! What a session offers: its tabs, and the tools of the app or of the pages in its tabs.
//!
//! Everything in it is told by the peer and therefore limited in number and length. Which tab a
//! client used last is remembered here too.

use std::collections::{BTreeMap, HashMap};

use model::{
    Change, ClientId, CloseReason, Closing, Code, Fault, Json, Tab, TabId, ToolSpec,
    json::shorten,
    page_text::{address, quoted},
    record::{TabRecord, ToolRecord, ToolsRecord},
};

use crate::config::limits;

/// Clients whose last tab is remembered per session; beyond that the memory starts anew.
const CLIENTS: usize = 256;

/// Tabs and tools of one session.
#[derive(Default)]
pub struct Catalog {
    tabs: BTreeMap<TabId, Tab>,
    tools: BTreeMap<Option<TabId>, Vec<ToolSpec>>,
    /// The tab that each client used last; none once that tab was closed.
    last_used: HashMap<ClientId, Option<TabId>>,
}

impl Catalog {
    /// Brings tabs and tools back as they were written down.
    pub fn restore(tabs: Vec<TabRecord>, tools: Vec<ToolsRecord>) -> Self {
        let tab = |tab: TabRecord| {
            let TabRecord { id, title, url, active } = tab;
            (TabId(id), Tab { id: TabId(id), title, url, active })
        };
        let tool = |tool: ToolRecord| {
            Some(ToolSpec {
                name: tool.name,
                description: tool.description,
                input_schema: Json::parse(tool.input_schema).ok()?,
                read_only: tool.read_only,
                origin: tool.origin,
            })
        };
        let all = |all: ToolsRecord| {
            (all.tab.map(TabId), all.tools.into_iter().filter_map(tool).collect())
        };
        Self {
            tabs: tabs.into_iter().map(tab).collect(),
            tools: tools.into_iter().map(all).collect(),
            last_used: HashMap::new(),
        }
    }

    /// Writes down what is offered.
    pub fn record(&self) -> (Vec<TabRecord>, Vec<ToolsRecord>) {
        let tab = |tab: &Tab| TabRecord {
            id: tab.id.0,
            title: tab.title.clone(),
            url: tab.url.clone(),
            active: tab.active,
        };
        let tool = |tool: &ToolSpec| ToolRecord {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.as_str().to_owned(),
            read_only: tool.read_only,
            origin: tool.origin.clone(),
        };
        let all = |(tab, tools): (&Option<TabId>, &Vec<ToolSpec>)| ToolsRecord {
            tab: tab.map(|tab| tab.0),
            tools: tools.iter().map(tool).collect(),
        };
        (self.tabs.values().map(tab).collect(), self.tools.iter().map(all).collect())
    }

    /// Takes in what the peer told, and returns whether that has changed anything that is written
    /// down; an error is the reason to close its socket.
    pub fn apply(&mut self, change: &Change) -> Result<bool, Closing> {
        match change {
            Change::TabCreated(tab) | Change::TabUpdated(tab) => self.put_tab(tab.clone())?,
            Change::TabClosed(id) => self.remove_tab(*id),
            Change::TabFocused(id) => {
                for tab in self.tabs.values_mut() {
                    tab.active = tab.id == *id;
                }
            }
            Change::ToolsChanged { tab, tools } => {
                check_tools(tools)?;
                let others = self.tools.iter().filter(|(owner, _)| *owner != tab);
                let all = others.flat_map(|(_, tools)| tools).chain(tools);
                if all.map(ToolSpec::size).sum::<usize>() > limits::TOOL_BYTES {
                    // One page must not cost its browser the connection: it goes without tools.
                    if tab.is_some() {
                        return Ok(self.tools.remove(tab).is_some());
                    }
                    return Err(over_limit("bytes in all tools together", limits::TOOL_BYTES));
                }
                self.tools.insert(*tab, tools.clone());
            }
            Change::State(_) | Change::Event { .. } => return Ok(false),
        }
        Ok(true)
    }

    /// Forgets the tabs with their pages' tools; the app's own tools stay until told anew.
    pub fn clear_tabs(&mut self) {
        self.tabs.clear();
        self.tools.retain(|tab, _| tab.is_none());
    }

    /// Returns the tabs, by number.
    pub fn tabs(&self) -> impl Iterator<Item = &Tab> {
        self.tabs.values()
    }

    /// Returns the tools of the app itself.
    pub fn app_tools(&self) -> &[ToolSpec] {
        self.tools.get(&None).map_or(&[], Vec::as_slice)
    }

    /// Returns how many bytes the tools have.
    pub fn weight(&self) -> usize {
        self.tools.values().flatten().map(ToolSpec::size).sum()
    }

    /// Returns the names of the tools of the app itself.
    pub fn app_tool_names(&self) -> Vec<String> {
        self.app_tools().iter().map(|tool| tool.name.clone()).collect()
    }

    /// Returns the tools that the page in a tab declares.
    pub fn page_tools(&self, tab: TabId) -> &[ToolSpec] {
        self.tools.get(&Some(tab)).map_or(&[], Vec::as_slice)
    }

    /// Returns a tool of the app itself.
    pub fn app_tool(&self, name: &str) -> Option<&ToolSpec> {
        self.app_tools().iter().find(|tool| tool.name == name)
    }

    /// Returns whether it has a tab.
    pub fn has_tab(&self, tab: TabId) -> bool {
        self.tabs.contains_key(&tab)
    }

    /// Returns the tab that a client used last; `Some(None)` means that it was closed since.
    pub fn last_used(&self, client: &ClientId) -> Option<Option<TabId>> {
        self.last_used.get(client).copied()
    }

    /// Makes a tab the client's last one.
    pub fn remember(&mut self, client: &ClientId, tab: TabId) {
        if self.last_used.len() >= CLIENTS {
            self.last_used.clear();
        }
        self.last_used.insert(client.clone(), Some(tab));
    }

    /// The error of a call whose tab is not known; it lists those that are.
    pub fn no_tab(&self, named: Option<TabId>) -> Fault {
        let message = match named {
            Some(tab) => format!("there is no tab {tab}"),
            None => "no tab was named and none was used before".to_owned(),
        };
        let list: Vec<_> = self
            .tabs
            .values()
            .take(20)
            .map(|tab| {
                let (title, url) = (shorten(&tab.title, 80), shorten(&tab.url, 200));
                format!("{} {} {}", tab.id, quoted(&title), address(&url))
            })
            .collect();
        let hint = match list.is_empty() {
            true => "the browser has no tabs; open one first".to_owned(),
            false => format!("name one of these as `tab`: {}", list.join(", ")),
        };
        Fault::new(Code::UnknownTab, message).hint(hint)
    }

    fn put_tab(&mut self, tab: Tab) -> Result<(), Closing> {
        if self.tabs.len() >= limits::TABS && !self.tabs.contains_key(&tab.id) {
            return Err(over_limit("tabs", limits::TABS));
        }
        // A page's tools go with their document.
        if self.tabs.get(&tab.id).is_some_and(|known| known.url != tab.url) {
            self.tools.remove(&Some(tab.id));
        }
        self.tabs.insert(tab.id, tab);
        Ok(())
    }

    fn remove_tab(&mut self, id: TabId) {
        self.tabs.remove(&id);
        self.tools.remove(&Some(id));
        for tab in self.last_used.values_mut().filter(|tab| **tab == Some(id)) {
            *tab = None;
        }
    }
}

fn check_tools(tools: &[ToolSpec]) -> Result<(), Closing> {
    if tools.len() > limits::TOOLS {
        return Err(over_limit("tools", limits::TOOLS));
    }
    let mut names = std::collections::HashSet::new();
    for tool in tools {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        if tool.name.is_empty()
            || tool.name.len() > limits::TOOL_NAME
            || !tool.name.bytes().all(plain)
        {
            return Err(Closing::new(
                CloseReason::LimitExceeded,
                format!("a tool's name has 1 to {} of letters, digits, _ . -", limits::TOOL_NAME),
            ));
        }
        if !names.insert(&tool.name) {
            return Err(Closing::new(
                CloseReason::LimitExceeded,
                format!("tool {} stands twice", tool.name),
            ));
        }
        if tool.description.len() > limits::TOOL_DESCRIPTION {
            return Err(over_limit("bytes in a tool's description", limits::TOOL_DESCRIPTION));
        }
        if tool.input_schema.size() > limits::TOOL_SCHEMA {
            return Err(over_limit("bytes in a tool's schema", limits::TOOL_SCHEMA));
        }
    }
    Ok(())
}

fn over_limit(what: &str, limit: usize) -> Closing {
    Closing::new(CloseReason::LimitExceeded, format!("more than {limit} {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tab(id: u64, url: &str) -> Tab {
        Tab { id: TabId(id), title: String::new(), url: url.into(), active: false }
    }

    fn tool(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: String::new(),
            input_schema: Json::null(),
            read_only: false,
            origin: None,
        }
    }

    fn tools(tab: Option<u64>, names: &[&str]) -> Change {
        tools_of(tab, names.iter().map(|name| tool(name)).collect())
    }

    fn tools_of(tab: Option<u64>, tools: Vec<ToolSpec>) -> Change {
        Change::ToolsChanged { tab: tab.map(TabId), tools }
    }

    fn heavy() -> ToolSpec {
        let input_schema = Json::of(&"x".repeat(limits::TOOL_SCHEMA - 2).into());
        ToolSpec { input_schema, ..tool("heavy") }
    }

    #[test]
    fn a_pages_tools_go_with_their_document() {
        let mut catalog = Catalog::default();
        catalog.apply(&Change::TabCreated(tab(7, "https://a.example/"))).unwrap();
        catalog.apply(&tools(Some(7), &["search"])).unwrap();
        assert_eq!(catalog.page_tools(TabId(7)).len(), 1);
        catalog.apply(&Change::TabUpdated(tab(7, "https://b.example/"))).unwrap();
        assert!(catalog.page_tools(TabId(7)).is_empty());
        catalog.apply(&tools(Some(7), &["search"])).unwrap();
        catalog.apply(&Change::TabClosed(TabId(7))).unwrap();
        assert!(catalog.page_tools(TabId(7)).is_empty());
    }

    #[test]
    fn a_client_keeps_the_tab_it_used_last_until_that_is_closed() {
        let (first, second) = (ClientId::parse("a").unwrap(), ClientId::parse("b").unwrap());
        let mut catalog = Catalog::default();
        for id in [7, 8] {
            catalog.apply(&Change::TabCreated(tab(id, "https://a.example/"))).unwrap();
        }
        let fault = catalog.no_tab(None).to_string();
        assert!(fault.contains("7 ") && fault.contains("8 "), "{fault}");
        catalog.remember(&first, TabId(8));
        assert_eq!(catalog.last_used(&first), Some(Some(TabId(8))));
        assert_eq!(catalog.last_used(&second), None, "another client has its own");
        catalog.apply(&Change::TabClosed(TabId(8))).unwrap();
        assert_eq!(catalog.last_used(&first), Some(None), "a closed tab is not used again");
    }

    #[test]
    fn numbers_and_lengths_are_limited() {
        let mut catalog = Catalog::default();
        let check = |catalog: &mut Catalog, change: &Change| {
            assert_eq!(
                catalog.apply(change).map_err(|closing| closing.reason),
                Err(CloseReason::LimitExceeded)
            );
        };
        let names: Vec<String> = (0..=limits::TOOLS).map(|number| format!("t{number}")).collect();
        check(&mut catalog, &tools(None, &names.iter().map(String::as_str).collect::<Vec<_>>()));
        for tab in 0..70 {
            let change = tools_of(Some(tab), vec![heavy()]);
            catalog.apply(&change).unwrap();
            let fits = (tab as usize + 1) * limits::TOOL_SCHEMA + 100 < limits::TOOL_BYTES;
            let kept = catalog.page_tools(TabId(tab)).len();
            assert_eq!(kept == 1, fits, "the tools of {tab} tabs");
        }
        check(&mut catalog, &tools_of(None, vec![heavy()]));
        let mut catalog = Catalog::default();
        check(&mut catalog, &tools(None, &["a", "a"]));
        check(&mut catalog, &tools(None, &["a b"]));
        check(&mut catalog, &tools(None, &[""]));
        check(&mut catalog, &tools(None, &[&"x".repeat(limits::TOOL_NAME + 1)]));
        for id in 0..limits::TABS as u64 {
            catalog.apply(&Change::TabCreated(tab(id, ""))).unwrap();
        }
        check(&mut catalog, &Change::TabCreated(tab(9999, "")));
        catalog.apply(&Change::TabUpdated(tab(3, "new"))).unwrap();
    }
}
