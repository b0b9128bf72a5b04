//! Sets and removes one member of a JSON text; every other byte stays, comments too.
//!
//! The result is read again and compared before it is given out, so an edit that would say
//! something else than intended is refused. It knows nothing of files or clients.

use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions,
    ast::{Object, Value as Node},
    common::Ranged,
    parse_to_ast,
    tokens::Token,
};
use serde_json::{Map, Value};

use super::{EditError, toml_edit::without_mark};

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
    let document = JsonText::read(without_mark(text).1)?;
    let Some(root) = &document.root else { return Ok(None) };
    let (node, depth) = follow(root, path)?;
    Ok((depth == path.len()).then(|| node.clone().into()))
}

/// Sets the member at a path, and makes the objects above it where they are missing.
pub fn set(text: &str, path: &[&str], value: &Written) -> Result<String, EditError> {
    let (mark, text) = without_mark(text);
    let document = JsonText::read(text)?;
    let Some(root) = &document.root else { return Ok(mark.to_owned() + &begin(text, path, value)) };
    let layout = Layout::of(text, root);
    let (node, depth) = follow(root, path)?;
    let edited = match path.get(depth) {
        Some(key) => {
            let value = wrap(&path[depth + 1..], value);
            layout.insert(&document, find(node, key)?.0, key, &value)
        }
        None => layout.replace(text, node, value),
    };
    let mut wanted = root.clone().into();
    put(&mut wanted, path, value.to_value());
    Ok(mark.to_owned() + &checked(edited, &wanted)?)
}

/// Removes the member at a path; the text is the same if there is none.
pub fn remove(text: &str, path: &[&str]) -> Result<String, EditError> {
    let (mark, bare) = without_mark(text);
    let document = JsonText::read(bare)?;
    let (Some(root), Some((last, above))) = (&document.root, path.split_last()) else {
        return Ok(text.to_owned());
    };
    let (node, depth) = follow(root, above)?;
    if depth < above.len() {
        return Ok(text.to_owned());
    }
    let (object, Some(index)) = find(node, last)? else { return Ok(text.to_owned()) };
    let mut wanted = root.clone().into();
    if let Some(Value::Object(object)) =
        above.iter().try_fold(&mut wanted, |at: &mut Value, key| at.get_mut(*key))
    {
        object.remove(*last);
    }
    Ok(mark.to_owned() + &checked(document.without(object, index), &wanted)?)
}

/// A text as it was read: JSON with comments and trailing commas.
struct JsonText<'t> {
    text: &'t str,
    /// Nothing, if there are only blanks and comments.
    root: Option<Node<'t>>,
    commas: Vec<usize>,
}

impl<'t> JsonText<'t> {
    fn read(text: &'t str) -> Result<Self, EditError> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let collected = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: true };
        let broken = |line: usize, what: &str| EditError::Broken(format!("line {line}: {what}"));
        let found = parse_to_ast(text, &collected, &options)
            .map_err(|error| broken(error.line_display(), &error.kind().to_string()))?;
        let tokens = found.tokens.unwrap_or_default();
        // The parser lets a text go over several lines, which is no JSON: a quote is missing.
        let is_control = |letter: char| letter < ' ';
        let odd = tokens.iter().find(|it| it.text(text).contains(is_control));
        if let Some(odd) = odd {
            let line = text[..odd.start()].matches('\n').count() + 1;
            return Err(broken(line, "a text is not written as JSON wants it"));
        }
        let commas = tokens.iter().filter(|it| it.token == Token::Comma).map(Ranged::start);
        let commas = commas.collect();
        Ok(Self { text, root: found.value, commas })
    }

    /// Returns where the comma after a member stands, if there is one.
    fn comma_after(&self, object: &Object<'_>, index: usize) -> Option<usize> {
        let end = object.properties[index].end();
        let next = object.properties.get(index + 1).map_or(object.end(), Ranged::start);
        self.commas.iter().copied().find(|comma| (end..next).contains(comma))
    }

    /// Takes a member out, with the comma and the blanks that belong to it.
    fn without(&self, object: &Object<'_>, index: usize) -> String {
        let (text, member) = (self.text, &object.properties[index]);
        let comma = self.comma_after(object, index);
        let before = text[..member.start()].trim_end().len().max(object.start() + 1);
        let end = comma.map_or(member.end(), |comma| comma + 1);
        let rest = &text[end..object.end() - 1];
        let is_alone = object.properties.len() == 1 && before == object.start() + 1;
        if is_alone && rest.trim().is_empty() {
            return splice(text, before, object.end() - 1, "");
        }
        let cut = splice(text, before, end, "");
        // The last one has no comma of its own, so the one before must give its comma away.
        match (comma, index.checked_sub(1).and_then(|before| self.comma_after(object, before))) {
            (None, Some(comma)) => splice(&cut, comma, comma + 1, ""),
            _ => cut,
        }
    }
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
                let (end, comma) = (layout.newline, if layout.loose { ", " } else { "," });
                if layout.in_lines {
                    let lines: Vec<_> = lines.map(|line| format!("{end}{inner}{line}")).collect();
                    format!("{{{}{end}{indent}}}", lines.join(","))
                } else {
                    format!("{{{}}}", lines.collect::<Vec<_>>().join(comma))
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
    fn of(text: &str, root: &Node<'_>) -> Self {
        let usual = Self { newline: newline(text), ..Self::default() };
        let first = root.as_object().and_then(|object| object.properties.first());
        let Some(first) = first else { return usual };
        let unit = match own_line(text, first.start()) {
            Some(indent) if !indent.is_empty() => indent.to_owned(),
            _ => usual.unit.clone(),
        };
        let colon = &text[first.name.end()..first.value.start()];
        let after = colon.split_once(':').map(|(_, rest)| rest);
        Self { unit, loose: after.is_some_and(|rest| !rest.is_empty()), ..usual }
    }

    fn member(&self, key: &str, value: &Written, indent: &str) -> String {
        let blank = if self.loose || self.in_lines { " " } else { "" };
        format!("{}:{blank}{}", Value::from(key), value.text(self, indent))
    }

    fn replace(&self, text: &str, node: &Node<'_>, value: &Written) -> String {
        let line = text[..node.start()].rfind('\n').map_or(0, |end| end + 1);
        let in_lines = node.text(text).contains('\n') || matches!(value, Written::Plain(_));
        let layout = Self { in_lines, ..self.clone() };
        let written = value.text(&layout, indent_at(text, line));
        splice(text, node.start(), node.end(), &written)
    }

    fn insert(
        &self,
        document: &JsonText<'_>,
        object: &Object<'_>,
        key: &str,
        value: &Written,
    ) -> String {
        let (text, members) = (document.text, &object.properties);
        let Some(last) = members.last() else { return self.fill(text, object, key, value) };
        let end = last.end();
        let own_comma = document.comma_after(object, members.len() - 1);
        let anchor = own_comma.map_or(end, |comma| comma + 1);
        let (comma, trailing) = if own_comma.is_some() { ("", ",") } else { (",", "") };
        let indent = own_line(text, last.start()).or_else(|| own_line(text, members[0].start()));
        let Some(indent) = indent else {
            let layout = Self { in_lines: false, ..self.clone() };
            let blank = if self.loose { " " } else { "" };
            let member = layout.member(key, value, "");
            return splice(text, anchor, anchor, &format!("{comma}{blank}{member}{trailing}"));
        };
        let place = behind_comments(text, anchor, object.end() - 1);
        let member = self.member(key, value, indent);
        let member = format!("{}{indent}{member}{trailing}", self.newline);
        // The comma goes to the value, the member behind whatever comment follows on its line.
        splice(&splice(text, place, place, &member), end, end, comma)
    }

    /// Puts the first member into an object that has none.
    fn fill(&self, text: &str, object: &Object<'_>, key: &str, value: &Written) -> String {
        let (open, close) = (object.start() + 1, object.end() - 1);
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

/// The whole text of a file that had nothing to say.
fn begin(text: &str, path: &[&str], value: &Written) -> String {
    let newline = newline(text);
    let layout = Layout { newline, ..Layout::default() };
    let kept = text.trim_end_matches([' ', '\t', '\r', '\n']);
    let between = if kept.is_empty() { "" } else { newline };
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

/// Follows a path as far as it goes: returns what it leads to, and how many keys were found.
fn follow<'n, 't>(root: &'n Node<'t>, path: &[&str]) -> Result<(&'n Node<'t>, usize), EditError> {
    let mut node = root;
    for (depth, key) in path.iter().enumerate() {
        let (object, Some(index)) = find(node, key)? else { return Ok((node, depth)) };
        node = &object.properties[index].value;
    }
    Ok((node, path.len()))
}

/// Finds a member of an object: its place, if it is there.
fn find<'n, 't>(
    node: &'n Node<'t>,
    key: &str,
) -> Result<(&'n Object<'t>, Option<usize>), EditError> {
    let no_object = || EditError::Shape(format!("what should hold {key:?} is no object"));
    let object = node.as_object().ok_or_else(no_object)?;
    let is_meant = |index: &usize| object.properties[*index].name.as_str() == key;
    let mut found = (0..object.properties.len()).filter(is_meant);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(EditError::Shape(format!("{key:?} is in it twice"))),
        (index, _) => Ok((object, index)),
    }
}

fn checked(edited: String, wanted: &Value) -> Result<String, EditError> {
    let says = JsonText::read(&edited)?.root.map(Value::from);
    match says.as_ref() == Some(wanted) {
        true => Ok(edited),
        false => {
            Err(EditError::Shape("it is laid out in a way that cannot be edited safely".into()))
        }
    }
}

fn splice(text: &str, start: usize, end: usize, new: &str) -> String {
    format!("{}{new}{}", &text[..start], &text[end..])
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn indent_at(text: &str, line: usize) -> &str {
    let rest = &text[line..];
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
