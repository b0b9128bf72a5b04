//! Arguments of a call: checked and translated before anything is sent.
//!
//! An error names the argument and says what is valid; an unknown one gets the nearest known.

use model::{Code, Fault, json::shorten};
use serde_json::{Map, Value};

use super::{
    source::did_you_mean,
    template::show,
    tool::{Arg, Command},
    types::Taken,
};

/// What a command sends, and what it says about it.
pub(super) struct Prepared {
    pub wire: Map<String, Value>,
    pub reply: String,
}

/// Checks and translates all arguments of a command.
pub(super) fn prepare(command: &Command, fields: Map<String, Value>) -> Result<Prepared, Fault> {
    let known: Vec<&str> = command.args.iter().map(|arg| arg.name.as_str()).collect();
    refuse_unknown(&fields, &known)?;
    let (mut wire, mut shown, mut problems) = (Map::new(), Map::new(), Vec::new());
    let mut all_given = true;
    for arg in &command.args {
        let given = fields.get(&arg.name);
        all_given &= given.is_some();
        match take(arg, given) {
            Ok(Some(taken)) => {
                wire.insert(arg.name.clone(), taken.wire);
                shown.insert(arg.name.clone(), Value::String(taken.shown));
            }
            // Left out and not null: pages take a null for a value.
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(invalid(problems.join("; ")));
    }
    let template = command.reply_without.as_ref().filter(|_| !all_given).unwrap_or(&command.reply);
    let reply = template.fill(|name| shown.get(name).map(show)).ok_or_else(|| {
        Fault::new(Code::Internal, "the manifest's reply has a place that nothing fills")
    })?;
    Ok(Prepared { wire, reply })
}

fn take(arg: &Arg, given: Option<&Value>) -> Result<Option<Taken>, String> {
    let name = &arg.name;
    match given.or(arg.default.as_ref()) {
        Some(value) => arg.kind.take(value).map(Some).map_err(|why| format!("`{name}` {why}")),
        None if arg.optional => Ok(None),
        None => Err(format!("`{name}` is missing: it must be {}", arg.kind.valid())),
    }
}

/// Takes the one argument of a getter.
pub(super) fn take_force_refresh(fields: &mut Map<String, Value>) -> Result<bool, Fault> {
    refuse_unknown(fields, &["forceRefresh"])?;
    match fields.remove("forceRefresh") {
        None => Ok(false),
        Some(Value::Bool(force_refresh)) => Ok(force_refresh),
        Some(_) => Err(invalid("`forceRefresh` must be true or false")),
    }
}

/// Refuses arguments other than these and `session`.
pub(super) fn refuse_unknown(fields: &Map<String, Value>, known: &[&str]) -> Result<(), Fault> {
    let known: Vec<&str> = known.iter().copied().chain(["session"]).collect();
    let Some(name) = fields.keys().find(|name| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    let list: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    let nearest = did_you_mean(name, known.into_iter());
    let name = shorten(name, 60);
    Err(invalid(format!("there is no argument `{name}`; it takes {}{nearest}", list.join(", "))))
}

/// Makes the fault of an argument.
pub(super) fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(Code::InvalidArgument, message)
}
