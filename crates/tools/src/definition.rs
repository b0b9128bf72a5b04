//! What a tool is to a client: a name, words, schemas, hints; and what it gives back.

use std::{path::PathBuf, pin::Pin, sync::Arc, time::Duration};

use hub::{Caller, Session};
use model::{CallProgress, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{
    Toolbox,
    action::{self, Action},
    command_arguments::Argument,
};

/// What a client reads about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// 1 to 128 of letters, digits, `_ . -`.
    pub name: String,
    /// What people read; empty where the name says it.
    pub title: String,
    /// For models; short, because every client pays for it on every step.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the structured result, where it is known.
    pub output_schema: Option<Value>,
    /// What clients are told of its effects.
    pub annotations: Annotations,
}

/// What a tool is like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: bool,
    /// May destroy something. Only meaningful when it is not read-only.
    pub destructive: bool,
    /// Doing it twice is like doing it once.
    pub idempotent: bool,
    /// Reaches what we know nothing about: pages, the web.
    pub open_world: bool,
}

impl Annotations {
    /// Makes the annotations of what reaches pages: whatever changes them may destroy something.
    pub(crate) fn reaching_pages(read_only: bool) -> Self {
        Self { read_only, destructive: !read_only, idempotent: false, open_world: true }
    }
}

/// Who calls, and from where.
#[derive(Clone)]
pub struct Client {
    /// The client on whose behalf it is called.
    pub caller: Caller,
    /// The session that its endpoint is bound to.
    pub binding: Option<String>,
    /// Takes reports of progress; none where nobody wants them.
    pub progress: Option<mpsc::Sender<CallProgress>>,
    /// How long a call to an app or page may take; none means the configured time.
    pub timeout: Option<Duration>,
    /// The client's key for this call: whoever asks again with it gets the same answer.
    pub key: Option<String>,
    /// From where it names files.
    pub workplace: Workplace,
}

/// Where a client is, as far as its transport knows; never what the client says over HTTP.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Workplace {
    /// A program of the hub's own user on this machine, which came over the private socket.
    Here {
        /// The folder in which it was started; relative paths begin there.
        folder: Option<PathBuf>,
        /// Further folders that it has announced.
        roots: Vec<PathBuf>,
    },
    /// On this machine, by its address, and nothing is known of its folders.
    Unknown,
    /// On another machine, where a path means something else.
    #[default]
    Elsewhere,
}

/// What a tool gives back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// What a model reads.
    pub text: String,
    /// For a program; `null` where the text is all there is.
    pub structured: Value,
    /// For eyes; neither the text nor the structure repeats their bytes.
    pub images: Vec<Image>,
    /// What is too large to stand in the answer and can be read apart.
    pub links: Vec<Link>,
    /// Whether it did not come to its end; the text says why.
    pub failed: bool,
    /// Whether the text is a page's or app's alone, with no word of ours before its end.
    #[serde(skip)]
    pub is_bare: bool,
    /// Whose words these are, where they come from a page: its session and origin.
    pub source: Option<Source>,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// Such as `image/png`.
    pub mime_type: String,
    /// Its bytes in base64, without a prefix.
    pub data: String,
}

/// Something large that is kept for a while, under an address that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// Where it is read: `tabwire://result/…`.
    pub uri: String,
    /// A file's name for it.
    pub name: String,
    /// Such as `application/pdf`.
    pub mime_type: String,
    /// How large it is.
    pub bytes: usize,
    /// What is to be kept; none once it is.
    #[serde(skip)]
    pub content: Option<Arc<[u8]>>,
}

/// Where a text that we did not write comes from. It is untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The readable name of the page's session.
    pub session: String,
    /// The web origin, where it has one.
    pub origin: Option<String>,
}

impl Source {
    /// Names a session as the source.
    pub(crate) fn of(session: &Session) -> Self {
        Self { session: session.name.to_string(), origin: session.origin.clone() }
    }
}

/// The future of a tool's work.
pub type Work<'a> = Pin<Box<dyn Future<Output = Result<Output, Fault>> + Send + 'a>>;

/// A tool of our own: what it is and what it does, in one object.
pub struct CoreTool {
    /// The name that clients call it by.
    pub name: &'static str,
    /// The group by which the setting `tools` can name it.
    pub group: &'static str,
    /// The arguments that it takes.
    pub contract: Contract,
    /// Other names of arguments that are accepted and never listed: `(alias, name)`.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Does the work, with arguments that were checked.
    pub run: Run,
}

/// What a tool of our own takes.
pub enum Contract {
    /// A table of commands of browsers, of which `action` picks one.
    Commands {
        /// What the tool is for, for models.
        description: &'static str,
        /// The arguments of all of them.
        arguments: &'static [Argument],
        /// The commands, in the order in which they are listed.
        actions: &'static [Action],
    },
    /// What it says itself.
    Own(fn() -> Definition),
}

/// What a tool does, with arguments that fit its schema.
pub type Run = for<'a> fn(&'a Toolbox, &'a Client, Value) -> Work<'a>;

impl CoreTool {
    /// A tool that says itself what it takes.
    pub const fn own(
        name: &'static str,
        group: &'static str,
        define: fn() -> Definition,
        run: Run,
    ) -> Self {
        Self { name, group, contract: Contract::Own(define), aliases: &[], run }
    }

    /// A tool whose `action` picks a command.
    pub const fn of_commands(
        name: &'static str,
        group: &'static str,
        description: &'static str,
        arguments: &'static [Argument],
        actions: &'static [Action],
        run: Run,
    ) -> Self {
        let contract = Contract::Commands { description, arguments, actions };
        Self { name, group, contract, aliases: &[], run }
    }

    /// Accepts other names for arguments.
    pub const fn aliases(self, aliases: &'static [(&'static str, &'static str)]) -> Self {
        Self { aliases, ..self }
    }

    /// Returns what a client reads, and what is accepted beyond that.
    pub fn define(&self) -> Definition {
        match self.contract {
            Contract::Own(define) => define(),
            Contract::Commands { description, arguments, actions } => {
                action::define(self.name, description, arguments, actions)
            }
        }
    }

    /// Returns what `action` can be, where each is a command of browsers.
    pub fn actions(&self) -> &'static [Action] {
        match self.contract {
            Contract::Own(_) => &[],
            Contract::Commands { actions, .. } => actions,
        }
    }
}

/// Reads checked arguments into a type of ours.
pub(crate) fn decode<T: serde::de::DeserializeOwned>(args: Value) -> Result<T, Fault> {
    serde_json::from_value(args)
        .map_err(|error| Fault::new(model::Code::InvalidArgument, error.to_string()))
}
