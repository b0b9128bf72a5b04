//! A tool of our own, with what a client reads about it and what checks its arguments.
//!
//! Both are made when they are needed first and then kept. Ready to check, a schema takes many
//! times the memory of its text, and most tools are never called. So a hub that nobody uses yet
//! has none; a test makes all of them.

use std::sync::OnceLock;

use model::{Code, Fault};
use serde_json::Value;

use crate::{
    arguments::Checker,
    definition::{CoreTool, Definition},
    schema,
};

/// Other names of arguments that many tools have: `(alias, name)`. Accepted, never listed.
pub const ALIASES: &[(&str, &str)] =
    &[("instanceId", "session"), ("tabId", "tab"), ("timeout", "timeoutMs")];

/// A tool of our own with everything that does not change.
pub struct OwnTool {
    /// The tool as it is written down in its file.
    pub tool: &'static CoreTool,
    definition: OnceLock<Definition>,
    checker: OnceLock<Checker>,
}

impl OwnTool {
    /// Takes a tool; nothing is made of it yet.
    pub fn new(tool: &'static CoreTool) -> Self {
        Self { tool, definition: OnceLock::new(), checker: OnceLock::new() }
    }

    /// Returns what a client reads.
    pub fn definition(&self) -> &Definition {
        self.definition.get_or_init(|| {
            let mut definition = self.tool.define();
            definition.input_schema = schema::listed(&definition.input_schema);
            definition
        })
    }

    /// Returns what is accepted, ready to check.
    pub fn checker(&self) -> &Checker {
        self.checker.get_or_init(|| {
            let accepted = schema::accepted(&self.tool.define().input_schema);
            Checker::new(accepted).expect("a test reads every schema of our own")
        })
    }

    /// Gives arguments the names they are listed under.
    pub fn rename(&self, args: &mut Value) -> Result<(), Fault> {
        let Some(fields) = args.as_object_mut() else { return Ok(()) };
        let checker = self.checker();
        let common =
            ALIASES.iter().filter(|(alias, name)| checker.has(name) && !checker.has(alias));
        for (alias, name) in self.tool.aliases.iter().chain(common) {
            if let Some(value) = fields.remove(*alias)
                && fields.insert((*name).to_owned(), value).is_some()
            {
                let message = format!("`{alias}` is another word for `{name}`; give one of them");
                return Err(Fault::new(Code::InvalidArgument, message));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TOOLS;

    #[test]
    fn every_schema_of_our_own_can_be_used() {
        for tool in TOOLS {
            let own = OwnTool::new(tool);
            // Panics where it cannot; what is wrong with the arguments does not matter here.
            let _ = own.checker().check(&Value::Null);
            assert_eq!(own.definition().name, tool.name);
        }
    }

    #[test]
    fn nothing_is_made_of_a_tool_before_it_is_needed() {
        let own = OwnTool::new(&TOOLS[0]);
        assert!(own.checker.get().is_none() && own.definition.get().is_none());
        let _ = own.definition();
        assert!(own.checker.get().is_none(), "listed, and not called yet");
    }
}
