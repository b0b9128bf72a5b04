//! The manifests in force, and whose tool a name is.

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::ArcSwap;

use hub::Hub;

use super::{
    Manifest, ManifestError,
    tool::{Action, Tool},
};
use crate::definition::Definition;

/// The manifests in force. Clones share them.
#[derive(Clone, Default)]
pub struct Apps {
    in_force: Arc<ArcSwap<BTreeMap<String, Owned>>>,
}

/// A tool, by its manifest and its place there.
#[derive(Clone)]
pub(super) struct Owned {
    pub manifest: Arc<Manifest>,
    index: usize,
}

impl Owned {
    pub fn tool(&self) -> &Tool {
        &self.manifest.tools[self.index]
    }

    /// Whether it can be called: pages can connect, or one is known; links are told always.
    fn is_there(&self, hub: &Hub) -> bool {
        self.manifest.closed.is_none()
            || matches!(self.tool().action, Action::Link)
            || !hub.filtered(|session| self.manifest.serves(session)).is_empty()
    }
}

impl Apps {
    /// Puts these manifests in force and all others out of it. A tool name that two of them have
    /// stays with the first; the complaints say which.
    pub fn set(&self, manifests: Vec<Manifest>) -> Vec<ManifestError> {
        let mut by_name: BTreeMap<String, Owned> = BTreeMap::new();
        let mut complaints = Vec::new();
        for manifest in manifests.into_iter().map(Arc::new) {
            for (index, tool) in manifest.tools.iter().enumerate() {
                let name = &tool.definition.name;
                if let Some(known) = by_name.get(name) {
                    let message = format!("tool `{name}` is in {} already", known.manifest.file);
                    complaints.push(ManifestError::whole(&manifest.file, message));
                    continue;
                }
                by_name.insert(name.clone(), Owned { manifest: manifest.clone(), index });
            }
        }
        self.in_force.store(Arc::new(by_name));
        complaints
    }

    /// Returns what a client reads about all tools, by name.
    pub fn list(&self, hub: &Hub) -> Vec<Definition> {
        let in_force = self.in_force.load();
        let there = in_force.values().filter(|owned| owned.is_there(hub));
        there.map(|owned| owned.tool().definition.clone()).collect()
    }

    /// Returns what a client reads about one tool.
    pub fn definition(&self, hub: &Hub, tool: &str) -> Option<Definition> {
        self.find(hub, tool).map(|owned| owned.tool().definition.clone())
    }

    /// Returns whether there is a tool of that name.
    pub fn has(&self, hub: &Hub, tool: &str) -> bool {
        self.in_force.load().get(tool).is_some_and(|owned| owned.is_there(hub))
    }

    pub(super) fn find(&self, hub: &Hub, tool: &str) -> Option<Owned> {
        self.in_force.load().get(tool).filter(|owned| owned.is_there(hub)).cloned()
    }
}
