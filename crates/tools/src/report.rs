//! What an action did, in a line that a model reads: from the report of our extension.
//!
//! What is to be seen of it is said by [`facts`]; numbers of changes only where there is nothing.

mod facts;

use hub::{Caller, Session};
use model::{
    Json, TabId,
    page_text::{self, address, quoted, quoted_exact, word},
};
use serde_json::{Map, Value};

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

/// Says a report in words; `None` means that it is none.
pub(crate) fn words(report: &Value) -> Option<String> {
    let url = report.get("url")?.as_str()?;
    let mut parts = Vec::new();
    let seen = facts::said(report);
    if let Some(element) = report.get("element").filter(|element| element.is_object()) {
        let text = |name: &str| element[name].as_str().unwrap_or_default();
        let (role, name, own) = (word(text("role")), quoted(text("name")), word(text("ref")));
        let news = seen.element.as_ref().map(|news| format!(", now {news}")).unwrap_or_default();
        parts.push(format!("on {role} {name} [ref={own}]{news}"));
    }
    if let Some(fields) = report["filled"].as_array() {
        parts.push(filled(fields));
    }
    if let Some(dialog) = report.get("dialog").filter(|dialog| dialog.is_object()) {
        let kind = word(dialog["type"].as_str().unwrap_or("dialog"));
        let message = quoted_exact(dialog["message"].as_str().unwrap_or_default());
        parts.push(format!(
            "a dialog is open: {kind} {message}; answer it with browser_debug dialog"
        ));
    }
    if let Some(tab) = report["newTab"]["tab"].as_u64() {
        let to = report["newTab"]["url"].as_str().unwrap_or_default();
        parts.push(format!("a new tab {tab} was opened: {}", address(to)));
    }
    if let Some(file) = report["download"]["filename"].as_str() {
        parts.push(format!("a download has started: {}", quoted_exact(file)));
    }
    if report["navigated"] == true {
        let title = report["title"].as_str().unwrap_or_default();
        parts.push(format!("the page is now {}", quoted(title)));
    }
    if !seen.now.is_empty() {
        parts.push(format!("now: {}", seen.now.join(", ")));
    }
    if !seen.gone.is_empty() {
        parts.push(format!("gone: {}", seen.gone.join(", ")));
    }
    if seen.is_empty() {
        parts.extend(report["changes"].as_object().map(counted));
    }
    let quiet = ["dialog", "newTab", "download", "navigated", "changes", "facts", "busy", "closed"];
    if report.get("element").is_some() && !quiet.iter().any(|effect| report.get(effect).is_some()) {
        parts.push("nothing changed in the page".to_owned());
    }
    for (name, value) in report.as_object()? {
        let rest = !KNOWN.contains(&name.as_str());
        if rest {
            parts.push(format!(
                "{}: {}",
                page_text::line(name),
                page_text::json(&value.to_string())
            ));
        }
    }
    if let (Some(x), Some(y)) = (report["x"].as_f64(), report["y"].as_f64()) {
        let end = if report["atEnd"] == true { ", the end" } else { "" };
        parts.push(format!("scrolled to {x:.0},{y:.0}{end}"));
    }
    if report["busy"] == true {
        parts.push("the page is still busy".to_owned());
    }
    parts.push(format!("at {}", address(url)));
    Some(parts.join("; "))
}

/// Says how many nodes of the page changed, where nothing is to be seen of it.
fn counted(changes: &Map<String, Value>) -> String {
    let counts: Vec<_> = changes
        .iter()
        .filter(|(_, count)| count.as_u64().is_some_and(|count| count > 0))
        .map(|(what, count)| format!("{count} {}", word(what)))
        .collect();
    match counts.is_empty() {
        true => "nothing changed in the page".to_owned(),
        false => format!("changed in the page: {}", counts.join(", ")),
    }
}

/// Says what is in the fields of a form that was filled.
fn filled(fields: &[Value]) -> String {
    let words = fields.iter().map(|field| {
        let name = field["name"].as_str().filter(|name| !name.is_empty());
        let name = quoted(name.or(field["field"].as_str()).unwrap_or_default());
        match field["value"].as_str() {
            Some(value) => format!("{name} = {}", quoted_exact(value)),
            None => format!("{name} (no longer there)"),
        }
    });
    format!("filled {}: {}", fields.len(), words.collect::<Vec<_>>().join(", "))
}

/// What has words of its own, or is for programs only.
const KNOWN: [&str; 16] = [
    "x",
    "y",
    "atEnd",
    "url",
    "title",
    "navigated",
    "sameDocument",
    "dialog",
    "newTab",
    "download",
    "changes",
    "facts",
    "requests",
    "busy",
    "element",
    "filled",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(report: Value, expected: Option<&str>) {
        assert_eq!(words(&report).as_deref(), expected, "{report}");
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
        let words = words(&report).unwrap();
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
