//! Results of Moonsurf's extension in our shapes.
//!
//! Most are carried as they came. Pictures, files and what is told about tabs are looked into;
//! the project's documents disagree about their fields, so each known form is taken.

use model::{CallId, TabId};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    Output,
    foreign::{
        self,
        tabs::{KnownTabs, TABS, WireTab},
    },
};

/// What a result is about, where that is more than data.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A picture of a page.
    Picture,
    /// A page as a document.
    Document,
    /// A list of tabs, which is taken note of.
    Tabs,
    /// A tab that was opened.
    Opened,
    /// A tab that was closed.
    Closed(TabId),
    /// All tabs but this one were closed.
    ClosedOthers(Option<TabId>),
    /// A tab that was brought to the front.
    Focused(TabId),
    /// A page that may have another address now.
    Moved(Option<TabId>),
    /// A page's content, of which at most so many characters are wanted.
    Content(usize),
}

impl Shape {
    /// Returns the shape of a command's result; none where it is only carried.
    pub fn of(command: &str, tab: Option<TabId>, longest: Option<usize>) -> Option<Self> {
        Some(match command {
            "browser_screenshot" => Self::Picture,
            "browser_pdf" => Self::Document,
            "browser_tab_list" => Self::Tabs,
            "browser_tab_new" => Self::Opened,
            "browser_tab_close" => Self::Closed(tab?),
            "browser_tab_close_others" => Self::ClosedOthers(tab),
            "browser_tab_activate" => Self::Focused(tab?),
            "browser_navigate" | "browser_reload" | "browser_go_back" | "browser_go_forward" => {
                Self::Moved(tab)
            }
            "browser_get_content" => Self::Content(longest?),
            _ => return None,
        })
    }
}

/// The fields that say what a result is, without reading the rest.
#[derive(Default, Deserialize)]
struct Peek<'a> {
    #[serde(borrow, default)]
    success: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// Ends a call with its result, after what the result tells about tabs.
pub fn take(
    call: CallId,
    shape: Option<Shape>,
    result: Option<Box<RawValue>>,
    tabs: &mut KnownTabs,
) -> Vec<Output> {
    let Some(raw) = result else { return vec![foreign::carried(call, None)] };
    let peek: Peek<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    if let Some(picture) = peek.content.and_then(mcp_picture) {
        return vec![foreign::done(call, &picture)];
    }
    if shape.is_none() && peek.success.is_none() {
        return vec![foreign::carried(call, Some(raw))];
    }
    let Ok(mut fields) = serde_json::from_str::<Map<String, Value>>(raw.get()) else {
        return vec![foreign::carried(call, Some(raw))];
    };
    if let Some(fault) = foreign::unsuccessful(&fields) {
        return vec![foreign::failed(call, fault)];
    }
    let Some(shape) = shape else { return vec![foreign::carried(call, Some(raw))] };
    let mut outputs = about_tabs(shape, &raw, &mut fields, tabs);
    let result = match shape {
        Shape::Picture => {
            let format = fields.get("format").and_then(Value::as_str).unwrap_or("png");
            let mime_type = format!("image/{format}");
            bytes(fields, "image", &["screenshot", "data"], &mime_type)
        }
        Shape::Document => bytes(fields, "file", &["pdf", "data"], "application/pdf"),
        Shape::Content(longest) => {
            foreign::cut_content(&mut fields, longest);
            Value::Object(fields)
        }
        _ => Value::Object(fields),
    };
    outputs.push(foreign::done(call, &result));
    outputs
}

/// Delivers what a result tells about tabs; a new one is named in the result too.
fn about_tabs(
    shape: Shape,
    raw: &RawValue,
    fields: &mut Map<String, Value>,
    tabs: &mut KnownTabs,
) -> Vec<Output> {
    #[derive(Deserialize)]
    struct Tabs {
        tabs: Box<RawValue>,
    }
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let number = |name: &str| fields.get(name).and_then(Value::as_u64).map(TabId);
    let changes = match shape {
        Shape::Tabs => match serde_json::from_str::<Tabs>(raw.get()) {
            Ok(told) => tabs.told_all(&foreign::each::<WireTab>(Some(&told.tabs), TABS)),
            Err(_) => Vec::new(),
        },
        Shape::Opened => {
            let Some(id) = number("tabId").or_else(|| number("id")) else { return Vec::new() };
            let tab = WireTab::of(id, text("url"), text("title"));
            fields.insert("tab".to_owned(), json!(id.0));
            [tabs.told(&tab), tabs.focused(id)].into_iter().flatten().collect()
        }
        Shape::Closed(id) => tabs.closed(id).into_iter().collect(),
        Shape::ClosedOthers(kept) => {
            let Some(kept) = number("remainingTabId").or(kept) else { return Vec::new() };
            let others: Vec<_> = tabs.all().map(|tab| tab.id).filter(|id| *id != kept).collect();
            others.into_iter().filter_map(|id| tabs.closed(id)).collect()
        }
        Shape::Focused(id) => tabs.focused(id).into_iter().collect(),
        Shape::Moved(tab) => {
            let known = number("tabId").or(tab).filter(|id| tabs.get(*id).is_some());
            let moved = known.map(|id| WireTab::of(id, text("url"), text("title")));
            moved.and_then(|tab| tabs.told(&tab)).into_iter().collect()
        }
        Shape::Picture | Shape::Document | Shape::Content(_) => Vec::new(),
    };
    changes.into_iter().map(foreign::changed).collect()
}

/// Gives bytes their one shape, from whichever field they are in.
fn bytes(mut fields: Map<String, Value>, name: &str, from: &[&str], mime_type: &str) -> Value {
    let told = fields.get("mimeType").and_then(Value::as_str).map(str::to_owned);
    match from.iter().find(|&&name| fields.get(name).is_some_and(Value::is_string)) {
        Some(&field) => {
            let data = fields.remove(field);
            fields.remove("mimeType");
            let data = data.as_ref().and_then(Value::as_str).unwrap_or_default();
            foreign::with_bytes(fields, name, told.as_deref().unwrap_or(mime_type), data)
        }
        None => Value::Object(fields),
    }
}

/// Returns the picture of a result in the form of MCP. A `content` that is a text, as the result
/// of `browser_get_content` has it, is no such form.
fn mcp_picture(content: &RawValue) -> Option<Value> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Item {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        data: Option<String>,
        #[serde(default)]
        mime_type: Option<String>,
    }
    let items = foreign::each::<Item>(Some(content), usize::MAX);
    let image = items.iter().find(|item| item.kind == "image")?;
    let texts: Vec<_> = items.iter().filter_map(|item| item.text.as_deref()).collect();
    let mut rest = Map::new();
    if !texts.is_empty() {
        rest.insert("text".to_owned(), json!(texts.join("\n")));
    }
    let mime_type = image.mime_type.as_deref().unwrap_or("image/png");
    Some(foreign::with_bytes(rest, "image", mime_type, image.data.as_deref()?))
}
