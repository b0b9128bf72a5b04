//! Settings: flags over environment over file over defaults, read once before a port is bound.
//!
//! - this file: all settings as one type, and the layers;
//! - [`table`]: what settings there are, read off the rooms' own `Config` types.
//!
//! A setting is a field of a room's `Config`; its name is the key of the file, with dashes the
//! flag, in capitals behind `TABWIRE_` the variable. Unknown keys are refused with the nearest
//! known one.

pub mod table;

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use tools::{direct_pages::Origins, selection::Selection};

use crate::failure::Failure;
use table::Setting;

/// Every setting there is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    #[serde(flatten)]
    pub edge: edge::Config,
    #[serde(flatten)]
    pub hub: hub::Config,
    #[serde(flatten)]
    pub launch: launch::Config,
    #[serde(flatten)]
    pub tools: tools::Config,
    #[serde(flatten)]
    pub own: ProgramConfig,
}

model::settings! {
    /// The settings of the program itself.
    pub struct ProgramConfig {
        /// Folder for what the hub keeps; `tokens` in it is the token file unless another is named.
        #[schemars(with = "String")]
        data: PathBuf = default_data(),
        /// File with the tokens that clients must show, one per line, private to its owner.
        #[schemars(with = "Option<String>")]
        token_file: Option<PathBuf> = None,
        /// Where sessions, messages and the audit are kept: `embedded` (a file in the data folder) or
        /// `memory` (gone with the process). Needs a restart to change.
        store: String = "embedded".to_owned(),
        /// Folder with manifests of apps, read again when one changes.
        #[schemars(with = "String")]
        apps: PathBuf = default_apps(),
        /// Folder for the file by which other tools find the hub; empty means none.
        #[schemars(with = "String")]
        discovery: PathBuf = PathBuf::from("/tmp/browser-mcp"),
        /// What is logged to standard error: error, warn, info, debug or trace.
        log_level: String = "info".to_owned(),
        /// Which tools are offered: `all`, or tools and groups of them (`browse`, `script`, `network`,
        /// `emulate`, `debug`, `batch`, `pages`, `apps`, `wait`). The others are hidden.
        tools: Vec<String> = vec!["all".to_owned()],
        /// Origins of pages whose tools stand in the list themselves, as `page.<tool>`, such as
        /// `https://shop.example`; `*` means all. Whatever they say is untrusted.
        direct_page_tools: Vec<String> = Vec::new(),
    }
}

impl ProgramConfig {
    /// Returns which tools are offered; what is wrong was refused when it was read.
    pub fn tools(&self) -> Selection {
        Selection::parse(&self.tools).unwrap_or_default()
    }

    /// Returns whose pages' tools are listed; what cannot be read was refused before.
    pub fn direct_pages(&self) -> Origins {
        Origins::parse(&self.direct_page_tools).unwrap_or_default()
    }

    /// Returns the file of the embedded store.
    pub fn store_file(&self) -> PathBuf {
        self.data.join("hub.sqlite")
    }

    /// Returns the token file that counts, if there is one.
    pub fn token_file(&self) -> Option<PathBuf> {
        let usual = self.data.join("tokens");
        self.token_file.clone().or_else(|| usual.exists().then_some(usual))
    }
}

/// Where settings come from besides the file.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// The file, where one was named.
    pub file: Option<PathBuf>,
    /// Values of flags by setting name.
    pub flags: BTreeMap<String, Vec<String>>,
    /// The environment, already read.
    pub environment: BTreeMap<String, String>,
}

impl Layers {
    /// Takes the process's environment with the given file and flags.
    pub fn new(file: Option<PathBuf>, flags: BTreeMap<String, Vec<String>>) -> Self {
        Self { file, flags, environment: env::vars().collect() }
    }

    /// Reads all layers; may be called again to take over changes of the file.
    pub fn load(&self) -> Result<Settings, Failure> {
        let table = table::settings();
        let mut merged = Map::new();
        self.read_file(&table, &mut merged)?;
        self.read_environment(&table, &mut merged)?;
        for (name, texts) in &self.flags {
            let setting = find(&table, name).ok_or_else(|| unknown(&table, name, "flag"))?;
            let value = setting
                .parse(texts)
                .map_err(|problem| Failure::usage(format!("--{} {problem}", setting.flag())))?;
            merged.insert(name.clone(), value);
        }
        decode(merged)
    }

    fn read_file(&self, table: &[Setting], merged: &mut Map<String, Value>) -> Result<(), Failure> {
        let path = match &self.file {
            Some(path) => path.clone(),
            None => match default_file().filter(|path| path.exists()) {
                Some(path) => path,
                None => return Ok(()),
            },
        };
        let shown = path.display();
        let text = fs::read_to_string(&path)
            .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
        let values: toml::Table = toml::from_str(&text)
            .map_err(|error| Failure::usage(format!("{shown} is not valid TOML: {error}")))?;
        for (name, value) in values {
            let setting = find(table, &name)
                .ok_or_else(|| unknown(table, &name, &format!("setting in {shown}")))?;
            let value = serde_json::to_value(value).map_err(Failure::usage)?;
            setting
                .check(&value)
                .map_err(|problem| Failure::usage(format!("{name} in {shown} {problem}")))?;
            merged.insert(name, value);
        }
        Ok(())
    }

    fn read_environment(
        &self,
        table: &[Setting],
        merged: &mut Map<String, Value>,
    ) -> Result<(), Failure> {
        // The seeds' name for it; ours is the stronger one.
        let log_level = self.environment.get("LOG_LEVEL");
        if let Some(level) = log_level {
            merged.insert("log_level".to_owned(), Value::String(level.to_lowercase()));
        }
        for (variable, text) in &self.environment {
            let Some(name) = variable.strip_prefix("TABWIRE_") else { continue };
            let name = name.to_lowercase();
            if table::NOT_SETTINGS.contains(&name.as_str()) {
                continue;
            }
            let setting =
                find(table, &name).ok_or_else(|| unknown(table, &name, "TABWIRE_ variable"))?;
            let value = setting
                .parse(std::slice::from_ref(text))
                .map_err(|problem| Failure::usage(format!("{variable} {problem}")))?;
            merged.insert(name, value);
        }
        Ok(())
    }
}

/// Turns the merged layers into settings, naming the one that is wrong.
fn decode(merged: Map<String, Value>) -> Result<Settings, Failure> {
    for (name, value) in &merged {
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        if let Err(error) = serde_json::from_value::<Settings>(Value::Object(alone)) {
            return Err(Failure::usage(format!("{name} = {value} is not valid: {error}")));
        }
    }
    let settings: Settings =
        serde_json::from_value(Value::Object(merged)).map_err(Failure::usage)?;
    check(&settings)?;
    Ok(settings)
}

fn check(settings: &Settings) -> Result<(), Failure> {
    if settings.edge.bind.is_empty() {
        return Err(Failure::usage("bind needs at least one address"));
    }
    for origin in &settings.edge.allow_origin {
        if !edge::gate::origin::is_allowable(origin) {
            return Err(Failure::usage(format!(
                "allow_origin {origin:?} is not an origin; write it as https://app.example"
            )));
        }
    }
    for entry in &settings.edge.app_origins {
        if !edge::gate::origin::is_app_entry(entry) {
            return Err(Failure::usage(format!(
                "app_origins {entry:?} is neither loopback, ask nor an origin of this machine; \
                 name others with allow_origin"
            )));
        }
    }
    edge::compat::parse(&settings.edge.compat)
        .map_err(|problem| Failure::usage(format!("compat: {problem}")))?;
    edge::compat::parse_range(&settings.edge.compat_sockets)
        .map_err(|problem| Failure::usage(format!("compat_sockets: {problem}")))?;
    let (store, known) = (&settings.own.store, store::BACKENDS.map(|(name, _)| name));
    if !known.contains(&store.as_str()) {
        let known = known.join(", ");
        return Err(Failure::usage(format!("store {store:?} is not one of {known}")));
    }
    let (calls, most) = (settings.hub.calls_per_session, hub::config::limits::CALLS_PER_SESSION);
    if !(1..=most).contains(&calls) {
        return Err(Failure::usage(format!(
            "calls_per_session = {calls} is not within 1 to {most}: a connection remembers no more \
             calls; more sessions, or calls_total, let a hub do more at once"
        )));
    }
    if settings.launch.browsers_max == 0 {
        return Err(Failure::usage("browsers_max must be at least 1"));
    }
    Selection::parse(&settings.own.tools)
        .map_err(|problem| Failure::usage(format!("tools: {problem}")))?;
    Origins::parse(&settings.own.direct_page_tools)
        .map_err(|problem| Failure::usage(format!("direct_page_tools: {problem}")))?;
    crate::folders::for_uploads(settings)
        .check()
        .map_err(|problem| Failure::usage(format!("upload_roots: {problem}")))?;
    let level = settings.own.log_level.as_str();
    if !["error", "warn", "info", "debug", "trace"].contains(&level) {
        return Err(Failure::usage(format!(
            "log_level {level:?} is not one of error, warn, info, debug, trace"
        )));
    }
    Ok(())
}

fn find<'a>(table: &'a [Setting], name: &str) -> Option<&'a Setting> {
    table.iter().find(|setting| setting.name == name)
}

fn unknown(table: &[Setting], name: &str, what: &str) -> Failure {
    let nearest = table
        .iter()
        .max_by(|one, other| {
            let near = |setting: &Setting| strsim::jaro_winkler(&setting.name, name);
            near(one).total_cmp(&near(other))
        })
        .map(|setting| format!("; did you mean {}?", setting.name));
    Failure::usage(format!("there is no {what} named {name:?}{}", nearest.unwrap_or_default()))
}

fn default_file() -> Option<PathBuf> {
    Some(base("XDG_CONFIG_HOME", ".config")?.join("tabwire/config.toml"))
}

fn default_apps() -> PathBuf {
    let base = base("XDG_CONFIG_HOME", ".config").unwrap_or_else(|| PathBuf::from("."));
    base.join("tabwire/apps")
}

fn default_data() -> PathBuf {
    base("XDG_DATA_HOME", ".local/share").unwrap_or_else(|| PathBuf::from(".")).join("tabwire")
}

fn base(variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(below_home)))
}

#[cfg(test)]
mod tests;
