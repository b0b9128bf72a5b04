//! Which tools a hub offers: the setting `tools`, by groups or by names.
//!
//! What is not selected is neither listed nor callable, under its other names neither. It hides;
//! what a client may do to a browser is not decided here.

use std::collections::BTreeSet;

use model::{Code, Fault};

use crate::{TOOLS, arguments::nearest};

/// Everything, tools of apps included.
const ALL: &str = "all";
/// The group that the tools of apps belong to.
const APPS: &str = "apps";

/// The groups and what is in them.
pub const GROUPS: &[(&str, &[&str])] = &[
    (APPS, &["app_state"]),
    ("batch", &["batch"]),
    (
        "browse",
        &[
            "browser_content",
            "browser_instance",
            "browser_interact",
            "browser_navigate",
            "browser_snapshot",
            "browser_tab",
        ],
    ),
    ("debug", &["browser_debug"]),
    ("emulate", &["browser_emulate"]),
    ("network", &["browser_network"]),
    ("pages", &["page_tools"]),
    ("script", &["browser_execute"]),
    ("wait", &["sleep", "wait_for"]),
];

/// The tools that a hub offers, by the setting `tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    words: Vec<String>,
    tools: BTreeSet<&'static str>,
    apps: bool,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            words: vec![ALL.to_owned()],
            tools: TOOLS.iter().map(|tool| tool.name).collect(),
            apps: true,
        }
    }
}

impl Selection {
    /// Reads groups and names of tools; an error is for whoever wrote them.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        if words.is_empty() {
            return Err(format!("names no tools; write {ALL}, or some of {}", known().join(", ")));
        }
        let mut selection = Self { words: words.to_vec(), tools: BTreeSet::new(), apps: false };
        for word in words {
            selection.add(word)?;
        }
        Ok(selection)
    }

    fn add(&mut self, word: &str) -> Result<(), String> {
        if word == ALL {
            let words = std::mem::take(&mut self.words);
            *self = Self { words, ..Self::default() };
        } else if let Some((_, tools)) = GROUPS.iter().find(|(name, _)| *name == word) {
            self.tools.extend(*tools);
            self.apps |= word == APPS;
        } else if let Some(tool) = TOOLS.iter().find(|tool| tool.name == word) {
            self.tools.insert(tool.name);
        } else {
            let known = known();
            let advice = match nearest(word, known.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("there are {}", known.join(", ")),
            };
            return Err(format!("there is no tool or group {word:?}; {advice}"));
        }
        Ok(())
    }

    /// Returns whether a tool of our own is offered.
    pub fn has(&self, tool: &str) -> bool {
        self.tools.contains(tool)
    }

    /// Returns whether the tools of apps are offered.
    pub fn has_apps(&self) -> bool {
        self.apps
    }

    /// The error of a tool that is there and not offered.
    pub(crate) fn hidden(&self, tool: &str) -> Fault {
        let group = GROUPS.iter().find(|(_, tools)| tools.contains(&tool));
        let group = group.map_or(APPS, |(name, _)| name);
        let message =
            format!("the setting `tools` of the hub hides {tool}: it is {}", self.words.join(","));
        Fault::new(Code::UnknownTool, message)
            .hint(format!("whoever runs the hub can add {group} to it"))
    }
}

fn known() -> Vec<&'static str> {
    let groups = GROUPS.iter().map(|(name, _)| *name);
    [ALL].into_iter().chain(groups).chain(TOOLS.iter().map(|tool| tool.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Selection, String> {
        let words: Vec<_> = text.split(',').map(str::to_owned).collect();
        Selection::parse(&words)
    }

    #[test]
    fn every_tool_is_in_one_group() {
        for tool in TOOLS {
            let groups = GROUPS.iter().filter(|(_, tools)| tools.contains(&tool.name));
            assert_eq!(groups.count(), 1, "{}", tool.name);
        }
        let grouped: usize = GROUPS.iter().map(|(_, tools)| tools.len()).sum();
        assert_eq!(grouped, TOOLS.len(), "no group has a tool that does not exist");
    }

    #[test]
    fn groups_and_names_add_up() {
        let some = parse("wait,browser_execute").unwrap();
        assert!(some.has("sleep") && some.has("wait_for") && some.has("browser_execute"));
        assert!(!some.has("browser_tab") && !some.has_apps());
        assert!(parse("apps").unwrap().has_apps());
        assert!(!parse("app_state").unwrap().has_apps(), "one tool is not its group");
        let all = parse("wait,all").unwrap();
        assert!(all.has_apps() && TOOLS.iter().all(|tool| all.has(tool.name)));
    }

    #[test]
    fn unknown_words_are_refused_with_the_nearest() {
        let problem = |text| parse(text).unwrap_err();
        assert!(problem("browze").contains("did you mean browse?"));
        assert!(problem("wait,browser_snapshots").contains("did you mean browser_snapshot?"));
        assert!(problem("zzz").contains("there are all, apps, batch"));
        assert!(Selection::parse(&[]).unwrap_err().contains("names no tools"));
    }
}
