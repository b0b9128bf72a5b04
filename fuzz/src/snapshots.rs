//! Pages as an extension sends them, and what clients want to see of them, one per line.
//!
//! A line that begins with `{"format":` is a page; the one before it is what it is compared with.
//! Every other line is what a client asks for. Cursors are followed: each goes on, and they end.

use std::sync::Arc;

use model::Json;
use serde_json::{Map, Value};
use snapshot::{Format, Page, Shown, Subject, View, kept, write};

/// Wishes of one input that are looked at, and parts of each that are read.
const WISHES: usize = 6;
const PARTS: usize = 5;

/// Shows the pages.
pub fn run(input: &[u8]) {
    let (mut before, mut page) = (None, None);
    let mut wishes = 0..WISHES;
    for line in crate::text_lines(input) {
        if line.starts_with("{\"format\":") {
            if let Ok(json) = Json::parse(line)
                && let Ok(Some(next)) = Page::read(&json)
            {
                before = page.replace(Arc::new(next));
            }
        } else if let (Some(page), Ok(Value::Object(args))) = (&page, serde_json::from_str(line))
            && wishes.next().is_some()
        {
            show(page, before.as_deref(), &args, line.len());
        }
    }
}

/// Shows a page as it is asked for, with all parts that follow.
fn show(page: &Page, before: Option<&Page>, args: &Map<String, Value>, asked: usize) {
    let mut args = args.clone();
    let skeleton = args.get("format").is_some_and(|format| format == "skeleton");
    let mut known = Vec::new();
    for _ in 0..PARTS {
        let Ok(mut view) = View::take(&mut args.clone()) else { return };
        if skeleton {
            view.format = Format::Skeleton;
        }
        let version = kept::version(page, &view.scope);
        let subject = Subject { page, version: &version, before };
        let Ok(Shown { text, cursor, .. }) = write(&subject, &view) else { return };
        // What the client has said itself may be repeated.
        let most = view.budget + 6 * asked + 200;
        assert!(text.len() <= most, "{} bytes for a budget of {}", text.len(), view.budget);
        let Some(cursor) = cursor else { return };
        assert!(!known.contains(&cursor), "the cursor {cursor} comes twice");
        args.insert("cursor".to_owned(), Value::String(cursor.clone()));
        known.push(cursor);
    }
}
