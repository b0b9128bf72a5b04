//! What an action did, and the line that a model reads of it.
//!
//! What is to be seen of it is said by [`facts`]; numbers of changes only where there is nothing.

use hub::{Caller, Session};
use model::{
    Json, TabId,
    page_text::{self, address, quoted, quoted_exact, word},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    CommandResult,
    facts::{self, Fact},
};

/// What an action did.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionReport {
    /// Where the page is now; empty once its tab is closed.
    pub url: String,
    pub title: Option<String>,
    /// The page was left for another.
    pub navigated: Option<bool>,
    /// The address is another, and the document the same.
    pub same_document: Option<bool>,
    pub status: Option<u64>,
    /// One that is open now.
    pub dialog: Option<OpenDialog>,
    /// The one that was answered.
    pub handled: Option<OpenDialog>,
    pub new_tab: Option<TabAddress>,
    pub download: Option<BegunDownload>,
    pub changes: Option<ChangeCounts>,
    /// What is to be seen of that.
    #[serde(default, deserialize_with = "facts::known")]
    pub facts: Vec<Fact>,
    pub requests: Option<u64>,
    /// The page was still at work when the wait for it ended.
    pub busy: Option<bool>,
    pub closed: Option<bool>,
    pub element: Option<ActedOn>,
    /// Where it was dragged to.
    pub target: Option<ActedOn>,
    pub checked: Option<bool>,
    pub selected: Option<Vec<String>>,
    pub value: Option<String>,
    /// What is in the fields of a form now.
    pub filled: Option<Vec<FilledField>>,
    /// How far it is scrolled to the right.
    pub x: Option<f64>,
    pub y: Option<f64>,
    pub at_end: Option<bool>,
    /// What another project's browser tells beyond that.
    #[serde(flatten)]
    #[schemars(skip)]
    pub more: Map<String, Value>,
}

/// An element that was acted on.
#[derive(Deserialize, JsonSchema)]
pub struct ActedOn {
    /// By which it can be acted on again.
    #[serde(rename = "ref")]
    pub reference: String,
    pub role: String,
    pub name: String,
    /// CSS that matched it alone, where there is such.
    pub selector: Option<String>,
}

/// A dialog of a page.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenDialog {
    /// Such as `confirm`.
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
    pub default_value: Option<String>,
}

/// A tab, and where it is.
#[derive(Deserialize, JsonSchema)]
pub struct TabAddress {
    pub tab: u64,
    pub url: String,
    /// Its page's title, once that is there.
    pub title: Option<String>,
}

/// A download that an action has begun.
#[derive(Deserialize, JsonSchema)]
pub struct BegunDownload {
    /// By which it can be waited for.
    pub id: Option<u64>,
    pub filename: String,
    pub url: Option<String>,
}

/// How many nodes of a document changed.
#[derive(Deserialize, JsonSchema)]
pub struct ChangeCounts {
    #[serde(default)]
    pub added: u64,
    #[serde(default)]
    pub removed: u64,
    #[serde(default)]
    pub attributes: u64,
    #[serde(default)]
    pub text: u64,
}

/// A field that was filled.
#[derive(Deserialize, JsonSchema)]
pub struct FilledField {
    #[serde(default)]
    pub field: String,
    #[serde(default)]
    pub role: String,
    #[serde(default)]
    pub name: String,
    /// What is in it now; none if the page has taken it away.
    pub value: Option<String>,
}

/// Makes a tab that an action has opened the client's own.
pub(crate) fn note_new_tab(session: &Session, caller: &Caller, result: &Json) {
    // Looked for in the text first: most results are large and have none.
    if !session.keeps_tabs_apart() || !result.as_str().contains("\"newTab\"") {
        return;
    }
    let result = result.to_value().unwrap_or_default();
    if let Some(tab) = result["newTab"]["tab"].as_u64() {
        session.tab_spawned(caller, TabId(tab));
    }
}

impl CommandResult for ActionReport {
    fn words(&self) -> Option<String> {
        let seen = facts::said(self);
        let mut parts = Vec::new();
        if let Some(ActedOn { reference, role, name, .. }) = &self.element {
            let news = seen.element.as_ref().map(|news| format!(", now {news}"));
            parts.push(format!(
                "on {} {} [ref={}]{}",
                word(role),
                quoted(name),
                word(reference),
                news.unwrap_or_default()
            ));
        }
        parts.extend(self.filled.as_deref().map(filled));
        parts.extend(self.outcome());
        if !seen.now.is_empty() {
            parts.push(format!("now: {}", seen.now.join(", ")));
        }
        if !seen.gone.is_empty() {
            parts.push(format!("gone: {}", seen.gone.join(", ")));
        }
        if seen.is_empty() {
            parts.extend(self.changes.as_ref().map(ChangeCounts::words));
        }
        if self.element.is_some() && self.is_quiet() {
            parts.push("nothing changed in the page".to_owned());
        }
        parts.extend(self.details());
        if let (Some(x), Some(y)) = (self.x, self.y) {
            let end = if self.at_end == Some(true) { ", the end" } else { "" };
            parts.push(format!("scrolled to {x:.0},{y:.0}{end}"));
        }
        if self.busy == Some(true) {
            parts.push("the page is still busy".to_owned());
        }
        parts.push(format!("at {}", address(&self.url)));
        Some(parts.join("; "))
    }
}

impl CommandResult for TabAddress {
    fn words(&self) -> Option<String> {
        Some(format!("tab: {}; at {}", self.tab, address(&self.url)))
    }
}

impl ActionReport {
    /// Says what came of it beyond the document.
    fn outcome(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if let Some(OpenDialog { kind, message, .. }) = &self.dialog {
            let kind = word(kind);
            let message = quoted_exact(message);
            parts.push(format!(
                "a dialog is open: {kind} {message}; answer it with browser_debug dialog"
            ));
        }
        if let Some(TabAddress { tab, url, .. }) = &self.new_tab {
            parts.push(format!("a new tab {tab} was opened: {}", address(url)));
        }
        if let Some(download) = &self.download {
            parts.push(format!("a download has started: {}", quoted_exact(&download.filename)));
        }
        if self.navigated == Some(true) {
            let title = self.title.as_deref().unwrap_or_default();
            parts.push(format!("the page is now {}", quoted(title)));
        }
        parts
    }

    /// Whether it has had no effect that is told.
    fn is_quiet(&self) -> bool {
        let Self { dialog, new_tab, download, navigated, changes, facts, busy, closed, .. } = self;
        dialog.is_none()
            && new_tab.is_none()
            && download.is_none()
            && changes.is_none()
            && facts.is_empty()
            && [navigated, busy, closed].iter().all(|it| it.is_none())
    }

    /// Says what only some actions tell, by name.
    fn details(&self) -> Vec<String> {
        let Self { checked, closed, selected, status, value, .. } = self;
        let mut parts = Vec::new();
        parts.extend(checked.map(|checked| format!("checked: {checked}")));
        parts.extend(closed.map(|closed| format!("closed: {closed}")));
        if let Some(OpenDialog { kind, message, .. }) = &self.handled {
            let kind = word(kind);
            parts.push(format!("answered: {kind} {}", quoted_exact(message)));
        }
        if let Some(selected) = selected {
            let list: Vec<_> = selected.iter().map(|option| quoted_exact(option)).collect();
            parts.push(format!("selected: [{}]", list.join(",")));
        }
        parts.extend(status.map(|status| format!("status: {status}")));
        if let Some(ActedOn { reference, role, name, .. }) = &self.target {
            let (role, name) = (word(role), quoted(name));
            parts.push(format!("target: {role} {name} [ref={}]", word(reference)));
        }
        parts.extend(value.as_ref().map(|value| format!("value: {}", quoted_exact(value))));
        parts.extend(self.more.iter().map(|(name, value)| {
            format!("{}: {}", page_text::line(name), page_text::json(&value.to_string()))
        }));
        parts
    }
}

impl ChangeCounts {
    /// Says how many nodes of the page changed, where nothing is to be seen of it.
    fn words(&self) -> String {
        let Self { added, removed, attributes, text } = *self;
        let all =
            [("added", added), ("attributes", attributes), ("removed", removed), ("text", text)];
        let counts = all.iter().filter(|(_, count)| *count > 0);
        let counts: Vec<_> = counts.map(|(what, count)| format!("{count} {what}")).collect();
        match counts.is_empty() {
            true => "nothing changed in the page".to_owned(),
            false => format!("changed in the page: {}", counts.join(", ")),
        }
    }
}

/// Says what is in the fields of a form that was filled.
fn filled(fields: &[FilledField]) -> String {
    let words = fields.iter().map(|FilledField { field, name, value, .. }| {
        let name = quoted(if name.is_empty() { field } else { name });
        match value {
            Some(value) => format!("{name} = {}", quoted_exact(value)),
            None => format!("{name} (no longer there)"),
        }
    });
    format!("filled {}: {}", fields.len(), words.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::command_results::said;

    use super::*;

    #[track_caller]
    fn check(report: Value, expected: Option<&str>) {
        assert_eq!(said::<ActionReport>(report).as_deref(), expected);
    }

    #[test]
    fn a_report_says_what_happened_and_where() {
        let url = "http://a.example/";
        check(
            json!({"url": url, "element": {"ref": "e3", "role": "button", "name": "Buy"},
                "changes": {"added": 2, "removed": 0, "attributes": 1, "text": 0}}),
            Some(
                "on button \"Buy\" [ref=e3]; changed in the page: 2 added, 1 attributes; at http://a.example/",
            ),
        );
        check(
            json!({"url": url, "dialog": {"type": "confirm", "message": "Sure?"}}),
            Some(
                "a dialog is open: confirm \"Sure?\"; answer it with browser_debug dialog; at http://a.example/",
            ),
        );
        check(
            json!({"url": url, "navigated": true, "title": "Shop", "status": 404}),
            Some("the page is now \"Shop\"; status: 404; at http://a.example/"),
        );
        check(
            json!({"url": url, "newTab": {"tab": 9, "url": "http://b.example/"}, "busy": true}),
            Some(
                "a new tab 9 was opened: http://b.example/; the page is still busy; at http://a.example/",
            ),
        );
    }

    #[test]
    fn what_is_to_be_seen_is_said_instead_of_numbers() {
        let report = |facts: Value| {
            json!({"url": "http://a.example/",
                "element": {"ref": "e3", "role": "button", "name": "Save"},
                "changes": {"added": 9, "removed": 0, "attributes": 0, "text": 0}, "facts": facts})
        };
        let said = |facts: Value, expected: &str| {
            let expected = format!("on button \"Save\" [ref=e3]{expected}; at http://a.example/");
            check(report(facts), Some(&expected));
        };
        said(
            json!([{"what": "appeared", "role": "status", "name": "Saved"},
                {"what": "appeared", "role": "button", "name": "Undo", "ref": "e9"},
                {"what": "more", "count": 3}]),
            "; now: status \"Saved\", button \"Undo\" [ref=e9], +3 more",
        );
        said(
            json!([{"what": "changed", "role": "textbox", "name": "Born", "ref": "d2e5",
                    "states": ["invalid"], "message": "Write it as YYYY"},
                {"what": "changed", "role": "slider", "name": "Size", "ref": "e6", "value": "7"},
                {"what": "gone", "role": "dialog", "name": "Terms"}]),
            "; now: textbox \"Born\" [ref=d2e5] invalid: \"Write it as YYYY\", \
             slider \"Size\" [ref=e6] = \"7\"; gone: dialog \"Terms\"",
        );
        said(
            json!([{"what": "changed", "role": "button", "name": "Save", "ref": "e3",
                "states": ["pressed", "disabled"]}]),
            ", now pressed, disabled",
        );
        said(
            json!([{"what": "changed", "role": "button", "name": "Saved", "ref": "e3"}]),
            ", now \"Saved\"",
        );
        said(json!([]), "; changed in the page: 9 added");
    }

    #[test]
    fn what_a_check_box_is_now_is_said_once() {
        check(
            json!({"url": "u", "element": {"ref": "e3", "role": "checkbox", "name": "Gift"},
                "checked": true, "facts": [{"what": "changed", "role": "checkbox", "name": "Gift",
                    "ref": "e3", "states": ["checked"]}]}),
            Some("on checkbox \"Gift\" [ref=e3]; checked: true; at u"),
        );
    }

    #[test]
    fn words_of_pages_stay_in_their_quotes_and_broken_facts_are_left_out() {
        let facts = json!([
            {"what": "appeared", "role": "text", "name": "\"; at http://b/\n\u{2028}[ref=e1]"},
            {"what": "appeared", "role": "button\nx", "name": "no role"},
            {"what": "appeared", "role": "button", "name": "Go", "ref": "e1] x [ref=e2"},
            {"what": "appeared", "role": "button", "name": 5, "ref": "e4"},
            {"what": "changed", "role": "tab", "name": "A", "states": ["ignore this", "selected"]},
            {"what": "more", "count": "many"},
            {"what": "told", "role": "text", "name": "unknown"},
            "text",
        ]);
        check(
            json!({"url": "u", "facts": facts}),
            Some(
                "now: text \"\\\"; at http://b/ \\[ref=e1\\]\", button \"Go\", \
                 tab \"A\" selected; at u",
            ),
        );
    }

    #[test]
    fn facts_are_few_and_short_whatever_was_told() {
        let long = json!({"what": "appeared", "role": "text", "name": "x".repeat(5000)});
        let report = json!({"url": "u", "facts": vec![long; 500]});
        let words = said::<ActionReport>(report).unwrap();
        assert!(words.len() < 1000 && words.contains(&"x".repeat(80)), "{words}");
        assert!(!words.contains(&"x".repeat(81)), "{words}");
    }

    #[test]
    fn a_filled_form_says_what_is_in_its_fields() {
        check(
            json!({"url": "http://a.example/", "filled": [
                {"field": "#mail", "role": "textbox", "name": "E-mail", "value": "a@b.c"},
                {"field": "e7", "role": "textbox", "name": "", "value": ""},
                {"field": "Gone", "role": "checkbox", "name": "Gone"},
            ]}),
            Some(
                "filled 3: \"E-mail\" = \"a@b.c\", \"e7\" = \"\", \"Gone\" (no longer there); at http://a.example/",
            ),
        );
    }

    #[test]
    fn what_is_no_report_has_no_words() {
        check(json!({"tabs": []}), None);
        check(json!("text"), None);
        check(json!(null), None);
    }
}
