//! A command's arguments on their way into the words of another client.
//!
//! What a client cannot take is refused by name and never left out in silence, unless leaving it
//! out changes nothing in what is done.

use model::{Code, Fault, Json};
use serde_json::{Map, Value};

/// The arguments of one command.
#[derive(Debug)]
pub struct Args(Map<String, Value>);

impl Args {
    /// Reads them; `null` is as good as absent.
    pub fn of(args: &Json) -> Self {
        let mut fields = match args.to_value() {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        fields.retain(|_, value| !value.is_null());
        Self(fields)
    }

    /// Returns whether there is such an argument.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Takes an argument out.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// Takes a text out.
    pub fn text(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name)? {
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        }
    }

    /// Takes a count out.
    pub fn count(&mut self, name: &str) -> Option<usize> {
        self.take(name)?.as_u64().map(|count| count.try_into().unwrap_or(usize::MAX))
    }

    /// Takes out an argument that the command is nothing without.
    pub fn need(&mut self, name: &str) -> Result<Value, Fault> {
        let missing = || Fault::new(Code::InvalidArgument, format!("`{name}` is missing"));
        self.take(name).ok_or_else(missing)
    }

    /// Puts an argument in.
    pub fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Gives an argument the client's name for it.
    pub fn rename(&mut self, ours: &str, theirs: &str) {
        if let Some(value) = self.take(ours) {
            self.put(theirs, value);
        }
    }

    /// Leaves out what changes nothing in what this client does.
    pub fn skip(&mut self, names: &[&str]) {
        for name in names {
            self.0.remove(*name);
        }
    }

    /// Leaves out an argument that asks for what this client does anyway.
    pub fn usual(&mut self, name: &str, value: impl Into<Value>) {
        if self.0.get(name) == Some(&value.into()) {
            self.0.remove(name);
        }
    }

    /// Refuses any argument that is not among these.
    pub fn only(&self, client: &str, command: &str, takes: &[&str]) -> Result<(), Fault> {
        let odd: Vec<_> = self
            .0
            .iter()
            .filter(|(name, _)| !takes.contains(&name.as_str()))
            .map(|(name, value)| match value {
                Value::Bool(_) | Value::Number(_) => format!("`{name}: {value}`"),
                _ => format!("`{name}`"),
            })
            .collect();
        if odd.is_empty() {
            return Ok(());
        }
        let message = format!("{client} cannot take {} for {command}", odd.join(", "));
        let hint = match takes {
            [] => "it takes no arguments here".to_owned(),
            takes => format!("it takes: {}", takes.join(", ")),
        };
        Err(Fault::new(Code::Unsupported, message).hint(hint))
    }

    /// Refuses a value that is not among these.
    pub fn only_values(&self, client: &str, name: &str, takes: &[&str]) -> Result<(), Fault> {
        match self.0.get(name) {
            Some(value) if !value.as_str().is_some_and(|text| takes.contains(&text)) => {
                let message = format!("{client} has no {name} {value}");
                Err(Fault::new(Code::Unsupported, message)
                    .hint(format!("it takes: {}", takes.join(", "))))
            }
            _ => Ok(()),
        }
    }

    /// Returns what is left, for the wire.
    pub fn fields(self) -> Map<String, Value> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(args: Value, takes: &[&str], expected: Result<(), &str>) {
        let refused = Args::of(&Json::of(&args)).only("it", "browser_x", takes);
        assert_eq!(refused.map_err(|fault| fault.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn what_cannot_be_taken_is_refused_by_name() {
        check(json!({"url": "a", "selector": null}), &["url"], Ok(()));
        check(
            json!({"fullPage": true, "ref": "e1"}),
            &["format"],
            Err("it cannot take `fullPage: true`, `ref` for browser_x; it takes: format"),
        );
        check(
            json!({"x": 1}),
            &[],
            Err("it cannot take `x: 1` for browser_x; it takes no arguments here"),
        );
    }

    #[test]
    fn asking_for_the_usual_is_no_argument() {
        let mut args = Args::of(&Json::of(&json!({"button": "left", "clickCount": 2})));
        args.usual("button", "left");
        args.usual("clickCount", 1);
        assert_eq!(args.fields().keys().collect::<Vec<_>>(), ["clickCount"]);
    }
}
