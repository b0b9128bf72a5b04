//! What `action` can be: a tool's table of commands, and checking arguments against it.
//!
//! Each row says which command it is, what it needs, takes and does, and where: the one declaration
//! of a command, from which our extension's side is generated. A schema cannot say in few words
//! which action takes what, so that is checked here, with errors that say what would be right. Types
//! are left to the schema.

use hub::Session;
use model::{Code, Effect, Fault, json::shorten};
use serde_json::{Map, Value, json};

use crate::{
    arguments::nearest,
    command_arguments::{self, Argument, Parameter},
    command_results::{CommandResult, ResultType, action_report::ActionReport},
    definition::{Annotations, CoreTool, Definition},
    originals,
};

/// What every one of these tools takes, whatever the action.
const COMMON: &str = "session tab timeoutMs";

/// One row of a tool's table.
pub struct Action {
    /// What `action` calls it; empty where a tool does one thing only.
    pub name: &'static str,
    /// What the browser executes.
    pub command: &'static str,
    /// Whether it changes something, and waits for others of its tab.
    pub effect: Effect,
    /// The arguments that must be there, between spaces; `a|b` means one of them, `x+y` both.
    needs: &'static str,
    /// The arguments that may be there, each as a [`Parameter`] is written. A row that lists
    /// `timeoutMs` is told how long to wait.
    takes: &'static str,
    /// What the hub adds to the arguments.
    adds: &'static str,
    /// What of a browser it is about.
    pub scope: CommandScope,
    /// Whether it can answer the dialog that keeps its tab from everything else.
    pub answers_dialog: bool,
    /// Whether a browser without a tab of its own must be told one.
    pub wants_tab: bool,
    /// What it answers; nothing where the structure is all that is said.
    pub answers: Option<ResultType>,
    /// Whether the result is the page's own value, in which nothing is a word of ours.
    pub gives_value: bool,
    /// Whether it is accepted without being listed.
    pub is_unlisted: bool,
    /// Whether a session that has no such command can do it in another way.
    pub otherwise: Option<fn(&Session) -> bool>,
}

/// What of a browser a command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandScope {
    /// A page, which may be read and touched.
    Page,
    /// A tab at an address that clients may use.
    Site,
    /// A tab, whatever it shows.
    Tab,
    /// The browser as a whole, without a tab.
    Browser,
    /// A tab, but the hub does it.
    Hub,
    /// No tab, and the hub does it.
    HubAlone,
}

/// A row that changes nothing.
pub const fn read(
    name: &'static str,
    command: &'static str,
    needs: &'static str,
    takes: &'static str,
) -> Action {
    Action {
        name,
        command,
        effect: Effect::Read,
        needs,
        takes,
        adds: "",
        scope: CommandScope::Page,
        answers_dialog: false,
        wants_tab: false,
        answers: None,
        gives_value: false,
        is_unlisted: false,
        otherwise: None,
    }
}

/// A row that changes something, and reports what came of it.
pub const fn act(
    name: &'static str,
    command: &'static str,
    needs: &'static str,
    takes: &'static str,
) -> Action {
    let answers = Some(ResultType::of::<ActionReport>());
    Action { effect: Effect::Act, answers, ..read(name, command, needs, takes) }
}

/// A row that adds something and waits for nobody.
pub const fn add(
    name: &'static str,
    command: &'static str,
    needs: &'static str,
    takes: &'static str,
) -> Action {
    Action { effect: Effect::Add, ..act(name, command, needs, takes) }
}

impl Action {
    /// Names arguments that the hub adds.
    pub const fn adds(self, adds: &'static str) -> Self {
        Self { adds, ..self }
    }

    /// Says what of a browser it is about, where that is no page.
    pub const fn at(self, scope: CommandScope) -> Self {
        Self { scope, ..self }
    }

    /// Says that it answers the dialog that is open.
    pub const fn answers_dialog(self) -> Self {
        Self { answers_dialog: true, ..self }
    }

    /// Says that a browser must be told the tab.
    pub const fn wants_tab(self) -> Self {
        Self { wants_tab: true, ..self }
    }

    /// Names the type of its result.
    pub const fn answers<R: CommandResult>(self) -> Self {
        Self { answers: Some(ResultType::of::<R>()), ..self }
    }

    /// Says that its structure is all that it answers.
    pub const fn tells_nothing(self) -> Self {
        Self { answers: None, ..self }
    }

    /// Says that the result is a value of the page's, such as a script's, and no report.
    pub const fn value(self) -> Self {
        Self { gives_value: true, answers: None, ..self }
    }

    /// Accepts it without listing it.
    pub const fn unlisted(self) -> Self {
        Self { is_unlisted: true, ..self }
    }

    /// Names the sessions that can do it without the command.
    pub const fn or_if(self, otherwise: fn(&Session) -> bool) -> Self {
        Self { otherwise: Some(otherwise), ..self }
    }

    /// Says a result in words, where it is of the type that this answers.
    pub(crate) fn words(&self, result: &Value) -> Option<String> {
        (self.answers?.words)(result)
    }

    /// Returns whether a session can do it.
    pub fn fits(&self, session: &Session) -> bool {
        session.can(self.command) || self.otherwise.is_some_and(|otherwise| otherwise(session))
    }

    /// Returns whether it takes an argument of its own.
    pub fn takes(&self, name: &str) -> bool {
        self.parameters().any(|parameter| parameter.name == name)
    }

    /// All arguments of its own, those it needs first.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter> {
        self.needed().into_iter().flatten().flatten().chain(self.optional())
    }

    /// The groups of arguments that must be there: one way of each, with all its parts.
    pub fn needed(&self) -> Vec<Vec<Vec<Parameter>>> {
        command_arguments::groups(self.needs)
    }

    /// The arguments that may be there.
    pub fn optional(&self) -> impl Iterator<Item = Parameter> + use<> {
        self.takes.split_whitespace().map(Parameter::parse)
    }

    /// The arguments that the hub adds.
    pub fn added(&self) -> impl Iterator<Item = Parameter> + use<> {
        self.adds.split_whitespace().map(Parameter::parse)
    }

    /// Gives arguments the names that the command has for them.
    pub(crate) fn name_for_command(&self, args: &mut Map<String, Value>) {
        for parameter in self.parameters().filter(|it| it.sent_name != it.name) {
            if let Some(value) = args.remove(parameter.name) {
                args.insert(parameter.sent_name.to_owned(), value);
            }
        }
    }

    /// Returns whether the hub does it, and no browser.
    pub fn is_of_hub(&self) -> bool {
        matches!(self.scope, CommandScope::Hub | CommandScope::HubAlone)
    }

    /// Returns whether it is about a tab.
    pub fn is_in_tab(&self) -> bool {
        !matches!(self.scope, CommandScope::Browser | CommandScope::HubAlone)
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
        if let Some(group) = self.needed().iter().find(|group| !is_met(group, fields)) {
            return Err(invalid(format!("{name} needs {}", choice(group))));
        }
        for parameter in self.parameters() {
            let (argument, words) = (parameter.name, parameter.words());
            let Some(given) = fields.get(argument).and_then(Value::as_str) else { continue };
            if !words.is_empty() && !words.contains(&given) {
                let (words, given) = (words.join(", "), shorten(given, 60));
                return Err(invalid(format!(
                    "{name} takes as `{argument}` one of {words}, not {given:?}"
                )));
            }
        }
        Ok(())
    }

    /// Returns whether it takes an argument, of its own or one that all take.
    pub(crate) fn accepts(&self, given: &str) -> bool {
        match given {
            "action" => !self.name.is_empty(),
            "tab" if !self.is_in_tab() => false,
            given => self.takes(given) || COMMON.split(' ').any(|word| word == given),
        }
    }

    fn not_taken(&self, tool: &CoreTool, name: &str, odd: &str) -> Fault {
        let mut known: Vec<_> = self.parameters().map(|parameter| parameter.name).collect();
        known.extend(COMMON.split(' ').filter(|word| !self.takes(word) && self.accepts(word)));
        let list: Vec<_> = known.iter().map(|word| format!("`{word}`")).collect();
        let others = tool.actions().iter().filter(|other| other.takes(odd)).map(|other| other.name);
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

fn is_met(group: &[Vec<Parameter>], fields: &Map<String, Value>) -> bool {
    group.iter().any(|way| way.iter().all(|part| fields.contains_key(part.name)))
}

/// Says a group of needed arguments in words: "`selector`, `ref` or `x` with `y`".
pub fn choice(group: &[Vec<Parameter>]) -> String {
    let way = |way: &Vec<Parameter>| {
        way.iter().map(|part| format!("`{}`", part.name)).collect::<Vec<_>>().join(" with ")
    };
    let ways: Vec<_> = group.iter().map(way).collect();
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
        let names: Vec<_> = tool.actions().iter().map(|action| action.name).collect();
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
        Some(Value::String(word)) => tool.actions().iter().find(|action| action.is_called(word)),
        Some(_) => None,
        None => usual(tool),
    }
}

/// What a tool does when no action is given: the only thing, or what has the tool's own name.
fn usual(tool: &CoreTool) -> Option<&'static Action> {
    match tool.actions() {
        [only] => Some(only),
        actions => actions.iter().find(|action| action.command == tool.name),
    }
}

/// Makes what a client reads about such a tool: its own arguments, and what all of them take. What
/// an action needs is left to [`check`]; `session` and `tab` are described once, by
/// browser_instance and browser_tab.
pub(crate) fn define(
    name: &'static str,
    description: &str,
    arguments: &[Argument],
    actions: &[Action],
) -> Definition {
    let mut properties = command_arguments::properties(arguments);
    let mut add = |name: &str, property: Value| {
        properties.entry(name).or_insert(property);
    };
    add("session", json!({"type": "string"}));
    add("tab", json!({"type": "integer"}));
    add("timeoutMs", json!({"type": "integer", "description": "at most", "unlisted": true}));
    let (listed, also): (Vec<_>, Vec<_>) = actions.iter().partition(|action| !action.is_unlisted);
    let names =
        |actions: Vec<&Action>| actions.iter().map(|action| action.name).collect::<Vec<_>>();
    let names = (names(listed), names(also));
    if names.0 != [""] {
        properties.insert("action".to_owned(), json!({"enum": names.0, "also": names.1}));
    }
    let read_only = actions.iter().all(|action| action.effect == Effect::Read);
    Definition {
        name: name.to_owned(),
        title: String::new(),
        description: description.to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        }),
        output_schema: None,
        annotations: Annotations::reaching_pages(read_only),
    }
}
