//! What a client does with Tabwire: it looks, acts on references, and reads what came of it.

use serde_json::{Value, json};

use super::run::{Run, Story, reference};

/// A client of Tabwire.
pub struct Tabwire<'r, 'a> {
    run: &'r mut Run<'a>,
}

impl<'r, 'a> Tabwire<'r, 'a> {
    /// A client that has seen nothing yet.
    pub fn new(run: &'r mut Run<'a>) -> Self {
        Self { run }
    }

    /// The run, for files and addresses.
    pub fn run(&mut self) -> &mut Run<'a> {
        self.run
    }

    /// Goes to a page.
    pub fn go(&mut self, page: &str) -> Story {
        let url = self.run.url(page);
        self.run.call("browser_navigate", &json!({"url": url}))
    }

    /// Goes to a page and looks at it.
    pub fn open(&mut self, page: &str) -> Story {
        self.go(page)?;
        self.look()
    }

    /// Looks at the page.
    pub fn look(&mut self) -> Story {
        self.snapshot(json!({}))
    }

    /// Looks for words.
    pub fn find(&mut self, words: &str) -> Story {
        self.snapshot(json!({"find": words}))
    }

    /// Looks for words that an answer does not tell, once they are there.
    pub fn told_or_found(&mut self, answer: String, words: &str) -> Story {
        if answer.contains(words) {
            return Ok(answer);
        }
        self.run.call("browser_navigate", &json!({"action": "wait", "text": words}))?;
        self.find(words)
    }

    /// Takes a snapshot.
    pub fn snapshot(&mut self, args: Value) -> Story {
        self.run.call("browser_snapshot", &args)
    }

    /// Clicks on the thing in a line with these words.
    pub fn click(&mut self, seen: &str, words: &str) -> Story {
        self.act("click", json!({"ref": reference(seen, words)?}))
    }

    /// Does something with mouse or keyboard.
    pub fn act(&mut self, action: &str, more: Value) -> Story {
        self.call("browser_interact", action, more)
    }

    /// Fills fields, each found in what was seen by the words before its value.
    pub fn fill(&mut self, seen: &str, fields: &[(&str, &str)], submit: bool) -> Story {
        let field = |(words, value): &(&str, &str)| {
            Ok::<_, String>(json!({"field": reference(seen, words)?, "value": value}))
        };
        let fields = fields.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        let more = match submit {
            true => json!({"fields": fields, "submit": true}),
            false => json!({"fields": fields}),
        };
        self.act("fill", more)
    }

    /// Calls a tool with an action.
    pub fn call(&mut self, tool: &str, action: &str, more: Value) -> Story {
        let mut args = json!({"action": action});
        for (name, value) in more.as_object().into_iter().flatten() {
            args[name] = value.clone();
        }
        self.run.call(tool, &args)
    }
}
