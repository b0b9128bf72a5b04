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

/// Returns the groups of tools, by name.
pub fn groups() -> BTreeSet<&'static str> {
    TOOLS.iter().map(|tool| tool.group).chain([APPS]).collect()
}

/// Returns the names of the tools in a group.
pub fn tools_of(group: &str) -> impl Iterator<Item = &'static str> {
    TOOLS.iter().filter(move |tool| tool.group == group).map(|tool| tool.name)
}

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
        } else if groups().contains(word) {
            self.tools.extend(tools_of(word));
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
        let own = TOOLS.iter().find(|own| own.name == tool);
        let group = own.map_or(APPS, |own| own.group);
        let message =
            format!("the setting `tools` of the hub hides {tool}: it is {}", self.words.join(","));
        Fault::new(Code::UnknownTool, message)
            .hint(format!("whoever runs the hub can add {group} to it"))
    }
}

fn known() -> Vec<&'static str> {
    [ALL].into_iter().chain(groups()).chain(TOOLS.iter().map(|tool| tool.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Selection, String> {
        let words: Vec<_> = text.split(',').map(str::to_owned).collect();
        Selection::parse(&words)
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
