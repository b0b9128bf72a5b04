//! The tools of a manifest: one `[[tool]]` becomes one tool, or several with `each`.
//!
//! Everything that can be wrong is found here and not during a call: names, pointers, types,
//! defaults, places of a text that nothing fills.

use std::{collections::HashSet, sync::Arc};

use hub::config::limits;
use serde_json::{Map, Value, json};

use super::{
    each::variants,
    source::{Item, ManifestError, Section, did_you_mean},
    template::{Template, is_pointer},
    types::{Type, Types},
};
use crate::{
    TOOLS,
    definition::{Annotations, Definition},
    originals,
};

/// Tools of one manifest.
pub(super) const TOOLS_MOST: usize = limits::TOOLS;
/// Bytes of a tool's name.
const NAME_LONGEST: usize = 64;
/// Arguments with a meaning of their own: which session, and the command itself on flat wires.
const RESERVED: [&str; 2] = ["session", "type"];

/// One `[[tool]]` of a manifest.
pub(super) struct Tool {
    pub definition: Definition,
    pub action: Action,
}

/// What a tool does.
pub(super) enum Action {
    /// Reads a part of the state.
    Get { pointer: String, label: String, show: Option<Template> },
    /// Sends a command.
    Do(Command),
    /// Tells the address under which the app's page is connected.
    Link,
}

/// A command and its words.
pub(super) struct Command {
    /// The command's name on the wire.
    pub name: String,
    pub args: Vec<Arg>,
    pub reply: Template,
    /// For calls that leave an optional argument out.
    pub reply_without: Option<Template>,
    /// Where things stand afterwards; pointers into the pushed state.
    pub now: Option<Template>,
}

/// An argument of a command.
pub(super) struct Arg {
    pub name: String,
    pub kind: Arc<Type>,
    pub optional: bool,
    /// Sent when it is left out; of the right type.
    pub default: Option<Value>,
}

/// Reads all `[[tool]]`.
pub(super) fn read(root: &Section<'_>, types: &Types) -> Result<Vec<Tool>, ManifestError> {
    let mut tools = Vec::new();
    let mut names = HashSet::new();
    for section in root.sections("tool")? {
        for variant in variants(&section)? {
            let tool = read_one(&variant, types)?;
            let name = &tool.definition.name;
            if !names.insert(name.clone()) {
                return Err(section.error(format!("there are two tools named `{name}`")));
            }
            if names.len() > TOOLS_MOST {
                return Err(section.error(format!("there are more than {TOOLS_MOST} tools")));
            }
            tools.push(tool);
        }
    }
    Ok(tools)
}

/// Returns whether a text can be a name: 1 to 64 of letters, digits, `_ . -`.
pub(super) fn is_name(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=NAME_LONGEST).contains(&text.len()) && text.bytes().all(known)
}

fn read_one(section: &Section<'_>, types: &Types) -> Result<Tool, ManifestError> {
    if section.item("name").is_none() {
        // A key that is misspelt says more than one that is not there.
        section.allow("a tool", &ALL_KEYS)?;
    }
    let name = section.need_text("a tool", "name")?;
    if !is_name(&name.value) {
        let message = format!("{:?} is not a name: 1 to 64 of letters, digits, _ . -", name.value);
        return Err(section.error_at(name.at, message));
    }
    let name = name.value;
    let what = format!("tool `{name}`");
    if TOOLS.iter().any(|own| own.name == name) || originals::find(&name).is_some() {
        return Err(section.error(format!("`{name}` is a tool of Tabwire's own; rename it")));
    }
    let description = section.need_text(&what, "description")?;
    if description.value.len() > limits::TOOL_DESCRIPTION {
        let message = format!("longer than {} bytes", limits::TOOL_DESCRIPTION);
        return Err(section.error_at(description.at, message));
    }
    let kinds = ["state", "command", "link"];
    let given: Vec<_> = kinds.into_iter().filter(|key| section.item(key).is_some()).collect();
    let (action, properties) = match given.as_slice() {
        ["state"] => (read_getter(section, &what)?, json!({"forceRefresh": {"type": "boolean"}})),
        ["command"] => {
            let command = read_command(section, &what, types)?;
            let schema = |arg: &Arg| (arg.name.clone(), arg.kind.schema());
            let properties = command.args.iter().map(schema).collect::<Map<_, _>>();
            (Action::Do(command), Value::Object(properties))
        }
        ["link"] if section.flag("link")? => {
            section.allow(&what, &["name", "description", "each", "link"])?;
            (Action::Link, json!({}))
        }
        _ => {
            let message = format!("{what} needs one of `state`, `command`, `link = true`");
            section.allow(&what, &ALL_KEYS)?;
            return Err(section.error(message));
        }
    };
    let definition = define(name, description.value, properties, &action);
    Ok(Tool { definition, action })
}

/// Every key that some tool can have.
const ALL_KEYS: [&str; 12] = [
    "name",
    "description",
    "each",
    "state",
    "label",
    "show",
    "command",
    "args",
    "reply",
    "replyWithout",
    "now",
    "link",
];

fn define(name: String, description: String, mut properties: Value, action: &Action) -> Definition {
    properties["session"] = json!({"type": "string"});
    let mut input_schema = json!({"type": "object", "properties": properties});
    if let Action::Do(Command { args, .. }) = action {
        let required: Vec<_> =
            args.iter().filter(|arg| !arg.optional).map(|arg| arg.name.as_str()).collect();
        if !required.is_empty() {
            input_schema["required"] = json!(required);
        }
    }
    let read_only = !matches!(action, Action::Do(_));
    Definition {
        name,
        // The name says it, and every client pays for it.
        title: String::new(),
        description,
        input_schema,
        output_schema: None,
        annotations: Annotations::reaching_pages(read_only),
    }
}

fn read_getter(section: &Section<'_>, what: &str) -> Result<Action, ManifestError> {
    section.allow(what, &["name", "description", "each", "state", "label", "show"])?;
    let pointer = section.need_text(what, "state")?;
    if !is_pointer(&pointer.value) {
        let message = format!("{:?} is not a JSON pointer such as /model/color", pointer.value);
        return Err(section.error_at(pointer.at, message));
    }
    let label = section.need_text(what, "label")?.value;
    let show = read_template(section, "show")?;
    if let Some((show, at)) = &show {
        only_pointers(section, "show", show, *at)?;
    }
    Ok(Action::Get { pointer: pointer.value, label, show: show.map(|(show, _)| show) })
}

fn read_command(
    section: &Section<'_>,
    what: &str,
    types: &Types,
) -> Result<Command, ManifestError> {
    let keys = ["name", "description", "each", "command", "args", "reply", "replyWithout", "now"];
    section.allow(what, &keys)?;
    let name = section.need_text(what, "command")?.value;
    let args = read_args(section, types)?;
    let always: Vec<&str> = args.iter().filter(|arg| arg.is_sent()).map(|arg| &*arg.name).collect();
    let known: Vec<&str> = args.iter().map(|arg| &*arg.name).collect();
    let need = || section.error(format!("{what} needs `reply`"));
    let (reply, at) = read_template(section, "reply")?.ok_or_else(need)?;
    let without = read_template(section, "replyWithout")?;
    only_of(section, "reply", &reply, at, &known)?;
    match &without {
        Some((without, at)) => only_of(section, "replyWithout", without, *at, &always)?,
        None => {
            if let Some(place) = reply.places().find(|place| !always.contains(place)) {
                let message = format!("`{place}` may be left out: add `replyWithout`");
                return Err(section.error_at(at, message));
            }
        }
    }
    let now = read_template(section, "now")?;
    if let Some((now, at)) = &now {
        only_pointers(section, "now", now, *at)?;
    }
    let reply_without = without.map(|(without, _)| without);
    Ok(Command { name, args, reply, reply_without, now: now.map(|(now, _)| now) })
}

fn read_args(section: &Section<'_>, types: &Types) -> Result<Vec<Arg>, ManifestError> {
    let Some(args) = section.section("args")? else { return Ok(Vec::new()) };
    let each = section.section("each")?;
    let read = |item: Item<'_>| {
        let taken = each.as_ref().is_some_and(|each| each.item(item.key).is_some());
        let message = match item.key {
            key if RESERVED.contains(&key) => format!("`{key}` is reserved"),
            key if taken => format!("`{key}` is a word of `each` already"),
            key if !is_name(key) => format!("{key:?} is not a name"),
            _ => return read_arg(&args, item, types),
        };
        Err(args.error_at(item.at, message))
    };
    args.items().into_iter().map(read).collect()
}

fn read_arg<'a>(args: &Section<'a>, item: Item<'a>, types: &Types) -> Result<Arg, ManifestError> {
    let what = format!("argument `{}`", item.key);
    let (name, section) = match item.is_text() {
        true => (args.text_of(item)?, None),
        false => {
            let section = args.section_of(item)?;
            section.allow(&what, &["type", "optional", "default"])?;
            (section.need_text(&what, "type")?, Some(section))
        }
    };
    let Some(kind) = types.get(&name.value) else {
        let known: Vec<_> = types.keys().map(String::as_str).collect();
        let nearest = did_you_mean(&name.value, known.iter().copied());
        let message = format!("there is no type `{}`; there are {}", name.value, known.join(", "));
        return Err(args.error_at(name.at, message + &nearest));
    };
    let optional = section.as_ref().map(|section| section.flag("optional")).transpose()?;
    let default = section.as_ref().map(|section| section.plain("default")).transpose()?.flatten();
    if let Some(default) = &default
        && let Err(why) = kind.take(&default.value)
    {
        return Err(args.error_at(default.at, format!("the default of `{}` {why}", item.key)));
    }
    Ok(Arg {
        name: item.key.to_owned(),
        kind: kind.clone(),
        optional: optional.unwrap_or_default() || default.is_some(),
        default: default.map(|default| default.value),
    })
}

impl Arg {
    /// Returns whether every call sends it.
    fn is_sent(&self) -> bool {
        !self.optional || self.default.is_some()
    }
}

fn read_template(
    section: &Section<'_>,
    key: &str,
) -> Result<Option<(Template, usize)>, ManifestError> {
    let Some(text) = section.text(key)? else { return Ok(None) };
    let template = Template::parse(&text.value).map_err(|why| section.error_at(text.at, why))?;
    Ok(Some((template, text.at)))
}

fn only_of(
    section: &Section<'_>,
    key: &str,
    template: &Template,
    at: usize,
    known: &[&str],
) -> Result<(), ManifestError> {
    let Some(place) = template.places().find(|place| !known.contains(place)) else {
        return Ok(());
    };
    let nearest = did_you_mean(place, known.iter().copied());
    let list = known.iter().map(|name| format!("{{{name}}}")).collect::<Vec<_>>().join(", ");
    let list =
        if list.is_empty() { "there is none".to_owned() } else { format!("there is {list}") };
    let message = format!("nothing fills {{{place}}} in `{key}`; {list}{nearest}");
    Err(section.error_at(at, message))
}

fn only_pointers(
    section: &Section<'_>,
    key: &str,
    template: &Template,
    at: usize,
) -> Result<(), ManifestError> {
    match template.places().find(|place| !is_pointer(place)) {
        None => Ok(()),
        Some(place) => {
            let message = format!("{{{place}}} in `{key}` must be a JSON pointer such as {{/x}}");
            Err(section.error_at(at, message))
        }
    }
}
