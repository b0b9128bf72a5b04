//! What a client does with Tabwire: it looks, acts on references, and asks what differs.

use serde_json::{Value, json};

use super::run::{Run, Story, between, reference};

/// A client of Tabwire.
pub struct Tabwire<'r, 'a> {
    run: &'r mut Run<'a>,
    /// Of the newest snapshot.
    version: String,
}

impl<'r, 'a> Tabwire<'r, 'a> {
    /// A client that has seen nothing yet.
    pub fn new(run: &'r mut Run<'a>) -> Self {
        Self { run, version: String::new() }
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

    /// Looks at what differs since the last look.
    pub fn changes(&mut self) -> Story {
        let version = self.version.clone();
        self.snapshot(json!({"since": version}))
    }

    /// Looks for words.
    pub fn find(&mut self, words: &str) -> Story {
        self.snapshot(json!({"find": words}))
    }

    /// Looks for words that may take a moment to be there.
    pub fn find_late(&mut self, words: &str) -> Story {
        let found = self.find(words)?;
        if !found.contains("nothing fits") {
            return Ok(found);
        }
        self.run.call("browser_navigate", &json!({"action": "wait", "text": words}))?;
        self.find(words)
    }

    /// Takes a snapshot, and a note of its version.
    pub fn snapshot(&mut self, args: Value) -> Story {
        let text = self.run.call("browser_snapshot", &args)?;
        self.version = between(&text, "[version=", "]").unwrap_or_default().to_owned();
        Ok(text)
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
