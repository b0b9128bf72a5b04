//! All tools together: the list that a client reads, and the one way in for a call.
//!
//! The list is deterministic: our own tools by name, then the apps' by name. It is the same for
//! every connection and changes only when sessions do.

use std::{collections::HashMap, sync::Arc};

use hub::Hub;
use model::{Code, Fault, Json};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    TOOLS, apps,
    arguments::Checker,
    definition::{Client, CoreTool, Definition, Output},
};

/// Schemas that are kept ready; beyond that the memory starts anew.
const READY: usize = 1024;

/// The tools of one hub. Clones share what is kept ready.
#[derive(Clone)]
pub struct Toolbox {
    /// The middle of the house.
    pub hub: Hub,
    /// Our own tools, in the order of [`TOOLS`].
    own: Arc<Vec<Own>>,
    // A blocking mutex: held for one map operation, never across an await.
    checkers: Arc<Mutex<HashMap<String, Arc<Checker>>>>,
}

/// A tool of our own with everything that does not change.
struct Own {
    tool: &'static CoreTool,
    definition: Definition,
    checker: Checker,
}

impl Toolbox {
    /// Opens the toolbox of a hub.
    pub fn new(hub: Hub) -> Self {
        let own = TOOLS
            .iter()
            .map(|tool| {
                let definition = (tool.define)();
                let checker = Checker::new(definition.input_schema.clone());
                Own { tool, definition, checker: checker.expect("our own schemas are valid") }
            })
            .collect();
        Self { hub, own: Arc::new(own), checkers: Arc::default() }
    }

    /// Returns every tool that can be called now.
    pub fn list(&self) -> Vec<Definition> {
        let own = self.own.iter().map(|own| own.definition.clone());
        own.chain(apps::list(&self.hub)).collect()
    }

    /// Returns what a client reads about one tool.
    pub fn definition(&self, name: &str) -> Option<Definition> {
        let own = self.own.iter().find(|own| own.tool.name == name);
        own.map(|own| own.definition.clone()).or_else(|| apps::definition(&self.hub, name))
    }

    /// Watches the list: the number grows when it may have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.hub.offers()
    }

    /// Calls a tool: checks the arguments, then does it. Dropping the future cancels the call.
    pub async fn call(&self, client: &Client, name: &str, args: Value) -> Result<Output, Fault> {
        let args = match args {
            Value::Null => Value::Object(Default::default()),
            args => args,
        };
        let Some(own) = self.own.iter().find(|own| own.tool.name == name) else {
            return apps::call(self, client, name, args).await;
        };
        let args = rename(args, own.tool.aliases)?;
        own.checker.check(&args)?;
        (own.tool.run)(self, client, args).await
    }

    /// Returns the schema of a tool that a peer declares, ready to check.
    pub(crate) fn checker(&self, schema: &Json) -> Result<Arc<Checker>, Fault> {
        if let Some(ready) = self.checkers.lock().get(schema.as_str()) {
            return Ok(ready.clone());
        }
        let key = schema.as_str().to_owned();
        let checker = Arc::new(Checker::new(schema.to_value().unwrap_or_default())?);
        let mut checkers = self.checkers.lock();
        if checkers.len() >= READY {
            checkers.clear();
        }
        checkers.insert(key, checker.clone());
        Ok(checker)
    }
}

/// Gives arguments the names they are listed under.
fn rename(mut args: Value, aliases: &[(&str, &str)]) -> Result<Value, Fault> {
    if let Some(fields) = args.as_object_mut() {
        for (alias, name) in aliases {
            if let Some(value) = fields.remove(*alias)
                && fields.insert((*name).to_owned(), value).is_some()
            {
                let message = format!("`{alias}` is another word for `{name}`; give one of them");
                return Err(Fault::new(Code::InvalidArgument, message));
            }
        }
    }
    Ok(args)
}
