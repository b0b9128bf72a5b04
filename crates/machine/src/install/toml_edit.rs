//! Adds, changes and removes one server in a TOML text; every other byte stays.
//!
//! The `toml` crate tells where everything stands and the edit is made in the text itself, because
//! what is written out again by a library loses line ends of the other kind. The result is read
//! again and compared before it is given out.

use std::ops::Range;

use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

use super::{EditError, entry::Entry};

/// The table of all servers.
const SERVERS: &str = "mcp_servers";

/// Returns the server's table; `None` means that it is not there.
pub fn get(text: &str, name: &str) -> Result<Option<Value>, EditError> {
    server_of(without_mark(text).1, name)
}

fn server_of(text: &str, name: &str) -> Result<Option<Value>, EditError> {
    let table = read(text)?;
    match table.get(SERVERS) {
        None => Ok(None),
        Some(Value::Table(servers)) => Ok(servers.get(name).cloned()),
        Some(_) => Err(EditError::Shape(format!("{SERVERS} is no table"))),
    }
}

/// Sets the server's command and arguments, and leaves what else it has.
pub fn set(text: &str, name: &str, entry: &Entry) -> Result<String, EditError> {
    let (mark, text) = without_mark(text);
    edit(text, name, entry).map(|edited| format!("{mark}{edited}"))
}

fn edit(text: &str, name: &str, entry: &Entry) -> Result<String, EditError> {
    let edited = match server_of(text, name)? {
        None => append(text, name, entry),
        Some(_) => replace(text, name, entry)?,
    };
    let mut wanted = read(text)?;
    let servers = wanted.entry(SERVERS).or_insert_with(|| Value::Table(Table::new()));
    let servers = servers.as_table_mut().ok_or_else(unsafe_layout)?;
    let server = servers.entry(name).or_insert_with(|| Value::Table(Table::new()));
    let server = server.as_table_mut().ok_or_else(unsafe_layout)?;
    server.insert("command".to_owned(), Value::from(entry.command.as_str()));
    server.insert("args".to_owned(), Value::from(entry.args.clone()));
    checked(edited, &wanted)
}

/// Removes the server with everything below it; the text is the same if there is none.
pub fn remove(text: &str, name: &str) -> Result<String, EditError> {
    let (mark, text) = without_mark(text);
    take_out(text, name).map(|edited| format!("{mark}{edited}"))
}

fn take_out(text: &str, name: &str) -> Result<String, EditError> {
    if server_of(text, name)?.is_none() {
        return Ok(text.to_owned());
    }
    let mut wanted = read(text)?;
    if let Some(servers) = wanted.get_mut(SERVERS).and_then(Value::as_table_mut) {
        servers.remove(name);
    }
    let mut lines = Vec::new();
    with_server(text, name, |key, server| lines_of(text, key, server, &mut lines))?
        .ok_or_else(unsafe_layout)?;
    lines.sort_by_key(|line| line.start);
    let mut edited = text.to_owned();
    for (index, range) in lines.iter().enumerate().rev() {
        // The blank line that parts it from what stands before goes with it.
        let blank = index == 0 && text[..range.start].ends_with("\n\n");
        let blank_cr = index == 0 && text[..range.start].ends_with("\n\r\n");
        let start = range.start - usize::from(blank) - 2 * usize::from(blank_cr);
        edited.replace_range(start..range.end, "");
    }
    // Servers that were there only because of this one are gone with it.
    let mut alone = wanted.clone();
    if alone.get(SERVERS).and_then(Value::as_table).is_some_and(Table::is_empty) {
        alone.remove(SERVERS);
    }
    checked(edited.clone(), &wanted).or_else(|_| checked(edited, &alone))
}

/// Returns the lines that say it.
pub fn snippet(name: &str, entry: &Entry, newline: &str) -> String {
    let (command, args) = values(entry);
    format!("[{SERVERS}.{name}]{newline}command = {command}{newline}args = {args}{newline}")
}

fn values(entry: &Entry) -> (String, String) {
    let args: Vec<_> = entry.args.iter().map(|arg| Value::from(arg.as_str()).to_string()).collect();
    (Value::from(entry.command.as_str()).to_string(), format!("[{}]", args.join(", ")))
}

fn append(text: &str, name: &str, entry: &Entry) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let between = match text {
        "" => "",
        _ if text.ends_with("\n\n") || text.ends_with("\n\r\n") => "",
        _ if text.ends_with('\n') => newline,
        _ => &newline.repeat(2),
    };
    format!("{text}{between}{}", snippet(name, entry, newline))
}

fn replace(text: &str, name: &str, entry: &Entry) -> Result<String, EditError> {
    let spans = with_server(text, name, |_, server| {
        let place = |key: &str| server.get(key).map(toml::Spanned::span);
        Some((place("command")?, place("args")?))
    })?;
    let (command, args) = spans.ok_or_else(|| {
        EditError::Shape(format!("{SERVERS}.{name} has no command and args to change"))
    })?;
    let (new_command, new_args) = values(entry);
    let mut edits = [(command, new_command), (args, new_args)];
    edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut edited = text.to_owned();
    for (span, new) in edits {
        edited.replace_range(span, &new);
    }
    Ok(edited)
}

/// Looks at the server's table with the places of its parts; `None` means that it has none.
fn with_server<T>(
    text: &str,
    name: &str,
    look: impl FnOnce(Range<usize>, &DeTable<'_>) -> Option<T>,
) -> Result<Option<T>, EditError> {
    let root = DeTable::parse(text).map_err(broken)?;
    let Some(DeValue::Table(servers)) = root.get_ref().get(SERVERS).map(toml::Spanned::get_ref)
    else {
        return Ok(None);
    };
    let Some(server) = servers.get(name) else { return Ok(None) };
    let DeValue::Table(table) = server.get_ref() else { return Ok(None) };
    Ok(look(server.span(), table))
}

/// Collects the whole lines of a table that has a header, and of the tables below it. `None` means
/// that it is written in another way.
fn lines_of(
    text: &str,
    header: Range<usize>,
    table: &DeTable<'_>,
    lines: &mut Vec<Range<usize>>,
) -> Option<()> {
    let start = text[..header.start].rfind('\n').map_or(0, |end| end + 1);
    if !text[header.clone()].starts_with('[') || !text[start..header.start].trim().is_empty() {
        return None;
    }
    let end = end_of(text, table, lines)?.max(header.end);
    let end = text[end..].find('\n').map_or(text.len(), |line| end + line + 1);
    lines.push(start..end);
    Some(())
}

/// Returns where the last value below a header ends, and collects the lines of tables that have a
/// header of their own.
fn end_of(text: &str, table: &DeTable<'_>, lines: &mut Vec<Range<usize>>) -> Option<usize> {
    let mut end = 0;
    for value in table.values() {
        let written = &text[value.span()];
        end = end.max(match value.get_ref() {
            DeValue::Table(below) if written.starts_with('[') => {
                lines_of(text, value.span(), below, lines)?;
                0
            }
            // Made by a key with dots, below the same header.
            DeValue::Table(below) if !written.starts_with('{') => end_of(text, below, lines)?,
            _ => value.span().end,
        });
    }
    Some(end)
}

/// Parts the mark that some editors put first from the text.
pub fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn read(text: &str) -> Result<Table, EditError> {
    // The library would pass over one more, and places would be counted from another start.
    if text.starts_with('\u{feff}') {
        return Err(EditError::Broken("it begins with two byte order marks".into()));
    }
    toml::from_str(text).map_err(broken)
}

fn broken(error: toml::de::Error) -> EditError {
    EditError::Broken(error.message().to_owned())
}

fn unsafe_layout() -> EditError {
    EditError::Shape("it is laid out in a way that cannot be edited safely".into())
}

fn checked(edited: String, wanted: &Table) -> Result<String, EditError> {
    match read(&edited) {
        Ok(table) if table == *wanted => Ok(edited),
        _ => Err(unsafe_layout()),
    }
}

#[cfg(test)]
mod tests;
