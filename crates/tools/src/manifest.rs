//! App manifests: tools for an app that cannot be changed, from a TOML file.
//!
//! A getter reads a JSON pointer of the app's state, a command is checked, translated and sent;
//! names, types, words and texts are the file's, and the code knows nothing of any app. The
//! format is in `docs/manifests.md`. In reading order:
//! - this file: what a manifest is, and its head;
//! - `source`: TOML with lines; `types` and `words`: argument types; `template`: texts; `tool`
//!   and `each`: the tools;
//! - [`shipped`] and [`Folder`]: where manifests come from; [`Apps`]: those in force;
//! - [`call`]: a call, with `prepare` (arguments), `routing` (which page) and `link`.

mod apps;
mod call;
mod each;
mod folder;
mod link;
mod prepare;
mod routing;
mod source;
mod template;
mod tool;
mod types;
mod words;

use std::time::Duration;

pub use apps::Apps;
pub use call::call;
pub use folder::{Folder, SHIPPED, merge, shipped};
pub use source::ManifestError;

use source::{Section, Source, did_you_mean};
use template::Template;
use tool::{Action, Tool};

use crate::definition::Definition;

/// Bytes of a file.
pub const LARGEST: usize = 256 << 10;
/// How long a page may take unless the manifest says otherwise, in milliseconds.
const TIMEOUT_MS: u64 = 2000;
/// The longest time that a manifest may give a page, in milliseconds.
const TIMEOUT_MS_MOST: u64 = 600_000;
/// The keys of a manifest's head.
const KEYS: [&str; 10] = [
    "name",
    "title",
    "dialect",
    "page",
    "ownPage",
    "timeoutMs",
    "notice",
    "confirm",
    "types",
    "tool",
];

/// A manifest, read and checked.
pub struct Manifest {
    file: String,
    name: String,
    title: String,
    dialect: String,
    /// What a page of another dialect says in its hello to be described by this.
    capability: String,
    /// The address of the app's page; `{id}` is who the page will be.
    page: Option<Template>,
    /// The path of a page that the hub itself serves and that this describes too.
    own_page: Option<Template>,
    timeout: Duration,
    /// The event that tells the page of every call.
    notice: Option<String>,
    confirm: Confirm,
    tools: Vec<Tool>,
    /// Why nobody can connect in its dialect, where that is so: then its tools are there only
    /// while a page of ours is that speaks another.
    closed: Option<String>,
}

/// How an app shows that it has done a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Confirm {
    /// It answers; without an answer the call has failed.
    Reply,
    /// It pushes its state; without that the command may still have been done.
    State,
}

impl Manifest {
    /// Reads and checks a manifest; `file` is only named in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, ManifestError> {
        if text.len() > LARGEST {
            let message = format!("{} bytes; a manifest has at most {LARGEST}", text.len());
            return Err(ManifestError::whole(file, message));
        }
        let source = Source { file, text };
        let root = source.parse()?;
        let root = Section::new(source, &root);
        root.allow("a manifest", &KEYS)?;
        let name = root.need_text("a manifest", "name")?;
        if !tool::is_name(&name.value) {
            return Err(root.error_at(name.at, format!("{:?} is not a name", name.value)));
        }
        let title = root.text("title")?.map_or_else(|| name.value.clone(), |title| title.value);
        let types = types::read(&root)?;
        let manifest = Self {
            file: file.to_owned(),
            capability: format!("manifest:{}", name.value),
            name: name.value,
            title,
            dialect: root.need_text("a manifest", "dialect")?.value,
            page: read_page(&root)?,
            own_page: read_own_page(&root)?,
            timeout: read_timeout(&root)?,
            notice: root.text("notice")?.map(|notice| notice.value),
            confirm: read_confirm(&root)?,
            tools: tool::read(&root, &types)?,
            closed: None,
        };
        if manifest.page.is_none() && manifest.link_tool().is_some() {
            return Err(root.error("a tool with `link = true` needs `page`"));
        }
        Ok(manifest)
    }

    /// Returns its name; a file with the name of a shipped one replaces it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file that it was read from.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns what people call the app.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the wire protocol of its pages.
    pub fn dialect(&self) -> &str {
        &self.dialect
    }

    /// Returns its tools, in the order of the file.
    pub fn tools(&self) -> impl Iterator<Item = &Definition> {
        self.tools.iter().map(|tool| &tool.definition)
    }

    /// Says that nobody can connect in its dialect, and why.
    pub fn close(self, remark: impl Into<String>) -> Self {
        Self { closed: Some(remark.into()), ..self }
    }

    /// Returns the name of the tool that tells the page's address.
    fn link_tool(&self) -> Option<&str> {
        let link = self.tools.iter().find(|tool| matches!(tool.action, Action::Link))?;
        Some(&link.definition.name)
    }
}

fn read_page(root: &Section<'_>) -> Result<Option<Template>, ManifestError> {
    let Some(page) = root.text("page")? else { return Ok(None) };
    let template = Template::parse(&page.value).map_err(|why| root.error_at(page.at, why))?;
    let web = ["http://", "https://"].iter().any(|scheme| page.value.starts_with(scheme));
    match web && template.places().eq(["id"]) {
        true => Ok(Some(template)),
        false => {
            let message = "`page` must be a web address with {id} once in it";
            Err(root.error_at(page.at, message))
        }
    }
}

fn read_own_page(root: &Section<'_>) -> Result<Option<Template>, ManifestError> {
    let Some(page) = root.text("ownPage")? else { return Ok(None) };
    let template = Template::parse(&page.value).map_err(|why| root.error_at(page.at, why))?;
    match page.value.starts_with('/') && template.places().eq(["id"]) {
        true => Ok(Some(template)),
        false => {
            let message = "`ownPage` must be a path of the hub with {id} once in it";
            Err(root.error_at(page.at, message))
        }
    }
}

fn read_timeout(root: &Section<'_>) -> Result<Duration, ManifestError> {
    let Some(timeout) = root.number("timeoutMs")? else {
        return Ok(Duration::from_millis(TIMEOUT_MS));
    };
    match timeout.value.as_u64() {
        Some(ms) if (1..=TIMEOUT_MS_MOST).contains(&ms) => Ok(Duration::from_millis(ms)),
        _ => {
            let message = format!("`timeoutMs` must be a whole number from 1 to {TIMEOUT_MS_MOST}");
            Err(root.error_at(timeout.at, message))
        }
    }
}

fn read_confirm(root: &Section<'_>) -> Result<Confirm, ManifestError> {
    match root.text("confirm")? {
        None => Ok(Confirm::Reply),
        Some(confirm) => match confirm.value.as_str() {
            "reply" => Ok(Confirm::Reply),
            "state" => Ok(Confirm::State),
            other => {
                let nearest = did_you_mean(other, ["reply", "state"].into_iter());
                let message = format!("`confirm` must be \"reply\" or \"state\"{nearest}");
                Err(root.error_at(confirm.at, message))
            }
        },
    }
}
