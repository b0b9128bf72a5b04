//! Tabs and the tools of their pages, as foreign clients tell them, cut to what the hub takes.
//!
//! Clients tell the same thing twice, leave things out, and repeat what a page wrote unchecked.
//! What goes on to the hub is each change once and nothing that would cost the connection.

use std::collections::{BTreeMap, HashSet};

use model::{Change, Json, Tab, TabId, ToolSpec, json::cut};
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::each;

/// Tabs of one browser, and tools of one page, that are taken note of.
pub const TABS: usize = 1000;
const TOOLS: usize = 256;
/// Bytes of a tool's name and schema, and of all tools of a browser together.
const NAME: usize = 128;
const SCHEMA: usize = 65536;
const TOOL_BYTES: usize = 4 << 20;
/// Characters of a tool's description, of a tab's title, and of its address.
const DESCRIPTION: usize = 1024;
const TITLE: usize = 1000;
const URL: usize = 8192;

/// A tab as these clients tell it.
#[derive(Debug, Deserialize)]
pub struct WireTab {
    /// The browser's number for it.
    pub id: u64,
    /// Its title, where it was told.
    #[serde(default)]
    pub title: Option<String>,
    /// Its address, where it was told.
    #[serde(default)]
    pub url: Option<String>,
    /// Whether it is in front, where that was told.
    #[serde(default)]
    pub active: Option<bool>,
    /// What its page declares; whatever the page wrote.
    #[serde(default)]
    pub tools: Option<Box<RawValue>>,
}

impl WireTab {
    /// Makes a tab of which only this is known.
    pub fn of(id: TabId, url: Option<&str>, title: Option<&str>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self { id: id.0, title: owned(title), url: owned(url), active: None, tools: None }
    }
}

/// Returns the tools that fit, each once: one page's odd tool must not cost the others.
pub fn tools(told: Option<&RawValue>) -> Vec<ToolSpec> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct WireTool {
        name: String,
        #[serde(default)]
        description: Option<serde_json::Value>,
        #[serde(default)]
        input_schema: Option<Box<RawValue>>,
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let fits = |schema: &Json| schema.size() <= SCHEMA && schema.as_str().starts_with('{');
    let mut names = HashSet::new();
    each::<WireTool>(told, usize::MAX)
        .into_iter()
        .filter(|tool| !tool.name.is_empty() && tool.name.len() <= NAME)
        .filter(|tool| tool.name.bytes().all(plain) && names.insert(tool.name.clone()))
        .take(TOOLS)
        .map(|tool| ToolSpec {
            description: tool
                .description
                .and_then(|words| Some(cut(words.as_str()?, DESCRIPTION)))
                .unwrap_or_default(),
            input_schema: tool
                .input_schema
                .map(Json::from)
                .filter(fits)
                .unwrap_or_else(|| Json::of(&json!({"type": "object"}))),
            read_only: false,
            origin: None,
            name: tool.name,
        })
        .collect()
}

/// The tabs that a client has told of, so that what it tells twice is passed on once.
#[derive(Debug, Default)]
pub struct KnownTabs(BTreeMap<TabId, Known>);

#[derive(Debug)]
struct Known {
    tab: Tab,
    /// Bytes of its page's tools.
    tools: usize,
}

impl KnownTabs {
    /// Takes note of a tab; what was left out stays as it was.
    pub fn told(&mut self, wire: &WireTab) -> Option<Change> {
        let id = TabId(wire.id);
        let known = self.0.get(&id);
        if known.is_none() && self.0.len() >= TABS {
            return None;
        }
        let before = known.map(|known| &known.tab);
        let text = |told: &Option<String>, longest, before: Option<&String>| match told {
            Some(told) => cut(told, longest),
            None => before.cloned().unwrap_or_default(),
        };
        let tab = Tab {
            id,
            title: text(&wire.title, TITLE, before.map(|tab| &tab.title)),
            url: text(&wire.url, URL, before.map(|tab| &tab.url)),
            active: wire.active.or(before.map(|tab| tab.active)).unwrap_or_default(),
        };
        // A page's tools go with their document.
        let same_page = before.is_some_and(|before| before.url == tab.url);
        let tools = known.filter(|_| same_page).map_or(0, |known| known.tools);
        let change = match before {
            None => Some(Change::TabCreated(tab.clone())),
            Some(before) if *before != tab => Some(Change::TabUpdated(tab.clone())),
            Some(_) => None,
        };
        self.0.insert(id, Known { tab, tools });
        change
    }

    /// Takes note of all tabs there are: the others are gone.
    pub fn told_all(&mut self, tabs: &[WireTab]) -> Vec<Change> {
        let present: HashSet<_> = tabs.iter().map(|tab| TabId(tab.id)).collect();
        let gone: Vec<_> = self.0.keys().copied().filter(|id| !present.contains(id)).collect();
        let closed: Vec<_> = gone.into_iter().filter_map(|id| self.closed(id)).collect();
        closed.into_iter().chain(tabs.iter().filter_map(|tab| self.told(tab))).collect()
    }

    /// Forgets a tab.
    pub fn closed(&mut self, id: TabId) -> Option<Change> {
        self.0.remove(&id).map(|_| Change::TabClosed(id))
    }

    /// Takes note that a tab is in front.
    pub fn focused(&mut self, id: TabId) -> Option<Change> {
        self.get(id)?;
        for known in self.0.values_mut() {
            known.tab.active = known.tab.id == id;
        }
        Some(Change::TabFocused(id))
    }

    /// Takes note of what the page in a known tab declares, as far as there is room.
    pub fn declared(&mut self, id: TabId, mut tools: Vec<ToolSpec>) -> Option<Change> {
        let others: usize =
            self.0.iter().filter(|(tab, _)| **tab != id).map(|(_, known)| known.tools).sum();
        let known = self.0.get_mut(&id)?;
        let mut room = TOOL_BYTES.saturating_sub(others);
        tools.retain(|tool| {
            let fits = tool.size() <= room;
            room -= if fits { tool.size() } else { 0 };
            fits
        });
        known.tools = tools.iter().map(ToolSpec::size).sum();
        Some(Change::ToolsChanged { tab: Some(id), tools })
    }

    /// Returns what is known of a tab.
    pub fn get(&self, id: TabId) -> Option<&Tab> {
        self.0.get(&id).map(|known| &known.tab)
    }

    /// Returns all of them, by number.
    pub fn all(&self) -> impl Iterator<Item = &Tab> {
        self.0.values().map(|known| &known.tab)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn a_pages_odd_tool_does_not_cost_the_others() {
        let told = raw(
            r#"[{"name":"search","description":7,"inputSchema":[1]}, {"name":"no spaces"}, 5, null,
                {"description":"nameless"}, {"name":"search"}, {"name":"buy","inputSchema":{}}]"#,
        );
        let tools = tools(Some(&told));
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["search", "buy"]);
        assert_eq!(tools[0].input_schema.as_str(), r#"{"type":"object"}"#);
        assert_eq!(super::tools(Some(&raw("\"none\""))), []);
    }

    #[test]
    fn the_tools_of_all_tabs_stay_within_what_the_hub_takes() {
        let big = format!(r#"{{"x":"{}"}}"#, "a".repeat(60_000));
        let list: Vec<_> =
            (0..60).map(|n| format!(r#"{{"name":"t{n}","inputSchema":{big}}}"#)).collect();
        let told = raw(&format!("[{}]", list.join(",")));
        let mut tabs = KnownTabs::default();
        let mut total = 0;
        for id in 1..=3 {
            tabs.told(&WireTab::of(TabId(id), Some("https://a.example/"), None));
            if let Some(Change::ToolsChanged { tools, .. }) =
                tabs.declared(TabId(id), tools(Some(&told)))
            {
                total += tools.iter().map(ToolSpec::size).sum::<usize>();
            }
        }
        assert!(total <= TOOL_BYTES && total > TOOL_BYTES - 70_000, "{total}");
        assert_eq!(tabs.declared(TabId(9), Vec::new()), None, "an unknown tab has no tools");
    }

    #[test]
    fn what_is_told_twice_is_passed_on_once() {
        let mut tabs = KnownTabs::default();
        let tab = WireTab::of(TabId(1), Some("https://a.example/"), Some("A"));
        assert!(matches!(tabs.told(&tab), Some(Change::TabCreated(_))));
        assert_eq!(tabs.told(&tab), None);
        let moved = WireTab::of(TabId(1), Some("https://a.example/b"), None);
        let Some(Change::TabUpdated(updated)) = tabs.told(&moved) else { panic!() };
        assert_eq!(updated.title, "A", "what was left out stays");
        assert_eq!(tabs.told_all(&[]), [Change::TabClosed(TabId(1))]);
        assert_eq!(tabs.closed(TabId(1)), None);
    }
}
