//! What a client wants to see of a page: the arguments that concern the shaping.
//!
//! They are taken out of the command's arguments; what is left is for the browser and says which
//! part of the page was looked at.

use model::{Code, Fault};
use serde_json::{Map, Value};

use crate::{
    cursor::{self, Cursor},
    find::Pattern,
};

/// Tokens of one answer, unless the client wants fewer or more.
pub const TOKENS: usize = 6000;
/// The most that a client can ask for.
pub const MOST: usize = 50_000;
/// The fewest that a client can ask for.
pub const FEWEST: usize = 100;
/// Bytes that count as one token.
pub const BYTES: usize = 4;

/// The arguments that are for us; what is left is for the browser.
const SHAPING: [&str; 10] = [
    "region",
    "depth",
    "find",
    "role",
    "open",
    "format",
    "maxTokens",
    "cursor",
    "since",
    "onlyIfChanged",
];

/// What a client wants to see.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Bytes at most.
    pub budget: usize,
    /// Where to go on.
    pub cursor: Option<Cursor>,
    /// A landmark, by role or name.
    pub region: Option<String>,
    /// Levels at most.
    pub depth: Option<usize>,
    /// What to look for.
    pub find: Option<Pattern>,
    /// The role to look for.
    pub role: Option<String>,
    /// The run to show whole.
    pub open: Option<(u32, u32)>,
    /// How it is written.
    pub format: Format,
    /// The version to compare with.
    pub since: Option<String>,
    /// The version that need not be told again.
    pub only_if_changed: Option<String>,
    /// What the browser was asked for, as text.
    pub scope: String,
    /// The arguments that a cursor carries, as text.
    pub carried: String,
    /// The first of our arguments that was given.
    pub shaping: Option<&'static str>,
}

/// How a page is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// One line per thing.
    #[default]
    Outline,
    /// Only landmarks, headings and what can be worked with.
    Skeleton,
    /// Markdown, for reading.
    Markdown,
}

impl View {
    /// Writes a remark of ours on a line of its own. In an outline lines of a page begin with a
    /// dash; in markdown they begin with anything, but nothing of a page is in brackets.
    pub fn remark(&self, words: String) -> String {
        if self.format == Format::Markdown { format!("[{words}]") } else { words }
    }

    /// Takes what concerns the shaping out of a command's arguments.
    pub fn take(args: &mut Map<String, Value>) -> Result<Self, Fault> {
        let shaping = SHAPING.into_iter().find(|name| args.contains_key(*name));
        let cursor = match args.remove("cursor") {
            Some(Value::String(text)) => Some(Cursor::take(&text, args)?),
            _ => None,
        };
        let carried = cursor::carry(args);
        let budget = BYTES * whole(args, "maxTokens", FEWEST)?.map_or(TOKENS, |it| it.min(MOST));
        let depth = whole(args, "depth", 1)?;
        let mut text = |name: &str| match args.remove(name) {
            Some(Value::String(text)) if text.trim().is_empty() => {
                Err(invalid(format!("`{name}` is empty; leave it out or say what is wanted")))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            _ => Ok(None),
        };
        let view = Self {
            budget,
            cursor,
            region: text("region")?,
            depth,
            find: text("find")?.map(|text| Pattern::read(&text)).transpose()?,
            role: text("role")?.map(|role| role.trim().to_lowercase()),
            open: text("open")?.map(|text| reference(&text)).transpose()?,
            format: match text("format")?.as_deref() {
                Some("markdown") => Format::Markdown,
                _ => Format::Outline,
            },
            since: text("since")?,
            only_if_changed: text("onlyIfChanged")?,
            scope: String::new(),
            carried,
            shaping,
        };
        view.check()?;
        Ok(Self { scope: Value::Object(args.clone()).to_string(), ..view })
    }

    /// Returns whether something is looked for.
    pub fn looks_for(&self) -> bool {
        self.find.is_some() || self.role.is_some()
    }

    fn check(&self) -> Result<(), Fault> {
        let ways = [
            ("open", self.open.is_some()),
            ("find", self.find.is_some()),
            ("role", self.role.is_some() && self.find.is_none()),
            ("format markdown", self.format == Format::Markdown),
            ("since", self.since.is_some()),
        ];
        let given: Vec<_> = ways.iter().filter(|(_, is_given)| *is_given).collect();
        if let [(one, _), (other, _), ..] = given[..] {
            return Err(invalid(format!("`{one}` and `{other}` do not go together"))
                .hint("give one of them at a time"));
        }
        let narrowed = [
            ("region", self.region.is_some()),
            ("depth", self.depth.is_some()),
            ("cursor", self.cursor.is_some()),
        ];
        match narrowed.iter().find(|(_, is_given)| *is_given && self.since.is_some()) {
            Some((name, _)) => Err(invalid(format!("`since` does not go with `{name}`"))
                .hint("the difference is of everything; `ref` and `selector` narrow it")),
            None => Ok(()),
        }
    }
}

/// Takes a whole number out of arguments.
fn whole(args: &mut Map<String, Value>, name: &str, least: usize) -> Result<Option<usize>, Fault> {
    let Some(value) = args.remove(name) else { return Ok(None) };
    let number = value.as_u64().or_else(|| {
        value.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0).map(|it| it as u64)
    });
    match number.and_then(|number| usize::try_from(number).ok()) {
        Some(number) if number >= least => Ok(Some(number)),
        _ => Err(invalid(format!("`{name}` is a whole number from {least}"))),
    }
}

/// Reads a reference as a client writes it: `e12` or `d3e12`.
fn reference(text: &str) -> Result<(u32, u32), Fault> {
    let text = text.trim();
    let plain = text.strip_prefix("open=").or(text.strip_prefix("ref=")).unwrap_or(text);
    let read = || match plain.strip_prefix('d') {
        Some(rest) => {
            let (doc, number) = rest.split_once('e')?;
            Some((doc.parse().ok()?, number.parse().ok()?))
        }
        None => Some((1, plain.strip_prefix('e')?.parse().ok()?)),
    };
    read().filter(|(_, number)| *number > 0).ok_or_else(|| {
        let text = model::json::shorten(text, 60);
        invalid(format!("`open` {text:?} is no reference; it is one like \"e45\""))
            .hint("a folded list says which: [open=e45]")
    })
}

/// The error of arguments that are wrong.
pub(super) fn invalid(message: String) -> Fault {
    Fault::new(Code::InvalidArgument, message)
}
