//! What a client does with `@playwright/mcp`: actions tell where a snapshot lies and not what it
//! says, so it asks for what it needs, by words where it knows them.

use serde_json::{Value, json};

use super::run::{Run, Story, reference};

/// A client of the server of Playwright.
pub struct Playwright<'r, 'a> {
    run: &'r mut Run<'a>,
}

impl<'r, 'a> Playwright<'r, 'a> {
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
        self.call("browser_navigate", json!({"url": url}))
    }

    /// Goes to a page and looks at it.
    pub fn open(&mut self, page: &str) -> Story {
        self.go(page)?;
        self.look()
    }

    /// Looks at the page.
    pub fn look(&mut self) -> Story {
        self.call("browser_snapshot", json!({}))
    }

    /// Looks for words.
    pub fn find(&mut self, words: &str) -> Story {
        self.call("browser_find", json!({"text": words}))
    }

    /// Looks for words that may take a moment to be there.
    pub fn find_late(&mut self, words: &str) -> Story {
        let found = self.find(words)?;
        if !is_nothing(&found) {
            return Ok(found);
        }
        self.call("browser_wait_for", json!({"text": words}))?;
        self.find(words)
    }

    /// Clicks on the thing in a line with these words.
    pub fn click(&mut self, seen: &str, words: &str) -> Story {
        self.call("browser_click", json!({"target": reference(seen, words)?}))
    }

    /// Fills fields, each with its words, its kind and its value.
    pub fn fill(&mut self, seen: &str, fields: &[(&str, &str, &str)]) -> Story {
        let field = |(words, kind, value): &(&str, &str, &str)| {
            let target = reference(seen, words)?;
            let name = words.split('"').nth(1).unwrap_or(words);
            Ok::<_, String>(json!({"target": target, "name": name, "type": kind, "value": value}))
        };
        let fields = fields.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        self.call("browser_fill_form", json!({"fields": fields}))
    }

    /// Types into the field in a line with these words, and presses Enter.
    pub fn submit(&mut self, seen: &str, words: &str, text: &str) -> Story {
        let target = reference(seen, words)?;
        self.call("browser_type", json!({"target": target, "text": text, "submit": true}))
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, args: Value) -> Story {
        self.run.call(tool, &args)
    }
}

/// Returns whether nothing was found.
pub fn is_nothing(found: &str) -> bool {
    found.contains("No matches")
}
