//! All tools together: the list that a client reads, and the one way in for a call.
//!
//! The list is deterministic: our own tools by name, then the apps' by name, whether they declare
//! them or a manifest does. It is the same for every connection and changes only when sessions or
//! manifests do.

mod own;

use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwap;
use guard::HubSecret;
use hub::Hub;
use model::{Fault, InstanceId, Json, Target};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use snapshot::kept::KeptSnapshots;
use tokio::sync::watch;

use crate::{
    TOOLS, action, address, apps,
    arguments::Checker,
    browser_execute, browser_instance,
    definition::{Client, CoreTool, Definition, Output},
    direct_pages::{self, Origins},
    launching::Launcher,
    list_room,
    manifest::{self, Apps, Manifest, ManifestError},
    originals, page_tools,
    recording::Recorder,
    selection::Selection,
    shelf::Shelf,
    uploads::{self, UploadFolders},
};
use own::{ALIASES, OwnTool};

/// Schemas that are kept ready; beyond that the memory starts anew.
const READY: usize = 1024;

/// The tools of our own whose description says that the list is full: one of them is there wherever
/// tools of apps or pages are.
const HOLDS_REMARKS: [&str; 2] = ["app_state", "page_tools"];
/// Commands that load the address in their `url`.
const LOADING: &[&str] = &["browser_navigate", "browser_tab_new"];
/// Commands that run script of the caller's in a page, some only with an argument: an answer that is
/// made up for a page can be script too.
const SCRIPTING: &[(&str, Option<&str>)] = &[
    ("browser_evaluate", None),
    ("browser_wait_for", Some("expression")),
    ("browser_mock_request", Some("body")),
];

/// The tools of one hub. Clones share what is kept ready.
#[derive(Clone)]
pub struct Toolbox {
    /// The middle of the house.
    pub hub: Hub,
    /// Our own tools, in the order of [`TOOLS`].
    own: Arc<Vec<OwnTool>>,
    // A blocking mutex: held for one map operation, never across an await.
    checkers: Arc<Mutex<HashMap<String, Arc<Checker>>>>,
    /// The manifests in force.
    pub(crate) manifests: Apps,
    /// The last snapshots, for differences.
    pub(crate) snapshots: Arc<KeptSnapshots>,
    /// Who starts browsers, if anybody does.
    pub launcher: Option<Arc<dyn Launcher>>,
    /// What the ids of clients' links and the keys of pages follow from, so that they outlive this hub.
    pub secret: HubSecret,
    pub(crate) settings: Arc<ArcSwap<ToolboxSettings>>,
    /// Results that are too large for an answer.
    pub shelf: Shelf,
    /// What clients do, where they want it noted.
    pub(crate) recorder: Recorder,
}

/// What can change while the hub runs.
#[derive(Debug, Clone, Default)]
pub struct ToolboxSettings {
    /// Which tools are offered; all others are hidden.
    pub selection: Selection,
    /// Whose pages' tools stand in the list themselves.
    pub direct_pages: Origins,
    /// What uploads are judged by.
    pub upload_folders: UploadFolders,
    /// The hosts (`127.0.0.1:8765`) under which the hub is reached: no browser is sent there to what
    /// is for clients and operators. By the first, pages on this machine reach it.
    pub own_hosts: Vec<String>,
}

/// A call that can be made.
enum Prepared<'a> {
    /// Of a tool of our own, with arguments that fit.
    OwnTool(&'a OwnTool, Value),
    /// Of an app's tool, if there is one.
    App(Value),
}

impl Toolbox {
    /// Opens the toolbox of a hub.
    pub fn new(
        hub: Hub,
        launcher: Option<Arc<dyn Launcher>>,
        secret: HubSecret,
        settings: ToolboxSettings,
    ) -> Self {
        Self {
            hub,
            own: Arc::new(TOOLS.iter().map(OwnTool::new).collect()),
            checkers: Arc::default(),
            manifests: Apps::default(),
            snapshots: Arc::default(),
            launcher,
            secret,
            settings: Arc::new(ArcSwap::from_pointee(settings)),
            shelf: Shelf::default(),
            recorder: Recorder::default(),
        }
    }

    /// Returns every tool that can be called now.
    pub fn list(&self) -> Vec<Definition> {
        let settings = self.settings.load_full();
        let selection = &settings.selection;
        let own = self.own.iter().filter(|own| selection.has(own.tool.name));
        let mut listed: Vec<_> = own.map(|own| own.definition().clone()).collect();
        let ours = listed.len();
        let mut offered = Vec::new();
        if selection.has_apps() {
            listed.extend(self.manifests.list(&self.hub));
            offered.extend(apps::list(self));
        }
        if selection.has(page_tools::TOOL.name) {
            offered.extend(direct_pages::list(&self.hub, &settings.direct_pages));
        }
        let (fitting, left_out) = list_room::fit(&listed, offered);
        listed.extend(fitting);
        listed[ours..].sort_by(|one, other| {
            let key = |tool: &Definition| (direct_pages::is_name(&tool.name), tool.name.clone());
            key(one).cmp(&key(other))
        });
        if let Some(said) = left_out.describe() {
            // Models read descriptions and nothing else of a list.
            let place = listed.iter_mut().find(|tool| HOLDS_REMARKS.contains(&tool.name.as_str()));
            place.into_iter().for_each(|tool| tool.description += &format!(" {said}"));
        }
        listed
    }

    /// Takes over new settings, and announces another list.
    pub fn reconfigure(&self, settings: ToolboxSettings) {
        let before = self.settings.swap(Arc::new(settings));
        let now = self.settings.load();
        if (&before.selection, &before.direct_pages) != (&now.selection, &now.direct_pages) {
            self.hub.announce_offers();
        }
    }

    /// Returns who a page is that was opened through a client's link. Clients' ids can be guessed; this
    /// one cannot, so no other page can take its place.
    pub fn link_id(&self, client: &Client) -> InstanceId {
        let caller = &client.caller;
        let word = self.secret.word("link", &format!("{}\n{}", caller.principal, caller.client));
        InstanceId::parse(&format!("link-{word}")).expect("letters and digits are an id")
    }

    /// Returns whether a tool of our own is offered by this name.
    pub fn offers(&self, name: &str) -> bool {
        self.own(name).is_some() && self.settings.load().selection.has(name)
    }

    /// Checks a call that goes past the list: what the tool for it would not do is not done.
    pub fn check_offered(
        &self,
        target: Target,
        name: &str,
        args: &Map<String, Value>,
    ) -> Result<(), Fault> {
        if target == Target::Command {
            uploads::only_by_tool(name).map_or(Ok(()), Err)?;
            self.check_command(name, args)?;
        }
        let selection = &self.settings.load().selection;
        let does = |tool: &&CoreTool| match target {
            Target::App => false,
            Target::Page => tool.name == page_tools::TOOL.name,
            Target::Command => tool.actions().iter().any(|action| action.command == name),
        };
        let has_all = TOOLS.iter().all(|tool| selection.has(tool.name));
        let is_offered = match target {
            Target::App => selection.has_apps(),
            // A command that is nobody's is hidden where anything is.
            _ => has_all || TOOLS.iter().filter(does).any(|tool| selection.has(tool.name)),
        };
        if is_offered { Ok(()) } else { Err(selection.hidden(name)) }
    }

    /// Puts manifests in force and all others out of it; returns what is wrong with them together.
    pub fn set_manifests(&self, manifests: Vec<Manifest>) -> Vec<ManifestError> {
        let complaints = self.manifests.set(manifests);
        self.hub.announce_offers();
        complaints
    }

    /// Returns what a client reads about one tool.
    pub fn definition(&self, name: &str) -> Option<Definition> {
        match self.own(name) {
            Some(own) => self.offers(name).then(|| own.definition().clone()),
            None if originals::find(name).is_some() => None,
            None => {
                let has_apps = self.settings.load().selection.has_apps();
                let app = has_apps.then(|| {
                    let described = self.manifests.definition(&self.hub, name);
                    described.or_else(|| apps::definition(&self.hub, name))
                });
                app.flatten().or_else(|| self.page_definition(name))
            }
        }
    }

    /// Returns what a client reads about a page's tool that stands in the list itself.
    fn page_definition(&self, name: &str) -> Option<Definition> {
        let settings = self.settings.load();
        if !settings.selection.has(page_tools::TOOL.name) {
            return None;
        }
        let pages = direct_pages::list(&self.hub, &settings.direct_pages);
        let pages = pages.into_iter().map(|offered| offered.definition);
        pages.into_iter().find(|definition| definition.name == name)
    }

    /// Watches the list: the number grows when it may have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.hub.offers()
    }

    /// Returns whether a name is a tool of our own, listed or only accepted.
    pub fn is_own(&self, name: &str) -> bool {
        self.own(name).is_some() || originals::find(name).is_some()
    }

    /// Calls a tool: checks the arguments, then does it. Dropping the future cancels the call.
    pub async fn call(&self, client: &Client, name: &str, args: Value) -> Result<Output, Fault> {
        self.hub.client_calls(&client.caller);
        let work = async {
            match &client.key {
                // Boxed: this future holds the other.
                Some(key) => Box::pin(self.call_once(client, key, name, args)).await,
                None => self.call_unkeyed(client, name, args).await,
            }
        };
        self.hub.request(work).await
    }

    pub(crate) async fn call_unkeyed(
        &self,
        client: &Client,
        name: &str,
        args: Value,
    ) -> Result<Output, Fault> {
        self.shelf.clear_away();
        let mut output = match self.prepare(name, args)? {
            Prepared::OwnTool(own, args) => self.run(own, client, args).await?,
            Prepared::App(args) => self.call_app(client, name, args).await?,
        };
        self.shelf.keep(&client.caller.principal, &mut output.links);
        Ok(output)
    }

    /// Checks a call as far as that is possible without making it.
    pub(crate) fn check(&self, name: &str, args: Value) -> Result<(), Fault> {
        match self.prepare(name, args)? {
            Prepared::OwnTool(..) => Ok(()),
            Prepared::App(_) if self.definition(name).is_some() => Ok(()),
            Prepared::App(_) => Err(apps::unknown(self, name)),
        }
    }

    /// Returns whether a call with these arguments takes `session` or `tab`.
    pub(crate) fn takes(&self, name: &str, args: &Map<String, Value>, argument: &str) -> bool {
        let alias = ALIASES.iter().find(|(_, meant)| *meant == argument);
        let is_said = alias.is_some_and(|(alias, _)| args.contains_key(*alias));
        let action = match (self.own(name), originals::find(name)) {
            // Its `session` is one to close.
            (Some(own), _) if own.tool.name == browser_instance::TOOL.name => return false,
            (Some(own), _) if own.tool.actions().is_empty() => {
                return !is_said && own.checker().has(argument);
            }
            (Some(own), _) => action::find(own.tool, args),
            (None, Some((_, action))) => Some(action),
            (None, None) => return argument == "session",
        };
        !is_said && action.is_some_and(|action| action.accepts(argument))
    }

    /// Finds what is called, and checks the arguments of a tool of our own.
    fn prepare(&self, name: &str, args: Value) -> Result<Prepared<'_>, Fault> {
        let mut args = match args {
            Value::Null => Value::Object(Default::default()),
            args => args,
        };
        let own = match (self.own(name), originals::find(name)) {
            (Some(own), _) => Some(own),
            (None, Some((tool, action))) => {
                originals::translate(name, action, &mut args)?;
                self.own(tool.name)
            }
            (None, None) => None,
        };
        let Some(own) = own else {
            let selection = &self.settings.load().selection;
            let is_hidden = !selection.has_apps() && self.page_definition(name).is_none();
            return if is_hidden { Err(selection.hidden(name)) } else { Ok(Prepared::App(args)) };
        };
        if !self.offers(own.tool.name) {
            return Err(self.settings.load().selection.hidden(own.tool.name));
        }
        own.rename(&mut args)?;
        if !own.tool.actions().is_empty() {
            action::check(own.tool, &mut args)?;
        }
        own.checker().check(&args)?;
        Ok(Prepared::OwnTool(own, args))
    }

    async fn run(&self, own: &OwnTool, client: &Client, args: Value) -> Result<Output, Fault> {
        let who = &client.caller.client;
        let noted = self.recorder.wants(who, own.tool, &args).then(|| args.clone());
        let output = (own.tool.run)(self, client, args).await?;
        if let Some(args) = noted {
            self.recorder.note(who, own.tool.name, args, &output.structured);
        }
        Ok(output)
    }

    async fn call_app(&self, client: &Client, name: &str, args: Value) -> Result<Output, Fault> {
        let settings = self.settings.load_full();
        let selection = &settings.selection;
        if selection.has_apps()
            && self.manifests.has(&self.hub, name)
            && let Some(done) =
                manifest::call(&self.manifests, self, client, name, args.clone()).await
        {
            return done;
        }
        if selection.has(page_tools::TOOL.name)
            && let Some(done) = direct_pages::call(self, client, name, args.clone()).await
        {
            return done;
        }
        match selection.has_apps() {
            true => apps::call(self, client, name, args).await,
            false => Err(selection.hidden(name)),
        }
    }

    /// Checks what a command would do, whichever way it came: where it leads, and whether it runs
    /// script where that is not offered.
    pub(crate) fn check_command(
        &self,
        command: &str,
        args: &Map<String, Value>,
    ) -> Result<(), Fault> {
        let url = args.get("url").and_then(Value::as_str);
        if let Some(url) = url.filter(|_| LOADING.contains(&command)) {
            self.check_address(url)?;
        }
        let script = SCRIPTING.iter().find(|(name, argument)| {
            *name == command && argument.is_none_or(|argument| args.contains_key(argument))
        });
        let selection = &self.settings.load().selection;
        match script {
            Some((_, argument)) if !selection.has(browser_execute::TOOL.name) => {
                let fault = selection.hidden(browser_execute::TOOL.name);
                Err(match argument {
                    Some(argument) => {
                        let message = format!("`{argument}` runs script, and {}", fault.message);
                        Fault { message, ..fault }
                    }
                    None => fault,
                })
            }
            _ => Ok(()),
        }
    }

    /// Checks an address that a browser is to be sent to.
    pub(crate) fn check_address(&self, url: &str) -> Result<(), Fault> {
        address::check(url, &self.settings.load().own_hosts)
    }

    fn own(&self, name: &str) -> Option<&OwnTool> {
        self.own.iter().find(|own| own.tool.name == name)
    }

    /// Returns the schema of a tool that a peer declares, ready to check.
    pub(crate) fn checker(&self, schema: &Json) -> Result<Arc<Checker>, Fault> {
        if let Some(ready) = self.checkers.lock().get(schema.as_str()) {
            return Ok(ready.clone());
        }
        let key = schema.as_str().to_owned();
        let checker = Arc::new(Checker::new(schema.to_value().unwrap_or_default())?);
        if !checker.is_light() {
            return Ok(checker);
        }
        let mut checkers = self.checkers.lock();
        if checkers.len() >= READY {
            checkers.clear();
        }
        checkers.insert(key, checker.clone());
        Ok(checker)
    }
}
