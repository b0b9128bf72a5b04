//! What `action` can be: a tool's table of commands, and checking arguments against it.
//!
//! For each action the table says which command it is, what it needs and what it takes. A schema
//! cannot say that in few words, so an action's arguments are checked here, with errors that say
//! what would be right. Types are left to the schema.

use hub::Session;
use model::{Code, Effect, Fault, json::shorten};
use serde_json::{Map, Value, json};

use crate::{
    arguments::nearest,
    definition::{Annotations, CoreTool, Definition},
    originals, schema,
};

/// What every one of these tools takes, whatever the action.
const COMMON: &str = "session tab timeoutMs";

/// One row of a tool's table.
pub struct Action {
    /// What `action` calls it; empty where a tool does one thing only.
    pub name: &'static str,
    /// What the browser executes.
    pub command: &'static str,
    /// Whether it waits for others of its tab.
    pub effect: Effect,
    /// The arguments that must be there, between spaces; `a|b` means one of them, `x+y` both.
    pub needs: &'static str,
    /// The arguments that may be there. One that lists `timeoutMs` is told how long to wait.
    pub takes: &'static str,
    /// Arguments that have fewer values than the schema says: `(name, values)`.
    pub only: &'static [(&'static str, &'static str)],
    /// Whether it happens in a tab.
    pub tab: TabUse,
    /// Whether the result is the page's own value, in which nothing is a word of ours.
    pub gives_value: bool,
    /// Whether it is accepted without being listed.
    pub is_unlisted: bool,
    /// Whether a session that has no such command can do it in another way.
    pub otherwise: Option<fn(&Session) -> bool>,
}

/// What an action has to do with a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TabUse {
    /// Nothing.
    Never,
    /// It happens in the client's tab, or in the browser's own.
    Usual,
    /// It is about a tab, so a browser without one of its own must be told.
    Wanted,
}

/// A row that changes nothing.
pub const fn read(
    name: &'static str,
    command: &'static str,
    needs: &'static str,
    takes: &'static str,
) -> Action {
    let (effect, tab) = (Effect::Read, TabUse::Usual);
    Action {
        name,
        command,
        effect,
        needs,
        takes,
        only: &[],
        tab,
        gives_value: false,
        is_unlisted: false,
        otherwise: None,
    }
}

/// A row that changes something.
pub const fn act(
    name: &'static str,
    command: &'static str,
    needs: &'static str,
    takes: &'static str,
) -> Action {
    Action { effect: Effect::Act, ..read(name, command, needs, takes) }
}

/// A row that adds something and waits for nobody.
pub const fn add(
    name: &'static str,
    command: &'static str,
    needs: &'static str,
    takes: &'static str,
) -> Action {
    Action { effect: Effect::Add, ..read(name, command, needs, takes) }
}

impl Action {
    /// Narrows the values of arguments: where they differ by action, or can be guessed.
    pub const fn only(self, only: &'static [(&'static str, &'static str)]) -> Self {
        Self { only, ..self }
    }

    /// Says what it has to do with a tab.
    pub const fn tab(self, tab: TabUse) -> Self {
        Self { tab, ..self }
    }

    /// Says that the result is a value of the page's, such as a script's, and no report.
    pub const fn value(self) -> Self {
        Self { gives_value: true, ..self }
    }

    /// Accepts it without listing it.
    pub const fn unlisted(self) -> Self {
        Self { is_unlisted: true, ..self }
    }

    /// Names the sessions that can do it without the command.
    pub const fn or_if(self, otherwise: fn(&Session) -> bool) -> Self {
        Self { otherwise: Some(otherwise), ..self }
    }

    /// Returns whether a session can do it.
    pub fn fits(&self, session: &Session) -> bool {
        session.can(self.command) || self.otherwise.is_some_and(|otherwise| otherwise(session))
    }

    /// Returns whether it takes an argument of its own.
    pub fn takes(&self, name: &str) -> bool {
        self.words().any(|word| word == name)
    }

    /// All arguments of its own, those it needs first.
    fn words(&self) -> impl Iterator<Item = &'static str> {
        let needs = self.needs.split([' ', '|', '+']);
        needs.chain(self.takes.split(' ')).filter(|word| !word.is_empty())
    }

    fn is_called(&self, word: &str) -> bool {
        self.name == word
            || self.command == originals::command(word)
            || self.command == originals::command(&format!("browser_{word}"))
    }

    fn check(&self, tool: &CoreTool, fields: &Map<String, Value>) -> Result<(), Fault> {
        let name = if self.name.is_empty() { tool.name } else { self.name };
        if let Some(odd) = fields.keys().find(|given| !self.accepts(given)) {
            return Err(self.not_taken(tool, name, odd));
        }
        let lacking = self.needs.split(' ').find(|group| !is_met(group, fields));
        if let Some(group) = lacking.filter(|group| !group.is_empty()) {
            return Err(invalid(format!("{name} needs {}", choice(group))));
        }
        for (argument, values) in self.only {
            let given = fields.get(*argument).and_then(Value::as_str);
            if let Some(given) = given.filter(|given| !values.split(' ').any(|it| it == *given)) {
                let values = values.replace(' ', ", ");
                let given = shorten(given, 60);
                return Err(invalid(format!(
                    "{name} takes as `{argument}` one of {values}, not {given:?}"
                )));
            }
        }
        Ok(())
    }

    /// Returns whether it takes an argument, of its own or one that all take.
    pub(crate) fn accepts(&self, given: &str) -> bool {
        match given {
            "action" => !self.name.is_empty(),
            "tab" if self.tab == TabUse::Never => false,
            given => self.takes(given) || COMMON.split(' ').any(|word| word == given),
        }
    }

    fn not_taken(&self, tool: &CoreTool, name: &str, odd: &str) -> Fault {
        let mut known: Vec<_> = self.words().collect();
        known.extend(COMMON.split(' ').filter(|word| !self.takes(word) && self.accepts(word)));
        let list: Vec<_> = known.iter().map(|word| format!("`{word}`")).collect();
        let others = tool.actions.iter().filter(|other| other.takes(odd)).map(|other| other.name);
        let others: Vec<_> = others.collect();
        let advice = match nearest(odd, known.iter().copied()) {
            _ if !others.is_empty() => format!("; it is for {}", others.join(", ")),
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        let odd = shorten(odd, 60);
        invalid(format!("{name} does not take `{odd}`; it takes {}{advice}", list.join(", ")))
    }
}

fn is_met(group: &str, fields: &Map<String, Value>) -> bool {
    group.split('|').any(|way| way.split('+').all(|word| fields.contains_key(word)))
}

/// Says a group of `needs` in words: "`selector`, `ref` or `x` with `y`".
fn choice(group: &str) -> String {
    let way = |way: &str| {
        way.split('+').map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" with ")
    };
    let ways: Vec<_> = group.split('|').map(way).collect();
    match ways.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The error of arguments that are wrong.
pub(crate) fn invalid(message: String) -> Fault {
    Fault::new(Code::InvalidArgument, message)
}

/// Settles which action is meant, and that its arguments are its own and complete. An action may
/// also be called by its command's names. Types are left to the schema.
pub(crate) fn check(tool: &CoreTool, args: &mut Value) -> Result<(), Fault> {
    let Some(fields) = args.as_object_mut() else { return Ok(()) };
    let action = find(tool, fields);
    if action.is_none() && !fields.contains_key("action") {
        let names: Vec<_> = tool.actions.iter().map(|action| action.name).collect();
        return Err(invalid(format!("`action` is missing; it is one of {}", names.join(", "))));
    }
    // One that is not in the table is not in the schema either, which says so.
    let Some(action) = action else { return Ok(()) };
    if !action.name.is_empty() {
        fields.insert("action".to_owned(), json!(action.name));
    }
    action.check(tool, fields)
}

/// Finds the action that arguments mean.
pub(crate) fn find(tool: &CoreTool, args: &Map<String, Value>) -> Option<&'static Action> {
    match args.get("action") {
        Some(Value::String(word)) => tool.actions.iter().find(|action| action.is_called(word)),
        Some(_) => None,
        None => usual(tool),
    }
}

/// What a tool does when no action is given: the only thing, or what has the tool's own name.
fn usual(tool: &CoreTool) -> Option<&'static Action> {
    match tool.actions {
        [only] => Some(only),
        actions => actions.iter().find(|action| action.command == tool.name),
    }
}

/// Makes what a client reads about such a tool: its own arguments, and what all of them take.
///
/// `properties` are listed, `more` are only accepted; what an action needs is left to [`check`].
/// `session` and `tab` are described once, by browser_instance and browser_tab.
pub(crate) fn define(
    tool: &CoreTool,
    description: &str,
    mut properties: Value,
    more: Value,
) -> Definition {
    if let (Some(listed), Value::Object(more)) =
        (properties.as_object_mut(), schema::unlisted(more))
    {
        listed.extend(more);
    }
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    let mut add = |name: &str, property: Value| {
        if schema["properties"].get(name).is_none() {
            schema["properties"][name] = property;
        }
    };
    add("session", json!({"type": "string"}));
    add("tab", json!({"type": "integer"}));
    add("timeoutMs", json!({"type": "integer", "description": "at most", "unlisted": true}));
    let (listed, also): (Vec<_>, Vec<_>) =
        tool.actions.iter().partition(|action| !action.is_unlisted);
    let names =
        |actions: Vec<&Action>| actions.iter().map(|action| action.name).collect::<Vec<_>>();
    let names = (names(listed), names(also));
    if names.0 != [""] {
        schema["properties"]["action"] = json!({"enum": names.0, "also": names.1});
    }
    let read_only = tool.actions.iter().all(|action| action.effect == Effect::Read);
    Definition {
        name: tool.name.to_owned(),
        title: String::new(),
        description: description.to_owned(),
        input_schema: schema,
        output_schema: None,
        annotations: Annotations {
            read_only,
            destructive: !read_only,
            idempotent: false,
            open_world: true,
        },
    }
}
