//! Sets and removes one member of a JSON text; every other byte stays, comments too.
//!
//! The result is read again and compared before it is given out, so an edit that would say
//! something else than intended is refused. It knows nothing of files or clients.

use serde_json::{Map, Value};

use super::{
    EditError,
    jsonc::{self, Kind, Member, Node},
};

/// A value to be written, with its members in this order.
#[derive(Debug, Clone)]
pub enum Written {
    /// An object.
    Object(Vec<(String, Written)>),
    /// Anything else; lists are written in one line.
    Plain(Value),
}

/// Returns the member at a path; `None` means that it, or one above it, is not there.
pub fn get(text: &str, path: &[&str]) -> Result<Option<Value>, EditError> {
    let Some(root) = jsonc::read(text)? else { return Ok(None) };
    let mut node = &root;
    for key in path {
        match find(node, key)? {
            Some((members, index)) => node = &members[index].value,
            None => return Ok(None),
        }
    }
    Ok(Some(node.to_value()))
}

/// Sets the member at a path, and makes the objects above it where they are missing.
pub fn set(text: &str, path: &[&str], value: &Written) -> Result<String, EditError> {
    let Some(root) = jsonc::read(text)? else { return Ok(begin(text, path, value)) };
    let layout = Layout::of(text, &root);
    let mut node = &root;
    let mut edited = None;
    for (depth, key) in path.iter().enumerate() {
        let Some((members, index)) = find(node, key)? else {
            let value = wrap(&path[depth + 1..], value);
            edited = Some(layout.insert(text, node, key, &value));
            break;
        };
        node = &members[index].value;
    }
    let edited = edited.unwrap_or_else(|| layout.replace(text, node, value));
    let mut wanted = root.to_value();
    put(&mut wanted, path, value.to_value());
    checked(edited, &wanted)
}

/// Removes the member at a path; the text is the same if there is none.
pub fn remove(text: &str, path: &[&str]) -> Result<String, EditError> {
    let (Some(root), Some((last, above))) = (jsonc::read(text)?, path.split_last()) else {
        return Ok(text.to_owned());
    };
    let mut node = &root;
    for key in above {
        let Some((members, index)) = find(node, key)? else { return Ok(text.to_owned()) };
        node = &members[index].value;
    }
    let Some((members, index)) = find(node, last)? else { return Ok(text.to_owned()) };
    let mut wanted = root.to_value();
    if let Some(Value::Object(object)) =
        above.iter().try_fold(&mut wanted, |at, key| at.get_mut(*key))
    {
        object.remove(*last);
    }
    checked(cut(text, node, members, index), &wanted)
}

impl Written {
    /// Returns what it says.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Plain(value) => value.clone(),
            Self::Object(members) => {
                let pairs = members.iter().map(|(key, value)| (key.clone(), value.to_value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns it as text; the first line is not indented.
    pub fn text(&self, layout: &Layout, indent: &str) -> String {
        match self {
            Self::Plain(Value::Array(items)) => {
                let items: Vec<_> = items.iter().map(ToString::to_string).collect();
                format!("[{}]", items.join(if layout.loose { ", " } else { "," }))
            }
            Self::Plain(value) => value.to_string(),
            Self::Object(members) if members.is_empty() => "{}".to_owned(),
            Self::Object(members) => {
                let inner = format!("{indent}{}", layout.unit);
                let lines = members.iter().map(|(key, value)| layout.member(key, value, &inner));
                match (layout.in_lines, &layout.newline) {
                    (true, end) => {
                        let lines: Vec<_> =
                            lines.map(|line| format!("{end}{inner}{line}")).collect();
                        format!("{{{}{end}{indent}}}", lines.join(","))
                    }
                    (false, _) => {
                        let comma = if layout.loose { ", " } else { "," };
                        format!("{{{}}}", lines.collect::<Vec<_>>().join(comma))
                    }
                }
            }
        }
    }
}

/// How a text is laid out.
#[derive(Debug, Clone)]
pub struct Layout {
    newline: &'static str,
    unit: String,
    /// Objects have a line for each member.
    in_lines: bool,
    /// There is a blank behind colons.
    loose: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self { newline: "\n", unit: "  ".to_owned(), in_lines: true, loose: true }
    }
}

impl Layout {
    fn of(text: &str, root: &Node) -> Self {
        let usual = Self { newline: newline(text), ..Self::default() };
        let Kind::Object(members) = &root.kind else { return usual };
        let Some(first) = members.first() else { return usual };
        let unit = match own_line(text, first.start) {
            Some(indent) if !indent.is_empty() => indent.to_owned(),
            _ => usual.unit.clone(),
        };
        let after = text[first.start..first.value.span.start].split_once(':').map(|(_, rest)| rest);
        Self { unit, loose: after.is_some_and(|rest| !rest.is_empty()), ..usual }
    }

    fn member(&self, key: &str, value: &Written, indent: &str) -> String {
        let blank = if self.loose || self.in_lines { " " } else { "" };
        format!("{}:{blank}{}", Value::from(key), value.text(self, indent))
    }

    fn replace(&self, text: &str, node: &Node, value: &Written) -> String {
        let line = text[..node.span.start].rfind('\n').map_or(0, |end| end + 1);
        let in_lines = text[node.span.clone()].contains('\n') || matches!(value, Written::Plain(_));
        let layout = Self { in_lines, ..self.clone() };
        let written = value.text(&layout, indent_at(text, line));
        splice(text, node.span.start, node.span.end, &written)
    }

    fn insert(&self, text: &str, object: &Node, key: &str, value: &Written) -> String {
        let close = object.span.end - 1;
        let Kind::Object(members) = &object.kind else { unreachable!("only objects are searched") };
        let Some(last) = members.last() else { return self.fill(text, object, key, value) };
        let end = last.value.span.end;
        let anchor = last.comma.map_or(end, |comma| comma + 1);
        let comma = if last.comma.is_some() { "" } else { "," };
        let trailing = if last.comma.is_some() { "," } else { "" };
        let indent = own_line(text, last.start).or_else(|| own_line(text, members[0].start));
        let Some(indent) = indent else {
            let layout = Self { in_lines: false, ..self.clone() };
            let blank = if self.loose { " " } else { "" };
            let member = layout.member(key, value, "");
            return splice(text, anchor, anchor, &format!("{comma}{blank}{member}{trailing}"));
        };
        let place = behind_comments(text, anchor, close);
        let member = self.member(key, value, indent);
        let member = format!("{}{indent}{member}{trailing}", self.newline);
        // The comma goes to the value, the member behind whatever comment follows on its line.
        splice(&splice(text, place, place, &member), end, end, comma)
    }

    /// Puts the first member into an object that has none.
    fn fill(&self, text: &str, object: &Node, key: &str, value: &Written) -> String {
        let (open, close) = (object.span.start + 1, object.span.end - 1);
        let line = text[..open].rfind('\n').map_or(0, |end| end + 1);
        let outer = indent_at(text, line);
        let indent = format!("{outer}{}", self.unit);
        let member = format!("{}{indent}{}", self.newline, self.member(key, value, &indent));
        let content = open + text[open..close].trim_end().len();
        match text[content..close].contains('\n') {
            true => splice(text, content, content, &member),
            false => splice(text, content, close, &format!("{member}{}{outer}", self.newline)),
        }
    }
}

/// The whole text of a file that had nothing to say. A mark at its beginning stays.
fn begin(text: &str, path: &[&str], value: &Written) -> String {
    let newline = newline(text);
    let layout = Layout { newline, ..Layout::default() };
    let kept = text.trim_end_matches([' ', '\t', '\r', '\n']);
    let between = if kept.trim_start_matches('\u{feff}').is_empty() { "" } else { newline };
    format!("{kept}{between}{}{newline}", wrap(path, value).text(&layout, ""))
}

fn wrap(path: &[&str], value: &Written) -> Written {
    path.iter()
        .rev()
        .fold(value.clone(), |inner, key| Written::Object(vec![((*key).to_owned(), inner)]))
}

fn put(root: &mut Value, path: &[&str], value: Value) {
    let mut at = root;
    for key in path {
        let Value::Object(object) = at else { return };
        at = object.entry(*key).or_insert_with(|| Value::Object(Map::new()));
    }
    *at = value;
}

/// Finds a member of an object.
fn find<'n>(node: &'n Node, key: &str) -> Result<Option<(&'n [Member], usize)>, EditError> {
    let Kind::Object(members) = &node.kind else {
        return Err(EditError::Shape(format!("what should hold {key:?} is no object")));
    };
    let mut found = members.iter().enumerate().filter(|(_, member)| member.key == key);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(EditError::Shape(format!("{key:?} is in it twice"))),
        (Some((index, _)), None) => Ok(Some((members, index))),
        (None, _) => Ok(None),
    }
}

/// Takes a member out, with the comma and the blanks that belong to it.
fn cut(text: &str, object: &Node, members: &[Member], index: usize) -> String {
    let member = &members[index];
    let before = text[..member.start].trim_end().len().max(object.span.start + 1);
    let end = member.comma.map_or(member.value.span.end, |comma| comma + 1);
    let rest = &text[end..object.span.end - 1];
    if members.len() == 1 && before == object.span.start + 1 && rest.trim().is_empty() {
        return splice(text, before, object.span.end - 1, "");
    }
    let cut = splice(text, before, end, "");
    // The last one has no comma of its own, so the one before must give its comma away.
    match (member.comma, index.checked_sub(1).and_then(|before| members[before].comma)) {
        (None, Some(comma)) => splice(&cut, comma, comma + 1, ""),
        _ => cut,
    }
}

fn checked(edited: String, wanted: &Value) -> Result<String, EditError> {
    match jsonc::read(&edited) {
        Ok(Some(root)) if root.to_value() == *wanted => Ok(edited),
        _ => Err(EditError::Shape("it is laid out in a way that cannot be edited safely".into())),
    }
}

fn splice(text: &str, start: usize, end: usize, new: &str) -> String {
    format!("{}{new}{}", &text[..start], &text[end..])
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn indent_at(text: &str, line: usize) -> &str {
    let rest = text[line..].trim_start_matches('\u{feff}');
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// Returns the indentation of a place that is the first on its line, and not on the first line.
fn own_line(text: &str, place: usize) -> Option<&str> {
    let before = &text[text[..place].rfind('\n')? + 1..place];
    before.chars().all(|letter| letter == ' ' || letter == '\t').then_some(before)
}

/// Returns the end of the line if only blanks and comments follow on it; else the place itself.
fn behind_comments(text: &str, place: usize, limit: usize) -> usize {
    let mut at = place;
    loop {
        let rest = &text[at..limit];
        let skipped = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let (here, rest) = (at + skipped, &rest[skipped..]);
        let line_end = rest.find('\n').map(|end| rest[..end].trim_end_matches('\r').len());
        match (rest.get(..2), line_end) {
            (Some("//"), Some(end)) => return here + end,
            (Some("/*"), Some(line)) => match rest.find("*/") {
                Some(end) if end < line => at = here + end + 2,
                _ => return place,
            },
            (_, Some(0)) => return here,
            _ => return place,
        }
    }
}

#[cfg(test)]
mod tests;
