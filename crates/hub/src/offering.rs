//! Who declares which tool: finds the sessions of a tool without looking at all others.
//!
//! Sessions write here, under their own lock, what they declare. It may name a session that was
//! forgotten since, so whoever asks looks each of them up; it never lacks one that is there.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use model::{SessionId, ToolSpec};
use parking_lot::RwLock;

/// A session by its readable name, so that they come in the order of listings, and by its id.
type Who = (Arc<str>, SessionId);

/// The sessions of each tool that an app declares.
#[derive(Default)]
pub(crate) struct Offering {
    // A blocking lock: held for one look-up or change, never across an await, and no other lock is
    // taken inside.
    by_tool: RwLock<HashMap<String, BTreeSet<Who>>>,
}

impl Offering {
    /// Takes note of what a session declares now instead of what it did before.
    pub fn replace(&self, who: &Who, before: &[String], now: &[ToolSpec]) {
        if before.is_empty() && now.is_empty() {
            return;
        }
        let mut by_tool = self.by_tool.write();
        for name in before.iter().filter(|name| now.iter().all(|tool| tool.name != **name)) {
            if let Some(sessions) = by_tool.get_mut(name) {
                sessions.remove(who);
                if sessions.is_empty() {
                    by_tool.remove(name);
                }
            }
        }
        for tool in now {
            by_tool.entry(tool.name.clone()).or_default().insert(who.clone());
        }
    }

    /// Returns who declares a tool, by name.
    pub fn of(&self, tool: &str) -> Vec<SessionId> {
        let by_tool = self.by_tool.read();
        by_tool.get(tool).into_iter().flatten().map(|(_, id)| id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use model::Json;

    use super::*;

    fn who(name: &str) -> Who {
        (name.into(), SessionId::parse(&format!("s_{name}")).unwrap())
    }

    fn tools(names: &[&str]) -> Vec<ToolSpec> {
        let tool = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            input_schema: Json::null(),
            read_only: false,
            origin: None,
        };
        names.iter().map(tool).collect()
    }

    fn found(offering: &Offering, tool: &str) -> Vec<String> {
        offering.of(tool).iter().map(SessionId::to_string).collect()
    }

    #[test]
    fn who_declares_a_tool_is_found_in_the_order_of_names() {
        let offering = Offering::default();
        offering.replace(&who("b"), &[], &tools(&["paint", "erase"]));
        offering.replace(&who("a"), &[], &tools(&["paint"]));
        assert_eq!(found(&offering, "paint"), ["s_a", "s_b"]);
        assert_eq!(found(&offering, "erase"), ["s_b"]);
        assert!(found(&offering, "dance").is_empty());
    }

    #[test]
    fn what_is_no_longer_declared_is_forgotten() {
        let offering = Offering::default();
        offering.replace(&who("a"), &[], &tools(&["paint", "erase"]));
        let before = ["paint", "erase"].map(str::to_owned);
        offering.replace(&who("a"), &before, &tools(&["erase", "fill"]));
        assert!(found(&offering, "paint").is_empty());
        assert_eq!(found(&offering, "erase"), ["s_a"]);
        offering.replace(&who("a"), &["erase".to_owned(), "fill".to_owned()], &[]);
        assert!(offering.by_tool.read().is_empty(), "nothing stays behind");
    }
}
