//! The manifests in force, and whose tool a name is.

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::ArcSwap;

use super::{Manifest, ManifestError, tool::Tool};
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
    pub fn list(&self) -> Vec<Definition> {
        self.in_force.load().values().map(|owned| owned.tool().definition.clone()).collect()
    }

    /// Returns what a client reads about one tool.
    pub fn definition(&self, tool: &str) -> Option<Definition> {
        self.in_force.load().get(tool).map(|owned| owned.tool().definition.clone())
    }

    /// Returns whether there is a tool of that name.
    pub fn has(&self, tool: &str) -> bool {
        self.in_force.load().contains_key(tool)
    }

    pub(super) fn find(&self, tool: &str) -> Option<Owned> {
        self.in_force.load().get(tool).cloned()
    }
}
